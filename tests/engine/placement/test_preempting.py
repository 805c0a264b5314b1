"""Preempting: pods on their own, by priority."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.decisions import Bind, Decision, EvictPod, Nominate
from kumi.engine.gangs import DisruptionBudget, Member, PodGroup, Queue
from kumi.engine.model import Neighbours, Node, Noun, Pod, PodTerm, Put, Remove, Requirement
from kumi.engine.placement import session
from kumi.engine.placement.preempting import on_node
from kumi.engine.state import State
from kumi.testing.builders import node, pod


class World:
    """What is decided happens; what is evicted is there until it is said to be gone."""

    def __init__(self, *nouns: Noun) -> None:
        self.state = State()
        self.put(*nouns)

    def put(self, *nouns: Noun) -> None:
        for noun in nouns:
            self.state.apply(Put(noun))

    def decide(self) -> list[Decision]:
        decided: list[Decision] = []
        while more := session.decide(self.state, 0):
            decided += more
            for one in more:
                self.state.settle(one, ok=True)
                if isinstance(one, Bind):
                    self.put(replace(self.state.pods.by_uid[one.pod], node=one.node, phase="Running"))
            invariants.check(self.state)
            assert len(decided) < 200, "it never ends"
        return decided

    def gone(self, *uids: str) -> None:
        for uid in uids:
            self.state.apply(Remove(Pod, uid))


def low(name: str, where: str, cpu: int = 1, priority: int = 1, **fields: object) -> Pod:
    return replace(pod(f"ns/{name}", cpu=cpu, priority=priority, node=where), phase="Running", **fields)


def high(name: str = "h", cpu: int = 1, priority: int = 9, **fields: object) -> Pod:
    return replace(pod(f"ns/{name}", cpu=cpu, priority=priority), **fields)


def evicted(decided: list[Decision]) -> list[str]:
    return sorted(d.pod.removeprefix("ns/") for d in decided if isinstance(d, EvictPod))


def moves(decided: list[Decision]) -> list[Decision]:
    return [d for d in decided if isinstance(d, EvictPod | Nominate | Bind)]


def test_a_pod_without_room_evicts_one_that_matters_less_and_gets_its_place_when_that_has_gone() -> None:
    world = World(node("n", cpu=1), low("l", "n"))
    world.decide()
    world.put(high())
    assert moves(world.decide()) == [EvictPod("ns/l", "ns/h"), Nominate("ns/h", "n")]
    assert moves(world.decide()) == []
    world.gone("ns/l")
    assert moves(world.decide()) == [Bind("ns/h", "n")]
    assert world.state.nodes.pipelined.sum() == 0


@pytest.mark.parametrize("spoiled", ["equal", "never", "not preemptable", "workload", "too large"])
def test_who_may_not_be_taken_or_may_not_take(spoiled: str) -> None:
    world = World(node("n", cpu=2))
    world.put(
        low("l", "n", cpu=2, priority=9 if spoiled == "equal" else 1, workload="ns/w" if spoiled == "workload" else "")
        if spoiled != "not preemptable"
        else low("l", "n", cpu=2, member=Member(preemptable=False))
    )
    said = Member(never_preempts=True) if spoiled == "never" else Member()
    world.put(high(cpu=3 if spoiled == "too large" else 1, member=said))
    assert moves(world.decide()) == []


@pytest.mark.parametrize(("pod_says", "gone"), [(None, []), (False, []), (True, ["l"])])
def test_a_gang_that_says_it_is_not_to_be_stopped_is_not_for_a_pod_either(
    pod_says: bool | None, gone: list[str]
) -> None:
    runs = low("l", "n", member=Member(group="ns/g", preemptable=pod_says))
    world = World(node("n", cpu=1), Queue("q"), PodGroup("ns/g", "q", least=0, preemptable=False), runs)
    world.decide()
    world.put(high())
    assert evicted(world.decide()) == gone


def test_a_free_node_is_used_before_anybody_goes() -> None:
    world = World(node("a", cpu=1), node("b", cpu=1), low("l", "a"), high())
    assert moves(world.decide()) == [Bind("ns/h", "b")]


def test_where_somebody_is_leaving_anyway_nobody_else_has_to_go() -> None:
    world = World(node("a", cpu=1), node("b", cpu=1), low("l", "a"), low("m", "b", terminating=True))
    both = World(node("a", cpu=1), node("b", cpu=1), low("l", "a"), low("m", "b", terminating=True))
    world.put(high())
    assert moves(world.decide()) == []
    both.put(high(), high("h2"))
    assert moves(both.decide()) == [EvictPod("ns/l", "ns/h2"), Nominate("ns/h2", "a")]


def test_nobody_takes_a_place_that_was_cleared_for_another() -> None:
    world = World(node("n", cpu=2), low("l", "n"), high("h", cpu=2))
    assert evicted(world.decide()) == ["l"]
    world.put(high("thief", cpu=1, priority=5), high("higher", cpu=1, priority=99))
    assert moves(world.decide()) == []
    world.gone("ns/l")
    assert [d.pod for d in moves(world.decide()) if isinstance(d, Bind)] == ["ns/h"]


def test_a_place_on_a_node_that_goes_is_given_up() -> None:
    world = World(node("n", cpu=1), low("l", "n"), high())
    world.decide()
    world.state.apply(Remove(Node, "n"))
    world.put(node("m", cpu=1))
    assert moves(world.decide()) == [Bind("ns/h", "m")]


def test_a_place_on_a_node_that_takes_no_more_pods_is_given_up() -> None:
    world = World(node("n", cpu=1), node("m", cpu=1), low("l", "n"), low("k", "m", priority=5), high())
    assert evicted(world.decide()) == ["l"]
    world.put(node("n", cpu=1, unschedulable=True))
    assert moves(world.decide()) == [EvictPod("ns/k", "ns/h"), Nominate("ns/h", "m")]


def test_a_place_is_taken_once_where_word_of_the_pod_and_the_room_for_it_come_together() -> None:
    world = World(node("n", cpu=1), low("l", "n"), high("larger", cpu=2))
    world.put(high())
    world.decide()
    world.put(replace(world.state.pods.by_uid["ns/h"], member=Member(nominated="n")))
    world.gone("ns/l")
    assert moves(world.decide()) == [Bind("ns/h", "n")]


def test_the_node_is_taken_where_it_costs_the_least() -> None:
    world = World(*(node(name, cpu=2) for name in "abcd"), high(cpu=2))
    world.put(low("a1", "a", priority=3, cpu=2), low("b1", "b", priority=2), low("b2", "b", priority=2))
    world.put(low("c1", "c", priority=2, cpu=2), low("d1", "d", priority=2, cpu=2, created_ms=5))
    assert evicted(world.decide()) == ["d1"]


def test_a_disruption_budget_is_drawn_on_only_where_nothing_else_would_do() -> None:
    app = (("app", "x"),)
    budget = DisruptionBudget("ns/b", (Requirement("app", "In", ("x",)),), allowed=0)
    world = World(node("a", cpu=1), node("b", cpu=1), budget)
    world.put(low("a1", "a", priority=1, labels=app), low("b1", "b", priority=5), high())
    assert evicted(world.decide()) == ["b1"]
    world = World(node("a", cpu=1), budget, low("a1", "a", labels=app), high())
    assert evicted(world.decide()) == ["a1"]


def test_what_a_budget_does_not_allow_stays_if_another_one_will_do() -> None:
    app = (("app", "x"),)
    budget = DisruptionBudget("ns/b", (Requirement("app", "In", ("x",)),), allowed=0)
    world = World(node("a", cpu=2), budget, low("a1", "a", labels=app, priority=1), low("a2", "a", priority=5), high())
    assert evicted(world.decide()) == ["a2"]


def test_one_of_equal_priority_stays_also_where_a_budget_spares_the_other() -> None:
    app = (("app", "x"),)
    budget = DisruptionBudget("ns/b", (Requirement("app", "In", ("x",)),), allowed=0)
    world = World(node("a", cpu=2), budget, low("a1", "a", labels=app), low("a2", "a", priority=9), high())
    assert evicted(world.decide()) == ["a1"]


def members(count: int, least: int, where: str = "n") -> list[Noun]:
    group = PodGroup("ns/g", "q", least=least, uid="g")
    return [Queue("q"), group, *(low(f"g{n}", where, member=Member(group="ns/g")) for n in range(count))]


@pytest.mark.parametrize(("count", "least", "gone"), [(3, 2, 1), (3, 3, 3), (3, 0, 1)])
def test_a_gang_gives_what_it_can_spare_or_all_of_it(count: int, least: int, gone: int) -> None:
    world = World(node("n", cpu=count), *members(count, least), high())
    assert len(evicted(world.decide())) == gone


def test_a_gang_that_is_also_elsewhere_and_can_spare_nobody_gives_nobody() -> None:
    world = World(node("n", cpu=2), node("m", cpu=1), *members(2, 3), high())
    world.put(low("g9", "m", member=Member(group="ns/g")))
    assert evicted(world.decide()) == []


def test_those_of_whom_the_pod_keeps_away_go() -> None:
    away = Neighbours(apart=(PodTerm("kubernetes.io/hostname", (Requirement("app", "In", ("x",)),)),))
    mine = high()
    world = World(
        node("n", {"kubernetes.io/hostname": "n"}, cpu=9), low("l", "n", labels=(("app", "x"),)), low("k", "n")
    )
    world.put(replace(mine, shape=replace(mine.shape, neighbours=away)))
    assert evicted(world.decide()) == ["l"]


crowds = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3), st.integers(0, 4)), max_size=6)


@given(crowds, st.integers(1, 5), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_victims_make_room_and_with_one_of_them_less_there_is_none(
    said: list[tuple[int, int, int]], cpu: int, priority: int
) -> None:
    world = World(node("n0", cpu=4), node("n1", cpu=4))
    free = {"n0": 4, "n1": 4}
    for number, (where, size, level) in enumerate(said):
        if free[f"n{where}"] >= size:
            free[f"n{where}"] -= size
            world.put(low(f"l{number}", f"n{where}", cpu=size, priority=level))
    sizes = {uid: dict(p.shape.requests)["cpu"] // 1000 for uid, p in world.state.pods.by_uid.items()}
    world.put(high(cpu=cpu, priority=priority))
    decided = moves(world.decide())
    gone = [d.pod for d in decided if isinstance(d, EvictPod)]
    if not gone:
        return
    (name,) = [d.node for d in decided if isinstance(d, Nominate)]
    assert max(free.values()) < cpu
    assert all(world.state.pods.by_uid[uid].priority < priority for uid in gone)
    room = free[name] + sum(sizes[uid] for uid in gone)
    assert room >= cpu
    assert all(room - sizes[uid] < cpu for uid in gone)


@given(crowds, st.integers(1, 5), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_looking_at_a_node_leaves_everything_as_it_was(
    said: list[tuple[int, int, int]], cpu: int, priority: int
) -> None:
    world = World(node("n0", cpu=18), *(low(f"l{n}", "n0", cpu=c, priority=p) for n, (_, c, p) in enumerate(said)))
    nodes = world.state.nodes
    before = (nodes.used.tolist(), nodes.pipelined.tolist(), nodes.releasing.tolist())
    on_node(world.state, high(cpu=cpu, priority=priority), "n0")
    assert (nodes.used.tolist(), nodes.pipelined.tolist(), nodes.releasing.tolist()) == before
    invariants.check(world.state)
