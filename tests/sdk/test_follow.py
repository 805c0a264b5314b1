"""What happens to a job is told once, in order, from watches alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from kumi.api.batch import Job
from kumi.api.scheme import SCHEME, load
from kumi.api.wire import JsonObject
from kumi.sdk.follow import Step, Story, follow, nodes_text
from kumi.sdk.jobs import JobName, name_of
from kumi.testing.fake_client import FakeClient

RECORD = {
    "layer": "Quota", "code": "QUOTA_IN_USE", "message": "It needs 4 cpu, and 1 is free.", "resource": "cpu", "need": "4",
    "have": "1", "helps": "admitted work ends", "permanent": False, "position": 1,
}  # fmt: skip


@pytest.fixture
def client() -> FakeClient:
    return FakeClient(list(load()))


def job_named(uid: str = "u") -> JobName:
    return JobName(load().of(Job), "default", "a", uid)


def owned(kind: str, **fields: object) -> JsonObject:
    meta = {"name": f"{kind.lower()}-0", "uid": f"{kind}-uid", "ownerReferences": [{"uid": "u"}]}
    return {"kind": kind, "metadata": meta, **fields}


def texts(steps: list[Step]) -> list[tuple[str, str]]:
    return [(step.kind, step.text.split("\n")[0]) for step in steps]


def test_a_reason_is_told_once_and_again_when_it_changes() -> None:
    story = Story([job_named()])
    waits = owned("Workload", status={"decision": RECORD})
    assert [step.kind for step in story.see(waits)] == ["waits"]
    assert story.see(waits) == []
    other = {**RECORD, "code": "CLUSTER_QUEUE_STOPPED", "layer": "Queue", "where": "pool"}
    assert [step.kind for step in story.see(owned("Workload", status={"decision": other}))] == ["waits"]


def test_what_can_never_start_is_marked() -> None:
    [step] = Story([job_named()]).see(owned("Workload", status={"decision": {**RECORD, "permanent": True}}))
    assert step.permanent


def test_admission_says_what_the_job_got() -> None:
    admission = {"podSetAssignments": [{"name": "main", "count": 2, "flavors": {"cpu": "spot"}}]}
    status = {"conditions": [{"type": "Admitted", "status": "True"}], "admission": admission}
    assert texts(Story([job_named()]).see(owned("Workload", status=status))) == [
        ("admitted", "admitted: main: 2 pods on spot")
    ]
    assert nodes_text({}) == ""


def test_pods_tell_their_phase_and_their_restarts() -> None:
    story = Story([job_named()])
    running = {"phase": "Running", "containerStatuses": [{"restartCount": 0}]}
    pod = owned("Pod", spec={"nodeName": "n"}, status=running)
    assert texts(story.see(pod)) == [("pod", "running on n")]
    crashed = {"restartCount": 2, "lastState": {"terminated": {"exitCode": 3}}}
    again = owned("Pod", spec={"nodeName": "n"}, status={**running, "containerStatuses": [crashed]})
    assert texts(story.see(again)) == [("restarts", "restarted 2 times (exit code 3)")]
    assert story.see(again) == []


def test_a_pod_that_failed_says_how() -> None:
    ended = [{"state": {"terminated": {"exitCode": 0}}}, {"state": {"terminated": {"exitCode": 137}}}]
    pod = owned("Pod", status={"phase": "Failed", "containerStatuses": ended})
    assert texts(Story([job_named()]).see(pod)) == [("pod", "failed (exit code 137)")]


def test_what_belongs_to_others_is_not_told() -> None:
    other = owned("Pod", status={"phase": "Running"})
    other["metadata"]["ownerReferences"] = [{"uid": "somebody"}]
    assert Story([job_named()]).see(other) == []


async def make_job(client: FakeClient) -> JobName:
    made = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "default"}}
    return name_of(await client.create(made))


async def finish(client: FakeClient, job: JobName, kind: str) -> None:
    done = {"status": {"conditions": [{"type": kind, "status": "True", "message": "so it was"}]}}
    await client.patch(job.kind, job.namespace, job.name, done, subresource="status")


async def first(steps: AsyncIterator[Step]) -> Step:
    return await asyncio.wait_for(anext(steps), 10)


@pytest.mark.parametrize(("kind", "succeeded"), [("Complete", True), ("Failed", False)])
async def test_it_ends_when_the_job_ends(client: FakeClient, kind: str, succeeded: bool) -> None:
    job = await make_job(client)
    await finish(client, job, kind)
    steps = [step async for step in follow(client, [job])]
    assert [(s.kind, s.text, s.succeeded) for s in steps] == [("ended", "so it was", succeeded)]


async def test_a_deleted_job_ends_it_too(client: FakeClient) -> None:
    job = await make_job(client)
    steps = follow(client, [job])
    waiting = asyncio.ensure_future(first(steps))
    while client.watching < 3:
        await asyncio.sleep(0)
    await client.delete(SCHEME.of(Job), "default", "a")
    assert (await waiting).text == "deleted"


async def test_a_lost_watch_is_taken_up_again_without_telling_twice(client: FakeClient) -> None:
    job = await make_job(client)
    steps = follow(client, [job])
    waiting = asyncio.ensure_future(first(steps))
    while client.watching < 3:
        await asyncio.sleep(0)
    client.cut()
    await finish(client, job, "Complete")
    assert (await waiting).succeeded
    assert [step async for step in steps] == []
