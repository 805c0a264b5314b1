"""How the queues see a kubeflow.org/v1 job: pod sets by replica type, suspension in the run policy.

Pod sets   one for each replica type that is there, in the kind's fixed order; name = the type in lower case.
Priority   runPolicy.schedulingPolicy.priorityClass; then the pod sets' own, in order.
Standing   active: any replica active, or a suspension that its controller has not seen yet, so that quota is never freed
           before the pods are gone. Pods ready: Running is True. Finished: Succeeded or Failed is True.
Source     Kueue: kubeflow jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from kumi.api.meta import is_true
from kumi.api.wire import JsonObject
from kumi.jobs.base import J, PodSetInfo, PodSetShape, Standing
from kumi.jobs.podset import paired, restored, start_template, stop_template
from kumi.jobs.training import OPERATOR, REPLICA_INDEX, TrainingKind


class QueuedTraining(Generic[J]):
    """A QueuedJob over a kind of the group; `specs_field` is where its replica types are (`pytorchReplicaSpecs`)."""

    def __init__(self, kind: TrainingKind[J], view_type: type[J], specs_field: str) -> None:
        self.kind, self.view_type, self.specs_field = kind, view_type, specs_field

    def pod_sets(self, job: J) -> list[PodSetShape]:
        """In the kind's order."""
        return [
            PodSetShape(r.type.lower(), r.count, r.written, index_label=REPLICA_INDEX)
            for r in self.kind.read(job).replicas
        ]

    def standing(self, job: J) -> Standing:
        """See the module."""
        training = self.kind.read(job)
        status, policy = training.status, training.policy
        ended = next((c for c in status.conditions if c.type in ("Succeeded", "Failed") and c.status == "True"), None)
        unseen = policy.suspend and status.start_time is not None and not is_true(status.conditions, "Suspended")
        return Standing(
            suspended=policy.suspend,
            active=any(r.active for r in status.replica_statuses.values()) or (unseen and ended is None),
            pods_ready=is_true(status.conditions, "Running"),
            finished=ended is not None,
            succeeded=ended is not None and ended.type == "Succeeded",
            message=ended.message if ended is not None else "",
            managed_elsewhere=policy.managed_by not in (None, "", OPERATOR),
        )

    def priority_class(self, job: J) -> str:
        """The scheduling policy's."""
        policy = self.kind.read(job).policy.scheduling_policy
        return policy.priority_class if policy else ""

    def suspend_patch(self) -> JsonObject:
        """spec.runPolicy.suspend."""
        return {"spec": {"runPolicy": {"suspend": True}}}

    def start_patch(self, job: J, infos: Sequence[PodSetInfo]) -> JsonObject:
        """Resumes with what admission decided."""
        pairs = paired(self.pod_sets(job), infos)
        return self._patch(job, False, {s.name: start_template(s.template, info) for s, info in pairs})

    def stop_patch(self, job: J, stored: Sequence[PodSetShape]) -> JsonObject:
        """Suspends and restores in one step."""
        pairs = restored(self.pod_sets(job), stored)
        templates = {s.name: stop_template(s.template, before.template) for s, before in pairs}
        if self.kind.read(job).policy.suspend and not any(templates.values()):
            return {}
        return self._patch(job, True, templates)

    def _patch(self, job: J, suspend: bool, templates: dict[str, JsonObject]) -> JsonObject:
        types = {r.type.lower(): r.type for r in self.kind.read(job).replicas}
        specs = {types[name]: {"template": body} for name, body in templates.items() if body}
        spec: JsonObject = {"runPolicy": {"suspend": suspend}}
        if specs:
            spec[self.specs_field] = specs
        return {"spec": spec}
