"""nodeinfo.volcano.sh/v1alpha1: Numatopology, how the cpus of a node are grouped and which of them are free."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.defaulting.structural import by_schema
from kumi.api.meta import Object, View
from kumi.api.schema import Int32, say
from kumi.api.scheme import AGE, SCHEME, Column, Kind
from kumi.api.validation.metadata import with_metadata

CPU_POLICY = "CPUManagerPolicy"
TOPOLOGY_POLICY = "TopologyManagerPolicy"


class CpuInfo(View):
    """What a logical cpu is part of."""

    numa: Int32 = 0
    socket: Int32 = 0
    core: Int32 = 0


class ResourceInfo(View):
    """Of one resource: which of them may be given (as "0-3,8"), and how many there are."""

    allocatable: Annotated[str, say("those that are free, as 0-3,8")] = ""
    capacity: Int32 = 0


class NumatopoSpec(View):
    """What the node's kubelet says."""

    policies: Annotated[dict[str, str], say("CPUManagerPolicy and TopologyManagerPolicy of the kubelet")] = {}
    res_reserved: Annotated[dict[str, str], say("what the system keeps")] = {}
    numares: Annotated[dict[str, ResourceInfo], say("by resource")] = {}
    cpu_detail: Annotated[dict[str, CpuInfo], say("by cpu number")] = {}


class Numatopology(Object):
    """How a node's cpus are grouped. Cluster-scoped; its name is the node's."""

    spec: NumatopoSpec = field(default_factory=NumatopoSpec)


SCHEME.register(
    Kind(
        "nodeinfo.volcano.sh",
        "v1alpha1",
        "Numatopology",
        "numatopologies",
        Numatopology,
        namespaced=False,
        short_names=("numatopo",),
        columns=(Column("POLICIES", ".spec.policies"), AGE),
        default=by_schema(Numatopology, "nodeinfo.volcano.sh", "v1alpha1"),
        validate=with_metadata(),
        custom=True,
        strategic=False,
    )
)
