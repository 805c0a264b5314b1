"""Disruption budgets: never overdrawn, by one look or by several."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.decisions import Decision, EvictPod
from kumi.engine.gangs import DisruptionBudget, Member, PodGroup, PriorityClass, Queue
from kumi.engine.model import Noun, Pod, Put, Requirement
from kumi.engine.placement import session
from kumi.engine.placement.budgets import guards
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.state import State
from kumi.testing.builders import node, pod
from kumi.testing.gangs import Scene, gang, line, task


def budget(name: str, allowed: int, namespace: str = "ns", **labels: str) -> DisruptionBudget:
    wanted = tuple(Requirement(key, "In", (value,)) for key, value in labels.items())
    return DisruptionBudget(f"{namespace}/{name}", wanted, allowed)


def labelled(name: str, **labels: str) -> Pod:
    return replace(task(name, "a", node="n", cpu=1), labels=tuple(labels.items()))


def victims(crowd: list[Pod], *budgets: DisruptionBudget) -> list[str]:
    """Whom all three hooks name."""
    scene = Scene(line(), gang("me"), task("me-0", "me"), *budgets)
    at, me = scene.open("disruption-budgets"), scene.pod("me-0")
    found = at.preemptable(me, crowd)
    assert at.reclaimable(me, crowd) == at.evictable(scene.job("me"), crowd, reclaim=True) == found
    return [pod.uid for pod in found]


some = st.lists(st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["x", "y"]), max_size=2), max_size=8)


@given(some, st.integers(0, 3), st.integers(0, 3))
def test_no_budget_is_overdrawn_and_nobody_stays_who_may_go(said: list[dict[str, str]], one: int, two: int) -> None:
    crowd = [labelled(f"p{n}", **labels) for n, labels in enumerate(said)]
    budgets = [budget("one", one, app="x"), budget("two", two, tier="y")]
    gone = [pod for pod in crowd if pod.uid in victims(crowd, *budgets)]
    for each in budgets:
        assert sum(guards(each, pod) for pod in gone) <= each.allowed
    spare = {b.key: b.allowed - sum(guards(b, pod) for pod in gone) for b in budgets}
    for stays in (one for one in crowd if one not in gone):
        assert any(spare[b.key] <= 0 for b in budgets if guards(b, stays))


def test_one_that_does_not_go_costs_nothing() -> None:
    crowd = [labelled("p0", app="x", tier="y"), labelled("p1", app="x"), labelled("p2", app="x")]
    assert victims(crowd, budget("one", 2, app="x"), budget("none", 0, tier="y")) == ["p1", "p2"]


def test_one_that_no_budget_guards_goes() -> None:
    assert victims([labelled("p0"), labelled("p1", app="x")], budget("b", 0, app="x")) == ["p0"]


def test_without_budgets_it_has_no_opinion() -> None:
    """Beside one that names somebody: with an opinion of its own, and nobody in it, nobody would be left."""
    crowd = [labelled("p0")]
    scene = Scene(line(), gang("a", least=0), gang("me"), node("n", cpu=4), *crowd, task("me-0", "me"))
    at, me = scene.open(("disruption-budgets", "gang")), scene.pod("me-0")
    assert at.preemptable(me, crowd) == crowd
    assert scene.open("disruption-budgets").preemptable(me, crowd) == []


def test_what_the_session_evicted_counts_and_what_stays_after_all_does_not() -> None:
    crowd = [labelled("p0", app="x"), labelled("p1", app="x")]
    scene = Scene(line(), gang("a"), gang("me"), node("n", cpu=4), *crowd, task("me-0", "me"), budget("b", 1, app="x"))
    at, me = scene.open("disruption-budgets"), scene.pod("me-0")
    statement = Statement(at, Outcome())
    before = scene.state.tasks.status["p0"]
    with at.journal.trial():
        statement.evict(crowd[0], me.uid)
        assert at.preemptable(me, crowd) == [crowd[0]]
        assert at.preemptable(me, crowd[1:]) == []
        statement.spare(crowd[0], before)
        assert at.preemptable(me, crowd[1:]) == crowd[1:]
        statement.evict(crowd[0], me.uid)
    assert at.preemptable(me, crowd[1:]) == crowd[1:]


# production's default


def service(name: str, on: str, least: int = 1) -> list[Noun]:
    """A gang of one on that node."""
    one = pod(
        f"ns/{name}-0", cpu=1, node=on, phase="Running", labels=(("app", "x"),), member=Member(group=f"ns/{name}")
    )
    return [PodGroup(f"ns/{name}", "default", uid=name, least=least), replace(one, uid=f"{name}-0")]


def high(name: str) -> list[Noun]:
    one = pod(f"ns/{name}-0", cpu=1, priority=9, member=Member(group=f"ns/{name}"))
    return [PodGroup(f"ns/{name}", "default", uid=name, least=1, priority_class="high"), replace(one, uid=f"{name}-0")]


def evicted(state: State) -> list[str]:
    decided: list[Decision] = session.decide(state, 0)
    invariants.check(state)
    return [decision.pod for decision in decided if isinstance(decision, EvictPod)]


def world(*nouns: Noun) -> State:
    state = State()
    nodes = [node(f"n{n}", cpu=1) for n in range(3)]
    for noun in (Queue("default"), PriorityClass("high", 9), *nodes, *nouns):
        state.apply(Put(noun))
    return state


def test_by_default_gangs_leave_whom_a_budget_guards() -> None:
    guarded = [noun for n in range(3) for noun in service(f"s{n}", f"n{n}")]
    assert evicted(world(*guarded, budget("b", 0, app="x"), *high("h"))) == []
    assert len(evicted(world(*guarded, budget("b", 1, app="x"), *high("h")))) == 1


def test_by_default_two_gangs_do_not_spend_the_same_last_eviction() -> None:
    guarded = [noun for n in range(3) for noun in service(f"s{n}", f"n{n}")]
    state = world(*guarded, budget("b", 1, app="x"), *high("h"), *high("i"))
    assert len(evicted(state)) == 1
    for noun in high("j"):
        state.apply(Put(noun))
    assert evicted(state) == []
    state.apply(Put(budget("b", 0, app="x")))
    assert evicted(state) == []


def test_a_gang_that_is_guarded_in_part_is_not_stopped_as_a_whole() -> None:
    two = PodGroup("ns/s", "default", uid="s", least=2)
    both = [
        replace(pod(f"ns/s-{n}", cpu=1, node=f"n{n}", phase="Running", labels=labels), uid=f"s-{n}")
        for n, labels in enumerate([(("app", "x"),), ()])
    ]
    both = [replace(one, member=Member(group="ns/s")) for one in both]
    rest = service("t", "n2")
    blocked = budget("c", 0, app="x")
    assert evicted(world(two, *both, *rest, blocked, *high("h"))) == []
    assert sorted(evicted(world(two, *both, *rest, *high("h")))) in (["t-0"], ["s-0", "s-1"])
