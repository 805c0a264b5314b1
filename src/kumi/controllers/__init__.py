"""Floor 4: the loops. Each is pure: what it sees, a key and a `now` in; writes, events and a time to look again out.

all_controllers(settings)   one key at a time (kumi.runtime.reconcile), run by kumi.runtime.manager:
  Kumi's own                  on any cluster
    pytorchjob, replicas          the pods of jobs
    workload                      the Workload of each queued job: made, followed, started, stopped, given back
  Kubernetes'                 where Kumi is the control plane
    job, replicas                 the pods of Jobs
    namespace                     namespaces that go are emptied
    node_life                     silent nodes, and pods whose node is gone
    event_ttl                     events go after an hour
all_deciders(profile)       everything against everything (kumi.runtime.decider), each group run by a pump of its own:
  Kumi's own
    scheduler                     admission and placement on one state
    queue_status                  what queues hold and whether they admit
  Kubernetes'
    garbage                       what nobody owns any more
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kumi.api.scheme import load
from kumi.controllers.event_ttl import EventTtl
from kumi.controllers.garbage import GarbageCollector
from kumi.controllers.job import job_controller
from kumi.controllers.namespace import NamespaceController
from kumi.controllers.node_life import NodeLife
from kumi.controllers.pytorchjob import pytorchjob_controller
from kumi.controllers.queue_status import QueueStatus
from kumi.controllers.scheduler import Scheduler
from kumi.controllers.workload import WorkloadController
from kumi.engine.model import Profile
from kumi.jobs import QUEUED
from kumi.jobs.base import Settings
from kumi.runtime.decider import Decider
from kumi.runtime.reconcile import Controller

MakeDeciders: TypeAlias = Callable[[], Sequence[Decider]]
"""New deciders with an empty state, in the order in which they decide"""


def all_controllers(settings: Settings | None = None) -> list[Controller]:
    """Every loop by key."""
    return [*own_controllers(settings), *kubernetes_controllers(settings)]


def own_controllers(settings: Settings | None = None) -> list[Controller]:
    """Those that run on any cluster."""
    return [pytorchjob_controller(settings or Settings()), *workload_controllers()]


def kubernetes_controllers(settings: Settings | None = None) -> list[Controller]:
    """Those that a cluster of another maker has already."""
    return [job_controller(settings or Settings()), NamespaceController(load()), NodeLife(), EventTtl()]


def workload_controllers() -> list[WorkloadController[Any]]:
    """One for each kind that the queues can hold back."""
    kinds = [load().of(queued.view_type) for queued in QUEUED]
    parents = tuple((kind.group, kind.kind) for kind in kinds)
    return [WorkloadController(queued, parents) for queued in QUEUED]


def all_deciders(profile: Profile | None = None) -> list[MakeDeciders]:
    """Every group of deciders, the one that people wait for first."""
    return [*own_deciders(profile), *kubernetes_deciders()]


def own_deciders(profile: Profile | None = None) -> list[MakeDeciders]:
    """Those that run on any cluster."""
    return [lambda: (Scheduler(profile),), lambda: (QueueStatus(),)]


def kubernetes_deciders() -> list[MakeDeciders]:
    """Those that a cluster of another maker has already."""
    return [lambda: (GarbageCollector(load()),)]
