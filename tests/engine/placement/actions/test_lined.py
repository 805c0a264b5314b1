"""Lined: gangs in line, and who may pass whom."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kumi.engine.decisions import Bind, Decision, EvictPod, GangPhase
from kumi.engine.gangs import PriorityClass
from kumi.engine.model import Node, Noun, Pod, Put, Remove
from kumi.engine.placement import gang_session, session
from kumi.engine.placement.actions import gang_least, lined, preempt_least
from kumi.engine.placement.line import changes, timeline
from kumi.engine.policy import parse
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import node
from kumi.testing.gangs import gang, line, task
from kumi.testing.lines import Lined, Played, play

NOW = 1_000_000


def hall(policy: str, *nouns: Noun, **more: object) -> State:
    state = State(parse({"line": policy, **more}))
    for noun in (line(), *nouns):
        state.apply(Put(noun))
    return state


def waits(name: str, pods: int, takes: int | None = None, least: int = 0, **fields: object) -> list[Noun]:
    """A gang of pods of a cpu each."""
    group = gang(name, least=least or pods, execution_ms=takes, **fields)
    return [group, *(task(f"{name}-{n}", name, cpu=1) for n in range(pods))]


def runs(name: str, pods: int, takes: int | None = None, at: str = "n") -> list[Noun]:
    group, *tasks = waits(name, pods, takes)
    return [group, *(replace(t, node=at, phase="Running", started_ms=NOW) for t in tasks if isinstance(t, Pod))]


def bound(decided: list[Decision]) -> list[str]:
    return [d.pod for d in decided if isinstance(d, Bind)]


def told(decided: list[Decision]) -> dict[str, tuple[Code, str]]:
    """gang -> why it waits, and who is ahead"""
    return {d.group: (d.reasons[0].code, d.reasons[0].where) for d in decided if isinstance(d, GangPhase) and d.reasons}


def test_in_a_strict_line_all_are_behind_the_first() -> None:
    state = hall("strict", node("n", cpu=4), *runs("r", 2), *waits("a", 3), *waits("b", 1))
    decided = session.decide(state, NOW)
    assert bound(decided) == []
    assert told(decided) == {"ns/a": (Code.GANG_SHORT, ""), "ns/b": (Code.BEHIND, "PodGroup ns/a")}


@pytest.mark.parametrize(("room", "code"), [(2, Code.BEHIND), (9, Code.GANG_SHORT)], ids=["cluster", "queue"])
def test_in_a_full_cluster_it_is_still_the_line_that_holds_back_and_where_the_queue_ends_the_queue(
    room: int, code: Code
) -> None:
    state = hall("strict", node("n", cpu=room, pods=room), *runs("r", 2), *waits("a", 1), *waits("b", 1))
    state.apply(Put(line(capability={"cpu": 2, "pods": 2} if code is Code.GANG_SHORT else {})))
    assert told(session.decide(state, NOW))["ns/b"][0] is code


def test_who_would_delay_the_first_is_told_so_once() -> None:
    state = hall(
        "easy", node("n", cpu=4), *runs("r", 2, 10_000), *waits("a", 3, 1000), *waits("b", 2, 20_000), *waits("c", 1, 9)
    )
    decided = session.decide(state, NOW)
    assert bound(decided) == ["c-0"]
    assert told(decided)["ns/b"] == (Code.WOULD_DELAY, "PodGroup ns/a")
    assert [(r.at_ms, r.places[0][2]) for r, _ in state.answers.reserved.values()] == [(NOW + 10_000, 3)]
    assert state.wake_at_ms() == NOW + 10_000
    state.apply(Put(node("small", cpu=1)))
    assert "ns/b" not in told(session.decide(state, NOW))


def test_a_gang_is_tried_on_nodes_whole() -> None:
    """At 10 s four cpus are free, two by two: the gang of pods that want three doesn't fit before 20 s."""
    big = [gang("big", least=1, execution_ms=1000), task("big-0", "big", cpu=3)]
    nodes = (node("n", cpu=4), node("m", cpu=4))
    state = hall(
        "easy",
        *nodes,
        *runs("r", 2, 10_000),
        *runs("s", 2, 20_000),
        *runs("t", 2, 10_000, "m"),
        *runs("u", 2, 20_000, "m"),
    )
    for noun in (*big, *waits("x", 2, 10_000)):
        state.apply(Put(noun))
    assert bound(session.decide(state, NOW)) == []
    assert [r.at_ms for r, _ in state.answers.reserved.values()] == [NOW + 20_000]


