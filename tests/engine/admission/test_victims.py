"""Victims: with them gone the preemptor fits, none of them can be spared, and nothing else changes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.admission.assignment import Mode
from kumi.engine.admission.quota import Quotas
from kumi.engine.admission.victims import Found, Search, Target
from kumi.engine.model import ClusterQueue, Cohort, Preemption, Profile, Put, Quota
from kumi.engine.settings import FairSharing, Settings
from kumi.engine.state import State
from kumi.testing.builders import door, flavor, node, workload

from . import trees
from .trees import ANY, LOWER, NEVER, SPOT, World

NOBODY = Preemption()
TABLES = ("quota", "usage", "parent", "subtrees", "kept", "lent", "borrowers", "heights")


def search(state: State, world: World) -> Found:
    return Search(state, world.incoming, state.catalog.cluster_queues[world.queue]).find(trees.wanted(state, world))


def take_off(state: State, targets: Iterable[Target], times: int = -1) -> None:
    for target in targets:
        for fr, amount in state.holdings.usage[target.workload].items():
            state.quotas.add(target.queue, fr, times * amount)


def tables(quotas: Quotas) -> dict[str, Any]:
    return {name: deepcopy(getattr(quotas, name)) for name in TABLES}


class Seen:
    """Counts what the examples of one property had in them."""

    def __init__(self) -> None:
        self.of: Counter[str] = Counter()

    def note(self, state: State, world: World, found: Found) -> None:
        self.of["all"] += 1
        self.of["borrowed"] += any(state.quotas.borrowers.values())
        self.of["preempted"] += bool(found.targets)
        self.of["several"] += len(found.targets) > 1
        self.of["from others"] += any(t.queue != world.queue for t in found.targets)
        self.of["put back"] += any(c.why_not == "NotNeeded" for c in found.considered)

    def share(self, what: str) -> float:
        return self.of[what] / self.of["all"]


def may_borrow(rest: Iterable[Target]) -> bool:
    """Is nobody among them from whom the preemptor took back what is its own, and no more than that?"""
    return all(t.cause != "InCohortReclamation" for t in rest)


def test_the_preemptor_fits_and_none_of_its_victims_can_be_spared() -> None:
    seen = Seen()

    @settings(max_examples=500, database=None, derandomize=True)
    @given(trees.worlds(), trees.settings)
    def check(world: World, chosen: Settings) -> None:
        state = world.state(Profile(places=False, settings=chosen))
        invariants.check(state)
        before = tables(state.quotas)
        found = search(state, world)
        assert tables(state.quotas) == before
        seen.note(state, world, found)
        assert (found.plan is not None) == bool(found.targets)
        if not found.targets:
            return
        with state.trial():
            take_off(state, found.targets)
            assert state.quotas.fits(world.queue, world.asks)
            for target in found.targets:
                take_off(state, [target], times=1)
                rest = [t for t in found.targets if t is not target]
                if may_borrow(rest) or not any(state.quotas.over(world.queue, fr, n) for fr, n in world.asks.items()):
                    assert not state.quotas.fits(world.queue, world.asks), target
                take_off(state, [target])
        assert tables(state.quotas) == before

    check()
    assert seen.share("borrowed") > 0.4
    assert seen.share("preempted") > 0.1
    assert seen.share("several") > 0.01
    assert seen.share("from others") > 0.02
    assert seen.share("put back") > 0.002


def test_who_goes_does_not_depend_on_who_came_first() -> None:
    seen = Seen()

    @settings(max_examples=60, database=None, derandomize=True)
    @given(trees.worlds(), trees.settings, st.sampled_from(["kueue", "kumi"]), st.randoms(use_true_random=False))
    def check(world: World, chosen: Settings, name: str, chance: Any) -> None:
        profile = Profile(name, places=False, settings=chosen)
        state, other = world.state(profile), list(world.holders)
        chance.shuffle(other)
        found = search(state, world)
        assert search(world.state(profile, other), world) == found
        seen.note(state, world, found)

    check()
    assert seen.share("preempted") > 0.1


def test_candidates_are_let_go_by_the_queues_policy() -> None:
    seen = Seen()

    @settings(max_examples=100, database=None, derandomize=True)
    @given(trees.worlds(), trees.settings, st.sampled_from(["kueue", "kumi"]))
    def check(world: World, chosen: Settings, name: str) -> None:
        state = world.state(Profile(name, places=False, settings=chosen))
        found = search(state, world)
        seen.note(state, world, found)
        policy = state.catalog.cluster_queues[world.queue].preemption
        with state.trial():
            take_off(state, found.targets)
            assert not found.targets or state.quotas.fits(world.queue, world.asks)
        for target in found.targets:
            own = target.queue == world.queue
            assert own == (target.cause == "InClusterQueue")
            evictable = policy.within if own else policy.reclaim
            victim, mine = state.workloads[target.workload], world.incoming
            assert evictable is not NEVER
            newer = evictable is trees.EQUAL and victim.created_ms > mine.created_ms
            assert evictable is ANY or victim.priority < mine.priority or (newer and victim.priority == mine.priority)
            if not own:
                assert any(state.quotas.over(target.queue, fr) for fr in world.asks)
            if target.cause == "InCohortReclaimWhileBorrowing":
                threshold = policy.borrowing_threshold
                assert policy.borrowing is LOWER
                assert victim.priority < mine.priority
                assert threshold is None or victim.priority <= threshold

    check()
    assert seen.share("from others") > 0.02


@settings(max_examples=60)
@given(trees.worlds(), trees.settings)
def test_a_possibility_is_what_victims_for_that_alone_would_be(world: World, chosen: Settings) -> None:
    state = world.state(Profile("kueue", places=False, settings=chosen))
    queue = state.catalog.cluster_queues[world.queue]
    for fr, amount in world.asks.items():
        alone = replace(world, asks={fr: amount})
        if state.quotas.fits(world.queue, alone.asks):
            continue
        mode, level = Search(state, world.incoming, queue).possibility(fr, amount)
        targets = search(state, alone).targets
        assert (mode is Mode.NO_CANDIDATES) == (not targets)
        assert (mode is Mode.PREEMPT) == any(t.queue == world.queue for t in targets)
        with state.trial():
            take_off(state, targets)
            assert level == state.quotas.level(world.queue, fr, amount)[0]


def digest() -> str:
    """What is decided in a fixed few of the worlds."""
    found = []
    for n in range(12):
        preemption = Preemption(LOWER, ANY, LOWER)
        queues = [pool(f"q{m}", 2, preemption, cohort=trees.COHORTS[1 + m % 2]) for m in range(4)]
        cohorts = [Cohort("left", "root"), Cohort("right", "root")]
        holders = [trees.held(f"w{m}", f"q{(m + n) % 3 + 1}", {SPOT: 1}, priority=m % 3) for m in range(8)]
        for chosen in ({}, {"fair": FairSharing()}):
            state, world = made(*cohorts, *queues, *holders, priority=5, asks=2, queue="q0", **chosen)
            found.append(search(state, world))
    assert all(one.targets for one in found)
    return hashlib.sha256(repr(found).encode()).hexdigest()


@pytest.mark.parametrize("seed", ["1", "77"])
def test_the_same_victims_under_any_hash_seed(seed: str) -> None:
    code = "from tests.engine.admission.test_victims import digest; print(digest())"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == digest()


# one behaviour each


def pool(name: str, nominal: int, preemption: Preemption = NOBODY, cohort: str = "all", **fields: Any) -> ClusterQueue:
    return ClusterQueue(name, trees.groups({SPOT: Quota(nominal)}), cohort=cohort, preemption=preemption, **fields)


def made(
    *nouns: Any, priority: int = 0, asks: int = 1, queue: str = "q", profile: str = "kumi", **chosen: Any
) -> tuple[State, World]:
    incoming = workload("ns/in", priority=priority, created_ms=5)
    world = World((flavor("spot"), *nouns), (), incoming, queue, {SPOT: asks})
    return world.state(Profile(profile, places=False, settings=Settings(**chosen))), world


def names(found: Found) -> dict[str, str]:
    return {target.workload.removeprefix("ns/"): target.cause for target in found.targets}


def test_the_last_to_get_its_quota_goes_first_among_equals() -> None:
    running = [trees.held(n, "q", {SPOT: 1}, reserved_ms=ms) for n, ms in (("old", 1), ("new", 9), ("mid", 5))]
    state, world = made(pool("q", 3, Preemption(LOWER)), *running, priority=1)
    assert names(search(state, world)) == {"new": "InClusterQueue"}


def test_one_large_victim_spares_the_small_ones_before_it() -> None:
    running = [trees.held("small", "q", {SPOT: 1}, priority=0), trees.held("large", "q", {SPOT: 3}, priority=1)]
    state, world = made(pool("q", 4, Preemption(LOWER)), *running, priority=2, asks=3)
    found = search(state, world)
    assert names(found) == {"large": "InClusterQueue"}
    assert [(c.workload, c.why_not) for c in found.considered[1:]] == [("ns/small", "NotNeeded")]


def test_one_that_is_being_evicted_goes_first_whatever_its_priority() -> None:
    running = [trees.held("going", "q", {SPOT: 1}, priority=1, evicted=True), trees.held("low", "q", {SPOT: 1})]
    state, world = made(pool("q", 2, Preemption(LOWER)), *running, priority=2)
    assert names(search(state, world)) == {"going": "InClusterQueue"}


def test_who_is_spoken_for_in_the_promised_view_is_nobodys_candidate() -> None:
    running = [trees.held(n, "q", {SPOT: 1}, reserved_ms=ms) for n, ms in (("a", 1), ("b", 2))]
    state, world = made(pool("q", 2, Preemption(LOWER)), *running, priority=2)
    with state.claims.promised(state):
        state.claims.spoken["ns/b"] = "ns/other"
        assert names(search(state, world)) == {"a": "InClusterQueue"}
        del state.claims.spoken["ns/b"]
    assert names(search(state, world)) == {"b": "InClusterQueue"}


def test_the_slice_that_is_replaced_is_no_victim() -> None:
    running = [
        trees.held("old-slice", "q", {SPOT: 1}, reserved_ms=9),
        trees.held("other", "q", {SPOT: 1}, reserved_ms=1),
    ]
    state, world = made(pool("q", 2, Preemption(LOWER)), *running, priority=2)
    world = replace(world, incoming=replace(world.incoming, replaces="ns/old-slice"))
    assert names(search(state, world)) == {"other": "InClusterQueue"}


def test_the_number_of_pods_only_counts_in_kumis_way() -> None:
    pods = ("spot", "pods")
    quota = trees.groups({SPOT: Quota(1)})[0]
    both = replace(
        quota,
        resources=("cpu", "pods"),
        flavors=(replace(quota.flavors[0], quotas=(("cpu", Quota(1)), ("pods", Quota(1000)))),),
    )
    queue = ClusterQueue("q", (both,), preemption=Preemption(LOWER))
    running = [trees.held("one", "q", {SPOT: 1}), trees.held("pods", "q", {pods: 1000}, priority=9)]
    for profile, expected in (("kueue", {"one": "InClusterQueue"}), ("kumi", {})):
        state, world = made(queue, *running, priority=2, profile=profile)
        world = replace(world, asks={SPOT: 1, pods: 1000})
        wanted = replace(trees.wanted(state, world), usage=world.asks)
        found = Search(state, world.incoming, state.catalog.cluster_queues["q"]).find(wanted)
        assert names(found) == expected


def test_victims_must_free_nodes_as_well() -> None:
    queue = ClusterQueue("q", trees.groups({SPOT: Quota(8000)}), preemption=Preemption(LOWER))
    state = State(Profile())
    for noun in (flavor("spot"), queue, door("ns/lq", "q"), node("n1", cpu=4), node("n2", cpu=4)):
        state.apply(Put(noun))
    for name, host, priority in (("on-n1", "n1", 0), ("on-n2", "n2", 1), ("too", "n2", 1)):
        job = trees.held(name, "q", {SPOT: 4000 if host == "n1" else 2000}, priority=priority)
        given_ = tuple(replace(one, nodes=((host, 1),)) for one in job.admission.pod_sets)  # type: ignore[union-attr]
        state.apply(Put(replace(job, admission=replace(job.admission, pod_sets=given_))))  # type: ignore[type-var]
    incoming = workload("ns/in", 1, cpu=2, priority=5)
    world = World((), (), replace(incoming, pod_sets=(replace(incoming.pod_sets[0], name="spot"),)), "q", {SPOT: 2000})
    found = search(state, world)
    assert names(found) == {"on-n1": "InClusterQueue"}
    assert found.plan is not None
    assert found.plan.pod_sets[0].nodes == (("n1", 1),)


def test_with_hopeless_odds_nobody_is_named_as_a_victim_but_who_was_thought_of() -> None:
    running = [trees.held("low", "q", {SPOT: 1}, priority=0), trees.held("high", "q", {SPOT: 2}, priority=9)]
    state, world = made(pool("q", 3, Preemption(LOWER)), *running, priority=2, asks=2)
    found = search(state, world)
    assert found.targets == ()
    assert {(c.workload, c.why_not) for c in found.considered} == {("ns/low", "NotEnough"), ("ns/high", "Priority")}
