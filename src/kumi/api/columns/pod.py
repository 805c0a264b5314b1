"""Columns of Pod. STATUS is the one word that says the most about where the pod is.

The rule, the first that holds:
    being deleted          Terminating (Unknown when its node was lost), unless the pod has ended already
    an init container      Init:<its reason>, or Init:<done>/<all> while they run in turn
    a container's state    the reason that it waits or ended with (the first container's wins), or ExitCode:n, Signal:n
    gated                  SchedulingGated
    else                   status.reason, or the phase
Source     Kubernetes: kubectl's documented output and pod life cycle page.
"""

from __future__ import annotations

from kumi.api.columns.cells import NONE, condition, duration
from kumi.api.meta import parse_time
from kumi.api.scheme import AGE, Column
from kumi.api.wire import JsonObject

_ENDED = ("Succeeded", "Failed")


def _status(pod: JsonObject) -> JsonObject:
    return dict(pod.get("status") or {})


def _sidecars(pod: JsonObject) -> set[str]:
    init = (pod.get("spec") or {}).get("initContainers") or ()
    return {str(c.get("name")) for c in init if c.get("restartPolicy") == "Always"}


def _how_it_ended(terminated: JsonObject) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    signal = terminated.get("signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{terminated.get('exitCode', 0)}"


def _init_reason(pod: JsonObject) -> str | None:
    """What init containers say, None when all are done."""
    sidecars = _sidecars(pod)
    total = len((pod.get("spec") or {}).get("initContainers") or ())
    for index, container in enumerate(_status(pod).get("initContainerStatuses") or ()):
        state = container.get("state") or {}
        terminated, waiting = state.get("terminated"), state.get("waiting") or {}
        if terminated is not None:
            if terminated.get("exitCode", 0) == 0:
                continue
            return f"Init:{_how_it_ended(terminated)}"
        if container.get("name") in sidecars and container.get("started"):
            continue
        if waiting.get("reason") and waiting["reason"] != "PodInitializing":
            return f"Init:{waiting['reason']}"
        return f"Init:{index}/{total}"
    return None


def _container_reason(pod: JsonObject, reason: str) -> str:
    """What the containers say over `reason`."""
    running = False
    for container in reversed(_status(pod).get("containerStatuses") or ()):
        state = container.get("state") or {}
        waiting, terminated = state.get("waiting") or {}, state.get("terminated")
        if waiting.get("reason"):
            reason = str(waiting["reason"])
        elif terminated is not None:
            reason = _how_it_ended(terminated)
        elif container.get("ready") and state.get("running") is not None:
            running = True
    if reason == "Completed" and running:
        ready = condition(pod, "Ready")
        return "Running" if ready is not None and ready.get("status") == "True" else "NotReady"
    return reason


def pod_status(pod: JsonObject, _now_ms: int = 0) -> str:
    """The STATUS word (see the module)."""
    status = _status(pod)
    phase = str(status.get("phase", ""))
    reason = str(status.get("reason") or phase)
    scheduled = condition(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("reason") == "SchedulingGated":
        reason = "SchedulingGated"
    initialized = condition(pod, "Initialized")
    from_init = _init_reason(pod)
    if from_init is not None and not (initialized is not None and initialized.get("status") == "True"):
        reason = from_init
    else:
        reason = _container_reason(pod, reason)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            return "Unknown"
        if phase not in _ENDED:
            return "Terminating"
    return reason


def _ready(pod: JsonObject, _now_ms: int) -> str:
    sidecars, status = _sidecars(pod), _status(pod)
    ready = sum(1 for c in status.get("initContainerStatuses") or () if c.get("name") in sidecars and c.get("ready"))
    for container in status.get("containerStatuses") or ():
        if container.get("ready") and (container.get("state") or {}).get("running") is not None:
            ready += 1
    return f"{ready}/{len((pod.get('spec') or {}).get('containers') or ()) + len(sidecars)}"


def _restarts(pod: JsonObject, now_ms: int) -> str:
    status, sidecars = _status(pod), _sidecars(pod)
    init = status.get("initContainerStatuses") or ()
    statuses = [c for c in init if c.get("name") in sidecars] + list(status.get("containerStatuses") or ())
    if _init_reason(pod) is not None:
        statuses = list(init)
    count, last = 0, None
    for container in statuses:
        count += int(container.get("restartCount") or 0)
        ended = ((container.get("lastState") or {}).get("terminated") or {}).get("finishedAt")
        try:
            ms = parse_time(ended)
        except ValueError:
            ms = None
        last = max((t for t in (last, ms) if t is not None), default=None)
    return f"{count} ({duration((now_ms - last) // 1000)} ago)" if count and last is not None else str(count)


def _gates(pod: JsonObject, _now_ms: int) -> str:
    gates = (pod.get("spec") or {}).get("readinessGates") or ()
    if not gates:
        return NONE
    true = 0
    for gate in gates:
        found = condition(pod, str(gate.get("conditionType")))
        true += found is not None and found.get("status") == "True"
    return f"{true}/{len(gates)}"


POD = (
    Column("Ready", cell=_ready, description="containers that are ready, of all"),
    Column("Status", cell=pod_status, description="where the pod is"),
    Column("Restarts", cell=_restarts, description="how often its containers were started again, and when last"),
    AGE,
    Column("IP", priority=1, cell=lambda pod, _now_ms: _status(pod).get("podIP") or NONE),
    Column("Node", priority=1, cell=lambda pod, _now_ms: (pod.get("spec") or {}).get("nodeName") or NONE),
    Column("Nominated Node", priority=1, cell=lambda pod, _now_ms: _status(pod).get("nominatedNodeName") or NONE),
    Column("Readiness Gates", priority=1, cell=_gates),
)
