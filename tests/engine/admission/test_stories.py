"""Stories: what went wrong elsewhere, each from its first workload to where it must end. Nodes play no part."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from kumi.engine import invariants
from kumi.engine.decisions import Decision, Evict
from kumi.engine.model import (
    ClusterQueue,
    Evictable,
    FlavorQuotas,
    Fungibility,
    Noun,
    PodSet,
    Preemption,
    Profile,
    Put,
    Quota,
    ResourceGroup,
    Workload,
)
from kumi.engine.reasons import Code
from kumi.engine.settings import FairSharing, Settings
from kumi.testing.builders import door, flavor, shape, workload
from kumi.testing.diagram import Cluster

QUOTA_ONLY = Profile(places=False)
FAIR = Profile(places=False, settings=Settings(fair=FairSharing()))
ROUNDS_AT_MOST = 20


def cpus(units: int, borrow: int | None = None) -> Quota:
    return Quota(1000 * units, None if borrow is None else 1000 * borrow)


def pool(name: str, *quotas: tuple[str, Quota], cohort: str = "all", **fields: Any) -> ClusterQueue:
    """A ClusterQueue for cpu, flavors in order."""
    flavors = tuple(FlavorQuotas(f, (("cpu", quota),)) for f, quota in quotas)
    return ClusterQueue(name, (ResourceGroup(("cpu",), flavors),), cohort=cohort, **fields)


def job(name: str, queue: str, cpu: int, count: int = 1, **fields: Any) -> Workload:
    return workload(f"ns/{name}", count, cpu=cpu, queue=f"ns/{queue}", **fields)


class Story:
    """A cluster in which every eviction is carried out at once, and what was decided in it."""

    def __init__(self, *nouns: Noun, profile: Profile = QUOTA_ONLY) -> None:
        self.cluster = Cluster([], profile)
        for noun in nouns:
            self.cluster.put(
                *((noun, door(f"ns/{noun.name}", noun.name)) if isinstance(noun, ClusterQueue) else (noun,))
            )
        self.preempted: Counter[str] = Counter()

    def comes(self, *jobs: Workload) -> list[Decision]:
        """They come at one time; everything follows from it until nothing is decided any more. What was decided first."""
        for one in jobs:
            self.cluster.state.apply(Put(one))
            self.cluster.workloads[one.key] = one
        first: list[Decision] = []
        for _ in range(ROUNDS_AT_MOST):
            decided = self.cluster.run()
            first = first or decided
            evicted = [d for d in decided if isinstance(d, Evict)]
            self.preempted.update(d.workload.removeprefix("ns/") for d in evicted)
            if not evicted:
                return first
            for one in evicted:
                self.cluster.put(replace(self.cluster.workloads[one.workload], admission=None, evicted=False))
            invariants.check(self.cluster.state)
        raise AssertionError(f"nothing comes to rest: {self.preempted}")

    def ends(self, name: str) -> None:
        """The job ends, and everything follows from it."""
        key = f"ns/{name}"
        self.comes(replace(self.cluster.workloads[key], finished=True))

    @property
    def running(self) -> set[str]:
        return {key.removeprefix("ns/") for key in self.cluster.state.holdings.admission}

    def flavor_of(self, name: str) -> str:
        return dict(self.cluster.state.holdings.admission[f"ns/{name}"].pod_sets[0].flavors)["cpu"]

    def why(self, name: str) -> Code:
        return self.cluster.state.records[f"ns/{name}"].reason.code


def test_a_reclaimed_workload_is_preempted_once_and_the_one_that_can_never_fit_is_set_aside() -> None:
    story = Story(
        flavor("default"),
        pool("a", ("default", cpus(3)), preemption=Preemption(reclaim=Evictable.ANY)),
        pool("b", ("default", cpus(0))),
    )
    story.comes(job("w1", "b", 1, created_ms=1))
    story.comes(job("w4", "a", 4, created_ms=2))
    story.comes(job("w3", "a", 3, created_ms=3))
    assert story.preempted == {"w1": 1}
    assert story.running == {"w3"}
    assert story.why("w4") is Code.OVER_QUOTA


def test_a_preemptor_goes_past_the_flavor_where_nobody_is_lower_and_takes_the_one_where_somebody_is() -> None:
    story = Story(
        flavor("one"),
        flavor("two"),
        pool("q", ("one", cpus(1)), ("two", cpus(1)), preemption=Preemption(within=Evictable.LOWER_PRIORITY)),
    )
    story.comes(job("high", "q", 1, priority=2))
    story.comes(job("low", "q", 1, priority=0))
    story.comes(job("medium", "q", 1, priority=1))
    assert story.preempted == {"low": 1}
    assert {name: story.flavor_of(name) for name in story.running} == {"high": "one", "medium": "two"}


def test_two_preemptors_in_one_cycle_never_count_on_the_same_victim() -> None:
    reclaim = Preemption(reclaim=Evictable.ANY)
    story = Story(
        flavor("default"),
        *(pool(name, ("default", cpus(2)), preemption=reclaim) for name in "abc"),
    )
    story.comes(job("a1", "a", 3, created_ms=1), job("a2", "a", 3, created_ms=2))
    assert story.running == {"a1", "a2"}
    first = story.comes(job("b", "b", 2, created_ms=3), job("c", "c", 2, created_ms=3))
    assert {d.workload for d in first if isinstance(d, Evict)} == {"ns/a1", "ns/a2"}
    assert story.preempted == {"a1": 1, "a2": 1}
    assert {"b", "c"} <= story.running


def test_shares_are_levelled_once_and_nothing_flaps_after() -> None:
    everybody = Preemption(within=Evictable.LOWER_PRIORITY, reclaim=Evictable.ANY)
    story = Story(
        flavor("default"),
        *(pool(name, ("default", cpus(4)), preemption=everybody) for name in ("one", "other")),
        profile=FAIR,
    )
    story.comes(*(job(f"gang-{n}", "one", 1, 2, created_ms=n) for n in range(4)))
    assert story.running == {f"gang-{n}" for n in range(4)}
    for number, pods in enumerate((6, 5, 4, 3)):
        story.comes(job(f"asks-{pods}", "other", 1, pods, created_ms=10 + number))
    assert {name for name in story.running if name.startswith("asks")} == {"asks-4"}
    assert story.preempted.total() == 2
    assert story.cluster.run() == []


def test_a_workload_that_is_too_large_for_all_there_is_does_not_shield_those_behind_it() -> None:
    policy = Preemption(within=Evictable.LOWER_PRIORITY, reclaim=Evictable.ANY, borrowing=Evictable.LOWER_PRIORITY)
    story = Story(
        flavor("default"),
        pool("owner", ("default", cpus(4))),
        pool("cq-hi", ("default", cpus(0)), preemption=policy),
        pool("cq-lo", ("default", cpus(0)), preemption=policy),
    )
    story.comes(job("placeholder", "owner", 4, created_ms=1))
    story.comes(job("too-large", "cq-hi", 5, priority=10, created_ms=2))
    story.comes(job("low", "cq-lo", 4, priority=0, created_ms=3))
    story.ends("placeholder")
    assert story.running == {"low"}
    story.comes(job("high", "cq-hi", 4, priority=10, created_ms=4))
    assert story.preempted == {"low": 1}
    assert story.running == {"high"}


def test_a_flavor_where_nobody_may_go_never_outranks_one_that_fits() -> None:
    how = Fungibility(stop_at_preemption=True, prefer_preemption=True)
    story = Story(
        flavor("a"),
        flavor("b"),
        pool(
            "q",
            ("a", cpus(1, borrow=0)),
            ("b", cpus(1)),
            preemption=Preemption(within=Evictable.LOWER_PRIORITY),
            fungibility=how,
        ),
    )
    story.comes(job("first", "q", 1, created_ms=1))
    assert story.flavor_of("first") == "a"
    story.comes(job("second", "q", 1, created_ms=2))
    assert story.flavor_of("second") == "b"
    assert not story.preempted


def test_a_job_that_is_content_with_fewer_pods_gets_as_many_as_there_are_and_asks_for_all_again_after() -> None:
    story = Story(
        flavor("default"),
        pool("q", ("default", cpus(9)), preemption=Preemption(within=Evictable.LOWER_PRIORITY)),
    )
    wanted = (PodSet("main", 10, shape(cpu=1), least=9),)
    story.comes(job("shrinks", "q", 1, pod_sets=wanted))
    assert story.cluster.state.holdings.admission["ns/shrinks"].pod_sets[0].count == 9
    story.comes(job("urgent", "q", 9, priority=1))
    assert (story.running, story.preempted) == ({"urgent"}, {"shrinks": 1})
    record = story.cluster.state.records["ns/shrinks"]
    assert (record.reason.code, record.reason.need) == (Code.QUOTA_IN_USE, 9_000)
    assert [(no.code, no.need) for no in record.others] == [(Code.OVER_QUOTA, 10_000)]


@pytest.mark.parametrize("refused", ["ns/low-1", "ns/low-2"])
def test_an_eviction_that_is_refused_is_decided_anew(refused: str) -> None:
    story = Story(
        flavor("default"),
        pool("q", ("default", cpus(2)), preemption=Preemption(within=Evictable.LOWER_PRIORITY)),
    )
    story.comes(job("low-1", "q", 1), job("low-2", "q", 1))
    state = story.cluster.state
    state.apply(Put(job("high", "q", 2, priority=1)))
    decided = story.cluster.decide()
    assert {d.workload for d in decided if isinstance(d, Evict)} == {"ns/low-1", "ns/low-2"}
    for decision in decided:
        state.settle(decision, getattr(decision, "workload", "") != refused)
        invariants.check(state)
    again = story.cluster.decide()
    assert [d.workload for d in again if isinstance(d, Evict)] == [refused]
