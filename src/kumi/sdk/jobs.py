"""A job by the name that a person gives it, its Workload, its pods, how it ended."""

from __future__ import annotations

from dataclasses import dataclass

from kumi.api.core import Pod
from kumi.api.errors import ApiError, KumiError
from kumi.api.kueue import Workload
from kumi.api.scheme import SCHEME, Kind
from kumi.api.volcano import PodGroup
from kumi.api.wire import JsonObject
from kumi.jobs import QUEUED
from kumi.runtime.client import Reader

WORKLOAD_WORDS = ("workload", "workloads", "wl")
SUCCEEDED, FAILED = ("Succeeded", "Complete"), ("Failed",)


@dataclass(frozen=True)
class JobName:
    """Which job: `uid` tells it from another of the same name."""

    kind: Kind
    namespace: str
    name: str
    uid: str

    def __str__(self) -> str:
        return f"{self.kind.kind} {self.namespace}/{self.name}"


def name_of(obj: JsonObject) -> JobName:
    """The name of a job that the server gave."""
    kind = SCHEME.of_object(obj)
    if kind is None:
        raise KumiError(f"{obj.get('kind')} is not a kind that Kumi knows")
    meta = obj["metadata"]
    return JobName(kind, meta.get("namespace", ""), meta["name"], meta.get("uid", ""))


def job_kinds() -> tuple[Kind, ...]:
    """Kinds that the queues can hold back, in the order in which a bare name is looked for."""
    return tuple(SCHEME.of(queued.view_type) for queued in QUEUED)


def waiting_kinds() -> tuple[Kind, ...]:
    """What may wait for nodes without being a job, in the order in which a bare name is looked for."""
    return (SCHEME.of(PodGroup), SCHEME.of(Pod))


async def find_job(client: Reader, text: str, namespace: str, others: tuple[Kind, ...] = ()) -> JsonObject:
    """`NAME`, `KIND/NAME`, `NAMESPACE/KIND/NAME`, kinds by any name that kubectl takes; a Workload stands for its job.
    `others`: kinds besides, each looked at for a bare name that no kind before it has. KumiError: none, or several."""
    parts = text.split("/")
    if len(parts) == 3:
        namespace, parts = parts[0], parts[1:]
    tried: tuple[tuple[Kind, ...], ...] = (job_kinds(), *((kind,) for kind in others))
    if len(parts) == 2:
        word = parts[0].lower().split(".")[0]
        if word in WORKLOAD_WORDS:
            return await _owner(client, namespace, parts[1])
        known = [kind for kinds in tried for kind in kinds]
        meant = tuple(k for k in known if word in (k.kind.lower(), k.plural, *k.short_names))
        if not meant:
            raise KumiError(f"{parts[0]} is not a kind of job; those are: {', '.join(k.kind for k in known)}")
        tried = (meant,)
    for kinds in tried:
        found = await _of_kinds(client, kinds, namespace, parts[-1])
        if len(found) > 1:
            kinds_found = ", ".join(f"{o['kind'].lower()}/{parts[-1]}" for o in found)
            raise KumiError(f"several jobs have that name: say which of {kinds_found}")
        if found:
            return found[0]
    plurals = ",".join(kind.plural for kinds in tried for kind in kinds)
    raise KumiError(f"there is no job {parts[-1]!r} in namespace {namespace!r}; kubectl get {plurals} -A lists them")


async def _of_kinds(client: Reader, kinds: tuple[Kind, ...], namespace: str, name: str) -> list[JsonObject]:
    """Those of that name."""
    found = []
    for kind in kinds:
        try:
            found.append(await client.get(kind, namespace, name))
        except ApiError as error:
            if error.code != 404:
                raise
    return found


async def _owner(client: Reader, namespace: str, name: str) -> JsonObject:
    """The job of a Workload."""
    try:
        workload = await client.get(SCHEME.of(Workload), namespace, name)
    except ApiError as error:
        if error.code != 404:
            raise
        raise KumiError(f"there is no Workload {name!r} in namespace {namespace!r}") from error
    for kind in job_kinds():
        for owner in workload["metadata"].get("ownerReferences", []):
            if owner.get("controller") and owner.get("kind") == kind.kind:
                return await client.get(kind, namespace, owner["name"])
    raise KumiError(f"Workload {name!r} belongs to no job of a kind that Kumi knows")


async def find_workload(client: Reader, job: JobName) -> JsonObject | None:
    """The Workload that the job owns, if it has one by now."""
    page = await client.list(SCHEME.of(Workload), job.namespace)
    return next((w for w in page.items if is_owned(w, job.uid)), None)


def is_owned(obj: JsonObject, uid: str) -> bool:
    """Whether that uid is an owner of the object."""
    return any(o.get("uid") == uid for o in obj["metadata"].get("ownerReferences", []))


def ended(job: JsonObject) -> bool | None:
    """True: succeeded; False: failed; None: neither yet."""
    for condition in job.get("status", {}).get("conditions", []):
        if condition.get("status") == "True" and condition.get("type") in (*SUCCEEDED, *FAILED):
            return condition["type"] in SUCCEEDED
    return None
