"""The kubeflow.org/v1 jobs: what PyTorchJob, TFJob, XGBoostJob, PaddleJob and JAXJob have in common.

The rule, one look in this order:
    1. Created is added at first sight. managedBy another: nothing at all is done.
    2. finished   (Succeeded or Failed True) children go as cleanPodPolicy says, then the job after its time to live.
    3. suspended  Suspended True is stored first; then all children go. Resumed: when the pods are gone, Suspended turns
                  False and startTime starts anew; then pods are made.
    4. limits     backoffLimit, activeDeadlineSeconds: Failed; all children go.
    5. replicas   every type in the kind's fixed order, every index: one pod and one headless service of the same name
                  (training_replicas.py).
    6. status     counts from zero; the kind says what they mean (Running, Succeeded); failed > 0 with
                  replicas > succeeded + active is Failed where the policy is Never, Restarting elsewhere.
Why status first   A deletion destroys what was counted. What leads to one (suspended, failed) is stored before, so that a
                  crash in between repeats the deletion, and nothing that Kumi deleted is ever counted as a failure.
Limits     restarts in place, summed over running pods of the types that restart, >= backoffLimit (> 0 where it is 0);
           or a new failed pod while not all are active, where backoffLimit is 0.
           now >= startTime + activeDeadlineSeconds.
Clean      None keeps all, Running deletes pods that have not ended and the services of all that are not kept, All
           deletes everything; a job that hit a limit is cleaned like All. The PodGroup goes in every case.
           That a limit was hit stands in the end of Failed's message: the pods that showed it are deleted one by one.
Active     of a suspended job: all pods that have not ended, until they are gone: they still hold what they were given.
Kept       A job that fails by a permanent exit code has no completionTime, and so is never deleted by its time to live.
Source     Kubeflow training operator 1.9.
Not here   conditions: training_conditions.py. A kind's environment and verdict: pytorchjob.py. Gangs: gang.py.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kumi.api.core import Pod
from kumi.api.kubeflow import ReplicaStatus, TrainingStatus
from kumi.api.meta import Condition, Object, format_time, is_true, parse_time
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.jobs import gang
from kumi.jobs.base import Alteration, Children, J, Removal, Said, Settings, Sync
from kumi.jobs.status import status_patch
from kumi.jobs.templates import FINISHED, is_disrupted, is_live, restarts
from kumi.jobs.training import CLEAN_POD_POLICY, OPERATOR, Replica, Training, TrainingKind
from kumi.jobs.training_conditions import with_condition
from kumi.jobs.training_replicas import Roll, call_roll, replica_of

TAKEN_DOWN = "; its pods are taken down"
"""how the message of Failed ends when a limit was hit"""
RESTARTING_POLICIES = ("OnFailure", "Always", "ExitCode")


class Draft:
    """The outcome of one look, as it is being written."""

    def __init__(self, training: Training[J], now_ms: int) -> None:
        self.kind, self.now_ms = training.names.kind, now_ms
        self.name = f"{training.names.kind} {training.meta.namespace}/{training.meta.name}"
        self.before = training.status
        self.status: TrainingStatus = msgspec.structs.replace(
            training.status,
            conditions=list(training.status.conditions),
            replica_statuses=dict(training.status.replica_statuses),
        )
        self.alter: list[Alteration] = []
        self.remove: list[Object] = []
        self.create: list[JsonObject] = []
        self.said: list[Said] = []
        self.wake_at_ms: int | None = None
        self.delete_job = False

    def condition(self, type_: str, message: str, *, status: str = "True", why: str = "") -> None:
        """Adds a condition; `why` is the last word of its reason where that is not its type."""
        new = Condition(type=type_, status=status, reason=f"{self.kind}{why or type_}", message=message)
        self.status.conditions = with_condition(self.status.conditions, new, self.now_ms)

    def wake_at(self, at_ms: int) -> None:
        """Look again at the latest then."""
        self.wake_at_ms = at_ms if self.wake_at_ms is None else min(at_ms, self.wake_at_ms)

    def sync(self) -> Sync:
        """The outcome; what is on its way out already is not deleted again."""
        going = [o for o in self.remove if o.metadata.deletion_timestamp is None]
        pods = [o for o in going if isinstance(o, Pod)]
        gone = [Said("SuccessfulDeletePod", f"Deleted pod: {p.metadata.name}") for p in pods]
        made = [
            Said("SuccessfulCreatePod", f"Created pod: {o['metadata']['name']}")
            for o in self.create
            if o["kind"] == "Pod"
        ]
        known = {(c.type, c.status, c.reason) for c in self.before.conditions}
        news = [c for c in self.status.conditions if (c.type, c.status, c.reason) not in known]
        bad = ("Failed", "Restarting")
        told = [Said(c.reason, c.message, "Warning" if c.type in bad else "Normal") for c in news]
        return Sync(
            alter=tuple(self.alter),
            remove=tuple(Removal(o) for o in going),
            create=tuple(self.create),
            status=status_patch(self.before, self.status),
            said=(*self.said, *gone, *made, *told),
            wake_at_ms=self.wake_at_ms,
            delete_job=self.delete_job,
        )


def sync(kind: TrainingKind[J], job: J, children: Children, settings: Settings, now_ms: int) -> Sync:
    """One look at a job; see the module."""
    training = kind.read(job)
    if training.policy.managed_by not in (None, "", OPERATOR) or job.metadata.deletion_timestamp is not None:
        return Sync()
    draft = Draft(training, now_ms)
    draft.condition("Created", f"{draft.name} is created")
    if has_ended(training.status):
        _finish(draft, training, children)
    elif training.policy.suspend:
        _suspend(draft, training, children)
    elif is_true(training.status.conditions, "Suspended"):
        _resume(draft, training, children)
    else:
        _run(draft, kind, training, children, settings)
    return draft.sync()


def has_ended(status: TrainingStatus) -> bool:
    """Succeeded or failed."""
    return is_true(status.conditions, "Succeeded") or is_true(status.conditions, "Failed")


def _finish(draft: Draft, training: Training[J], children: Children) -> None:
    status, policy = draft.status, training.policy
    succeeded = is_true(status.conditions, "Succeeded")
    if succeeded:
        for type_, counts in status.replica_statuses.items():
            status.replica_statuses[type_] = msgspec.structs.replace(
                counts, succeeded=counts.succeeded + counts.active, active=0
            )
    clean = policy.clean_pod_policy or CLEAN_POD_POLICY
    ended = parse_time(status.completion_time)
    if any(c.type == "Failed" and c.message.endswith(TAKEN_DOWN) for c in status.conditions):
        clean = "All"
    going = [p for p in children.pods if clean == "All" or (clean == "Running" and p.status.phase not in FINISHED)]
    kept = {p.metadata.name for p in children.pods if p not in going}
    services = [s for s in children.services if clean != "None" and s.metadata.name not in kept]
    groups = [o for o in children.others if gang.is_pod_group(o)]
    draft.remove += [*going, *services, *groups]
    if policy.ttl_seconds_after_finished is not None and ended is not None:
        expires = ended + policy.ttl_seconds_after_finished * 1000
        draft.delete_job = draft.now_ms >= expires
        if not draft.delete_job:
            draft.wake_at(expires)


def _suspend(draft: Draft, training: Training[J], children: Children) -> None:
    status = draft.status
    for type_ in sorted({*status.replica_statuses, *(replica_of(p, training) for p in children.pods)} - {""}):
        counts = status.replica_statuses.get(type_, ReplicaStatus())
        holding = sum(replica_of(p, training) == type_ and p.status.phase not in FINISHED for p in children.pods)
        status.replica_statuses[type_] = msgspec.structs.replace(counts, active=holding)
    if is_true(status.conditions, "Suspended"):
        draft.remove += [*children.pods, *children.services, *children.others]
        return
    message = f"{draft.name} is suspended"
    if is_true(status.conditions, "Running"):
        draft.condition("Running", message, status="False", why="Suspended")
    draft.condition("Suspended", message)


def _resume(draft: Draft, training: Training[J], children: Children) -> None:
    if children.pods:
        draft.remove += children.pods
        return
    draft.condition("Suspended", f"{draft.name} is resumed", status="False", why="Resumed")
    draft.status.start_time = format_time(draft.now_ms)


def _run(draft: Draft, kind: TrainingKind[J], training: Training[J], children: Children, settings: Settings) -> None:
    status = draft.status
    if status.start_time is None:
        status.start_time = format_time(draft.now_ms)
    limit = _limit(training, children, draft.now_ms)
    if limit:
        status.completion_time = format_time(draft.now_ms)
        draft.condition("Failed", f"{draft.name} has failed: {limit}{TAKEN_DOWN}")
        return
    deadline = training.policy.active_deadline_seconds
    start = parse_time(status.start_time)
    if deadline is not None and start is not None:
        draft.wake_at(start + deadline * 1000)
    wanted = list(kind.extras(training))
    waits = False
    if gang.uses_gang(settings.gang_scheduler):
        existing = next((o for o in children.others if gang.is_pod_group(o)), None)
        ranked = gang.ranked(training, children.priorities)
        wanted.append(gang.pod_group(ranked, settings.gang_scheduler, existing))
        waits = gang.pods_must_wait(settings.gang_scheduler, existing)
    _bring_about(draft, children.others, wanted)
    roll = call_roll(kind, training, children, settings)
    draft.remove += roll.remove
    draft.said += roll.said
    if not waits:
        draft.create += roll.create
    for replica in training.replicas:
        _retry(draft, roll, replica)
    _judge(draft, kind, training, roll)


def _bring_about(draft: Draft, there: Iterable[Object], wanted: Iterable[JsonObject]) -> None:
    """Makes the further objects be as wanted: creates, changes, deletes."""
    missing = {w["kind"]: w for w in wanted}
    for obj in there:
        want = missing.pop(SCHEME.of(type(obj)).kind, None)
        if want is None:
            draft.remove.append(obj)
        elif msgspec.convert(want, type(obj)).spec != obj.spec:  # type: ignore[attr-defined]
            draft.alter.append(Alteration(obj, {"spec": want["spec"]}))
    draft.create += missing.values()


def _retry(draft: Draft, roll: Roll, replica: Replica) -> None:
    """Failed pods of one type: tried again, or the end of the job. One that failed by no doing of its own is made again
    whatever the policy says, and no word is lost about it."""
    for pod, code in roll.failed.get(replica.type, ()):
        name = pod.metadata.name
        if is_disrupted(pod):
            draft.remove.append(pod)
            continue
        if replica.restart_policy == "Never":
            continue
        if replica.restart_policy == "ExitCode" and code is not None and code < 128:
            draft.condition("Failed", f"{draft.name} has failed: {name} exited with code {code}, which is permanent")
            continue
        draft.remove.append(pod)
        draft.condition("Restarting", f"{draft.name} is restarting: {name} failed and is created again")


def _judge(draft: Draft, kind: TrainingKind[J], training: Training[J], roll: Roll) -> None:
    """Counts, and what they mean."""
    status = draft.status
    status.replica_statuses = dict(roll.counts)
    for replica in training.replicas:
        counts = roll.counts[replica.type]
        effect = kind.effect(training, replica, counts)
        if effect == "Running":
            draft.condition("Running", f"{draft.name} is running")
        if effect == "Succeeded":
            if not is_true(status.conditions, "Failed"):
                status.completion_time = format_time(draft.now_ms)
            draft.condition("Succeeded", f"{draft.name} has succeeded")
            return
        if counts.failed == 0 or replica.count <= counts.succeeded + counts.active:
            continue
        shown = f"{counts.failed} of {replica.count} {replica.type} replicas failed"
        if replica.restart_policy != "Never":
            draft.condition("Restarting", f"{draft.name} is restarting: {shown}")
        elif not is_true(status.conditions, "Failed"):
            status.completion_time = format_time(draft.now_ms)
            draft.condition("Failed", f"{draft.name} has failed: {shown}")


def _limit(training: Training[J], children: Children, now_ms: int) -> str:
    """Which limit the job has hit, in words; "" for none."""
    policy, status = training.policy, training.status
    start = parse_time(status.start_time)
    if policy.backoff_limit is not None:
        restarting = {r.type for r in training.replicas if r.restart_policy in RESTARTING_POLICIES}
        running = [p for p in children.pods if p.status.phase == "Running"]
        again = sum(restarts(p) for p in running if replica_of(p, training) in restarting)
        failed = sum(p.status.phase == "Failed" and not is_disrupted(p) for p in children.pods)
        new_failure = failed > sum(r.failed for r in status.replica_statuses.values())
        active = sum(is_live(p) for p in children.pods)
        at_once = policy.backoff_limit == 0 and active != training.total and new_failure
        if again >= max(policy.backoff_limit, 1) or at_once:
            return f"the backoff limit of {policy.backoff_limit} is reached"
    deadline = policy.active_deadline_seconds
    if deadline is not None and start is not None and now_ms >= start + deadline * 1000:
        return f"it was active for longer than its deadline of {deadline} s"
    return ""
