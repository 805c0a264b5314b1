"""What the API shows of a pod's life: v1 PodStatus as a value.

The rule:
    phase                 pod_state's, and a phase in the API that is final stays
    conditions            Initialized, ContainersReady, Ready are the node's; all others are kept as they stand;
                          lastTransitionTime moves only when the status does
    ready, started        as probes say (probes.py); an init container is ready when it succeeded; Ready also waits for
                          the conditions that the pod names as its readinessGates
    state                 RUNNING running, once a postStart hook is over; an attempt that ended terminated; else waiting
                          with PodInitializing (init containers to come), ContainerCreating, CrashLoopBackOff, or what
                          refused the start
    lastState             the attempt before
    restartCount          attempts that began, less one and less those that the node itself cut short
Why        every word here is matched by somebody's script: they are Kubernetes' own.
Cost       O(containers + conditions).
Source     Kubernetes: pod life cycle (phase, conditions, container states).
Not here   writing it: worker.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.kubelet.pod_plan import Role, containers_of, quality_of
from kumi.kubelet.pod_state import NODE_STOPPED, ContainerLife, PodLife, Stage
from kumi.kubelet.pod_words import Exit

OWN_CONDITIONS = ("Initialized", "ContainersReady", "Ready")


@dataclass(frozen=True)
class Place:
    """Where a pod is."""

    host_ip: str = ""
    pod_ip: str = ""


@dataclass(frozen=True)
class _Verdict:
    type: str
    status: bool
    reason: str = ""
    message: str = ""


def status_of(pod: JsonObject, life: PodLife, place: Place, now_ms: int) -> JsonObject:
    """The status of a pod (`pod`: as the API has it) at this point of its life."""
    specs = containers_of(pod)
    uid = pod["metadata"]["uid"]
    status: JsonObject = {
        "phase": life.phase,
        "conditions": _conditions(pod, life, now_ms),
        "hostIP": place.host_ip,
        "hostIPs": [{"ip": place.host_ip}],
        "startTime": format_time(life.started_ms),
        "qosClass": quality_of(pod),
        "containerStatuses": [_container(c, life, specs[c.name], uid) for c in life.of(Role.MAIN)],
    }
    inits = life.of(Role.INIT, Role.SIDECAR)
    if inits:
        status["initContainerStatuses"] = [_container(c, life, specs[c.name], uid) for c in inits]
    if place.pod_ip:
        status |= {"podIP": place.pod_ip, "podIPs": [{"ip": place.pod_ip}]}
    if life.phase == "Failed" and life.ending is not None and life.ending.reason:
        status |= {"reason": life.ending.reason, "message": life.ending.message}
    return status


def waiting_reason(life: PodLife, container: ContainerLife) -> tuple[str, str]:
    """(reason, message) of a container that does not run."""
    if container.waiting[0]:
        return container.waiting
    to_come = any(not c.succeeded for c in life.of(Role.INIT)) or any(not c.let_go for c in life.of(Role.SIDECAR))
    return ("PodInitializing", "") if to_come else ("ContainerCreating", life.trouble)


def _container(container: ContainerLife, life: PodLife, spec: JsonObject, uid: str) -> JsonObject:
    image = spec.get("image", "")
    status: JsonObject = {
        "name": container.name,
        "image": image,
        "imageID": "",
        "ready": container.ready,
        "started": container.started,
        "restartCount": container.restarts,
        "state": {},
        "lastState": {},
    }
    if container.runs:
        status["containerID"] = _container_id(uid, container, container.runs - 1)
    before = container.exits[-1:]
    if container.up:
        status["state"] = {"running": {"startedAt": format_time(container.started_ms)}}
    elif container.stage is Stage.EXITED and container.exits:
        status["state"] = {
            "terminated": _terminated(container.exits[-1], _container_id(uid, container, container.runs - 1))
        }
        before = container.exits[-2:-1]
    else:
        reason, message = waiting_reason(life, container)
        status["state"] = {"waiting": {"reason": reason, **({"message": message} if message else {})}}
    if before:
        number = container.runs - (1 if container.stage in (Stage.BACKOFF, Stage.STARTING) else 2)
        status["lastState"] = {"terminated": _terminated(before[0], _container_id(uid, container, max(number, 0)))}
    return status


def _container_id(uid: str, container: ContainerLife, attempt: int) -> str:
    return f"kumi://{uid}/{container.name}/{attempt}"


def _terminated(exit: Exit, container_id: str) -> JsonObject:
    state: JsonObject = {
        "exitCode": exit.code,
        "reason": exit.reason or ("Error" if exit.code else "Completed"),
        "startedAt": format_time(exit.started_ms),
        "finishedAt": format_time(exit.finished_ms),
        "containerID": container_id,
    }
    if exit.signal:
        state["signal"] = exit.signal
    if exit.message:
        state["message"] = exit.message
    return state


def _conditions(pod: JsonObject, life: PodLife, now_ms: int) -> list[JsonObject]:
    standing = {c["type"]: c for c in (pod.get("status") or {}).get("conditions") or ()}
    found = [condition for type_, condition in standing.items() if type_ not in OWN_CONDITIONS]
    if "PodScheduled" not in standing:
        found.append(_condition(_Verdict("PodScheduled", True), None, now_ms))
    if life.phase == "Failed" and life.ending is not None and life.ending.reason == NODE_STOPPED:
        verdict = _Verdict("DisruptionTarget", True, "TerminationByKubelet", life.ending.message)
        found = [c for c in found if c["type"] != verdict.type]
        found.append(_condition(verdict, standing.get(verdict.type), now_ms))
    return [_condition(v, standing.get(v.type), now_ms) for v in _verdicts(life, pod)] + found


def _verdicts(life: PodLife, pod: JsonObject) -> list[_Verdict]:
    inits = [c.name for c in life.of(Role.INIT) if not c.succeeded]
    inits += [c.name for c in life.of(Role.SIDECAR) if not c.let_go]
    if life.phase == "Succeeded":
        initialized = _Verdict("Initialized", True, "PodCompleted")
    elif inits:
        message = f"containers with incomplete status: [{' '.join(inits)}]"
        initialized = _Verdict("Initialized", False, "ContainersNotInitialized", message)
    else:
        initialized = _Verdict("Initialized", True)
    if life.over:
        reason = "PodCompleted" if life.phase == "Succeeded" else "PodFailed"
        return [initialized, _Verdict("ContainersReady", False, reason), _Verdict("Ready", False, reason)]
    unready = [c.name for c in life.of(Role.SIDECAR, Role.MAIN) if not c.ready]
    if unready:
        message = f"containers with unready status: [{' '.join(unready)}]"
        return [initialized, *(_Verdict(t, False, "ContainersNotReady", message) for t in OWN_CONDITIONS[1:])]
    closed = _closed_gates(pod)
    ready = _Verdict("Ready", False, "ReadinessGatesNotReady", closed) if closed else _Verdict("Ready", True)
    return [initialized, _Verdict("ContainersReady", True), ready]


def _closed_gates(pod: JsonObject) -> str:
    """Which of its readiness gates keep a pod from being Ready, in words."""
    standing = {c["type"]: c.get("status") for c in (pod.get("status") or {}).get("conditions") or ()}
    found = []
    for gate in pod["spec"].get("readinessGates") or ():
        type_ = gate["conditionType"]
        if type_ not in standing:
            found.append(f'corresponding condition of pod readiness gate "{type_}" does not exist.')
        elif standing[type_] != "True":
            found.append(f'the status of pod readiness gate "{type_}" is not "True", but {standing[type_]}')
    return "; ".join(found) if len(found) < 2 else f"[{', '.join(found)}]"


def _condition(verdict: _Verdict, standing: JsonObject | None, now_ms: int) -> JsonObject:
    status = "True" if verdict.status else "False"
    since = format_time(now_ms)
    if standing is not None and standing.get("status") == status:
        since = standing.get("lastTransitionTime") or since
    condition: JsonObject = {"type": verdict.type, "status": status, "lastProbeTime": None, "lastTransitionTime": since}
    if verdict.reason:
        condition["reason"] = verdict.reason
    if verdict.message:
        condition["message"] = verdict.message
    return condition
