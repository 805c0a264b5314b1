"""scheduling.x-k8s.io/v1alpha1: PodGroup of the scheduler-plugins project, the gang of its coscheduling plug-in."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.defaulting.structural import by_schema
from kumi.api.meta import Object, View
from kumi.api.schema import Int32, Quantity, say
from kumi.api.scheme import AGE, SCHEME, Column, Kind
from kumi.api.validation.metadata import with_metadata


class PodGroupSpec(View):
    """How much of the gang must be placed at once, and how long that may take."""

    min_member: Annotated[Int32, say("pods that must be placed at once")] = 0
    min_resources: Annotated[dict[str, Quantity], say("what the gang needs in all")] = {}
    schedule_timeout_seconds: Annotated[Int32 | None, say("how long to wait for the whole gang")] = None


class PodGroupStatus(View):
    """phase: Pending, PreScheduling, Scheduling, Scheduled, Running, Unknown, Finished, Failed."""

    phase: str = ""
    occupied_by: str = ""
    running: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0


class PodGroup(Object):
    """A gang."""

    spec: PodGroupSpec = field(default_factory=PodGroupSpec)
    status: PodGroupStatus = field(default_factory=PodGroupStatus)


SCHEME.register(
    Kind(
        "scheduling.x-k8s.io",
        "v1alpha1",
        "PodGroup",
        "podgroups",
        PodGroup,
        short_names=("pgs",),
        subresources=("status",),
        columns=(
            Column("Phase", ".status.phase"),
            Column("MinMember", ".spec.minMember", "integer"),
            Column("Running", ".status.running", "integer"),
            AGE,
        ),
        default=by_schema(PodGroup, "scheduling.x-k8s.io", "v1alpha1"),
        validate=with_metadata(),
        custom=True,
        strategic=False,
    )
)