def test_pods_beyond_the_minimum_keep_nobody_waiting_and_take_nothing_that_is_kept() -> None:
    state = hall("easy", node("n", cpu=6), *runs("r", 4, 10_000), *waits("a", 5, 1000), *waits("e", 4, 20_000, least=1))
    assert bound(session.decide(state, NOW)) == ["e-0"]
    state = hall("strict", node("n", cpu=6), *waits("e", 9, least=1), *waits("z", 1))
    assert bound(session.decide(state, NOW)) == [f"e-{n}" for n in range(6)]


@pytest.mark.parametrize("policy", ["easy", "conservative"])
@pytest.mark.parametrize("more", [1, 2])
def test_pods_beyond_the_minimum_end_as_they_say_whether_all_have_room_or_not(policy: str, more: int) -> None:
    """One GPU is free, for the first of them. It is free again in 10 s: nobody may have the cpus beside it for longer."""
    state = hall(policy, PriorityClass("high", 5), node("m", cpu=1, gpu=1), node("n", cpu=2, gpu=2))
    on = {"phase": "Running", "started_ms": NOW, "gpu": 1}
    first = [task("y-0", "y", node="n", **on), task("e-0", "e", node="m", **on)]
    others = [task(f"e-{n}", "e", gpu=1) for n in range(1, 1 + more)]
    waiting = [task("f-0", "f", gpu=1, cpu=2), task("l-0", "l", cpu=2)]
    for name, takes in (("y", 100_000), ("e", 10_000), ("f", 10_000), ("l", 50_000)):
        state.apply(Put(gang(name, execution_ms=takes, priority_class="high" if name == "e" else "")))
    for pod in (*first, *others, *waiting):
        state.apply(Put(pod))
    assert bound(session.decide(state, NOW)) == ["e-1"]
    assert state.answers.reserved["ns/f"][0].at_ms == NOW + 10_000


def test_nobody_goes_for_a_gang_that_the_line_holds_back() -> None:
    classes = (PriorityClass("low", 1), PriorityClass("high", 5), PriorityClass("mid", 3))
    low = [replace(runs("low", 4)[0], priority_class="low"), *runs("low", 4)[1:]]
    high, mid = waits("high", 2, priority_class="high"), waits("mid", 1, priority_class="mid")
    state = hall("strict", *classes, node("n", cpu=4), *low, *high, *mid)
    decided = session.decide(state, NOW)
    assert {d.by for d in decided if isinstance(d, EvictPod)} == {"ns/high"}


@pytest.mark.parametrize("policy", ["strict", "easy", "conservative"])
def test_one_that_its_queue_may_never_have_keeps_nobody_waiting(policy: str) -> None:
    tiers = [{"plugins": [{"name": n} for n in ("gang", "capacity", "predicates")]}]
    state = hall(policy, node("n", cpu=4), line("small", capability={"cpu": 1}), tiers=tiers)
    for noun in (*waits("a", 2, 5, queue="small"), *waits("b", 2, 5)):
        state.apply(Put(noun))
    assert bound(session.decide(state, NOW)) == ["b-0", "b-1"]


def test_what_a_queue_may_have_is_had_again_when_its_gangs_end() -> None:
    state = hall("easy", node("n", cpu=9), *runs("r", 2, 10_000), *waits("a", 3, 1000))
    state.apply(Put(line(capability={"cpu": 4})))
    state.apply(Put(line("other")))
    for noun in waits("b", 2, 5000, queue="other"):
        state.apply(Put(noun))
    assert bound(session.decide(state, NOW)) == ["b-0", "b-1"]
    assert [r.at_ms for r, _ in state.answers.reserved.values()] == [NOW + 10_000]


def test_places_that_others_are_leaving_are_promised_and_keep_the_line() -> None:
    leaving = [replace(t, terminating=True) if isinstance(t, Pod) else t for t in runs("r", 3)]
    state = hall("strict", node("n", cpu=4), *leaving, *waits("a", 2), *waits("b", 1))
    assert bound(session.decide(state, NOW)) == []
    assert sorted(state.answers.promised) == ["a-0", "a-1"]
    for n in range(3):
        state.apply(Remove(Pod, f"r-{n}"))
    assert bound(session.decide(state, NOW)) == ["a-0", "a-1", "b-0"]


