"""Reservations: each pod is charged once, whatever comes first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Admission, PodSetAssigned, Workload
from kumi.engine.placement.nodes import Nodes
from kumi.engine.reservations import Reservations
from kumi.testing.builders import GPU, node, workload

JOB = workload("ns/a", 4, gpu=1)
SLOTS = ("ns/a", "main")
NAMES = ("n1", "n2", "n3")


def made(*places: tuple[str, int]) -> tuple[Nodes, Reservations, Admission]:
    journal = Journal()
    nodes = Nodes(journal)
    for name in NAMES:
        nodes.put(node(name, gpu=8))
    return nodes, Reservations(journal, nodes), admission(*places)


def admission(*places: tuple[str, int]) -> Admission:
    return Admission("cq", (PodSetAssigned("main", sum(n for _, n in places), (), (), places),))


def gpus(nodes: Nodes) -> dict[str, int]:
    """What the nodes are charged for open places, in GPUs."""
    line = nodes.line(GPU)
    return {name: int(nodes.used[line, nodes.row_by_name[name]]) // 1000 for name in NAMES}


places = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 3)), min_size=1, max_size=3)
pods = st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=10)


@given(places, pods, st.integers(0, 10))
def test_open_places_are_a_function_of_counts_alone(
    promised: list[tuple[str, int]], changes: list[tuple[str, bool]], when: int
) -> None:
    nodes, kept, given_ = made(*promised)
    bound = dict.fromkeys(NAMES, 0)
    for number, (name, comes) in enumerate([*changes, ("n1", True)]):
        if number == min(when, len(changes)):
            kept.promise(JOB, given_)
        if not comes and not bound[name]:
            continue
        bound[name] += 1 if comes else -1
        kept.seat(SLOTS, name, 1 if comes else -1)
    total = dict.fromkeys(NAMES, 0)
    for name, n in promised:
        total[name] += n
    surplus = sum(max(0, bound[name] - total[name]) for name in NAMES)
    left = sum(max(0, total[name] - bound[name]) for name in NAMES)
    charged = gpus(nodes)
    assert sum(charged.values()) == max(0, left - surplus)
    assert all(charged[name] <= max(0, total[name] - bound[name]) for name in NAMES)
    kept.release("ns/a", given_)
    assert gpus(nodes) == dict.fromkeys(NAMES, 0)
    assert kept.on_node == {}


def test_a_bound_pod_takes_its_place_and_gives_it_back() -> None:
    nodes, kept, given_ = made(("n1", 2), ("n2", 2))
    kept.promise(JOB, given_)
    kept.seat(SLOTS, "n1", 1)
    assert gpus(nodes) == {"n1": 1, "n2": 2, "n3": 0}
    assert kept.open_places(SLOTS) == [("n1", 1), ("n2", 2)]
    kept.seat(SLOTS, "n1", -1)
    assert kept.open_places(SLOTS) == [("n1", 2), ("n2", 2)]


def test_a_pod_bound_elsewhere_takes_the_place_promised_first() -> None:
    nodes, kept, given_ = made(("n1", 2), ("n2", 2))
    kept.promise(JOB, given_)
    kept.seat(SLOTS, "n3", 1)
    assert gpus(nodes) == {"n1": 1, "n2": 2, "n3": 0}


def test_pods_that_were_seen_first_have_their_places_when_the_promise_is_seen() -> None:
    nodes, kept, given_ = made(("n1", 2), ("n2", 2))
    kept.seat(SLOTS, "n2", 1)
    kept.promise(JOB, given_)
    assert gpus(nodes) == {"n1": 2, "n2": 1, "n3": 0}


def test_the_place_of_an_index_is_counted_through_the_promise() -> None:
    _, kept, given_ = made(("n2", 1), ("n1", 2))
    kept.promise(JOB, given_)
    assert [kept.place_of(SLOTS, index) for index in range(4)] == ["n2", "n1", "n1", ""]


def test_a_node_that_comes_back_is_charged_with_what_is_open_there() -> None:
    nodes, kept, given_ = made(("n1", 3))
    kept.promise(JOB, given_)
    nodes.remove("n1")
    kept.seat(SLOTS, "n1", 1)
    nodes.put(node("n1", gpu=8))
    kept.charge("n1")
    assert gpus(nodes)["n1"] == 2


def lost(job: Workload, *places: tuple[str, int], bound: dict[str, int], ended: dict[str, int], down: str) -> str:
    nodes, kept, given_ = made(*places)
    kept.promise(job, given_)
    for name, n in bound.items():
        kept.seat(SLOTS, name, n)
    for name, n in ended.items():
        kept.end(SLOTS, name, n)
    nodes.put(node(down, gpu=8, ready=False))
    return kept.lost_node(job, given_)


def test_a_place_that_nobody_used_yet_is_lost_with_its_node() -> None:
    assert lost(JOB, ("n1", 2), ("n2", 2), bound={}, ended={}, down="n2") == "n2"


def test_a_place_under_a_running_pod_is_lost_with_its_node() -> None:
    assert lost(JOB, ("n1", 2), ("n2", 2), bound={"n1": 2, "n2": 2}, ended={}, down="n1") == "n1"


def test_a_place_whose_pod_has_ended_is_not_missed() -> None:
    assert lost(JOB, ("n1", 2), ("n2", 2), bound={"n1": 2}, ended={"n2": 2}, down="n2") == ""
    assert lost(JOB, ("n1", 2), ("n2", 2), bound={"n1": 2}, ended={"n2": 1}, down="n2") == "n2"


def test_another_node_is_nobodys_loss() -> None:
    assert lost(JOB, ("n1", 2), bound={}, ended={}, down="n3") == ""


def test_a_running_pod_off_its_place_is_lost_with_the_node_it_is_on() -> None:
    assert lost(JOB, ("n1", 2), bound={"n3": 1}, ended={}, down="n3") == "n3"


def test_without_a_pod_set_the_admission_says_how_much_a_place_is() -> None:
    nodes, kept, _ = made()
    given_ = Admission("cq", (PodSetAssigned("other", 2, ((GPU, "f"),), ((GPU, 4000),), (("n1", 2),)),))
    kept.promise(JOB, given_)
    assert gpus(nodes)["n1"] == 4
