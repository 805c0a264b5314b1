"""Answers: what was said counts until it is seen, and a session is due when something came."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine.decisions import EvictPod, GangPhase
from kumi.engine.gangs import Phase, PodGroup, PriorityClass, Queue
from kumi.engine.journal import Journal
from kumi.engine.placement.answers import Answers
from kumi.engine.placement.tasks import Tasks
from kumi.testing.builders import pod

GROUP = PodGroup("ns/a", "q", least=2, revision=5)
SAID = GangPhase("ns/a", Phase.INQUEUE)


def answers() -> tuple[Answers, Tasks]:
    journal = Journal()
    tasks = Tasks(journal)
    made = Answers(journal, tasks)
    made.put(GROUP)
    made.due = False
    return made, tasks


def phase(tasks: Tasks) -> Phase:
    group = tasks.jobs["ns/a"].group
    assert group is not None
    return group.phase


def test_what_came_makes_a_session_due_and_what_is_as_it_was_does_not() -> None:
    made, _ = answers()
    for noun in (GROUP, replace(GROUP, revision=6)):
        made.put(noun)
        assert not made.due
    for noun in (Queue("q"), PriorityClass("high", 1), replace(GROUP, least=3)):
        made.put(noun)
        assert made.due
        made.due = False
        made.put(noun)
        assert not made.due
    made.remove(Queue, "q")
    assert made.due


def test_a_phase_counts_at_once_and_until_its_write_is_seen() -> None:
    made, tasks = answers()
    made.say(SAID)
    assert phase(tasks) is Phase.INQUEUE
    made.put(GROUP)
    assert phase(tasks) is Phase.INQUEUE
    made.settle_phase(SAID, True, 7)
    made.put(replace(GROUP, revision=6))
    assert phase(tasks) is Phase.INQUEUE
    made.put(replace(GROUP, revision=8, phase=Phase.RUNNING))
    assert phase(tasks) is Phase.RUNNING
    assert made.phases == {}


def test_a_phase_that_is_refused_is_decided_anew() -> None:
    made, _ = answers()
    made.say(SAID)
    made.settle_phase(GangPhase("ns/a", Phase.PENDING), False, 0)
    assert made.told == {"ns/a": SAID}
    made.settle_phase(SAID, False, 0)
    assert (made.told, made.phases, made.due) == ({}, {}, True)


def test_what_was_said_of_a_pod_group_goes_with_it() -> None:
    made, _ = answers()
    made.say(SAID)
    made.remove(PodGroup, "ns/a")
    assert (made.told, made.phases) == ({}, {})
    made.settle_phase(SAID, True, 7)
    assert made.phases == {}


def test_a_pod_that_was_evicted_is_on_its_way_out_until_it_shows_it_or_stays() -> None:
    made, _ = answers()
    mine, evict = pod("ns/p"), EvictPod("ns/p")
    made.evict(evict)
    assert made.leaving(mine) == replace(mine, terminating=True)
    assert made.leaving(pod("ns/other")) == pod("ns/other")
    assert not made.stays(EvictPod("ns/p", "ns/b"))
    assert made.stays(evict)
    assert made.leaving(mine) == mine
    made.evict(evict)
    gone = replace(mine, terminating=True)
    assert made.leaving(gone) == gone
    assert made.evicting == {}
