"""Session: gangs to their places, pods on their own by filter and score."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.decisions import Bind, Evict, Unplaced
from kumi.engine.gangs import Member, PodGroup
from kumi.engine.model import (
    Admission,
    Namespace,
    Neighbours,
    Node,
    Pod,
    PodSet,
    PodSetAssigned,
    PodShape,
    PodTerm,
    Profile,
    Put,
    Remove,
    Requirement,
    SpreadTerm,
    Workload,
)
from kumi.engine.placement import session
from kumi.engine.reasons import Code, Reason
from kumi.engine.state import State
from kumi.testing.builders import GPU, amounts, door, flavor, node, pod, pods_of, queue, shape, workload
from kumi.testing.diagram import Cluster
from kumi.testing.gangs import line
from kumi.testing.neighbours import HOST, ZONE, here
from kumi.testing.strategies import ENDURES, TAINT, World, worlds


def said(decided: list[object]) -> list[tuple[str, str | list[Code]]]:
    """(pod, node or codes) in order."""
    told: list[tuple[str, str | list[Code]]] = []
    for decision in decided:
        if isinstance(decision, Bind):
            told.append((decision.pod, decision.node))
        if isinstance(decision, Unplaced):
            told.append((decision.pod, [r.code for r in decision.reasons]))
    return told


def test_laws_of_a_session_on_clusters_that_are_not_trivial() -> None:
    """Every pod of what was admitted is bound where it was promised, every other pod on its own where it fits, or not."""
    seen = Counter[str]()

    @settings(max_examples=150, database=None, derandomize=True)
    @given(worlds())
    def check(world: World) -> None:
        state = State()
        for noun in world.nouns:
            state.apply(Put(noun))
        cycle.decide(state, 0)
        for job in world.workloads:
            for number, each in enumerate(pods_of(job)):
                state.apply(Put(each))
                state.apply(Put(replace(each, uid=f"alone-{each.uid}", workload="", priority=number % 2)))
        decided = session.decide(state, 0)
        invariants.check(state)
        assert session.decide(state, 0) == []
        placed: dict[tuple[str, str], Counter[str]] = {}
        for decision in decided:
            assert isinstance(decision, Bind | Unplaced)
            found = state.pods.by_uid[decision.pod]
            if found.workload:
                assert isinstance(decision, Bind)
                placed.setdefault((found.workload, found.pod_set), Counter())[decision.node] += 1
            seen[f"{type(decision).__name__} {'gang' if found.workload else 'alone'}"] += 1
        for key, admission in state.holdings.admission.items():
            for given_ in admission.pod_sets:
                assert placed.get((key, given_.name), Counter()) == Counter(dict(given_.nodes))

    check()
    assert min(seen["Bind gang"], seen["Bind alone"], seen["Unplaced alone"]) > 40, seen


def test_a_gang_is_bound_when_all_of_it_is_there_and_says_so_once_before() -> None:
    cluster = Cluster.drawn("n1 | . .\nn2 | . .")
    cluster.submit("A", 3)
    cluster.run()
    first, second, third = pods_of(cluster.workloads["ns/a"])
    cluster.put(first, second)
    assert said(cluster.run()) == [(p.uid, [Code.GANG_INCOMPLETE]) for p in (first, second)]
    assert cluster.run() == []
    cluster.put(third)
    assert said(cluster.run()) == [(first.uid, "n1"), (second.uid, "n1"), (third.uid, "n2")]


def test_a_gang_that_is_bound_takes_no_more_room_than_it_was_promised() -> None:
    cluster = Cluster.drawn("n1 | . . . .")
    cluster.submit("A", 2)
    cluster.run()
    assert cluster.draw() == "n1 | A A . ."
    cluster.start("A")
    cluster.run()
    assert cluster.draw() == "n1 | A A . ."


def test_no_pod_on_its_own_takes_a_promised_place() -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.put(pod("ns/p", gpu=1, priority=1000))
    assert said(cluster.run()) == [("ns/p", [Code.NODES_FULL])]


def test_pods_go_to_the_place_of_their_index() -> None:
    cluster = Cluster.drawn("n1 | . .\nn2 | . .")
    cluster.submit("A", 4)
    cluster.run()
    cluster.put(*reversed(pods_of(cluster.workloads["ns/a"])))
    assert [node_ for _, node_ in said(cluster.run())] == ["n1", "n1", "n2", "n2"]


def test_pods_without_an_index_go_in_order_of_creation_and_key() -> None:
    cluster = Cluster.drawn("n1 | .\nn2 | .")
    cluster.submit("A", 2)
    cluster.run()
    cluster.put(
        *(
            replace(p, index=None, created_ms=-p.index)
            for p in pods_of(cluster.workloads["ns/a"])
            if p.index is not None
        )
    )
    assert said(cluster.run()) == [("ns/a-main-1-0", "n1"), ("ns/a-main-0-0", "n2")]


def test_a_pod_that_ended_gives_its_place_to_the_one_that_takes_over() -> None:
    cluster = Cluster.drawn("n1 | . .\nn2 | .")
    cluster.submit("A", 3)
    cluster.run()
    pods = cluster.start("A")
    cluster.run()
    cluster.put(replace(cluster.pods[pods[1].uid], finished=True))
    assert cluster.draw() == "n1 | A A\nn2 | A"
    again = replace(pods[1], uid="again")
    cluster.put(again)
    assert said(cluster.run()) == [("again", "n1")]


def test_one_that_takes_over_waits_for_the_one_that_goes() -> None:
    cluster = Cluster.drawn("n1 | . .")
    cluster.submit("A", 2)
    cluster.run()
    pods = cluster.start("A")
    cluster.run()
    cluster.put(replace(cluster.pods[pods[0].uid], terminating=True), replace(pods[0], uid="again"))
    assert said(cluster.run()) == [("again", [Code.NODES_FULL])]
    cluster.remove(Pod, pods[0].uid)
    assert said(cluster.run()) == [("again", "n1")]


def test_a_refused_bind_of_a_gang_is_repeated_alone() -> None:
    cluster = Cluster.drawn("n1 | . .")
    cluster.submit("A", 2)
    cluster.run()
    cluster.start("A")
    first, second = cluster.bind()
    cluster.write([first])
    cluster.refuse([second])
    assert cluster.draw() == "n1 | A A"
    assert cluster.bind() == [second]


def test_pods_that_are_gated_or_go_or_are_nobodys_yet_are_left_alone() -> None:
    cluster = Cluster.drawn("n1 | . . . .")
    cluster.put(pod("ns/gated", gated=True), pod("ns/goes", terminating=True), pod("ns/early", workload="ns/later"))
    assert cluster.run() == []
    cluster.put(pod("ns/gated"))
    assert said(cluster.run()) == [("ns/gated", "n1")]


def test_pods_of_a_workload_that_is_evicted_are_left_alone() -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.put(replace(cluster.workloads["ns/a"], active=False))
    evict = cluster.decide()
    cluster.start("A")
    assert cluster.bind() == []
    cluster.refuse(evict)
    cluster.put(replace(cluster.workloads["ns/a"], active=True))
    assert len(cluster.bind()) == 2


def test_a_place_on_a_cordoned_node_is_lost_when_a_pod_asks_for_it() -> None:
    cluster = Cluster.drawn("n1 | A A\nn2 | . .")
    cluster.put(node("n1", gpu=2, unschedulable=True))
    assert cluster.run() == []
    cluster.start("A")
    assert cluster.run() == [Evict("ns/a", "NodeFailures", Reason(Code.RESERVATION_LOST, where="n1"))]


def test_a_session_that_meets_a_lost_place_first_says_so_and_has_it_looked_at() -> None:
    cluster = Cluster.drawn("n1 | A A\nn2 | . .")
    cluster.put(node("n1", gpu=2, unschedulable=True))
    cluster.start("A")
    assert said(cluster.bind()) == [(f"ns/a-main-{n}-0", [Code.RESERVATION_LOST]) for n in (0, 1)]
    assert [type(d) for d in cluster.decide()] == [Evict]


def test_half_a_gang_is_not_bound_though_half_of_its_places_are_good() -> None:
    cluster = Cluster.drawn("n1 | A A\nn2 | A A")
    cluster.put(node("n2", gpu=2, unschedulable=True))
    cluster.start("A")
    assert {tuple(codes) for _, codes in said(cluster.bind())} == {(Code.RESERVATION_LOST,)}
    assert [d.reason.where for d in cluster.decide() if isinstance(d, Evict) and d.reason] == ["n2"]


def test_half_a_gang_is_not_bound_though_one_of_its_pods_is_too_large() -> None:
    cluster = Cluster.drawn("n1 | A A x")
    first, second = pods_of(cluster.workloads["ns/a"])
    cluster.put(first, replace(second, shape=shape(gpu=2)))
    assert said(cluster.run()) == [(p.uid, [Code.NODES_FULL]) for p in (first, second)]
    cluster.remove(Pod, "ns/x-0")
    assert said(cluster.run()) == [(first.uid, "n1"), (second.uid, "n1")]


def test_a_place_that_a_pod_ended_on_is_lost_when_another_asks_for_it() -> None:
    cluster = Cluster.drawn("n1 | .\nn2 | .")
    cluster.submit("A", 2)
    cluster.run()
    pods = cluster.start("A")
    cluster.run()
    cluster.put(replace(cluster.pods[pods[1].uid], finished=True))
    cluster.remove(Node, "n2")
    assert cluster.run() == []
    cluster.put(replace(pods[1], uid="again"))
    assert [d.why for d in cluster.run() if isinstance(d, Evict)] == ["NodeFailures"]


def test_a_promised_place_is_kept_by_what_admission_let_the_pods_endure() -> None:
    cluster = Cluster.drawn("n1 | . . !dedicated")
    cluster.put(replace(cluster.state.nodes.node_by_name["n1"], taints=(TAINT,)), flavor(tolerations=(ENDURES,)))
    cluster.submit("A", 2)
    cluster.run()
    cluster.start("A")
    assert [node_ for _, node_ in said(cluster.run())] == ["n1", "n1"]


def test_a_pod_larger_than_its_place_needs_the_rest_free_beside_it() -> None:
    cluster = Cluster.drawn("n1 | A x .")
    (first,) = pods_of(cluster.workloads["ns/a"])
    cluster.put(replace(first, shape=shape(gpu=3)))
    ((_, codes),) = said(cluster.run())
    assert codes == [Code.NODES_FULL]
    cluster.remove(Pod, "ns/x-0")
    assert said(cluster.run()) == [(first.uid, "n1")]


def test_pods_of_an_admission_without_places_are_placed_together_or_not_at_all() -> None:
    cluster = Cluster.drawn("n1 | . x\nn2 | .")
    given_ = Admission("cq", (PodSetAssigned("main", 3, ((GPU, "default"),), ((GPU, 3000),)),))
    cluster.put(workload("ns/a", 3, gpu=1, admission=given_))
    cluster.start("A")
    assert [codes for _, codes in said(cluster.run())] == [[Code.NODES_FULL]] * 3
    assert cluster.draw() == "n1 | x .\nn2 | ."
    cluster.remove(Pod, "ns/x-0")
    assert [node_ for _, node_ in said(cluster.run())] == ["n1", "n1", "n2"]
    cluster.put(replace(cluster.pods["ns/a-main-0-0"], finished=True))
    cluster.put(replace(pods_of(cluster.workloads["ns/a"])[0], uid="again"))
    assert said(cluster.run()) == [("again", "n1")]


def test_pods_on_their_own_go_by_priority_then_creation_then_uid() -> None:
    cluster = Cluster.drawn("n1 | . . .")
    cluster.put(
        pod("ns/d", gpu=1, created_ms=1),
        pod("ns/c", gpu=1, created_ms=5, priority=1),
        pod("ns/b", gpu=1, created_ms=1),
        pod("ns/a", gpu=1, created_ms=2),
    )
    assert said(cluster.run()) == [("ns/c", "n1"), ("ns/b", "n1"), ("ns/d", "n1"), ("ns/a", [Code.NODES_FULL])]


def test_a_pod_on_its_own_takes_the_best_score_then_the_smallest_name() -> None:
    cluster = Cluster.drawn("n2 | . .\nn1 | . .\nn3 | x .")
    cluster.put(pod("ns/p", gpu=1))
    assert said(cluster.run()) == [("ns/p", "n3")]
    cluster.put(pod("ns/q", gpu=2))
    assert said(cluster.run()) == [("ns/q", "n1")]


def test_a_pod_that_fits_nowhere_is_told_every_cause_once_and_tried_when_a_node_gains_room() -> None:
    cluster = Cluster.drawn("n1 | x x\nn2 | .\nn3 | . . !dedicated")
    cluster.put(pod("ns/p", gpu=2))
    assert said(cluster.run()) == [("ns/p", [Code.NODE_NOT_MATCHED, Code.NODE_TOO_SMALL, Code.NODES_FULL])]
    cluster.put(pod("ns/q", gpu=9))
    assert [who for who, _ in said(cluster.run())] == ["ns/q"]
    cluster.remove(Pod, "ns/x-0")
    assert [(d.reasons[-1].code, d.reasons[-1].have) for d in cluster.run() if isinstance(d, Unplaced)] == [
        (Code.NODES_FULL, 1000)
    ]
    cluster.remove(Pod, "ns/x-1")
    assert said(cluster.run()) == [("ns/p", "n1")]


def test_a_new_pod_on_its_own_is_tried_without_trying_all_others_again() -> None:
    cluster = Cluster.drawn("n1 | .")
    cluster.put(*(pod(f"ns/large-{n}", gpu=2) for n in range(3)))
    assert len(cluster.run()) == 3
    cluster.put(pod("ns/small", gpu=1))
    assert said(cluster.run()) == [("ns/small", "n1")]


def test_where_kumi_does_not_place_it_binds_nothing() -> None:
    cluster = Cluster.drawn("n1 | A .", profile=Profile(places=False))
    cluster.start("A")
    cluster.put(pod("ns/p", gpu=1))
    assert cluster.run() == []


def test_pods_that_end_free_their_room_and_those_of_a_finished_workload_keep_it_until_then() -> None:
    cluster = Cluster.drawn("n1 | . .")
    cluster.submit("A", 2)
    cluster.run()
    pods = cluster.start("A")
    cluster.run()
    cluster.put(replace(cluster.workloads["ns/a"], finished=True))
    assert cluster.draw() == "n1 | A A"
    cluster.put(replace(cluster.pods[pods[0].uid], finished=True))
    assert cluster.draw() == "n1 | A ."


def test_a_pod_that_another_binds_takes_the_place_of_its_workload() -> None:
    cluster = Cluster.drawn("n1 | A A .\nn2 | . .")
    first, second = pods_of(cluster.workloads["ns/a"])
    cluster.put(replace(first, node="n2"))
    assert cluster.draw() == "n1 | A . .\nn2 | A ."
    cluster.put(second)
    assert said(cluster.run()) == [(second.uid, "n1")]


def test_a_queue_of_quota_alone_never_lets_two_gangs_share_a_node_by_halves() -> None:
    cluster = Cluster.drawn("n1 | . .\nn2 | . .\nn3 | . .", gpus=8)
    cluster.put(queue("cq", {"default": {"gpu": 8}}))
    for letter in "AB":
        cluster.submit(letter, 4)
    cluster.run()
    for letter in "AB":
        cluster.start(letter)
    cluster.run()
    assert cluster.draw() == "n1 | A A\nn2 | A A\nn3 | . ."


def looking(name: str, app: str, **said: object) -> Pod:
    asked = replace(shape(cpu=1), neighbours=Neighbours(**said))  # type: ignore[arg-type]
    return replace(pod(f"ns/{name}"), shape=asked, labels=(("app", app),))


def test_a_pod_on_its_own_heeds_who_is_there() -> None:
    state = State()
    for noun in (node("n1", {HOST: "n1"}, cpu=4), node("n2", {HOST: "n2"}, cpu=4)):
        state.apply(Put(noun))
    for name in "abc":
        state.apply(Put(looking(name, "a", apart=(here("app", "a"),))))
    assert said(session.decide(state, 0)) == [("ns/a", "n1"), ("ns/b", "n2"), ("ns/c", [Code.NODE_NOT_MATCHED])]


def test_who_waits_for_a_friend_goes_when_the_friend_is_there() -> None:
    state = State()
    for name in ("n1", "n2"):
        state.apply(Put(node(name, {HOST: name}, cpu=4)))
    state.apply(Put(looking("a", "a", near=(here("app", "b"),))))
    assert said(session.decide(state, 0)) == [("ns/a", [Code.NODE_NOT_MATCHED])]
    state.apply(Put(replace(pod("ns/b"), node="n2", labels=(("app", "b"),))))
    assert said(session.decide(state, 0)) == [("ns/a", "n2")]


def test_who_came_before_a_friend_is_asked_again_after_the_friend_was_placed() -> None:
    state = State()
    state.apply(Put(node("n1", {HOST: "n1"}, cpu=4)))
    state.apply(Put(looking("a", "a", near=(here("app", "b"),))))
    state.apply(Put(replace(pod("ns/b"), labels=(("app", "b"),))))
    assert said(session.decide(state, 0)) == [("ns/a", [Code.NODE_NOT_MATCHED]), ("ns/b", "n1")]
    assert said(session.decide(state, 0)) == [("ns/a", "n1")]
    assert session.decide(state, 0) == []


def test_a_node_that_comes_back_has_its_pods_again() -> None:
    state = State()
    state.apply(Put(node("n1", {HOST: "n1"}, cpu=4)))
    state.apply(Put(replace(pod("ns/b"), node="n1", labels=(("app", "a"),))))
    state.apply(Remove(Node, "n1"))
    state.apply(Put(node("n0", {HOST: "n0"}, cpu=4)))
    state.apply(Put(node("n1", {HOST: "n1"}, cpu=4)))
    state.apply(Put(looking("a", "a", apart=(here("app", "a"),))))
    state.apply(Put(looking("c", "a", near=(here("app", "a"),))))
    assert said(session.decide(state, 0)) == [("ns/a", "n0"), ("ns/c", "n1")]


def test_a_promised_place_is_like_a_pod_to_those_who_look() -> None:
    state = State()
    for noun in (flavor(), queue("cq", {"default": {"cpu": 9}}), door("ns/lq", "cq")):
        state.apply(Put(noun))
    for name in ("n1", "n2"):
        state.apply(Put(node(name, {HOST: name}, cpu=4)))
    pods = PodSet("main", 1, shape(cpu=1), namespace="ns", labels=(("app", "a"),))
    state.apply(Put(workload("ns/w", pod_sets=(pods,))))
    (admit, *_) = cycle.decide(state, 0)
    assert admit.admission.pod_sets[0].nodes == (("n1", 1),)  # type: ignore[union-attr]
    state.apply(Put(looking("a", "b", apart=(here("app", "a"),))))
    assert said(session.decide(state, 0)) == [("ns/a", "n2")]
    state.apply(Remove(Workload, "ns/w"))
    state.apply(Put(looking("b", "c", apart=(here("app", "a"), here("app", "b")))))
    assert said(session.decide(state, 0)) == [("ns/b", "n1")]


RED = (Requirement("team", "In", ("red",)),)
LOOKS = (
    None,
    Neighbours(near=(PodTerm(ZONE, (), namespace_selector=RED),)),
    Neighbours(apart=(PodTerm(ZONE, (), namespace_selector=RED),)),
    Neighbours(apart=(PodTerm(HOST, (), namespace_selector=(Requirement("team", "Exists"),)),)),
    Neighbours(spread=(SpreadTerm(ZONE, (), 1),)),
    Neighbours(spread=(SpreadTerm(ZONE, (), 1, by_taints=True),)),
)
"""what a pod may say of others: by the labels of their namespaces, by what zones there are"""


def some_delta(random: Random, number: int) -> list[Put | Remove]:
    """Anything that placement reads."""
    name, space = f"n{random.randrange(4)}", f"s{random.randrange(3)}"
    word = random.choice(
        ["pod", "pod", "gang", "gang", "go", "node", "no node", "namespace", "namespace", "no namespace"]
    )
    made = PodShape(amounts(cpu=random.randrange(1, 3)), neighbours=random.choice(LOOKS))
    if word == "pod":
        return [Put(Pod(f"p{number}", f"{space}/p{number}", made, number))]
    if word == "gang":
        group = PodGroup(f"{space}/g{number}", "q", uid=f"g{number}", least=2)
        of = Member(group=group.key)
        uids = [f"g{number}-{i}" for i in range(2)]
        return [Put(group), *(Put(Pod(uid, f"{space}/{uid}", made, number, member=of)) for uid in uids)]
    if word == "node" or number < 3:
        labels = random.choice([((HOST, name), (ZONE, f"z{random.randrange(2)}")), ((HOST, name),)])
        return [Put(Node(name, labels, amounts(cpu=4, pods=110), random.choice([(), (), (TAINT,)])))]
    if word == "namespace":
        return [Put(Namespace(space, random.choice([(), (("team", "red"),), (("team", "blue"),)])))]
    return [Remove(*{"no node": (Node, name), "no namespace": (Namespace, space)}.get(word, (Pod, f"p{number - 3}")))]


def test_nothing_that_placement_reads_changes_without_waking_those_whom_it_lets_go() -> None:
    """Two clusters with one history: in the second everybody is looked at each time."""
    seen = Counter[str]()
    for seed in range(15):
        random = Random(seed)
        woken, always = State(), State()
        for state in (woken, always):
            state.apply(Put(line("q")))
        for number in range(40):
            for delta in some_delta(random, number):
                woken.apply(delta)
                always.apply(delta)
            always.nodes.gain_all()
            always.answers.stir()
            for state in (woken, always):
                for decision in session.decide(state, number):
                    state.settle(decision, ok=True)
                    seen[type(decision).__name__] += 1
            assert woken.pods.node_of == always.pods.node_of, (seed, number)
    assert min(seen["Bind"], seen["Unplaced"]) > 100, seen


@pytest.mark.parametrize("gang", [False, True])
def test_labels_of_a_namespace_let_those_go_who_look_for_them(gang: bool) -> None:
    state = State()
    shape_ = PodShape(amounts(cpu=1), neighbours=LOOKS[1])
    nouns = [
        node("n1", {ZONE: "z"}, cpu=8),
        Namespace("a", ()),
        Pod("a", "a/a", PodShape(amounts(cpu=1)), 0, node="n1"),
    ]
    who = Pod("p", "ns/p", shape_, 0, member=Member(group="ns/g") if gang else Member())
    for noun in [*nouns, *([line("q"), PodGroup("ns/g", "q", uid="g", least=1)] if gang else []), who]:
        state.apply(Put(noun))
    session.decide(state, 0)
    assert "p" not in state.pods.node_of
    state.apply(Put(Namespace("a", (("team", "red"),))))
    session.decide(state, 1)
    assert state.pods.node_of["p"] == "n1"


def test_a_zone_that_is_gone_with_its_last_node_holds_up_nobody() -> None:
    state = State()
    apart = PodShape(amounts(cpu=1), neighbours=LOOKS[4])
    for noun in (node("n1", {ZONE: "a"}, cpu=8), node("n2", {ZONE: "b"}, cpu=0), Pod("a", "ns/a", apart, 0, node="n1")):
        state.apply(Put(noun))
    state.apply(Put(Pod("p", "ns/p", apart, 0)))
    session.decide(state, 0)
    assert "p" not in state.pods.node_of
    state.apply(Remove(Node, "n2"))
    session.decide(state, 1)
    assert state.pods.node_of["p"] == "n1"


def test_labels_of_a_namespace_let_a_workload_start_that_looks_for_them() -> None:
    state = State()
    looks = PodShape(amounts(cpu=1), neighbours=LOOKS[1])
    here_ = (
        node("n1", {ZONE: "z"}, cpu=8),
        Namespace("a", ()),
        Pod("a", "a/a", PodShape(amounts(cpu=1)), 0, node="n1"),
    )
    there = (
        flavor("f"),
        queue("q", {"f": {"cpu": 8}}),
        door("ns/q", "q"),
        workload("ns/w", pod_shape=looks, queue="ns/q"),
    )
    for noun in (*here_, *there):
        state.apply(Put(noun))
    cycle.decide(state, 0)
    assert "ns/w" not in state.holdings.admission
    state.apply(Put(Namespace("a", (("team", "red"),))))
    cycle.decide(state, 1)
    assert "ns/w" in state.holdings.admission


def test_labels_of_a_namespace_let_its_workloads_into_a_queue_that_asks_for_them() -> None:
    state = State()
    there = (
        flavor("f"),
        queue("q", {"f": {"cpu": 8}}, selector=RED),
        door("ns/q", "q"),
        workload("ns/w", queue="ns/q"),
    )
    for noun in (node("n1", cpu=8), Namespace("ns", ()), *there):
        state.apply(Put(noun))
    cycle.decide(state, 0)
    assert "ns/w" not in state.holdings.admission
    state.apply(Put(Namespace("ns", (("team", "red"),))))
    cycle.decide(state, 1)
    assert "ns/w" in state.holdings.admission
