"""The status of a Deployment: counts, and how its rollout goes.

    Available     True while at least wanted - missing pods are available
    Progressing   True    NewReplicaSetCreated, FoundNewReplicaSet    the new set is there
                          ReplicaSetUpdated                           a count came closer to what is wanted
                          NewReplicaSetAvailable                      done: all pods are new and available
                  False   ProgressDeadlineExceeded                    no count came closer for progressDeadlineSeconds
                  Unknown DeploymentPaused, DeploymentResumed
                  not there without a deadline
A condition that changes its status or reason goes to the end; lastTransitionTime moves with the status only.
Source     Kubernetes: Deployments (Deployment status, conditions).
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.api.apps import Deployment, DeploymentStatus, ReplicaSet
from kumi.api.meta import Condition, find_condition, format_time, parse_time

AVAILABLE, PROGRESSING = "Available", "Progressing"
DONE, MADE, FOUND, MOVED = "NewReplicaSetAvailable", "NewReplicaSetCreated", "FoundNewReplicaSet", "ReplicaSetUpdated"
LATE, PAUSED, RESUMED = "ProgressDeadlineExceeded", "DeploymentPaused", "DeploymentResumed"
NO_DEADLINE = 2**31 - 1


def status_of(
    deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet], least: int, now_ms: int
) -> DeploymentStatus:
    """The status; `least` available pods make it Available."""
    sets = [*([new] if new is not None else []), *old]
    asked = sum(each.spec.replicas or 0 for each in sets)
    available = sum(each.status.available_replicas for each in sets)
    status = DeploymentStatus(
        observed_generation=deployment.metadata.generation,
        replicas=sum(each.status.replicas for each in sets),
        updated_replicas=new.status.replicas if new is not None else 0,
        ready_replicas=sum(each.status.ready_replicas for each in sets),
        available_replicas=available,
        unavailable_replicas=max(0, asked - available),
        terminating_replicas=sum(each.status.terminating_replicas or 0 for each in sets),
        collision_count=deployment.status.collision_count,
        conditions=list(deployment.status.conditions),
    )
    if available >= least:
        put(
            status,
            _condition(AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            now_ms,
        )
    else:
        text = "Deployment does not have minimum availability."
        put(status, _condition(AVAILABLE, "False", "MinimumReplicasUnavailable", text), now_ms)
    return status


def judge_progress(deployment: Deployment, new: ReplicaSet | None, status: DeploymentStatus, now_ms: int) -> int | None:
    """Sets Progressing; when to look at the deadline again."""
    deadline = deployment.spec.progress_deadline_seconds
    if deadline is None or deadline == NO_DEADLINE:
        status.conditions = [c for c in status.conditions if c.type != PROGRESSING]
        return None
    before = find_condition(status.conditions, PROGRESSING)
    if before is not None and before.reason == DONE and status.replicas == status.updated_replicas:
        return None
    who = f'ReplicaSet "{new.metadata.name}"' if new is not None else f'Deployment "{deployment.metadata.name}"'
    if is_complete(deployment, status):
        put(status, _condition(PROGRESSING, "True", DONE, f"{who} has successfully progressed."), now_ms)
        return None
    if _came_closer(deployment.status, status):
        moved = _condition(PROGRESSING, "True", MOVED, f"{who} is progressing.")
        put(status, moved, now_ms, touch=True)
        return now_ms + 1000 * deadline
    if before is None or before.reason in (LATE, PAUSED):
        return None
    due_ms = (parse_time(before.last_update_time) or now_ms) + 1000 * deadline
    if now_ms < due_ms:
        return due_ms
    put(status, _condition(PROGRESSING, "False", LATE, f"{who} has timed out progressing."), now_ms)
    return None


def is_complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    """Whether all pods are of the new set, and available."""
    wanted = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    counts = (status.updated_replicas, status.replicas, status.available_replicas)
    return all(count == wanted for count in counts)


def announced(deployment: Deployment, reason: str, text: str, status: str, now_ms: int) -> DeploymentStatus | None:
    """The status with Progressing saying that; None: it can't or need not be said."""
    deadline = deployment.spec.progress_deadline_seconds
    if deadline is None or deadline == NO_DEADLINE:
        return None
    before = find_condition(deployment.status.conditions, PROGRESSING)
    if before is not None and (before.status, before.reason) == (status, reason) and before.message == text:
        return None
    new = DeploymentStatus(**{name: getattr(deployment.status, name) for name in DeploymentStatus.__struct_fields__})
    new.conditions = list(new.conditions)
    put(new, _condition(PROGRESSING, status, reason, text), now_ms)
    return new


def put(status: DeploymentStatus, wanted: Condition, now_ms: int, *, touch: bool = False) -> None:
    """Sets a condition; one that says the same already stays as it is, unless `touch` moves its lastUpdateTime."""
    before = find_condition(status.conditions, wanted.type)
    if before is not None and (before.status, before.reason) == (wanted.status, wanted.reason) and not touch:
        return
    now = format_time(now_ms)
    wanted.last_update_time = wanted.last_transition_time = now
    if before is not None and before.status == wanted.status:
        wanted.last_transition_time = before.last_transition_time
    status.conditions = [*(c for c in status.conditions if c.type != wanted.type), wanted]


def _came_closer(before: DeploymentStatus, after: DeploymentStatus) -> bool:
    old_before, old_after = before.replicas - before.updated_replicas, after.replicas - after.updated_replicas
    return (
        after.updated_replicas > before.updated_replicas
        or old_after < old_before
        or after.ready_replicas > before.ready_replicas
        or after.available_replicas > before.available_replicas
    )


def _condition(type_: str, status: str, reason: str, message: str) -> Condition:
    return Condition(type=type_, status=status, reason=reason, message=message)
