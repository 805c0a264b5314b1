"""Following jobs: what happens to them, told as it happens, from watches alone.

`Story` is the pure part: changes of jobs, Workloads and pods in, sentences out, each told once. `follow` feeds it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from kumi.api.core import Pod
from kumi.api.errors import ApiError
from kumi.api.kueue import Workload
from kumi.api.scheme import SCHEME, Kind
from kumi.api.wire import JsonObject
from kumi.bridge.messages import why
from kumi.runtime.client import Reader
from kumi.sdk.jobs import JobName, ended, is_owned


@dataclass(frozen=True)
class Step:
    """Something happened to a job. `kind`: waits, admitted, pod, restarts, ended. `permanent`: it can't start as things are."""

    job: JobName
    kind: str
    text: str
    pod: str = ""
    succeeded: bool | None = None
    permanent: bool = False


@dataclass
class Story:
    """What was told so far of some jobs; `see` returns what is new."""

    jobs: Sequence[JobName]
    told: dict[str, str] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)

    def see(self, obj: JsonObject) -> list[Step]:
        """New sentences for a job, Workload or pod as it is now."""
        uid = obj["metadata"].get("uid", "")
        for job in self.jobs:
            if uid == job.uid:
                return self._job(job, obj)
            if is_owned(obj, job.uid):
                return self._workload(job, obj) if obj["kind"] == "Workload" else self._pod(job, obj)
        return []

    def _once(self, key: str, step: Step) -> list[Step]:
        if self.told.get(key) == step.text:
            return []
        self.told[key] = step.text
        return [step]

    def _job(self, job: JobName, obj: JsonObject) -> list[Step]:
        outcome = ended(obj)
        if outcome is None:
            return []
        conditions = obj["status"]["conditions"]
        text = next((c.get("message") or c["type"] for c in reversed(conditions) if c.get("status") == "True"), "")
        return self._once(f"{job.uid}/end", Step(job, "ended", text, succeeded=outcome))

    def _workload(self, job: JobName, obj: JsonObject) -> list[Step]:
        status = obj.get("status", {})
        conditions = {c["type"]: c for c in status.get("conditions", [])}
        key = f"{job.uid}/queue"
        if conditions.get("Finished", {}).get("status") == "True":
            return []
        if conditions.get("Evicted", {}).get("status") == "True":
            return self._once(key, Step(job, "waits", f"stopped: {conditions['Evicted'].get('message', '')}"))
        if conditions.get("Admitted", {}).get("status") == "True":
            return self._once(key, Step(job, "admitted", f"admitted: {nodes_text(status.get('admission') or {})}"))
        record = status.get("decision")
        if record:
            first, second = why(record, obj)
            return self._once(key, Step(job, "waits", f"{first}\n{second}", permanent=bool(record.get("permanent"))))
        return []

    def _pod(self, job: JobName, obj: JsonObject) -> list[Step]:
        name, status = obj["metadata"]["name"], obj.get("status", {})
        steps = []
        count = sum(c.get("restartCount", 0) for c in status.get("containerStatuses", []))
        if count > self.restarts.get(obj["metadata"]["uid"], 0):
            self.restarts[obj["metadata"]["uid"]] = count
            text = f"restarted {count} time{'s' if count > 1 else ''}{ended_how(status, 'lastState')}"
            steps.append(Step(job, "restarts", text, pod=name))
        phase = status.get("phase", "Pending")
        where = obj.get("spec", {}).get("nodeName", "")
        told = ended_how(status, "state") if phase == "Failed" else ""
        text = f"{phase.lower()}{' on ' + where if where and phase == 'Running' else ''}{told}"
        if phase != "Pending":
            steps += self._once(f"{obj['metadata']['uid']}/phase", Step(job, "pod", text, pod=name))
        return steps


def ended_how(status: JsonObject, state: str) -> str:
    """` (exit code 3)` of the first container that ended badly; `state` is `state`, or `lastState` before a restart."""
    for container in status.get("containerStatuses", []):
        code = (container.get(state, {}).get("terminated") or {}).get("exitCode")
        if code:
            return f" (exit code {code})"
    return ""


def nodes_text(admission: JsonObject) -> str:
    """`main: 3 pods, default` ... of an admission, for people."""
    parts = []
    for assigned in admission.get("podSetAssignments", []):
        flavors = ", ".join(sorted(set(assigned.get("flavors", {}).values())))
        count = assigned.get("count", 0)
        parts.append(f"{assigned['name']}: {count} pod{'s' if count != 1 else ''}{' on ' + flavors if flavors else ''}")
    return "; ".join(parts)


async def follow(client: Reader, jobs: Sequence[JobName]) -> AsyncIterator[Step]:
    """Steps of these jobs (of one namespace) until all have ended or are deleted. Lost watches are taken up again."""
    story, queue = Story(jobs), asyncio.Queue[tuple[str, JsonObject]]()
    namespace = jobs[0].namespace
    kinds = list(dict.fromkeys([*(job.kind for job in jobs), SCHEME.of(Workload), SCHEME.of(Pod)]))
    open_jobs = {job.uid for job in jobs}
    tasks = [asyncio.create_task(_feed(client, kind, namespace, queue)) for kind in kinds]
    try:
        while open_jobs:
            type_, obj = await _next(queue, tasks)
            uid = obj["metadata"].get("uid", "")
            if type_ == "DELETED":
                if uid in open_jobs:
                    open_jobs.discard(uid)
                    job = next(j for j in jobs if j.uid == uid)
                    yield Step(job, "ended", "deleted", succeeded=False)
                continue
            for step in story.see(obj):
                if step.kind == "ended":
                    open_jobs.discard(step.job.uid)
                yield step
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _next(
    queue: asyncio.Queue[tuple[str, JsonObject]], tasks: Sequence[asyncio.Task[None]]
) -> tuple[str, JsonObject]:
    getting = asyncio.ensure_future(queue.get())
    done, _ = await asyncio.wait([getting, *tasks], return_when=asyncio.FIRST_COMPLETED)
    if getting in done:
        return getting.result()
    getting.cancel()
    next(iter(done)).result()
    raise ConnectionError("the watch ended")


async def _feed(client: Reader, kind: Kind, namespace: str, queue: asyncio.Queue[tuple[str, JsonObject]]) -> None:
    """Lists, then watches; lists again when the revision is gone or the connection was lost (five times in a row at most)."""
    lost = 0
    known: dict[str, JsonObject] = {}
    while True:
        try:
            page = await client.list(kind, namespace)
            now = {obj["metadata"]["uid"]: {**obj, "kind": kind.kind} for obj in page.items}
            for uid in [uid for uid in known if uid not in now]:
                queue.put_nowait(("DELETED", known.pop(uid)))
            for uid, obj in now.items():
                known[uid] = obj
                queue.put_nowait(("ADDED", obj))
            lost = 0
            async for event in client.watch(kind, namespace, revision=page.revision):
                if event.type == "BOOKMARK":
                    continue
                obj = {**event.object, "kind": kind.kind}
                if event.type == "DELETED":
                    known.pop(obj["metadata"]["uid"], None)
                else:
                    known[obj["metadata"]["uid"]] = obj
                queue.put_nowait((event.type, obj))
        except ApiError as error:
            if error.code != 410:
                raise
        except ConnectionError:
            lost += 1
            if lost >= 5:
                raise
            with suppress(asyncio.TimeoutError):
                await asyncio.sleep(0.2 * lost)
