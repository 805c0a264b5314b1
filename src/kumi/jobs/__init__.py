"""Floor 2: what is a job? Pure: one file a kind.

    QUEUED      kinds that the queues can hold back        base.QueuedJob: pod sets, standing, start, stop
    REPLICAS    kinds whose pods Kumi makes                base.Replicas: sync(job, children, settings, now) -> Sync
    workload    a job's Workload, and whether it matches   queue_hook   a job with a queue's label is made suspended

To add a kind: its file, one line in each of the two tuples (docs: how to add a job kind).
"""

from __future__ import annotations

from typing import Any

from kumi.jobs.base import QueuedJob, Replicas
from kumi.jobs.job import JobReplicas, QueuedBatchJob
from kumi.jobs.pytorchjob import QUEUED_PYTORCH, PyTorchReplicas

QUEUED: tuple[QueuedJob[Any], ...] = (QueuedBatchJob(), QUEUED_PYTORCH)
REPLICAS: tuple[Replicas[Any], ...] = (JobReplicas(), PyTorchReplicas())
