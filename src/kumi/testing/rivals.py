"""Rivals: small random clusters in which queues borrow from one another and take back, for hypothesis.

Queues are few, their quotas small and their policies lively, so that workloads borrow, are preempted and wait for each other.
`rivals` is a whole cluster as its objects, with the profile that decides in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from kumi.engine.model import (
    ClusterQueue,
    Cohort,
    Evictable,
    Flavor,
    FlavorQuotas,
    Fungibility,
    LocalQueue,
    Node,
    Noun,
    PodSet,
    PodShape,
    Preemption,
    Profile,
    Quota,
    ResourceGroup,
    Strategy,
    Workload,
)
from kumi.engine.settings import FairSharing, Settings

QUEUES = ("q1", "q2", "q3")
COHORTS = ("left", "right", "top")
UNIT = 1000
ANYBODY = (Evictable.ANY, Evictable.LOWER_PRIORITY, Evictable.NEVER)


@dataclass(frozen=True)
class Rivals:
    """A cluster's objects, workloads aside, and the profile that decides in it."""

    profile: Profile
    setup: tuple[Noun, ...]
    workloads: tuple[Workload, ...]


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    """A few whole units; limits now and then."""
    limits = st.sampled_from([None, None, None, 2, 1, 0])
    borrowing, lending = (None if n is None else UNIT * n for n in (draw(limits), draw(limits)))
    return Quota(UNIT * draw(st.sampled_from([2, 3, 1, 4, 0])), borrowing, lending)


@st.composite
def queues(draw: st.DrawFn, name: str, flavors: tuple[str, ...]) -> ClusterQueue:
    """For cpu, of the flavors in some order; most may evict somebody."""
    order = draw(st.permutations(flavors))
    offers = tuple(FlavorQuotas(f, (("cpu", draw(quotas())),)) for f in order)
    within = draw(st.sampled_from([Evictable.LOWER_PRIORITY, Evictable.LOWER_OR_NEWER_EQUAL, Evictable.NEVER]))
    borrowing = draw(st.sampled_from([Evictable.NEVER, Evictable.LOWER_PRIORITY]))
    return ClusterQueue(
        name,
        (ResourceGroup(("cpu",), offers),),
        strategy=draw(st.sampled_from([Strategy.BEST_EFFORT, Strategy.BEST_EFFORT, Strategy.STRICT])),
        cohort=draw(st.sampled_from(["left", "left", "right", "top", ""])),
        preemption=Preemption(within, draw(st.sampled_from(ANYBODY)), borrowing, draw(st.sampled_from([None, 0]))),
        fungibility=Fungibility(*(draw(st.booleans()) for _ in range(3))),
        weight=draw(st.sampled_from([1.0, 1.0, 2.0, 0.0])),
    )


@st.composite
def workloads(draw: st.DrawFn, number: int) -> Workload:
    """Of one pod set; few priorities and times, so that ties are frequent. Some are content with fewer pods."""
    count = draw(st.sampled_from([1, 2, 1, 3]))
    least = draw(st.sampled_from([None, None, None, 1]))
    pods = PodSet("main", count, PodShape((("cpu", UNIT * draw(st.sampled_from([1, 1, 2]))),)), least)
    key = f"ns/w{number:02d}"
    return Workload(
        key,
        f"uid-{number:02d}",
        "ns",
        f"ns/{draw(st.sampled_from(QUEUES))}",
        draw(st.sampled_from([0, 1, 0, 2])),
        UNIT * draw(st.integers(0, 3)),
        (pods,),
        job=f"Job {key}",
    )


@st.composite
def rivals(draw: st.DrawFn, most_workloads: int = 9, name: str = "kumi") -> Rivals:
    """A whole cluster, decided by shares or without, with nodes or without."""
    fair = draw(st.sampled_from([None, FairSharing()]))
    places = draw(st.sampled_from([False, False, True])) if name == "kumi" else False
    flavors = ("f1", "f2")[: draw(st.integers(1, 2))]
    setup: list[Any] = [Flavor(f) for f in flavors]
    setup += [Cohort(c, draw(st.sampled_from(["top", ""]))) for c in ("left", "right")]
    setup += [draw(queues(q, flavors)) for q in QUEUES]
    setup += [LocalQueue(f"ns/{q}", q) for q in QUEUES]
    for number in range(draw(st.integers(1, 3)) if places else 0):
        setup.append(Node(f"n{number}", (), (("cpu", UNIT * draw(st.sampled_from([2, 3, 6]))), ("pods", 110 * UNIT))))
    made = [draw(workloads(n)) for n in range(draw(st.integers(most_workloads // 2, most_workloads)))]
    return Rivals(Profile(name, places, settings=Settings(fair=fair)), tuple(setup), tuple(made))
