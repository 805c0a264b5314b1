"""Which pods a Job makes and which it removes.

The rule   wanted = parallelism, at most what is left to complete; a work queue stops growing with its first success.
           Too many live pods: those over go; too few: new ones, the lowest missing indexes first (Indexed).
           With podReplacementPolicy Failed a pod on its way out still holds its place.
Who goes   duplicates and indexes out of range first; then unscheduled before scheduled, pending before running, not
           ready before ready, younger before older, then by name.
           An index that has failed for good gets no more.
Pace       After n failures in a row the next pods wait min(10 s x 2^(n-1), 6 min) from the last failure; a success ends
           the row. A pod that failed by no doing of its own is no failure.
Names      `<job>-<index>-<5 letters>`, or `<job>-<5 letters>`: the letters come from a digest of (job uid, index, n) with
           the smallest n whose name no pod of the Job has. So a creation that is repeated because the view did not show
           its pod yet finds the name taken and makes no second pod.
Source     Kubernetes: Jobs (parallel execution, pod backoff failure policy), Indexed Jobs, KEP-3939.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.api.meta import parse_time
from kumi.api.wire import JsonObject
from kumi.jobs.job_plan import INDEX_KEY, Plan, index_of
from kumi.jobs.job_policies import IGNORE, failure, failure_marks
from kumi.jobs.job_tracking import FINALIZER, Count
from kumi.jobs.pod_names import pod_name
from kumi.jobs.templates import FINISHED, is_live, is_ready, pod_of

KIND = ("batch/v1", "Job")
NAME_LABEL = "batch.kubernetes.io/job-name"
UID_LABEL = "batch.kubernetes.io/controller-uid"
BACKOFF_MS = 10_000
BACKOFF_AT_MOST_MS = 360_000


@dataclass(frozen=True)
class Moves:
    """Pods to make and to remove; `wait_until_ms`: pods are missing but must wait until then."""

    create: tuple[JsonObject, ...] = ()
    remove: tuple[Pod, ...] = ()
    wait_until_ms: int | None = None


def moves(job: Job, plan: Plan, count: Count, pods: Sequence[Pod], now_ms: int) -> Moves:
    """What brings a running Job's pods to where they should be."""
    live = [pod for pod in pods if is_live(pod)]
    surplus = _surplus(plan, count, live)
    keep = [pod for pod in live if pod not in surplus]
    wanted = _wanted(plan, count, len(keep))
    if len(keep) > wanted:
        order = sorted(keep, key=_last_to_keep_first)
        surplus += order[: len(keep) - wanted]
        keep = order[len(keep) - wanted :]
    leaving = [p for p in pods if p.metadata.deletion_timestamp and p.status.phase not in FINISHED]
    held = [*keep, *leaving] if plan.replace_only_failed else keep
    missing = wanted - len(held)
    if missing <= 0:
        return Moves(remove=tuple(surplus))
    if plan.limit_per_index is not None:
        return _index_by_index(job, plan, count, pods, (held, surplus, missing), now_ms)
    wait_until = _backoff_ends_ms(plan, pods)
    if wait_until > now_ms:
        return Moves(remove=tuple(surplus), wait_until_ms=wait_until)
    taken = {pod.metadata.name for pod in pods}
    slots = _missing_indexes(plan, count, held)[:missing] if plan.indexed else [None] * missing
    return Moves(create=tuple(_new_pod(job, slot, taken) for slot in slots), remove=tuple(surplus))


def _index_by_index(
    job: Job,
    plan: Plan,
    count: Count,
    pods: Sequence[Pod],
    standing: tuple[Sequence[Pod], Sequence[Pod], int],
    now_ms: int,
) -> Moves:
    """Each index waits for itself only, and its next pod knows how often it has failed."""
    held, surplus, missing = standing
    taken = {pod.metadata.name for pod in pods}
    create: list[JsonObject] = []
    waits = []
    for index in _missing_indexes(plan, count, held):
        if len(create) == missing:
            break
        assert index is not None
        mine = [pod for pod in pods if index_of(pod) == index]
        ends = _backoff_ends_ms(plan, mine)
        if ends > now_ms:
            waits.append(ends)
            continue
        pod = _new_pod(job, index, taken)
        pod["metadata"]["annotations"].update(failure_marks(plan, index, mine))
        create.append(pod)
    return Moves(tuple(create), tuple(surplus), min(waits, default=None))


