"""Strategies: small random clusters, for hypothesis.

Everything comes from few names and small amounts, so that queues are full, flavors run out, nodes fill up and taints and
labels matter. `worlds` is a whole cluster as its objects; its workloads ask for what some of its nodes have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from kumi.engine.model import (
    ClusterQueue,
    Flavor,
    LocalQueue,
    Namespace,
    Node,
    Noun,
    PodSet,
    PodShape,
    Quota,
    Requirement,
    ResourceGroup,
    StopPolicy,
    Strategy,
    Taint,
    Toleration,
    Workload,
)
from kumi.engine.model import FlavorQuotas as Quotas
from kumi.testing.builders import GPU

ZONES = ("a", "b")
QUEUES = ("cq-1", "cq-2")
NAMESPACES = ("red", "blue")
TAINT = Taint("dedicated", "ai", "NoSchedule")
ENDURES = Toleration("dedicated", "Equal", "ai", "NoSchedule")


@dataclass(frozen=True)
class World:
    """A cluster's objects, workloads aside and pods not made yet."""

    setup: tuple[Noun, ...]
    workloads: tuple[Workload, ...]

    @property
    def nouns(self) -> tuple[Noun, ...]:
        """All of them."""
        return (*self.setup, *self.workloads)


def quotas() -> st.SearchStrategy[Quota]:
    """Nominal quotas of whole units, most of them worth something."""
    return st.sampled_from([8, 12, 6, 4, 16, 2, 1, 0]).map(lambda units: Quota(1000 * units))


@st.composite
def flavors(draw: st.DrawFn, name: str) -> Flavor:
    """Of one zone or of any; sometimes tainted, sometimes with the toleration for it."""
    labels = draw(st.sampled_from([(), (("zone", "a"),), (("zone", "b"),)]))
    taints, endures = draw(
        st.sampled_from([((), ()), ((), ()), ((), (ENDURES,)), ((TAINT,), ()), ((TAINT,), (ENDURES,))])
    )
    return Flavor(name, labels, taints, endures)


@st.composite
def cluster_queues(draw: st.DrawFn, name: str, flavor_names: tuple[str, ...]) -> ClusterQueue:
    """GPUs and cpu in one group, or in a group each."""
    order = draw(st.permutations(flavor_names))[: draw(st.integers(1, len(flavor_names)))]

    def of(*resources: str) -> ResourceGroup:
        return ResourceGroup(resources, tuple(Quotas(f, tuple((r, draw(quotas())) for r in resources)) for f in order))

    groups = draw(st.sampled_from([(("cpu", GPU),), (("cpu",), (GPU,))]))
    return ClusterQueue(
        name,
        tuple(of(*resources) for resources in groups),
        strategy=draw(st.sampled_from(Strategy)),
        stop=draw(st.sampled_from([StopPolicy.NONE] * 16 + list(StopPolicy))),
        selector=draw(st.sampled_from([()] * 12 + [(Requirement("team", "In", ("red",)),)] * 2 + [None])),
    )


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    """Up to 8 GPUs and 8 cpu, 3 or 110 pods; seldom cordoned or down."""
    has = (("cpu", 1000 * draw(st.sampled_from([8, 4, 2, 1]))), (GPU, 1000 * draw(st.sampled_from([8, 4, 6, 2, 1, 0]))))
    return Node(
        name,
        (("zone", draw(st.sampled_from(ZONES))), ("kubernetes.io/hostname", name)),
        (*has, ("pods", 1000 * draw(st.sampled_from([3, 110, 110])))),
        draw(st.sampled_from([()] * 5 + [(TAINT,)])),
        unschedulable=draw(st.sampled_from([False] * 9 + [True])),
        ready=draw(st.sampled_from([True] * 9 + [False])),
    )


@st.composite
def shapes(draw: st.DrawFn) -> PodShape:
    """Of a GPU or two or none, and some cpu; some choose a zone, some endure the taint."""
    gpus, cpus = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    zone = draw(st.sampled_from([None] * 4 + list(ZONES)))
    affinity = draw(st.sampled_from([None] * 5 + [((Requirement("zone", "NotIn", ("a",)),),)]))
    return PodShape(
        (("cpu", 500 * cpus), (GPU, 1000 * gpus)),
        (("zone", zone),) if zone else (),
        (ENDURES,) if draw(st.integers(0, 3)) == 0 else (),
        affinity,
    )


@st.composite
def pod_sets(draw: st.DrawFn) -> tuple[PodSet, ...]:
    """One, seldom two; seldom empty."""
    names = draw(st.sampled_from([("main",), ("main",), ("leader", "worker")]))
    return tuple(PodSet(name, draw(st.sampled_from([2, 1, 3, 4, 1, 0])), draw(shapes())) for name in names)


@st.composite
def workloads(draw: st.DrawFn, number: int) -> Workload:
    """Of one of the namespaces, with few priorities and times, so that ties are frequent."""
    namespace = draw(st.sampled_from(NAMESPACES))
    key = f"{namespace}/w{number:02d}"
    return Workload(
        key=key,
        uid=f"uid-{number:02d}",
        namespace=namespace,
        queue=f"{namespace}/{draw(st.sampled_from(['lq-1', 'lq-2']))}",
        priority=draw(st.sampled_from([0, 0, 0, 5])),
        created_ms=draw(st.integers(0, 3)) * 1000,
        pod_sets=draw(pod_sets()),
        job=f"Job {key}",
    )


@st.composite
def worlds(draw: st.DrawFn, most_workloads: int = 8, most_nodes: int = 4) -> World:
    """A whole cluster. Its LocalQueues lead to both ClusterQueues."""
    names = ("f1", "f2")[: draw(st.integers(1, 2))]
    setup: list[Any] = [draw(flavors(name)) for name in names]
    setup += [draw(cluster_queues(name, names)) for name in QUEUES]
    setup += [Namespace(name, (("team", name),)) for name in NAMESPACES]
    setup += [LocalQueue(f"{ns}/lq-{n}", f"cq-{n}") for ns in NAMESPACES for n in (1, 2)]
    setup += [draw(nodes(f"n{n}")) for n in range(draw(st.sampled_from([most_nodes, 3, 2, 1, 0])))]
    made = [draw(workloads(n)) for n in range(draw(st.integers(most_workloads // 2, most_workloads)))]
    return World(tuple(setup), tuple(made))
