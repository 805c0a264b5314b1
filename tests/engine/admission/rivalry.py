"""A queue or two of cpu, and the states that tests of preemption start from."""

from __future__ import annotations

from typing import Any

from kumi.engine.model import (
    Admission,
    ClusterQueue,
    Evictable,
    FlavorQuotas,
    Noun,
    PodSetAssigned,
    Preemption,
    Profile,
    Put,
    Quota,
    ResourceGroup,
    Workload,
)
from kumi.engine.settings import Settings
from kumi.engine.state import State
from kumi.testing.builders import door, flavor, workload

LOWER = Preemption(within=Evictable.LOWER_PRIORITY)
RECLAIM = Preemption(reclaim=Evictable.ANY)
FR = ("default", "cpu")


def pool(name: str, units: int, cohort: str = "all", borrow: int | None = None, **fields: Any) -> ClusterQueue:
    """A ClusterQueue for so many cpus of one flavor."""
    quota = Quota(1000 * units, None if borrow is None else 1000 * borrow)
    groups = (ResourceGroup(("cpu",), (FlavorQuotas("default", (("cpu", quota),)),)),)
    return ClusterQueue(name, groups, cohort=cohort, **fields)


def job(name: str, queue: str, cpu: int, **fields: Any) -> Workload:
    """A workload of one pod."""
    return workload(f"ns/{name}", cpu=cpu, queue=f"ns/{queue}", **fields)


def running(name: str, queue: str, cpu: int, **fields: Any) -> Workload:
    """One that holds its quota."""
    given = PodSetAssigned("main", 1, (("cpu", "default"),), (("cpu", 1000 * cpu),))
    return job(name, queue, cpu, admission=Admission(queue, (given,)), **fields)


def state_of(*nouns: Noun, profile: str = "kumi", settings: Settings | None = None) -> State:
    """A state that decides quota only; every ClusterQueue has a LocalQueue of its name."""
    state = State(Profile(profile, places=False, settings=settings or Settings()))
    state.apply(Put(flavor("default")))
    for noun in nouns:
        state.apply(Put(noun))
        if isinstance(noun, ClusterQueue):
            state.apply(Put(door(f"ns/{noun.name}", noun.name)))
    return state
