"""The loop of kubeflow.org/v1 PyTorchJob; what it does is in kumi.jobs.kubeflow and kumi.jobs.pytorchjob."""

from __future__ import annotations

from kumi.api.kubeflow import PyTorchJob
from kumi.controllers.replicas import ReplicasController
from kumi.jobs.base import Settings
from kumi.jobs.pytorchjob import PyTorchReplicas


def pytorchjob_controller(settings: Settings) -> ReplicasController[PyTorchJob]:
    """Named pytorchjob-controller, as in the training operator."""
    return ReplicasController(PyTorchReplicas(), settings)
