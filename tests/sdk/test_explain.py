"""Why a job waits is told as things are now, not as they were at the last attempt."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.scheme import SCHEME, load
from kumi.api.wire import JsonObject
from kumi.sdk.explain import as_of_now, explain
from kumi.sdk.jobs import name_of
from kumi.testing.fake_client import FakeClient

ADMITTED = {"admission": {"clusterQueue": "q"}}
FINISHED = {"conditions": [{"type": "Finished", "status": "True"}]}


@pytest.fixture
def client() -> FakeClient:
    return FakeClient(list(load()))


async def put(client: FakeClient, kind: str, name: str, **fields: Any) -> JsonObject:
    versions = {"Job": "batch/v1", "Workload": "kueue.x-k8s.io/v1beta2", "Pod": "v1", "Event": "v1"}
    metadata = {"name": name, "namespace": "default", **fields.pop("metadata", {})}
    status = fields.pop("status", None)
    made = await client.create({"apiVersion": versions[kind], "kind": kind, "metadata": metadata, **fields})
    if status is None:
        return made
    known = SCHEME.of_object(made)
    assert known is not None
    return await client.patch(known, "default", name, {"status": status}, subresource="status")


def entry(name: str) -> JsonObject:
    return {"workload": f"default/{name}", "job": f"Job default/{name}"}


async def test_those_ahead_are_named_only_while_they_wait(client: FakeClient) -> None:
    await put(client, "Workload", "waits")
    await put(client, "Workload", "admitted", status=ADMITTED)
    await put(client, "Workload", "finished", status=FINISHED)
    names = ("admitted", "waits", "finished", "gone")
    record = await as_of_now(client, {"ahead": [entry(n) for n in names], "position": 6})
    assert record["ahead"] == [entry("waits")]
    assert record["position"] == 3


async def test_holders_are_named_only_while_they_hold(client: FakeClient) -> None:
    await put(client, "Workload", "holds", status=ADMITTED)
    await put(client, "Workload", "evicted")
    await put(client, "Workload", "finished", status={**ADMITTED, **FINISHED})
    await put(client, "Pod", "runs", status={"phase": "Running"})
    await put(client, "Pod", "ended", status={"phase": "Succeeded"})
    pods = [{"workload": "", "job": f"Pod default/{name}"} for name in ("runs", "ended", "gone")]
    record = await as_of_now(client, {"holders": [entry("holds"), entry("evicted"), entry("finished"), *pods]})
    assert record["holders"] == [entry("holds"), pods[0]]


@pytest.mark.parametrize(("position", "now"), [(0, 0), (1, 1)])
async def test_a_place_in_line_is_never_before_the_head(client: FakeClient, position: int, now: int) -> None:
    record = await as_of_now(client, {"ahead": [entry("gone")], "position": position})
    assert record["position"] == now


async def test_a_job_without_workload_is_explained_by_its_last_warning(client: FakeClient) -> None:
    job = name_of(await put(client, "Job", "a", metadata={"labels": {"kueue.x-k8s.io/queue-name": "q"}}))
    assert (await explain(client, job))[0] == "it waits: its Workload is not made yet"
    about = {"uid": job.uid}
    for number, kind, text in ((2, "Warning", "Class x is missing."), (1, "Warning", "Old."), (3, "Normal", "Fine.")):
        await put(
            client, "Event", f"e{number}", involvedObject=about, type=kind, message=text, lastTimestamp=f"000{number}"
        )
    assert (await explain(client, job))[0] == "it waits: class x is missing"


async def test_a_waiting_job_is_explained_by_its_record(client: FakeClient) -> None:
    job = name_of(await put(client, "Job", "a"))
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": job.uid}
    record = {"layer": "Gang", "message": "It is full.", "ahead": [entry("gone")], "position": 2, "helps": "pods end"}
    await put(client, "Workload", "w", metadata={"ownerReferences": [owner]}, status={"decision": record})
    assert await explain(client, job) == (
        "it waits at the gang: it is full",
        "number 1 in its queue; next chance: when pods end",
    )


async def test_a_job_whose_pods_crash_again_and_again_says_so(client: FakeClient) -> None:
    job = await put(client, "Job", "a")
    owner = {"ownerReferences": [{"uid": job["metadata"]["uid"], "kind": "Job", "name": "a"}]}
    admitted = {**ADMITTED, "conditions": [{"type": "Admitted", "status": "True"}]}
    await put(client, "Workload", "w", metadata=owner, status=admitted)
    waiting = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 2}}}
    await put(client, "Pod", "p0", metadata=owner, status={"phase": "Running"})
    await put(client, "Pod", "p1", metadata=owner, status={"phase": "Running", "containerStatuses": [waiting]})
    first, second = await explain(client, name_of(job))
    assert first == "it was admitted and started, and 1 of its 2 pods crash again and again: p1 (exit code 2)"
    assert second == "its log says why: kubectl logs -n default p1 --previous"
