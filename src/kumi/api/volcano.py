"""scheduling.volcano.sh/v1beta1: PodGroup, the gang that a training job asks Volcano's scheduler for."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.defaulting.structural import by_schema
from kumi.api.meta import Object, View
from kumi.api.schema import Int32, Quantity, RawObject, Time, like, say
from kumi.api.scheme import AGE, SCHEME, Column, Kind
from kumi.api.validation.metadata import with_metadata
from kumi.api.wire import JsonObject

GROUP_NAME_ANNOTATION = "scheduling.k8s.io/group-name"
TASK_SPEC_ANNOTATION = "volcano.sh/task-spec"


class PodGroupSpec(View):
    """How much of the gang must be placed at once, from which queue."""

    min_member: Annotated[Int32, say("pods that must be placed at once")] = 0
    min_task_member: Annotated[dict[str, Int32], say("the same, by task")] = {}
    queue: Annotated[str, say("the queue that pays", default="default")] = "default"
    priority_class_name: str = ""
    min_resources: Annotated[dict[str, Quantity], say("what the gang needs in all")] = {}
    network_topology: RawObject | None = None


class PodGroupCondition(View):
    """What the scheduler last said of the gang."""

    type: str = ""
    status: str = ""
    transition_id: str = field(default="", name="transitionID")
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class PodGroupStatus(View):
    """phase: Pending, Inqueue, Running, Unknown, Completed."""

    phase: str = ""
    conditions: list[Annotated[JsonObject, like(PodGroupCondition)]] = []
    running: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0


class PodGroup(Object):
    """A gang."""

    spec: PodGroupSpec = field(default_factory=PodGroupSpec)
    status: PodGroupStatus = field(default_factory=PodGroupStatus)


SCHEME.register(
    Kind(
        "scheduling.volcano.sh",
        "v1beta1",
        "PodGroup",
        "podgroups",
        PodGroup,
        short_names=("pg", "podgroup-v1beta1"),
        subresources=("status",),
        columns=(
            Column("Status", ".status.phase"),
            Column("MinMember", ".spec.minMember", "integer"),
            Column("Runnings", ".status.running", "integer"),
            AGE,
            Column("Queue", ".spec.queue", priority=1),
        ),
        default=by_schema(PodGroup, "scheduling.volcano.sh", "v1beta1"),
        validate=with_metadata(),
        custom=True,
        strategic=False,
    )
)
