"""Nodes: the arrays say what the objects say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Node, Pod, PodShape
from kumi.engine.placement.nodes import HAS_AT_MOST, NOWHERE, Nodes
from kumi.engine.placement.plugins.predicates import Predicates
from kumi.testing.builders import GPU, amounts, node, shape
from kumi.testing.diagram import _plain
from kumi.testing.strategies import nodes as some_node
from kumi.testing.strategies import shapes

NAMES = [f"n{n}" for n in range(12)]
uses = st.lists(st.tuples(st.sampled_from(NAMES), shapes(), st.integers(0, 3)), max_size=8)


def table(*nodes: Node) -> Nodes:
    made = Nodes(Journal())
    for each in nodes:
        made.put(each)
    made.notice()
    return made


def plain_fits(has: Node, used: dict[str, int], asked: PodShape) -> int:
    """How many pods fit, one resource after the other."""
    if not has.ready:
        return 0
    allocatable = dict(has.allocatable)
    requests = {r: amount for r, amount in asked.requests if amount} | {"pods": 1000}
    return max(0, min((allocatable.get(r, 0) - used.get(r, 0)) // amount for r, amount in requests.items()))


@given(st.lists(st.sampled_from(NAMES).flatmap(some_node), max_size=12, unique_by=lambda n: n.name), uses, shapes())
def test_fits_is_what_counting_by_hand_says(
    found: list[Node], used: list[tuple[str, PodShape, int]], asked: PodShape
) -> None:
    nodes, by_hand = table(*found), {n.name: dict[str, int]() for n in found}
    for name, on_it, pods in used:
        nodes.use(name, on_it.requests, pods)
        for resource, amount in (*on_it.requests, ("pods", 1000)) if name in by_hand else ():
            by_hand[name][resource] = by_hand[name].get(resource, 0) + amount * pods
    open_to_all = PodShape(asked.requests, tolerations=())
    ready = np.isin(np.arange(nodes.used.shape[1]), [nodes.row_by_name[n.name] for n in found if n.ready])
    fits = nodes.fits(open_to_all.requests, ready)
    for each in found:
        assert fits[nodes.row_by_name[each.name]] == plain_fits(each, by_hand[each.name], open_to_all)
    rows = nodes.by_name()
    assert (nodes.fits(open_to_all.requests, ready, rows) == fits[rows]).all()


@given(st.lists(st.tuples(st.sampled_from(["put", "remove", "use"]), st.sampled_from(NAMES), shapes()), max_size=25))
def test_a_lost_trial_leaves_the_table_as_it_was(steps: list[tuple[str, str, PodShape]]) -> None:
    journal = Journal()
    nodes = Nodes(journal)
    for name in NAMES[:3]:
        nodes.put(node(name, gpu=4))
    before = _plain(nodes)
    with journal.trial():
        for action, name, on_it in steps:
            if action == "put":
                nodes.put(Node(name, (("zone", "a"),), (*on_it.requests, ("example.com/new", 3))))
            elif action == "remove":
                nodes.remove(name)
            else:
                nodes.use(name, on_it.requests, 1)
            Predicates().mask(nodes, Pod("", "ns/p", on_it, 0))
    assert _plain(nodes) == before
    zone_a = shape(selector={"zone": "a"})
    assert (
        not Predicates().mask(nodes, Pod("", "ns/p", zone_a, 0)).any()
    )  # no mask of the trial is taken for one of now


def test_what_was_found_in_a_lost_trial_is_not_taken_for_what_is_after_the_next_change() -> None:
    journal = Journal()
    nodes = Nodes(journal)
    in_a = Pod("", "ns/p", shape(selector={"zone": "a"}), 0)

    def taken() -> list[str]:
        """The nodes that take it; and what of them is in zone a by their column."""
        mask, (codes, code_by_value) = Predicates().mask(nodes, in_a), nodes.column("zone")
        found = [name for name, row in sorted(nodes.row_by_name.items()) if mask[row]]
        assert found == [n for n, row in sorted(nodes.row_by_name.items()) if codes[row] == code_by_value.get("a", -1)]
        return found

    for name in ("n1", "n2", "n3"):
        nodes.put(node(name, {"zone": "b"}))
    assert taken() == []
    with journal.trial():
        nodes.put(node("n1", {"zone": "a"}))
        assert taken() == ["n1"]
    nodes.put(node("n2", {"zone": "a"}))
    assert taken() == ["n2"]
    with journal.trial():
        nodes.remove("n2")
        assert taken() == []
    nodes.remove("n3")
    assert taken() == ["n2"]


def test_rows_go_by_name_whatever_the_order_of_arrival() -> None:
    nodes = table(node("n2"), node("n10"), node("n1"))
    assert nodes.names() == ["n1", "n10", "n2"]
    assert [nodes.name_by_row()[row] for row in nodes.by_name().tolist()] == ["n1", "n10", "n2"]


def test_a_row_is_reused_and_empty() -> None:
    nodes = table(node("n1", gpu=4))
    nodes.use("n1", ((GPU, 1000),), 2)
    nodes.remove("n1")
    nodes.remove("n1")
    assert nodes.put(node("n2", gpu=4))
    assert not nodes.used.any()
    assert nodes.row_by_name == {"n2": 0}


def test_more_nodes_than_rows_make_more_rows() -> None:
    nodes = table(*(node(f"n{n:02d}", gpu=n) for n in range(20)))
    every = np.ones(nodes.used.shape[1], dtype=np.bool_)
    assert nodes.fits(((GPU, 1000),), every)[nodes.by_name()].tolist() == list(range(20))


def test_a_changed_node_is_no_new_row_and_a_resource_it_lost_is_gone() -> None:
    nodes = table(node("n1", gpu=4))
    assert not nodes.put(node("n1", cpu=4))
    assert nodes.room(nodes.line(GPU), 0) == 0


def test_a_node_that_says_nothing_of_pods_takes_any_number() -> None:
    nodes = table(Node("n1", (), ((GPU, 4000),)))
    assert nodes.room(0, 0) == HAS_AT_MOST


def test_a_request_past_all_bounds_never_fits() -> None:
    nodes = table(Node("n1", (), (("memory", 2**63 - 1),)))
    every = np.ones(nodes.used.shape[1], dtype=np.bool_)
    assert not nodes.fits((("memory", 2**63 - 1),), every).any()
    nodes.use("n1", (("memory", 2**63 - 1),), 100)
    assert nodes.room(nodes.line("memory"), 0) < 0


def test_a_resource_that_no_node_has_fits_nowhere_and_one_of_zero_everywhere() -> None:
    nodes = table(node("n1"))
    every = np.ones(nodes.used.shape[1], dtype=np.bool_)
    assert not nodes.fits((("example.com/none", 1),), every).any()
    assert nodes.fits((("example.com/none", 0),), every)[0] == 110
    assert "example.com/none" not in nodes.line_by_resource


def test_a_row_that_gives_room_is_noticed_and_one_that_takes_is_not() -> None:
    nodes = table(node("n1", gpu=4), node("n2", gpu=4))
    seen = nodes.changed
    nodes.use("n1", ((GPU, 1000),), 2)
    nodes.notice()
    assert nodes.gained_since(seen).tolist() == []
    nodes.use("n1", ((GPU, 1000),), -1)
    nodes.use("n1", ((GPU, 1000),), 1)
    nodes.notice()
    assert nodes.gained_since(seen).tolist() == []
    nodes.use("n1", ((GPU, 1000),), -1)
    nodes.notice()
    assert nodes.gained_since(seen).tolist() == [nodes.row_by_name["n1"]]


def test_a_node_gains_by_more_of_a_resource_or_by_another_label_and_not_by_less() -> None:
    nodes = table(node("n1", gpu=4))
    for changed, gains in (
        (node("n1", gpu=3), False),
        (node("n1", gpu=4), True),
        (node("n1", gpu=4, cpu=1), True),
        (node("n1", {"zone": "a"}, gpu=4, cpu=1), True),
        (node("n1", {"zone": "a"}, gpu=1, cpu=1), False),
    ):
        seen = nodes.changed
        nodes.put(changed)
        nodes.notice()
        assert bool(nodes.gained_since(seen).size) is gains


def test_a_column_tells_values_apart_from_nothing() -> None:
    nodes = table(node("n1", {"zone": "a"}), node("n2"), node("n3", {"zone": "b"}))
    codes, code_by_value = nodes.column("zone")
    assert [codes[nodes.row_by_name[n]] for n in ("n1", "n2", "n3")] == [code_by_value["a"], 0, code_by_value["b"]]
    nodes.put(node("n2", {"zone": "a"}))
    codes, code_by_value = nodes.column("zone")
    assert codes[nodes.row_by_name["n2"]] == code_by_value["a"]


def test_what_is_kept_is_dropped_when_it_is_too_much() -> None:
    nodes = table(node("n1"))
    for number in range(10_000):
        assert nodes.cached(number, lambda number=number: number) == number
    assert len(nodes._cache) < 10_000


def test_only_a_node_that_is_there_and_ready_takes_pods() -> None:
    nodes = table(node("n1"), node("n2", ready=False), node("n3", unschedulable=True))
    assert [nodes.taking(n) for n in ("n1", "n2", "n3", "n4")] == [True, False, True, False]


def test_what_a_node_lacks_for_what_is_on_it_is_inherited() -> None:
    nodes = table(node("n1", gpu=4))
    nodes.use("n1", ((GPU, 1000),), 4)
    nodes.put(node("n1", gpu=1))
    nodes.inherit()
    assert nodes.inherited[nodes.line(GPU), 0] == 3000
    nodes.use("n1", ((GPU, 1000),), -3)
    nodes.inherit()
    assert not nodes.inherited.any()


def test_what_a_lost_trial_asked_for_is_not_remembered() -> None:
    journal = Journal()
    nodes = Nodes(journal)
    nodes.put(node("a", cpu=4))
    asked = amounts(cpu=1, gpu=1)
    with journal.trial():
        nodes.put(node("b", cpu=4, gpu=1))
        assert [line for line, _ in nodes.asked(asked)] == [0, *(nodes.line_by_resource[r] for r, _ in asked)]
        assert nodes.takes(PodShape(asked), nodes.by_name()).tolist() == [False, True]
    assert NOWHERE in [line for line, _ in nodes.asked(asked)]
    assert nodes.takes(PodShape(asked), nodes.by_name()).tolist() == [False]
    for number in range(20):
        nodes.put(node(f"n{number:02}", cpu=4, gpu=number % 2))
    assert nodes.takes(PodShape(asked), nodes.by_name()).tolist() == [False, *(number % 2 == 1 for number in range(20))]


def test_rules_see_what_is_used_and_promised_and_not_who_was_evicted() -> None:
    journal = Journal()
    nodes = Nodes(journal)
    nodes.put(node("a", cpu=9))
    asked = amounts(cpu=1)
    cpu = nodes.line_by_resource["cpu"]

    def seen() -> int:
        return int(nodes.seen(cpu, nodes.by_name())[0])

    nodes.use("a", asked, 4)
    assert seen() == 4000
    with journal.trial():
        nodes.pipeline("a", asked, 2)
        assert seen() == 6000
    assert seen() == 4000
    nodes.evict("a", asked, 3)
    assert seen() == 1000
    nodes.pipeline_rows(nodes.row_by_name["a"], asked, 2)
    assert seen() == 3000
    nodes.pipeline_rows(nodes.by_name(), asked, np.array([-1]))
    assert seen() == 2000


def test_what_is_inherited_is_so_until_the_node_has_it_again() -> None:
    journal = Journal()
    nodes = Nodes(journal)
    nodes.put(node("a", cpu=4))
    row, cpu = nodes.row_by_name["a"], nodes.line_by_resource["cpu"]
    for cpus, over in ((4, 2000), (5, 1000), (6, 0), (3, 3000)):
        nodes.put(node("a", cpu=cpus))
        nodes.use("a", amounts(cpu=1), 6 - int(nodes.used[cpu, row]) // 1000)
        nodes.inherit()
        assert int(nodes.inherited[cpu, row]) == over
    nodes.remove("a")
    nodes.put(node("b", cpu=4))
    nodes.inherit()
    assert (nodes.row_by_name["b"], int(nodes.inherited[cpu, row])) == (row, 0)


def test_what_was_asked_before_there_were_more_rows_is_asked_of_the_same_resources() -> None:
    nodes, asked = Nodes(Journal()), PodShape(amounts(cpu=3, gpu=1))
    nodes.put(node("a", cpu=4, gpu=1))
    assert nodes.takes(asked, nodes.by_name()).tolist() == [True]
    for number in range(20):
        nodes.put(node(f"n{number:02}", cpu=number % 5, gpu=number % 2))
    fits = [number % 5 >= 3 and number % 2 == 1 for number in range(20)]
    assert nodes.takes(asked, nodes.by_name()).tolist() == [True, *fits]
