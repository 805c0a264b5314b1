"""The loop of batch/v1 Job; what it does is in kumi.jobs.job."""

from __future__ import annotations

from kumi.api.batch import Job
from kumi.controllers.replicas import ReplicasController
from kumi.jobs.base import Settings
from kumi.jobs.job import JobReplicas


def job_controller(settings: Settings) -> ReplicasController[Job]:
    """Named job-controller, as in Kubernetes."""
    return ReplicasController(JobReplicas(), settings)
