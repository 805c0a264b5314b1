"""Floor 4: the loops. Each is pure: what it sees, a key and a `now` in; writes, events and a time to look again out.

all_controllers(settings)   one key at a time (kumi.runtime.reconcile), run by kumi.runtime.manager:
  Kumi's own                  on any cluster
    pytorchjob, replicas          the pods of jobs
    workload                      the Workload of each queued job: made, followed, started, stopped, given back
  Bare                        where Kumi is the API server
    job, replicas                 the pods of Jobs
    replica_set, deployment       pods that are kept running, and replaced
    namespace                     namespaces that go are emptied
    resource_quota                what namespaces use
  Kubernetes'                 where Kumi is the control plane: these too
    stateful_set, cron_job        pods in order, jobs on time
    endpoints                     where the pods of services are
    disruption                    how many pods budgets let go
    taint_eviction                pods that endure no taint
    node_life                     silent nodes, and pods whose node is gone
    event_ttl                     events go after an hour
    service_accounts              the account `default` of each namespace
    root_authority                whom pods trust, in each namespace
    aggregated_roles              cluster roles that are made of others
all_deciders(profile)       everything against everything (kumi.runtime.decider), each group run by a pump of its own:
  Kumi's own
    scheduler                     admission and placement on one state
    queue_status                  what queues hold and whether they admit
  Bare
    garbage                       what nobody owns any more
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kumi.api.scheme import load
from kumi.controllers.aggregated_roles import AggregatedRoles
from kumi.controllers.cron_job import CronJobController
from kumi.controllers.deployment import DeploymentController
from kumi.controllers.disruption import DisruptionController
from kumi.controllers.endpoints import EndpointsController
from kumi.controllers.event_ttl import EventTtl
from kumi.controllers.garbage import GarbageCollector
from kumi.controllers.job import job_controller
from kumi.controllers.namespace import NamespaceController
from kumi.controllers.node_life import NodeLife
from kumi.controllers.pytorchjob import pytorchjob_controller
from kumi.controllers.queue_status import QueueStatus
from kumi.controllers.replica_set import ReplicaSetController
from kumi.controllers.resource_quota import ResourceQuotaController
from kumi.controllers.root_authority import RootAuthority
from kumi.controllers.scheduler import Scheduler
from kumi.controllers.service_accounts import ServiceAccounts
from kumi.controllers.stateful_set import StatefulSetController
from kumi.controllers.taint_eviction import TaintEviction
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


def bare_controllers(settings: Settings | None = None) -> list[Controller]:
    """Those that an API server needs to keep its word, nodes or not."""
    return [
        job_controller(settings or Settings()),
        ReplicaSetController(),
        DeploymentController(),
        NamespaceController(load()),
        ResourceQuotaController(load()),
    ]


def own_controllers(settings: Settings | None = None) -> list[Controller]:
    """Those that run on any cluster."""
    return [pytorchjob_controller(settings or Settings()), *workload_controllers()]


def kubernetes_controllers(settings: Settings | None = None) -> list[Controller]:
    """Those that a cluster of another maker has already."""
    return [*bare_controllers(settings), *_around_jobs(), NodeLife(), TaintEviction(), EventTtl(), *_access()]


def _around_jobs() -> list[Controller]:
    return [StatefulSetController(), CronJobController(), EndpointsController(), DisruptionController()]


def _access() -> list[Controller]:
    return [ServiceAccounts(), RootAuthority(), AggregatedRoles()]


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
    return bare_deciders()


def bare_deciders() -> list[MakeDeciders]:
    """Those that an API server needs to keep its word."""
    return [lambda: (GarbageCollector(load()),)]
