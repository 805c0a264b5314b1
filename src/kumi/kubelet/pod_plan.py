"""The plan: what of a pod's spec the life of its processes depends on.

    role       MAIN    a container                                 SIDECAR  an init container with restartPolicy Always
               INIT    any other init container
    grace      terminationGracePeriodSeconds, 30 s without one     (the deletion's own grace counts when there is one)
    QoS        Guaranteed  every container has cpu and memory limits, and requests equal to them
               BestEffort  no container asks for or limits either          Burstable  anything else
Source     Kubernetes: pod life cycle, sidecar containers, quality of service classes.
Not here   the order in which they run: pod_state.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kumi.api.quantity import parse
from kumi.api.wire import JsonObject
from kumi.kubelet.probes import ProbeKind, ProbePlan, plans_of


class Role(Enum):
    """What a container is for the pod's life."""

    INIT = "init"
    SIDECAR = "sidecar"
    MAIN = "main"


class Restart(Enum):
    """The pod's restart policy."""

    ALWAYS = "Always"
    ON_FAILURE = "OnFailure"
    NEVER = "Never"


class HookKind(Enum):
    """A hook of a container; the value is its field."""

    POST_START = "postStart"
    PRE_STOP = "preStop"


@dataclass(frozen=True)
class Backoff:
    """How long a crashed container waits: nothing, `base_ms`, twice that ... at most `most_ms`; a run of `reset_ms`
    makes it forget. `retry_ms`, doubling to `retry_most_ms`, for what could not even be started."""

    base_ms: int = 10_000
    most_ms: int = 300_000
    reset_ms: int = 600_000
    retry_ms: int = 500
    retry_most_ms: int = 15_000

    def after_crash(self, crashes: int) -> int:
        """The wait after the crash number `crashes` (from 0) in a row."""
        return 0 if crashes == 0 else min(self.base_ms << min(crashes - 1, 30), self.most_ms)

    def after_refusal(self, refusals: int) -> int:
        """The wait after the refusal number `refusals` (from 0) in a row."""
        return min(self.retry_ms << min(refusals, 30), self.retry_most_ms)


@dataclass(frozen=True)
class PodPlan:
    """The plan of one pod. `roles` in the order of the spec, init containers first; `deadline_ms` from the pod's start."""

    roles: dict[str, Role]
    restart: Restart = Restart.ALWAYS
    grace_ms: int = 30_000
    deadline_ms: int | None = None
    backoff: Backoff = field(default_factory=Backoff)
    hooks: dict[str, frozenset[HookKind]] = field(default_factory=dict)
    probes: dict[str, dict[ProbeKind, ProbePlan]] = field(default_factory=dict)

    def has_hook(self, container: str, hook: HookKind) -> bool:
        """Whether a container has that hook."""
        return hook in self.hooks.get(container, ())


def plan_of(pod: JsonObject, backoff: Backoff) -> PodPlan:
    """The plan of a pod that passed validation."""
    spec = pod["spec"]
    roles = {
        c["name"]: Role.SIDECAR if c.get("restartPolicy") == "Always" else Role.INIT
        for c in spec.get("initContainers") or ()
    }
    roles |= {c["name"]: Role.MAIN for c in spec["containers"]}
    containers = containers_of(pod)
    grace, deadline = spec.get("terminationGracePeriodSeconds"), spec.get("activeDeadlineSeconds")
    return PodPlan(
        roles,
        Restart(spec.get("restartPolicy") or "Always"),
        30_000 if grace is None else int(grace) * 1000,
        None if deadline is None else int(deadline) * 1000,
        backoff,
        {name: hooks for name, c in containers.items() if (hooks := _hooks_of(c))},
        {name: probes for name, c in containers.items() if (probes := plans_of(c))},
    )


def containers_of(pod: JsonObject) -> dict[str, JsonObject]:
    """Every container's spec by name, init containers first."""
    spec = pod["spec"]
    return {c["name"]: c for c in (*(spec.get("initContainers") or ()), *spec["containers"])}


def _hooks_of(container: JsonObject) -> frozenset[HookKind]:
    lifecycle = container.get("lifecycle") or {}
    return frozenset(hook for hook in HookKind if lifecycle.get(hook.value))


def quality_of(pod: JsonObject) -> str:
    """The pod's QoS class."""
    guaranteed, asks = True, False
    for container in containers_of(pod).values():
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        for name in ("cpu", "memory"):
            limit = parse(limits.get(name, 0), name)
            request = parse(requests.get(name, limits.get(name, 0)), name)
            asks = asks or limit > 0 or request > 0
            guaranteed = guaranteed and limit > 0 and request == limit
    return "Guaranteed" if guaranteed else "Burstable" if asks else "BestEffort"
