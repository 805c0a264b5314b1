"""Job kinds: a case's manifests and events on a stage with the real registry, hooks, loops; dumps of what is there.

What is not production code here is what the case itself plays: the kubelet (pod statuses), the user (patches), and the
quota (an admission with the flavors that the case assigns, an eviction); how a job starts and stops is the real loop's.
"""

from __future__ import annotations

from typing import Any

from kumi.api.core import Event, Pod
from kumi.api.errors import ApiError
from kumi.api.kueue import Workload
from kumi.api.meta import format_time
from kumi.api.scheme import load
from kumi.api.volcano import PodGroup
from kumi.api.wire import JsonObject
from kumi.controllers.job import job_controller
from kumi.controllers.pytorchjob import pytorchjob_controller
from kumi.controllers.workload import WorkloadController
from kumi.jobs import QUEUED
from kumi.jobs.base import Settings
from kumi.jobs.pytorchjob import defaulted
from kumi.jobs.queue_hook import QueueHook
from kumi.registry.requests import WriteOptions
from kumi.testing.stage import Stage

DEFAULTED = {"PyTorchJob": defaulted}


class Unknown(Exception):
    """The case holds something that can't be expressed."""


async def run(case: JsonObject) -> JsonObject | None:
    """The result of one case; None if it can't be expressed."""
    manifests = case.get("manifests") or ([case["manifest"]] if "manifest" in case else [])
    scheme = load()
    if not manifests or any(scheme.of_object(m) is None for m in manifests):
        return None
    try:
        return await _Play(case, manifests).run()
    except Unknown:
        return None


