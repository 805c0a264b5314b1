"""A tree of cohorts that is left to itself: what is decided is carried out, whoever is evicted comes again, until nothing is
decided any more."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Decision, Evict, Hold
from kumi.engine.model import Namespace, Profile, Put
from kumi.engine.settings import Settings
from kumi.engine.state import State
from kumi.testing.builders import door, workload

from . import trees

MOST_ROUNDS = 40


def crowded(seed: int, profile: str, settings: Settings) -> State:
    """A random tree that is full of work, and six more workloads for it."""
    world, chance = trees.world_of(seed), Random(seed + 1)
    state = world.state(
        Profile(profile, places=False, settings=settings), [replace(h, evicted=False) for h in world.holders]
    )
    for queue in trees.QUEUES:
        state.apply(Put(door(f"ns/{queue}", queue)))
    state.apply(Put(Namespace("ns")))
    for number in range(6):
        queue, units = chance.choice(trees.QUEUES), chance.randint(1, 4)
        made = workload(f"ns/p{number}", cpu=units / 1000, queue=f"ns/{queue}", priority=chance.randint(0, 4))
        state.apply(Put(replace(made, created_ms=10 + number)))
    return state


def carry_out(state: State, decision: Decision, now_ms: int) -> None:
    """It is written, and a victim's pods are gone."""
    state.settle(decision, True)
    if isinstance(decision, Admit):
        was = state.workloads[decision.workload]
        state.apply(Put(replace(was, admission=decision.admission, admitted=True, reserved_ms=now_ms)))
    elif isinstance(decision, Evict):
        was = state.workloads[decision.workload]
        state.apply(Put(replace(was, admission=None, admitted=False, reserved_ms=0)))


def comes_to_rest(state: State, chance: Random, seen: Counter[str]) -> bool:
    """Round after round: decided once, and the second time nothing; one workload in a hundred is not evicted after all."""
    for now_ms in range(100, 100 + MOST_ROUNDS):
        decided = cycle.decide(state, now_ms)
        again = cycle.decide(state, now_ms)
        assert again == [], again
        victims = [d.workload for d in decided if isinstance(d, Evict)]
        assert len(victims) == len(set(victims)), victims
        if state.profile.name == "kumi":
            invariants.check(state)
        if not decided:
            return True
        seen["borrowed"] += any(state.quotas.borrowers.values())
        seen["preempted"] += len(victims)
        chance.shuffle(decided)
        for decision in decided:
            if not isinstance(decision, Hold) and chance.random() < 0.03:
                seen["refused"] += 1
                state.settle(decision, False)
            else:
                carry_out(state, decision, now_ms)
    return False
