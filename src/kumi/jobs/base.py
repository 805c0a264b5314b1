"""What a job is, for the rest of Kumi: two small protocols, all values, no input or output.

A kind's file answers both. `QueuedJob` is the side that the queues see (Kueue's integration); `Replicas` is the side that
makes pods (the kind's own controller). Objects that are made are JSON; what is read is a decoded view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from kumi.api.core import Pod, Service
from kumi.api.meta import Object
from kumi.api.wire import JsonObject

J = TypeVar("J", bound=Object)


@dataclass(frozen=True)
class PodSetShape:
    """Pods of one shape that the job wants: `template` is the pod template as the job holds it now; `index_label`: the label
    that tells its pods apart; `asked`: annotations that say how close together they must be, where the template has none."""

    name: str
    count: int
    template: JsonObject
    min_count: int | None = None
    index_label: str = ""
    asked: Mapping[str, str] | None = None


@dataclass(frozen=True)
class PodSetInfo:
    """What admission adds to a pod set's template (contract: admission, start)."""

    name: str
    count: int
    node_selector: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[JsonObject, ...] = ()
    scheduling_gates: tuple[str, ...] = ()


class StartConflict(ValueError):
    """A label, annotation or node selector that admission wants is already there with another value: the job can't start."""


@dataclass(frozen=True)
class Standing:
    """Where a job stands, as the queues need it."""

    suspended: bool
    active: bool
    """holds pods: quota may not be freed yet"""
    pods_ready: bool
    finished: bool
    succeeded: bool = False
    message: str = ""
    managed_elsewhere: bool = False
    reclaimable: Mapping[str, int] = field(default_factory=dict)
    """pod set -> how many of its pods have ended and are not replaced: their quota may go to others before the job ends"""


class QueuedJob(Protocol[J]):
    """A kind that the queues can hold back."""

    view_type: type[J]

    def pod_sets(self, job: J) -> list[PodSetShape]:
        """In the kind's fixed order, names in lower case."""
        ...

    def standing(self, job: J) -> Standing:
        """Where it stands."""
        ...

    def priority_class(self, job: J) -> str:
        """The kind's own rule for a PriorityClass name; "" leaves it to the pod sets."""
        ...

    def suspend_patch(self) -> JsonObject:
        """The merge patch that suspends a job that is being created."""
        ...

    def start_patch(self, job: J, infos: Sequence[PodSetInfo]) -> JsonObject:
        """The merge patch that resumes it with what admission decided. StartConflict."""
        ...

    def stop_patch(self, job: J, stored: Sequence[PodSetShape]) -> JsonObject:
        """The merge patch that suspends it and restores the templates' metadata and scheduling fields to `stored`.

        A kind whose template can't change while it runs (batch/v1 Job) restores in a second step: asked again once the
        job is suspended, it answers with the rest. `{}`: nothing is left to do. See kumi.jobs.workload.stop_step."""
        ...


@dataclass(frozen=True)
class Children:
    """What exists of a job's children, each sorted by name; `priorities`: the value of each PriorityClass by name."""

    pods: tuple[Pod, ...] = ()
    services: tuple[Service, ...] = ()
    others: tuple[Object, ...] = ()
    priorities: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Removal:
    """A child to delete."""

    object: Object


@dataclass(frozen=True)
class Alteration:
    """A child to change by a merge patch; it is only done to the child as it was read (resourceVersion)."""

    object: Object
    body: JsonObject


@dataclass(frozen=True)
class Said:
    """An event to tell about the job."""

    reason: str
    message: str
    type: str = "Normal"


@dataclass(frozen=True)
class Sync:
    """What one look at a job leads to, in the order in which it is done: alterations, deletions, creations, the status.

    `status` is a merge patch of the job's status (None: unchanged), done only if the job is as it was read.
    `delete_job`: its time to live is over. `wake_at_ms`: look again then."""

    alter: tuple[Alteration, ...] = ()
    remove: tuple[Removal, ...] = ()
    create: tuple[JsonObject, ...] = ()
    status: JsonObject | None = None
    said: tuple[Said, ...] = ()
    wake_at_ms: int | None = None
    delete_job: bool = False


@dataclass(frozen=True)
class Settings:
    """What the installation decides for all jobs.

    `gang_scheduler` is the training operator's flag of that name. `init_command`, where it is set, replaces the
    image's shell loop in init containers that a kind adds (nodes that run processes have no image); pods then also
    carry the note of kumi.jobs.injected. `init_container` replaces that whole container: `{{.MasterAddr}}` and
    `{{.InitContainerImage}}` in its texts stand for the name waited for and `init_image`."""

    gang_scheduler: str = ""
    init_image: str = "alpine:3.10"
    init_command: tuple[str, ...] = ()
    init_tries: int = 100
    init_container: JsonObject | None = None
    cluster_domain: str = ""


class Replicas(Protocol[J]):
    """A kind whose pods Kumi makes."""

    view_type: type[J]
    name_label: str
    """the label of a child that holds the job's name"""
    finalizer: str
    """what keeps a finished child from vanishing uncounted; "" if the kind has none"""

    def child_types(self, settings: Settings) -> tuple[type[Object], ...]:
        """What it makes on this installation: the loop reads these and no others."""
        ...

    def sync(self, job: J, children: Children, settings: Settings, now_ms: int) -> Sync:
        """What to make, what to delete, where it stands. Idempotent; never makes anything for a finished job."""
        ...
