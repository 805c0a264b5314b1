"""Why a job waits, as things are now.

A decision record says how things were at its attempt, and there is no new attempt while the answer stays the same. Those
who went ahead or gave up what they held meanwhile are left out before it is told:

    ahead      kept while it waits
    holders    kept while it holds quota (a Workload) or its place on a node (a pod on its own)
    position   smaller by those who are no longer ahead

Pods       of a job without Workload, a gang or a pod, and of a job that was admitted: those that have no node say why.
Nothing said  the last warning about it, its maker, its gang, or its first pod without a node; else that nothing is decided yet.
Failure    where the last warning is that nobody can decide, what was said before is told with it.
Cost       one request for each of those who are named (six at most); a list of the namespace's pods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kumi.api.core import Event, Pod
from kumi.api.errors import ApiError
from kumi.api.kueue import Workload
from kumi.api.scheme import SCHEME, Kind
from kumi.api.volcano import GROUP_NAME_ANNOTATION, PodGroup
from kumi.api.wire import JsonObject
from kumi.bridge.messages import Unplaced, why, why_unplaced, why_without_workload
from kumi.runtime.client import Reader
from kumi.runtime.decider import FAILED_TO_DECIDE
from kumi.sdk.follow import ended_how
from kumi.sdk.jobs import JobName, find_workload, is_owned


async def explain(client: Reader, job: JobName) -> tuple[str, str]:
    """Two lines: what it waits for, with need and have; who is ahead and what would help. ApiError 404: it is gone."""
    workload = await find_workload(client, job)
    if workload is None:
        current = await client.get(job.kind, job.namespace, job.name)
        waits, group = await _unplaced(client, job, current)
        about = [job.uid, *_maker_of(current), *group, *(pod["metadata"]["uid"] for pod in waits.waiting()[:1])]
        warning = await _last_warning(client, job.namespace, about)
        said = why_without_workload(current, _text(warning), waits)
        return _with_failure(said, warning) if waits.waiting() else said
    if _is_true(workload, "Admitted") and not _is_true(workload, "Finished"):
        pods = await _pods(client, job)
        failing = _crashing(job, pods) or _stuck(pods)
        if failing is not None:
            return failing
    record = (workload.get("status") or {}).get("decision")
    warning = await _last_warning(client, job.namespace, [workload["metadata"]["uid"]])
    said = why(await as_of_now(client, record) if record else None, workload, _text(warning))
    return said if (workload.get("status") or {}).get("admission") else _with_failure(said, warning)


def _crashing(job: JobName, pods: Sequence[JsonObject]) -> tuple[str, str] | None:
    """What to say of a job that was admitted and whose pods crash again and again; None: they don't."""
    looping = [pod for pod in pods if _crash_loops(pod)]
    if not looping:
        return None
    first = looping[0]
    name, how = first["metadata"]["name"], ended_how(first.get("status") or {}, "lastState")
    return (
        f"it was admitted and started, and {len(looping)} of its {len(pods)} pods crash again and again: {name}{how}",
        f"its log says why: kubectl logs -n {job.namespace} {name} --previous",
    )


def _stuck(pods: Sequence[JsonObject]) -> tuple[str, str] | None:
    """What to say of a job that was admitted and of whose pods some find no node; None: they do."""
    said = why_unplaced(Unplaced(pods))
    return None if said is None else (f"it was admitted, and {said[0]}", said[1])


async def _unplaced(client: Reader, job: JobName, current: JsonObject) -> tuple[Unplaced, list[str]]:
    """The pods of a job, of a gang, or one alone, and what their gang says; the uid of that gang, if there is one."""
    pods = [current] if job.kind.type is Pod else await _pods(client, job)
    groups = {_group_of(pod) for pod in pods} if job.kind.type is not PodGroup else {job.name}
    if len(groups) != 1 or groups == {""}:
        return Unplaced(pods), []
    (name,) = groups
    try:
        group = await client.get(SCHEME.of(PodGroup), job.namespace, name)
    except ApiError as error:
        if error.code != 404:
            raise
        return Unplaced(pods), []
    conditions: list[JsonObject] = (group.get("status") or {}).get("conditions") or []
    said = next((c for c in conditions if c.get("type") == "Unschedulable" and c.get("status") == "True"), {})
    waits = Unplaced(pods, f"{job.namespace}/{name}", str(said.get("message") or ""))
    return waits, [group["metadata"]["uid"]]


