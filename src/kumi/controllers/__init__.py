"""Floor 4: the loops. Each is pure: what it sees, a key and a `now` in; writes, events and a time to look again out.

all_controllers(settings)   one key at a time (kumi.runtime.reconcile), run by kumi.runtime.manager:
  Kumi's own                  on any cluster
    pytorchjob, replicas          the pods of jobs
    workload                      the Workload of each queued job: made, followed, started, stopped, given back
    pod_groups                    the same for pods alone and in groups
    life                          Workloads by themselves: back-off, checks, stops, time-outs, their end
    in_use                        what queues and workloads need is not gone at once
    provisioning                  capacity is asked for, as admission checks want it
  Bare                        where Kumi is the API server
    job, replicas                 the pods of Jobs
    replica_set, deployment       pods that are kept running, and replaced
    namespace                     namespaces that go are emptied
    resource_quota                what namespaces use
  Kubernetes'                 where Kumi is the control plane: these too
    stateful_set, cron_job        pods in order, jobs on time
    daemon_set                    a pod on every node
    claims, ephemeral_claims,
    claim_protection,
    persistent_volumes            volumes for claims, and what becomes of them
    endpoints                     where the pods of services are
    disruption                    how many pods budgets let go
    taint_eviction                pods that endure no taint
    node_life                     silent nodes, and pods whose node is gone
    event_ttl                     events go after an hour
    service_accounts              the account `default` of each namespace
    gangs_of_pods                 pod groups for pods that name Volcano and have none
    root_authority                whom pods trust, in each namespace
    aggregated_roles              cluster roles that are made of others
all_deciders(profile)       everything against everything (kumi.runtime.decider), each group run by a pump of its own:
  Kumi's own
    scheduler                     admission and placement on one state
    gang_queues                   Volcano's queues: their states, and what they hold
    past_usage                    what LocalQueues used, as the scheduler's state knows it
    queue_status                  what queues hold and whether they admit
  Bare
    garbage                       what nobody owns any more
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kumi.api.meta import Object
from kumi.api.scheme import load
from kumi.bridge.scheduler_names import OWN_NAMES, SCHEDULERS
from kumi.controllers.aggregated_roles import AggregatedRoles
from kumi.controllers.claim_protection import ClaimProtection
from kumi.controllers.claims import ClaimController
from kumi.controllers.cron_job import CronJobController
from kumi.controllers.daemon_set import DaemonSetController
from kumi.controllers.deployment import DeploymentController
from kumi.controllers.disruption import DisruptionController
from kumi.controllers.endpoints import EndpointsController
from kumi.controllers.ephemeral_claims import EphemeralClaims
from kumi.controllers.event_ttl import EventTtl
from kumi.controllers.gang_queues import GangQueues
from kumi.controllers.gangs_of_pods import GangsOfPods
from kumi.controllers.garbage import GarbageCollector
from kumi.controllers.in_use import in_use_controllers
from kumi.controllers.job import job_controller
from kumi.controllers.life import RULES, Policy, WorkloadLife
from kumi.controllers.namespace import NamespaceController
from kumi.controllers.node_life import NodeLife
from kumi.controllers.past_usage import PastUsageStatus
from kumi.controllers.persistent_volumes import PersistentVolumeController
from kumi.controllers.pod_groups import PodGroups
from kumi.controllers.provisioning import Provisioning, ProvisioningChecks
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


def all_controllers(settings: Settings | None = None, profile: Profile | None = None) -> list[Controller]:
    """Every loop by key."""
    return [*own_controllers(settings, profile), *kubernetes_controllers(settings)]


def bare_controllers(settings: Settings | None = None) -> list[Controller]:
    """Those that an API server needs to keep its word, nodes or not."""
    return [
        job_controller(settings or Settings()),
        ReplicaSetController(),
        DeploymentController(),
        NamespaceController(load()),
        ResourceQuotaController(load()),
    ]


def own_controllers(settings: Settings | None = None, profile: Profile | None = None) -> list[Controller]:
    """Those that run on any cluster. `profile`: what was chosen for all queues."""
    profile = profile or Profile()
    chosen, name = profile.settings, profile.name
    life = Policy(pods_ready=chosen.pods_ready, keep_finished_ms=chosen.keep_finished_ms)
    return [
        pytorchjob_controller(settings or Settings()),
        *workload_controllers(),
        PodGroups(),
        WorkloadLife(life, RULES[name]),
        *in_use_controllers(),
        *(Provisioning(), ProvisioningChecks()),
    ]


def kubernetes_controllers(settings: Settings | None = None) -> list[Controller]:
    """Those that a cluster of another maker has already, and what serves pods there that don't name Kumi."""
    around = [*_around_jobs(), *_storage(), GangsOfPods()]
    return [*bare_controllers(settings), *around, NodeLife(), TaintEviction(), EventTtl(), *_access()]


def _around_jobs() -> list[Controller]:
    sets: list[Controller] = [StatefulSetController(), DaemonSetController()]
    return [*sets, CronJobController(), EndpointsController(), DisruptionController()]


def _storage() -> list[Controller]:
    return [ClaimController(), EphemeralClaims(), ClaimProtection(), PersistentVolumeController()]


def _access() -> list[Controller]:
    return [ServiceAccounts(), RootAuthority(), AggregatedRoles()]


def workload_controllers() -> list[WorkloadController[Any]]:
    """One for each kind that the queues can hold back."""
    kinds = [load().of(queued.view_type) for queued in QUEUED]
    parents = tuple((kind.group, kind.kind) for kind in kinds)
    return [WorkloadController(queued, parents) for queued in QUEUED]


def all_deciders(profile: Profile | None = None, polled: tuple[type[Object], ...] = ()) -> list[MakeDeciders]:
    """Every group of deciders, the one that people wait for first. `polled`: see Scheduler."""
    return [*own_deciders(profile, SCHEDULERS, polled), *kubernetes_deciders()]


def own_deciders(
    profile: Profile | None = None, schedulers: tuple[str, ...] = OWN_NAMES, polled: tuple[type[Object], ...] = ()
) -> list[MakeDeciders]:
    """Those that run on any cluster. `schedulers`: the pods' scheduler names that mean Kumi; `polled`: see Scheduler."""
    return [lambda: _scheduling(profile, schedulers, polled), lambda: (QueueStatus(profile),)]


def _scheduling(
    profile: Profile | None, schedulers: tuple[str, ...], polled: tuple[type[Object], ...]
) -> Sequence[Decider]:
    scheduler = Scheduler(profile, schedulers, polled)
    deciders: list[Decider] = [scheduler, GangQueues(scheduler.state, scheduler.own_gangs)]
    if profile is not None and profile.settings.by_usage is not None:
        deciders.append(PastUsageStatus(scheduler.state))
    return deciders


def kubernetes_deciders() -> list[MakeDeciders]:
    """Those that a cluster of another maker has already."""
    return bare_deciders()


def bare_deciders() -> list[MakeDeciders]:
    """Those that an API server needs to keep its word."""
    return [lambda: (GarbageCollector(load()),)]
