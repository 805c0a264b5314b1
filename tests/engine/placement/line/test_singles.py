"""Singles: pods on their own in line: who is told what, and when the line is looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kumi.engine.decisions import Bind, Decision, EvictPod, Nominate, Unplaced
from kumi.engine.gangs import Member, PodGroup
from kumi.engine.model import Neighbours, Pod, PodTerm, Put, Remove
from kumi.engine.placement import session
from kumi.engine.policy import parse
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import node, pod
from kumi.testing.gangs import gang, line, task
from kumi.testing.lines import Lined, play

NOW = 1_000_000


def hall(policy: str, *pods: Pod, cpu: int = 4) -> State:
    state = State(parse({"line": policy}))
    state.apply(Put(node("n", {"kubernetes.io/hostname": "n"}, cpu=cpu)))
    for one in pods:
        state.apply(Put(one))
    return state


def waits(name: str, cpu: int, takes: int | None = None, **fields: object) -> Pod:
    return replace(pod(f"ns/{name}", cpu=cpu, **fields), member=Member(execution_ms=takes))


def runs(name: str, cpu: int, takes: int | None = None, **fields: object) -> Pod:
    made = waits(name, cpu, takes, node="n", phase="Running", **fields)
    return replace(made, started_ms=NOW)


def said(decided: list[Decision]) -> list[tuple[str, object, str]]:
    """(pod, node or code, who is ahead)"""
    found: list[tuple[str, object, str]] = []
    for one in decided:
        if isinstance(one, Bind):
            found.append((one.pod, one.node, ""))
        elif isinstance(one, Unplaced):
            found.append((one.pod, one.reasons[0].code, one.reasons[0].where))
    return found


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3), st.integers(1, 9), st.booleans()), max_size=9),
    st.sampled_from(("open", "strict", "easy", "conservative")),
    st.integers(0, 2),
)
@example([(0, 2, 9, False), (1, 3, 2, True), (2, 1, 9, False), (2, 1, 9, False)], "easy", 0)
@example([(0, 2, 9, False), (1, 3, 2, True), (2, 1, 9, False), (2, 1, 9, False)], "conservative", 0)
def test_each_that_waits_is_told_why_with_gangs_beside_it(
    drawn: list[tuple[int, int, int, bool]], policy: str, more: int
) -> None:
    jobs = [
        Lined(
            f"j{n}",
            at,
            runs,
            max(1, runs - more),
            cpu if grouped else 1,
            gang=grouped,
            asks={"cpu": 1 if grouped else cpu},
        )
        for n, (at, cpu, runs, grouped) in enumerate(drawn)
    ]
    nodes = [node("a", cpu=3), node("b", cpu=1)][: 2 - len(jobs) % 2]
    played = play(jobs, nodes, parse({"line": policy}))
    told = [one for _, one in played.decided if isinstance(one, Unplaced)]
    alone = {f"{job.key}-0" for job in jobs if not job.gang}
    of_line = (Code.BEHIND, Code.WOULD_DELAY)
    wrong = [
        one
        for one in told
        if not one.reasons
        or (one.pod in alone and one.reasons[0].code not in of_line and sum(r.nodes for r in one.reasons) != len(nodes))
    ]
    assert wrong == []  # each node says no, or somebody is ahead
    ahead = [reason.where for one in told for reason in one.reasons if reason.code in of_line]
    assert all(ahead)
    first = {one.pod: at for at, one in reversed(played.decided) if isinstance(one, Unplaced)}
    waited = [job for job in jobs if played.started[job.key] > job.at]
    assert [job.key for job in waited if first.get(f"{job.key}-0") != job.at] == []


def test_each_is_told_once_what_keeps_it_and_who_is_ahead() -> None:
    state = hall("strict", runs("r", 2), waits("a", 3), waits("b", 1))
    assert said(session.decide(state, NOW)) == [
        ("ns/a", Code.NODES_FULL, ""),
        ("ns/b", Code.BEHIND, "pod ns/a"),
    ]
    state.apply(Put(waits("c", 1)))
    assert said(session.decide(state, NOW)) == [("ns/c", Code.BEHIND, "pod ns/a")]
    assert session.decide(state, NOW) == []


def test_one_that_would_delay_the_first_is_told_so_and_not_again_when_another_is_first() -> None:
    state = hall("easy", runs("r", 2, 10_000), waits("a", 3, 1000), waits("b", 2, 20_000), waits("c", 3, 1000))
    assert said(session.decide(state, NOW)) == [
        ("ns/a", Code.NODES_FULL, ""),
        ("ns/b", Code.WOULD_DELAY, "pod ns/a"),
        ("ns/c", Code.NODES_FULL, ""),
    ]
    state.apply(Remove(Pod, "ns/a"))
    assert said(session.decide(state, NOW))[0] == ("ns/b", "n", "")


def test_what_is_overdue_is_looked_at_again_by_itself() -> None:
    state = hall("easy", runs("r", 2, 10_000), waits("a", 3, 1000), waits("b", 2, 12_000))
    session.decide(state, NOW)
    assert state.wake_at_ms() == NOW + 10_000
    assert [r.at_ms for r in state.pods.waiting.reservations.values()] == [NOW + 10_000]
    assert session.decide(state, NOW + 10_000) == []
    assert [r.at_ms for r in state.pods.waiting.reservations.values()] == [NOW + 10_001]
    assert state.wake_at_ms() is None


def test_a_line_in_which_nobody_waits_wakes_nobody() -> None:
    state = hall("easy", runs("r", 2, 10_000), waits("a", 1, 1000))
    assert said(session.decide(state, NOW)) == [("ns/a", "n", "")]
    assert (state.wake_at_ms(), state.pods.waiting.reservations, state.pods.waiting.first) == (None, {}, "")


def test_only_the_first_that_finds_no_room_takes_it_from_others() -> None:
    state = hall("strict", runs("low", 4), waits("a", 1, priority=2), waits("b", 1, priority=1))
    decided = session.decide(state, NOW)
    assert [(d.pod, d.by) for d in decided if isinstance(d, EvictPod)] == [("ns/low", "ns/a")]
    assert [d.pod for d in decided if isinstance(d, Nominate)] == ["ns/a"]


def test_one_for_which_a_node_was_cleared_keeps_nobody_waiting_and_its_place_is_not_given_away() -> None:
    state = hall("easy", runs("low", 4), waits("a", 3, 1000, priority=2))
    session.decide(state, NOW)
    state.apply(Put(waits("b", 2, 1000)))
    assert said(session.decide(state, NOW)) == [("ns/b", Code.NODES_FULL, "")]
    state.apply(Put(waits("c", 1, 1000)))
    state.apply(Remove(Pod, "ns/low"))
    assert said(session.decide(state, NOW)) == [("ns/a", "n", ""), ("ns/c", "n", "")]


def test_what_a_gang_has_kept_is_kept_from_pods_on_their_own() -> None:
    state = hall("easy", runs("r", 2, 10_000))
    for noun in (line(), gang("g", least=3, execution_ms=1000), *(task(f"g-{n}", "g", cpu=1) for n in range(3))):
        state.apply(Put(noun))
    state.apply(Put(waits("long", 2, 20_000)))
    state.apply(Put(waits("short", 1, 10_000)))
    state.apply(Put(waits("thin", 1, 20_000)))
    decided = said(session.decide(state, NOW))
    assert [one for one in decided if one[1] == "n"] == [("ns/short", "n", ""), ("ns/thin", "n", "")]
    assert ("ns/long", Code.WOULD_DELAY, "PodGroup ns/g") in decided
    assert [r.at_ms for r, _ in state.answers.reserved.values()] == [NOW + 10_000]


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_one_kept_out_by_a_gang_alone_is_told_whom_it_would_delay_and_starts_when_that_is_gone(policy: str) -> None:
    state = hall(policy, runs("r", 2, 10_000))
    for noun in (line(), gang("g", least=3, execution_ms=1000), *(task(f"g-{n}", "g", cpu=1) for n in range(3))):
        state.apply(Put(noun))
    for name in ("a", "b"):
        state.apply(Put(waits(name, 2, 20_000)))
    wide = waits("wide", 4, 1000, priority=-1)
    state.apply(Put(wide))
    ahead = {pod: (code, who) for pod, code, who in said(session.decide(state, NOW)) if pod.startswith("ns/")}
    assert ahead["ns/a"] == (Code.WOULD_DELAY, "PodGroup ns/g")
    assert ahead["ns/b"][0] is Code.WOULD_DELAY
    assert ahead["ns/wide"][0] is Code.NODES_FULL
    state.apply(Remove(PodGroup, "ns/g"))
    for n in range(3):
        state.apply(Remove(Pod, f"ns/g-{n}"))
    assert ("ns/a", "n", "") in said(session.decide(state, NOW + 1))


def test_nobody_behind_one_that_is_kept_out_takes_room_from_others() -> None:
    state = hall("easy", runs("low", 2, 10_000, priority=-2))
    for noun in (line(), gang("g", least=3, execution_ms=1000), *(task(f"g-{n}", "g", cpu=1) for n in range(3))):
        state.apply(Put(noun))
    state.apply(Put(waits("a", 2, 20_000)))
    state.apply(Put(waits("wide", 4, 1000, priority=-1)))
    decided = session.decide(state, NOW)
    assert [one for one in decided if isinstance(one, EvictPod | Nominate)] == []


def test_who_looks_at_others_is_tried_by_itself() -> None:
    term = PodTerm("kubernetes.io/hostname", ())
    shy = replace(waits("shy", 1, 1000), labels=(("a", "b"),))
    shy = replace(shy, shape=replace(shy.shape, neighbours=Neighbours(apart=(term,))))
    state = hall("easy", runs("r", 1, 5000), shy, waits("a", 1, 1000))
    assert said(session.decide(state, NOW)) == [("ns/a", "n", ""), ("ns/shy", Code.NODE_NOT_MATCHED, "")]
