"""Small random trees of quota with a queue that searches for flavors in them, and a stub in place of the oracle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from kumi.engine.admission.assignment import Mode
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.model import (
    ClusterQueue,
    Cohort,
    Evictable,
    FlavorQuotas,
    Fungibility,
    PodSet,
    Preemption,
    Profile,
    Put,
    Quota,
    ResourceGroup,
    Workload,
)
from kumi.engine.state import State
from kumi.testing.builders import GPU, flavor, shape, workload

FLAVORS = ("a", "b", "c")
RESOURCES = ("cpu", GPU)


class Stub:
    """Says the same of every amount of a flavor-resource; keeps what it was asked."""

    def __init__(self, said: dict[FlavorResource, tuple[Mode, int]] | None = None) -> None:
        self.said = said or {}
        self.asked: list[tuple[FlavorResource, int]] = []

    def possibility(self, fr: FlavorResource, amount: int) -> tuple[Mode, int]:
        """What was set."""
        self.asked.append((fr, amount))
        return self.said.get(fr, (Mode.NO_CANDIDATES, 0))


@dataclass(frozen=True)
class Case:
    """A queue, its neighbour with what both use, a job, and what the stub says."""

    queue: ClusterQueue
    other: ClusterQueue
    cohort: Cohort
    used: tuple[tuple[str, FlavorResource, int], ...]
    job: Workload
    said: tuple[tuple[FlavorResource, tuple[Mode, int]], ...]

    def state(self, name: str = "kueue", **profile: Any) -> State:
        """A state of the profile that has seen it all."""
        made = State(Profile(name=name, **{"places": False, **profile}))
        for noun in (*map(flavor, FLAVORS), self.cohort, self.queue, self.other):
            made.apply(Put(noun))
        for queue, fr, amount in self.used:
            made.quotas.add(queue, fr, amount)
        return made

    def oracle(self) -> Stub:
        """The stub."""
        return Stub(dict(self.said))


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    limits = st.sampled_from([None, None, 0, 2000, 4000])
    return Quota(1000 * draw(st.sampled_from([4, 2, 6, 0])), draw(limits), draw(limits))


@st.composite
def groups(draw: st.DrawFn) -> tuple[ResourceGroup, ...]:
    order = draw(st.permutations(FLAVORS))[: draw(st.integers(1, 3))]

    def of(*resources: str) -> ResourceGroup:
        each = (FlavorQuotas(f, tuple((r, draw(quotas())) for r in resources)) for f in order)
        return ResourceGroup(resources, tuple(each))

    return tuple(of(*part) for part in draw(st.sampled_from([(RESOURCES,), (("cpu",), (GPU,))])))


@st.composite
def jobs(draw: st.DrawFn) -> Workload:
    names = draw(st.sampled_from([("main",), ("main",), ("leader", "worker")]))
    group = draw(st.sampled_from(["", "", "together"]))
    sets = tuple(
        PodSet(
            name, draw(st.integers(1, 3)), shape(cpu=draw(st.integers(0, 3)), gpu=draw(st.integers(0, 2))), group=group
        )
        for name in names
    )
    return workload("ns/a", pod_sets=sets)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """See the module."""
    policies = st.sampled_from([Evictable.NEVER, Evictable.LOWER_PRIORITY])
    queue = ClusterQueue(
        "cq",
        draw(groups()),
        cohort=draw(st.sampled_from(["co", "co", ""])),
        fungibility=Fungibility(*(draw(st.booleans()) for _ in range(3))),
        preemption=Preemption(draw(policies), draw(policies), draw(policies)),
    )
    other = replace(queue, name="other", groups=draw(groups()), cohort="co")
    frs = [(f, r) for f in FLAVORS for r in RESOURCES]
    used = [(q, fr, 1000 * draw(st.integers(0, 8))) for q in ("cq", "other") for fr in frs if draw(st.booleans())]
    modes = st.sampled_from([Mode.NO_CANDIDATES, Mode.PREEMPT, Mode.RECLAIM])
    said = tuple((fr, (draw(modes), draw(st.integers(0, 1)))) for fr in frs)
    return Case(
        queue, other, Cohort("co", groups=draw(st.sampled_from([(), draw(groups())]))), tuple(used), draw(jobs()), said
    )
