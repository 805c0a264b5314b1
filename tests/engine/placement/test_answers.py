"""Answers: what was said counts until it is seen, and a session is due when something came."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from kumi.engine.decisions import Bind, Decision, EvictPod, GangPhase
from kumi.engine.gangs import Member, Phase, PodGroup, PriorityClass, Queue
from kumi.engine.journal import Journal
from kumi.engine.model import Pod, Profile, Put, Remove
from kumi.engine.placement import session
from kumi.engine.placement.answers import Answers
from kumi.engine.placement.tasks import Tasks
from kumi.engine.state import State
from kumi.testing.builders import node, pod

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


def test_an_eviction_for_whomever_makes_a_session_due() -> None:
    made, _ = answers()
    made.evict(EvictPod("ns/a-0", "a-pod-on-its-own"))
    assert made.due


# the law: what is not due would end as the one before did


class Days:
    """A small cluster, on which this and that happens by chance."""

    def __init__(self, seed: int, profile: str) -> None:
        self.chance = chance = Random(seed)
        self.state = State(Profile(name=profile))
        self.pods: dict[str, Pod] = {}
        for name in "ab":
            self.state.apply(Put(Queue(name, weight=chance.randint(1, 3))))
        for n in range(3):
            self.state.apply(Put(PriorityClass(f"p{n}", n)))
        for n in range(chance.randint(1, 4)):
            self.state.apply(Put(node(f"n{n}", cpu=chance.randint(1, 4))))

    def put(self, *pods: Pod) -> None:
        for one in pods:
            self.pods[one.uid] = one
            self.state.apply(Put(one))

    def gone(self, uid: str) -> None:
        if self.pods.pop(uid, None) is not None:
            self.state.apply(Remove(Pod, uid))

    def happens(self, step: int) -> None:
        chance, now, kind = self.chance, step * 1000, self.chance.random()
        if kind < 0.35:
            key, least, more = f"ns/g{step}", chance.randint(1, 3), chance.randint(0, 2)
            matters = f"p{chance.randint(0, 2)}"
            self.state.apply(Put(PodGroup(key, chance.choice("ab"), now, key, least, priority_class=matters)))
            for n in range(least + more):
                one = pod(f"{key}-{n}", cpu=chance.randint(1, 2), member=Member(group=key))
                self.put(replace(one, created_ms=now, gated=chance.random() < 0.05))
        elif kind < 0.5:
            one = pod(f"ns/s{step}", cpu=chance.randint(1, 2), priority=chance.randint(0, 2))
            self.put(replace(one, created_ms=now))
        elif kind < 0.85 and self.pods:
            uid = chance.choice(sorted(self.pods))
            at = self.state.pods.node_of.get(uid)
            if kind >= 0.65:
                self.gone(uid)
            elif at:
                leaves = chance.random() < 0.5
                self.put(replace(self.pods[uid], node=at, phase="Running", terminating=leaves))

    def decide(self, now_ms: int) -> list[Decision]:
        decided = session.decide(self.state, now_ms)
        for one in decided:
            self.state.settle(one, ok=True, revision=1)
        for one in decided:
            if isinstance(one, EvictPod) and self.chance.random() < 0.5:
                self.gone(one.pod)
        return decided


SEEDS = [(64, "volcano"), (117, "kumi"), *((seed, ("kumi", "volcano")[seed % 2]) for seed in range(16))]


@pytest.mark.parametrize(("seed", "profile"), SEEDS)
def test_a_session_that_is_not_due_would_place_nobody_and_evict_nobody(seed: int, profile: str) -> None:
    days = Days(seed, profile)
    for step in range(25):
        days.happens(step)
        for _ in range(12):
            if not days.decide(step * 1000):
                break
        if not days.state.answers.due:
            days.state.answers.stir()
            forced = session.decide(days.state, step * 1000)
            assert not [one for one in forced if isinstance(one, Bind | EvictPod)]
