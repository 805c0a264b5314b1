"""A kubeflow.org/v1 job in the form that all kinds of the group share, its defaults in place.

Defaults belong to the controller, as in the training operator: validation sees the raw object, what is stored stays as
its user wrote it, and each kind's `read` fills in what is missing.

Seam       `TrainingKind` is what a kind adds to the shared engine (kubeflow.py): names, defaults, what a pod of it gets,
           further objects, and when a replica type makes the job run or succeed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol

from kumi.api.kubeflow import ReplicaSpec, ReplicaStatus, RunPolicy, TrainingStatus
from kumi.api.meta import ObjectMeta
from kumi.api.wire import JsonObject
from kumi.jobs.base import J, Settings

JOB_NAME = "training.kubeflow.org/job-name"
OPERATOR_NAME = "training.kubeflow.org/operator-name"
REPLICA_TYPE = "training.kubeflow.org/replica-type"
REPLICA_INDEX = "training.kubeflow.org/replica-index"
JOB_ROLE = "training.kubeflow.org/job-role"

OPERATOR = "kubeflow.org/training-operator"
"""managedBy of a job that its own controller runs"""

CLEAN_POD_POLICY = "None"
"""the default: whatever a finished job has made is kept"""

Effect = Literal["", "Running", "Succeeded"]


@dataclass(frozen=True)
class Names:
    """What differs between the kinds in names only."""

    kind: str
    container: str
    port_name: str
    port: int
    restart_policy: str

    @property
    def operator(self) -> str:
        """The value of the operator label."""
        return f"{self.kind.lower()}-controller"

    @property
    def reference(self) -> tuple[str, str]:
        """(apiVersion, kind), for owner references."""
        return "kubeflow.org/v1", self.kind


@dataclass(frozen=True)
class Replica:
    """One replica type: `count` pods from `template`."""

    type: str
    count: int
    restart_policy: str
    template: JsonObject
    written: JsonObject
    """the template as its user wrote it, without the default port"""
    priority: int = 0
    """the value of its PriorityClass"""


@dataclass(frozen=True)
class Training(Generic[J]):
    """A job with its defaults; `replicas` in the kind's fixed order."""

    job: J
    names: Names
    policy: RunPolicy
    replicas: tuple[Replica, ...]
    status: TrainingStatus

    @property
    def meta(self) -> ObjectMeta:
        """The job's metadata."""
        return self.job.metadata

    def find(self, type_: str) -> Replica | None:
        """The replica type, if the job has it."""
        return next((r for r in self.replicas if r.type == type_), None)

    @property
    def total(self) -> int:
        """Pods of all types."""
        return sum(r.count for r in self.replicas)

    def pod_name(self, type_: str, index: int) -> str:
        """Also the name of the pod's service."""
        return f"{self.meta.name}-{type_.lower()}-{index}".replace("/", "-")

    def labels(self, type_: str = "", index: int | None = None) -> dict[str, str]:
        """Labels of the job's children, of one type, of one index."""
        out = {JOB_NAME: self.meta.name, OPERATOR_NAME: self.names.operator}
        if type_:
            out[REPLICA_TYPE] = type_.lower()
        if index is not None:
            out[REPLICA_INDEX] = str(index)
        return out


class TrainingKind(Protocol[J]):
    """See the module."""

    names: Names

    def read(self, job: J) -> Training[J]:
        """The job with its defaults."""
        ...

    def is_master(self, training: Training[J], type_: str, index: int) -> bool:
        """Whether the pod carries the master's role label."""
        ...

    def dress(self, training: Training[J], replica: Replica, index: int, pod: JsonObject, settings: Settings) -> None:
        """Adds what a pod of this kind gets: environment, init containers."""
        ...

    def extras(self, training: Training[J]) -> Sequence[JsonObject]:
        """Further objects that a running job should have."""
        ...

    def effect(self, training: Training[J], replica: Replica, status: ReplicaStatus) -> Effect:
        """What the counts of one replica type make of the job. Succeeded ends the pass."""
        ...


def replicas_of(specs: dict[str, ReplicaSpec], order: Sequence[str], names: Names) -> tuple[Replica, ...]:
    """The types that are there, in the kind's order, with their defaults: one replica, the policy, the port."""
    return tuple(
        Replica(
            type=type_,
            count=1 if specs[type_].replicas is None else specs[type_].replicas or 0,
            restart_policy=specs[type_].restart_policy or names.restart_policy,
            template=_with_port(specs[type_].template, names),
            written=specs[type_].template,
        )
        for type_ in order
        if type_ in specs
    )


def main_container(template: JsonObject, names: Names) -> JsonObject | None:
    """The container of the kind's default name, else the first."""
    containers: list[JsonObject] = (template.get("spec") or {}).get("containers") or []
    return next((c for c in containers if c.get("name") == names.container), containers[0] if containers else None)


def port_of(replica: Replica, names: Names) -> int:
    """The port of the kind's name in the main container."""
    container = main_container(replica.template, names) or {}
    ports = container.get("ports") or ()
    return next((int(p["containerPort"]) for p in ports if p.get("name") == names.port_name), names.port)


def _with_port(template: JsonObject, names: Names) -> JsonObject:
    """The template whose main container has the kind's port: a copy when it was missing."""
    container = main_container(template, names)
    if container is None or any(p.get("name") == names.port_name for p in container.get("ports") or ()):
        return template
    out = copy.deepcopy(template)
    own = main_container(out, names)
    assert own is not None
    own["ports"] = [*(own.get("ports") or ()), {"name": names.port_name, "containerPort": names.port}]
    return out
