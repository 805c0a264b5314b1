"""Small random trees of cohorts and queues, full of work, and somebody who needs room in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

from kumi.engine.admission.assignment import Assignment, Chosen, Mode, PodSetChosen
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.model import (
    Admission,
    ClusterQueue,
    Cohort,
    Evictable,
    FlavorQuotas,
    Noun,
    PodSet,
    PodSetAssigned,
    PodShape,
    Preemption,
    Profile,
    Put,
    Quota,
    ResourceGroup,
    Workload,
)
from kumi.engine.settings import FairSharing, FairStrategy, Settings
from kumi.engine.state import State
from kumi.testing.builders import flavor, workload

SPOT, FIXED = ("spot", "cpu"), ("fixed", "cpu")
COHORTS = ("root", "left", "right", "deep")
QUEUES = ("q1", "q2", "q3", "q4")
NEVER, LOWER, EQUAL, ANY = Evictable
WEIGHTS = (1.0, 1.0, 2.0, 0.5, 0.0)


@dataclass(frozen=True)
class World:
    """`setup` is what administrators put there, `holders` hold quota, `incoming` wants `asks` of its queue."""

    setup: tuple[Noun, ...]
    holders: tuple[Workload, ...]
    incoming: Workload
    queue: str
    asks: dict[FlavorResource, int]

    def state(self, profile: Profile, holders: Iterable[Workload] | None = None) -> State:
        """A state that has seen it, the holders in this order."""
        state = State(profile)
        for noun in (*self.setup, *(self.holders if holders is None else holders)):
            state.apply(Put(noun))
        return state


def groups(by_fr: dict[FlavorResource, Quota]) -> tuple[ResourceGroup, ...]:
    """One resource group with these quotas."""
    return (ResourceGroup(("cpu",), tuple(FlavorQuotas(f, ((r, quota),)) for (f, r), quota in by_fr.items())),)


def held(name: str, queue: str, usage: dict[FlavorResource, int], **fields: object) -> Workload:
    """A workload that holds this, a pod set a flavor."""
    sets = tuple(PodSet(f, 1, PodShape(((r, amount),))) for (f, r), amount in usage.items())
    given_ = tuple(PodSetAssigned(f, 1, ((r, f),), ((r, amount),)) for (f, r), amount in usage.items())
    made = workload(f"ns/{name}", queue=f"ns/{queue}", pod_sets=sets, admission=Admission(queue, given_), admitted=True)
    return replace(made, **fields)  # type: ignore[arg-type]


def quota(chance: Random) -> Quota:
    """A few units, now and then with limits."""
    limit = [chance.choice([None, None, chance.randint(0, 6)]) for _ in range(2)]
    return Quota(chance.choice([0, 1, 2, 3, 4, 6]), *limit)


def both(chance: Random) -> tuple[ResourceGroup, ...]:
    """A quota for each flavor."""
    return groups({SPOT: quota(chance), FIXED: quota(chance)})


def setup(chance: Random) -> list[Noun]:
    """Cohorts in no cycle, queues somewhere among them, now and then one alone."""
    nouns: list[Noun] = [flavor("spot"), flavor("fixed")]
    for n, name in enumerate(COHORTS):
        own = both(chance) if chance.random() < 0.4 else ()
        nouns.append(Cohort(name, chance.choice(["", *COHORTS[:n]][-2:]), own, chance.choice(WEIGHTS)))
    for name in QUEUES:
        policy = Preemption(
            chance.choice([LOWER, LOWER, EQUAL, NEVER]),
            chance.choice([ANY, ANY, LOWER, EQUAL, NEVER]),
            chance.choice([NEVER, LOWER]),
            chance.choice([None, chance.randint(-1, 2)]),
        )
        cohort = chance.choice([*COHORTS, *COHORTS, ""])
        nouns.append(ClusterQueue(name, both(chance), cohort=cohort, preemption=policy, weight=chance.choice(WEIGHTS)))
    return nouns


def world_of(seed: int) -> World:
    """Work is let in as long as it fits, so that no limit is passed; then somebody comes for whom there is no room, mostly."""
    chance = Random(seed)
    nouns = setup(chance)
    filling = World(tuple(nouns), (), workload("ns/none"), "", {}).state(Profile(places=False))
    holders = []
    for n in range(chance.randint(6, 18)):
        name = chance.choice(QUEUES)
        usage = {fr: chance.randint(1, 3) for fr in chance.choice([(SPOT,), (FIXED,), (SPOT, FIXED)])}
        if not filling.quotas.fits(name, usage):
            continue
        for fr, amount in usage.items():
            filling.quotas.add(name, fr, amount)
        times = {"created_ms": chance.randint(1, 3), "reserved_ms": chance.randint(0, 3)}
        holders.append(
            held(f"w{n}", name, usage, priority=chance.randint(-1, 3), evicted=chance.random() < 0.1, **times)
        )
    name, asks = chance.choice(QUEUES), {}
    for fr in chance.choice([(SPOT,), (FIXED,), (SPOT, FIXED)]):
        there, most = max(0, filling.quotas.available(name, fr)), filling.quotas.potential(name, fr)
        asks[fr] = max(1, min(most, there + chance.randint(0, 3)))
    incoming = workload("ns/in", priority=chance.randint(0, 4), created_ms=chance.randint(1, 3))
    sets = tuple(PodSet(f, 1, PodShape(((r, amount),))) for (f, r), amount in asks.items())
    return World(tuple(nouns), tuple(holders), replace(incoming, pod_sets=sets), name, asks)


def worlds() -> st.SearchStrategy[World]:
    """Every number is one."""
    return st.integers(0, 2**32).map(world_of)


def wanted(state: State, world: World) -> Assignment:
    """What the incoming workload wants, contended where it isn't there."""
    pod_sets = []
    for (flavor_, resource), amount in world.asks.items():
        there = amount <= max(0, state.quotas.available(world.queue, (flavor_, resource)))
        chosen = {resource: Chosen(flavor_, Mode.FIT if there else Mode.PREEMPT)}
        pod_sets.append(PodSetChosen(flavor_, 1, {resource: amount}, chosen[resource].mode, chosen))
    worst = min(one.mode for one in pod_sets)
    return Assignment(world.queue, worst, tuple(pod_sets), dict(world.asks))


fair = st.builds(
    FairSharing,
    st.sampled_from(
        [
            (FairStrategy.FINAL_SHARE, FairStrategy.INITIAL_SHARE),
            (FairStrategy.FINAL_SHARE,),
            (FairStrategy.INITIAL_SHARE,),
        ]
    ),
    st.booleans(),
)
settings = st.builds(Settings, fair=st.none() | fair)