async def _pods(client: Reader, job: JobName) -> list[JsonObject]:
    """Those of the job, or of the gang, by name."""
    pods = (await client.list(SCHEME.of(Pod), job.namespace)).items
    if job.kind.type is PodGroup:
        return [pod for pod in pods if _group_of(pod) == job.name]
    return [pod for pod in pods if is_owned(pod, job.uid)]


def _group_of(pod: JsonObject) -> str:
    return str((pod["metadata"].get("annotations") or {}).get(GROUP_NAME_ANNOTATION) or "")


def _crash_loops(pod: JsonObject) -> bool:
    containers = (pod.get("status") or {}).get("containerStatuses") or []
    return any((c.get("state", {}).get("waiting") or {}).get("reason") == "CrashLoopBackOff" for c in containers)


async def as_of_now(client: Reader, record: JsonObject) -> JsonObject:
    """The record without those who are out of the way by now."""
    before = record.get("ahead") or []
    ahead = [entry for entry in before if await _is(client, entry, _waits)]
    holders = [entry for entry in record.get("holders") or [] if await _is(client, entry, _holds)]
    position = int(record.get("position") or 0)
    left = max(1, position - (len(before) - len(ahead))) if position else 0
    return {**record, "ahead": ahead, "holders": holders, "position": left}


async def _is(client: Reader, entry: JsonObject, test: Callable[[JsonObject], bool]) -> bool:
    kind, key = _named(entry)
    namespace, _, name = key.partition("/")
    try:
        return test(await client.get(kind, namespace, name))
    except ApiError as error:
        if error.code != 404:
            raise
        return False


def _named(entry: JsonObject) -> tuple[Kind, str]:
    """The object that an entry is about: a Workload, or a pod on its own."""
    if entry.get("workload"):
        return SCHEME.of(Workload), str(entry["workload"])
    return SCHEME.of(Pod), str(entry.get("job") or "").removeprefix("Pod ")


def _waits(workload: JsonObject) -> bool:
    return not _holds(workload) and not _is_true(workload, "Finished")


def _holds(obj: JsonObject) -> bool:
    status = obj.get("status") or {}
    if "phase" in status:
        return status["phase"] not in ("Succeeded", "Failed")
    return bool(status.get("admission")) and not _is_true(obj, "Finished")


def _is_true(obj: JsonObject, condition: str) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == condition and c.get("status") == "True" for c in conditions)


def _maker_of(obj: JsonObject) -> list[str]:
    """The uid of who made it, if somebody did: what can't be made for a pod is told of its maker."""
    owners: list[JsonObject] = obj["metadata"].get("ownerReferences") or []
    return [str(owner["uid"]) for owner in owners if owner.get("controller")]


async def _last_warning(client: Reader, namespace: str, about: Sequence[str]) -> JsonObject:
    """The newest warning event about objects with one of these uids; {}: there is none."""
    found: list[JsonObject] = []
    for uid in dict.fromkeys(about):
        wanted = f"involvedObject.uid={uid},type=Warning"
        found += (await client.list(SCHEME.of(Event), namespace, fields=wanted)).items
    return max(found, key=lambda e: (e.get("lastTimestamp") or "", e["metadata"]["name"]), default={})


def _text(event: JsonObject) -> str:
    return str(event.get("message") or "")


def _with_failure(said: tuple[str, str], warning: JsonObject) -> tuple[str, str]:
    """What was decided when somebody could decide; and that nobody could at that later time."""
    told = _text(warning).rstrip(".")
    if warning.get("reason") != FAILED_TO_DECIDE or told[1:] in said[0]:
        return said
    return said[0], f"{said[1]}; at {warning.get('lastTimestamp')}: {told[:1].lower()}{told[1:]}"