class _Play:
    def __init__(self, case: JsonObject, manifests: list[JsonObject]) -> None:
        self.case, self.manifests, self.config = case, manifests, case.get("config") or {}
        kinds = {kind.lower(): kind for kind in DEFAULTED}
        if case["kind"] not in kinds:
            raise Unknown(case["kind"])
        self.subject = next(m for m in reversed(manifests) if m["kind"] == kinds[case["kind"]])
        self.namespace: str = self.subject["metadata"]["namespace"]
        settings = Settings(gang_scheduler=self.config.get("gangSchedulerName", ""))
        controllers: list[Any] = [job_controller(settings), pytorchjob_controller(settings)]
        if self.config.get("kueue"):
            kinds_of = [load().of(queued.view_type) for queued in QUEUED]
            parents = tuple((kind.group, kind.kind) for kind in kinds_of)
            controllers += [WorkloadController(queued, parents) for queued in QUEUED]
        self.stage = Stage(controllers, hooks=[QueueHook()])
        self.kind = load().of_object(self.subject)
        assert self.kind is not None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.subject['metadata']['name']}"

    async def run(self) -> JsonObject:
        await self.stage.open(self.namespace)
        for name, flavor in (self.config.get("flavors") or {}).items():
            await self.stage.make(
                {
                    "apiVersion": "kueue.x-k8s.io/v1beta2",
                    "kind": "ResourceFlavor",
                    "metadata": {"name": name},
                    "spec": {k: flavor[k] for k in ("nodeLabels", "tolerations") if k in flavor},
                }
            )
        await self.stage.changes()
        result: JsonObject = {"requests": [await self._request("create", m) for m in self.manifests]}
        if not all(r["allowed"] for r in result["requests"]):
            return result
        await self.stage.settle()
        result["snapshots"] = [await self._snapshot(0)]
        if "update" in self.case:
            result["requests"].append(await self._request("update", self.case["update"]))
        for number, event in enumerate(self.case.get("events") or (), 1):
            self.stage.advance(1)
            await self._event(event)
            await self.stage.settle()
            result["snapshots"].append(await self._snapshot(number))
        subject = await self.stage.one(self.kind.type, self.key)
        if subject is not None:
            result["defaulted"] = DEFAULTED[subject["kind"]](subject)
        return result

    async def _request(self, verb: str, manifest: JsonObject) -> JsonObject:
        options = WriteOptions()
        answer: JsonObject = {
            "verb": verb,
            "kind": manifest["kind"],
            "name": manifest["metadata"]["name"],
            "allowed": True,
            "errors": [],
            "warnings": options.warnings,
        }
        try:
            if verb == "create":
                await self.stage.make(manifest, options)
            else:
                there = await self.stage.one(self.kind.type, self.key) or {}
                version = {"resourceVersion": there["metadata"]["resourceVersion"]}
                await self.stage.update({**manifest, "metadata": {**manifest["metadata"], **version}}, options)
        except ApiError as error:
            answer["allowed"] = False
            causes = [{"field": c.path, "message": c.text()} for c in error.causes]
            answer["errors"] = causes or [{"field": None, "message": error.message}]
        return answer

    async def _snapshot(self, number: int) -> JsonObject:
        objects = [
            {"apiVersion": kind.api_version, "kind": kind.kind, **obj}
            for kind in load()
            if kind.type is not Event
            for obj in await self.stage.all(kind.type)
        ]
        log = [{"type": e.type, "object": e.object} for e in await self.stage.changes() if e.object["kind"] != "Event"]
        return {"after": number, "objects": objects, "log": log}

    async def _event(self, event: JsonObject) -> None:
        if "pod" in event:
            await self._pod(event)
        elif "podDeleted" in event:
            await self.stage.delete(Pod, f"{self.namespace}/{event['podDeleted']}")
        elif "podGroup" in event:
            body = {"status": {"phase": event["phase"]}}
            await self.stage.patch(PodGroup, f"{self.namespace}/{event['podGroup']}", body, "status")
        elif "advance" in event:
            self.stage.advance(event["advance"])
        elif "kueue" in event:
            await self._kueue(event["kueue"])
        elif "patch" in event:
            await self._patch(event["patch"])
        elif "create" in event:
            await self.stage.make(event["create"])
        elif "replace" in event:
            await self._request("update", event["replace"])
        else:
            raise Unknown(str(sorted(event)))

    async def _pod(self, event: JsonObject) -> None:
        pod = await self.stage.one(Pod, f"{self.namespace}/{event['pod']}")
        if pod is None:
            raise Unknown(f"no pod {event['pod']}")
        first = pod["spec"]["containers"][0]["name"]
        known = {c["name"]: c for c in pod.get("status", {}).get("containerStatuses") or ()}
        now = format_time(self.stage.now_ms)
        for container in pod["spec"]["containers"]:
            status = known.setdefault(
                container["name"],
                {
                    "name": container["name"],
                    "image": container["image"],
                    "imageID": "",
                    "ready": False,
                    "restartCount": 0,
                },
            )
            if event["phase"] == "Running":
                status["state"] = {"running": {"startedAt": now}}
            elif "exitCode" in event and container["name"] == event.get("container", first):
                status["state"] = {"terminated": {"exitCode": event["exitCode"], "finishedAt": now}}
            elif event["phase"] in ("Succeeded", "Failed"):
                status.pop("state", None)
        if "restartCount" in event:
            known[first]["restartCount"] = event["restartCount"]
        status = {"phase": event["phase"], "containerStatuses": list(known.values())}
        if "reason" in event:
            status["reason"] = event["reason"]
        if "ready" in event:
            known[first]["ready"] = event["ready"]
            status["conditions"] = [{"type": "Ready", "status": str(event["ready"]), "lastTransitionTime": now}]
        await self.stage.pod_status(self.namespace, event["pod"], status)

    async def _patch(self, patch: JsonObject) -> None:
        there = await self.stage.one(self.kind.type, self.key)
        if there is None:
            raise Unknown("the subject is gone")
        body = patch if "spec" in patch else {"spec": patch}
        await self.stage.patch(self.kind.type, self.key, _with_whole_lists(body, there))

    async def _kueue(self, what: str) -> None:
        now = format_time(self.stage.now_ms)
        workload = next(iter(await self.stage.all(Workload, self.namespace)), None)
        if workload is None:
            raise Unknown("there is no Workload")
        key = f"{self.namespace}/{workload['metadata']['name']}"
        conditions = {c["type"]: c for c in workload.get("status", {}).get("conditions") or ()}

        def put(kind: str, reason: str) -> None:
            conditions[kind] = {
                "type": kind, "status": "True", "reason": reason, "message": reason, "lastTransitionTime": now,
            }  # fmt: skip

        status: JsonObject = {}
        if what == "admit":
            conditions.pop("Evicted", None)
            put("QuotaReserved", "QuotaReserved")
            put("Admitted", "Admitted")
            assign = self.config.get("assign") or {}
            status["admission"] = {
                "clusterQueue": "cq",
                "podSetAssignments": [
                    {"name": p["name"], "count": p["count"], "flavors": _flavors(assign.get(p["name"]))}
                    for p in workload["spec"]["podSets"]
                ],
            }
        elif what == "evict":
            put("Evicted", "Preempted")
        else:
            raise Unknown(what)
        status["conditions"] = list(conditions.values())
        await self.stage.patch(Workload, key, {"status": status}, "status")


def _flavors(name: str | None) -> dict[str, str]:
    return {"cpu": name} if name else {}


def _with_whole_lists(patch: Any, there: Any) -> Any:
    """A merge patch replaces lists whole; in the cases an element with a name means that element."""
    if isinstance(patch, dict):
        known = there if isinstance(there, dict) else {}
        return {k: _with_whole_lists(v, known.get(k)) for k, v in patch.items()}
    if isinstance(patch, list) and isinstance(there, list) and all(isinstance(e, dict) and "name" in e for e in patch):
        named = {e.get("name"): e for e in there}
        for element in patch:
            named[element["name"]] = _merged(named.get(element["name"], {}), element)
        return list(named.values())
    return patch


def _merged(there: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    out = dict(there) if isinstance(there, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = _merged(out.get(key), _with_whole_lists(value, out.get(key)))
    return out