def test_gangs_of_different_queues_stand_in_one_line() -> None:
    group, *tasks = runs("r", 2)
    state = hall("strict", node("n", cpu=4), replace(group, queue="other"), *tasks, line("other", created_ms=1))
    for noun in (*waits("a", 3), *waits("b", 1, queue="other")):
        state.apply(Put(noun))
    assert bound(session.decide(state, NOW)) == []


def test_conservative_keeps_places_for_each_gang_and_counts_only_so_many() -> None:
    nodes: list[Node] = [node("n", cpu=2), node("m", cpu=2)]
    jobs = [Lined("a", 0, 10, pods=4, gang=True), *(Lined(f"w{n}", 1, 5, pods=3, gang=True) for n in range(4))]
    found = play(jobs, nodes, parse({"line": "conservative", "lineDepth": 2}))
    assert [found.started[f"ns/w{n}"] for n in range(4)] == [10, 15, 20, 25]
    assert [found.promised[f"ns/w{n}"] for n in range(4)] == [10, 15, 20, 25]


DRAWN = st.lists(
    st.tuples(
        st.integers(0, 6),  # comes
        st.integers(1, 7),  # pods
        st.integers(1, 6),  # runs
        st.integers(-1, 3),  # says so much more, or nothing
        st.integers(0, 1),  # priority
        st.sampled_from([{"cpu": 1}, {"cpu": 1}, {"cpu": 2}, {"gpu": "600m"}, {"gpu": "300m"}, {"gpu": 1}]),
        st.integers(0, 3),  # so many fewer than its pods are enough
    ),
    min_size=1,
    max_size=9,
)


def slowly(jobs: list[Lined], nodes: list[Node], policy: str) -> Played:
    """The reference: nobody is counted, each change is looked at row by row, all that might evict is tried, and who decided
    anything decides again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lined, "counted", lambda *_: None)
        patch.setattr(changes, "FEW", 10**9)
        patch.setattr(timeline, "FEW", 10**9)
        patch.setattr(preempt_least, "may_complete", lambda *_: True)
        patch.setattr(gang_least, "may_complete", lambda *_: True)
        patch.setattr(gang_session, "_is_settled", lambda *_: False)
        return play(jobs, nodes, parse({"line": policy}))


Drawn = tuple[int, int, int, int, int, dict[str, int | str], int]
ONE, TWO = {"cpu": 1}, {"cpu": 2}


def lined_up(drawn: list[Drawn]) -> list[Lined]:
    shares = {"600m": 600, "300m": 300}
    return [
        Lined(
            f"j{n}",
            at,
            runs,
            None if more < 0 else runs + more,
            pods,
            priority,
            gang=True,
            least=max(pods - fewer, 1),
            asks=asks,
            share=shares.get(str(asks.get("gpu")), 0),
        )
        for n, (at, pods, runs, more, priority, asks, fewer) in enumerate(drawn)
    ]


@settings(max_examples=40, deadline=None)
@given(DRAWN, st.sampled_from(["strict", "easy", "conservative"]), st.sampled_from([0, 2, 8]))
@example([(1, 4, 2, 0, 0, ONE, 0), (0, 5, 1, 1, 0, TWO, 0), (2, 7, 1, 1, 0, ONE, 0)], "easy", 2)
@example([(0, 4, 3, 0, 0, ONE, 0), (2, 2, 2, -1, 0, TWO, 0), (0, 4, 1, -1, 0, TWO, 0)], "conservative", 2)
def test_gangs_that_are_counted_are_decided_about_as_those_placed_task_by_task(
    drawn: list[Drawn], policy: str, few: int
) -> None:
    """In the examples other places are kept than before, and who waits is told anew."""
    jobs = lined_up(drawn)
    nodes = [node("a", cpu=1), node("b", cpu=1), node("c", cpu=2, gpu=1), node("d", cpu=3, gpu=2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changes, "FEW", few)
        patch.setattr(timeline, "FEW", few)
        found = play(jobs, nodes, parse({"line": policy}))
    plain = slowly(jobs, nodes, policy)
    assert (found.decided, found.promised, found.started) == (plain.decided, plain.promised, plain.started)
