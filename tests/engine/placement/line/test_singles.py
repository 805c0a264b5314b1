"""Singles: pods on their own in line: who is told what, and when the line is looked at."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine.decisions import Bind, Decision, EvictPod, Nominate, Unplaced
from kumi.engine.gangs import Member
from kumi.engine.model import Neighbours, Pod, PodTerm, Put, Remove
from kumi.engine.placement import session
from kumi.engine.policy import parse
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.testing.builders import node, pod
from kumi.testing.gangs import gang, line, task

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
    assert [r.at_ms for r, _ in state.answers.reserved.values()] == [NOW + 10_000]


def test_who_looks_at_others_is_tried_by_itself() -> None:
    term = PodTerm("kubernetes.io/hostname", ())
    shy = replace(waits("shy", 1, 1000), labels=(("a", "b"),))
    shy = replace(shy, shape=replace(shy.shape, neighbours=Neighbours(apart=(term,))))
    state = hall("easy", runs("r", 1, 5000), shy, waits("a", 1, 1000))
    assert said(session.decide(state, NOW)) == [("ns/a", "n", ""), ("ns/shy", Code.NODE_NOT_MATCHED, "")]