def _wanted(plan: Plan, count: Count, live: int) -> int:
    if plan.completions is None:
        return min(live, plan.parallelism) if count.succeeded else plan.parallelism
    return min(plan.parallelism, max(0, plan.completions - count.succeeded - len(count.given_up)))


def _surplus(plan: Plan, count: Count, live: Sequence[Pod]) -> list[Pod]:
    """Pods of an Indexed Job that no index needs."""
    if not plan.indexed:
        return []
    seen: set[int] = set()
    done = count.completed | count.given_up
    out = []
    for pod in sorted(live, key=_last_to_keep_first, reverse=True):
        index = index_of(pod)
        if index is None or index >= (plan.completions or 0) or index in seen or index in done:
            out.append(pod)
        else:
            seen.add(index)
    return out


def _last_to_keep_first(pod: Pod) -> tuple[bool, bool, bool, int, str]:
    born = parse_time(pod.metadata.creation_timestamp) or 0
    return (bool(pod.spec.node_name), pod.status.phase == "Running", is_ready(pod), -born, pod.metadata.name)


def _missing_indexes(plan: Plan, count: Count, held: Sequence[Pod]) -> list[int | None]:
    busy = {index_of(pod) for pod in held} | count.completed | count.given_up
    return [index for index in range(plan.completions or 0) if index not in busy]


def _backoff_ends_ms(plan: Plan, pods: Sequence[Pod]) -> int:
    """When the wait after the newest run of failures is over; 0 when there is none."""
    last_success = max((_ended_ms(p) for p in pods if p.status.phase == "Succeeded"), default=-1)
    failed = [p for p in pods if p.status.phase == "Failed" and failure(plan, p).action != IGNORE]
    failures = [t for t in map(_ended_ms, failed) if t > last_success]
    if not failures:
        return 0
    delay = BACKOFF_AT_MOST_MS if len(failures) > 6 else min(BACKOFF_MS * 2 ** (len(failures) - 1), BACKOFF_AT_MOST_MS)
    return max(failures) + delay


def _ended_ms(pod: Pod) -> int:
    """When its last container ended; where the kubelet did not say, when it last turned unready, or was made."""
    ends = [c.state.terminated.finished_at for c in pod.status.container_statuses if c.state.terminated]
    times = [parse_time(end) for end in ends if end]
    if not times:
        times = [parse_time(c.last_transition_time) for c in pod.status.conditions if c.type == "Ready"]
    known = [t for t in times if t is not None]
    return max(known) if known else parse_time(pod.metadata.creation_timestamp) or 0


def _new_pod(job: Job, index: int | None, taken: set[str]) -> JsonObject:
    stem = f"{job.metadata.name}-" if index is None else f"{job.metadata.name}-{index}-"
    name = pod_name(job.metadata.uid, stem, taken, "" if index is None else str(index))
    taken.add(name)
    uid, its_name = job.metadata.uid, job.metadata.name
    labels = {UID_LABEL: uid, NAME_LABEL: its_name, "controller-uid": uid, "job-name": its_name}
    if index is not None:
        labels[INDEX_KEY] = str(index)
    pod = pod_of(job, KIND, job.spec.template, name, labels)
    pod["metadata"]["generateName"] = stem
    pod["metadata"]["finalizers"] = [FINALIZER]
    if index is not None:
        _number(pod, its_name, index)
    return pod


def _number(pod: JsonObject, job: str, index: int) -> None:
    """Tells an Indexed pod its index: annotation, variable, host name."""
    pod["metadata"].setdefault("annotations", {})[INDEX_KEY] = str(index)
    spec = pod["spec"]
    spec["hostname"] = f"{job}-{index}"
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX_KEY}']"}}
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        env = container.setdefault("env", [])
        if not any(e.get("name") == "JOB_COMPLETION_INDEX" for e in env):
            env.append({"name": "JOB_COMPLETION_INDEX", "valueFrom": source})
