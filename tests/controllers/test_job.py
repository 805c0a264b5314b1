"""The Job loop on the real registry."""

from __future__ import annotations

from typing import Any

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.api.wire import JsonObject
from kumi.controllers.job import job_controller
from kumi.jobs.base import Settings
from kumi.testing.stage import Stage


async def stage(**spec: Any) -> Stage:
    made = Stage([job_controller(Settings())])
    await made.open("ns")
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "ns"}}
    await made.make({**manifest, "spec": {"template": {"spec": pod}, **spec}})
    await made.settle()
    return made


async def pods(on: Stage) -> list[JsonObject]:
    return await on.all(Pod, "ns")


async def job(on: Stage) -> JsonObject:
    found = await on.one(Job, "ns/j")
    assert found is not None
    return found


async def test_a_job_runs_to_its_end() -> None:
    on = await stage(parallelism=2, completions=2)
    for pod in await pods(on):
        await on.pod_status("ns", pod["metadata"]["name"], {"phase": "Succeeded"})
    await on.settle()
    status = (await job(on))["status"]
    assert [c["type"] for c in status["conditions"]] == ["SuccessCriteriaMet", "Complete"]
    assert (status["succeeded"], status["ready"], status["terminating"]) == (2, 0, 0)
    assert "active" not in status
    assert all("finalizers" not in p["metadata"] for p in await pods(on))


async def test_its_pods_are_those_that_its_selector_selects() -> None:
    on = await stage()
    (pod,) = await pods(on)
    selector = (await job(on))["spec"]["selector"]["matchLabels"]
    assert selector.items() <= pod["metadata"]["labels"].items()


async def test_a_pod_deleted_by_hand_is_counted_and_replaced() -> None:
    on = await stage()
    (first,) = await pods(on)
    await on.delete(Pod, f"ns/{first['metadata']['name']}")
    await on.settle()
    (second,) = await pods(on)
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    assert (await job(on))["status"]["failed"] == 1


async def test_a_job_deleted_by_hand_leaves_no_pod_that_can_not_go() -> None:
    on = await stage()
    await on.delete(Job, "ns/j")
    for pod in await pods(on):
        await on.delete(Pod, f"ns/{pod['metadata']['name']}")
    await on.settle()
    assert await pods(on) == []


async def test_a_suspended_job_gives_its_template_free_again() -> None:
    on = await stage()
    await on.patch(Job, "ns/j", {"spec": {"suspend": True}})
    await on.settle()
    await on.patch(Job, "ns/j", {"spec": {"template": {"spec": {"nodeSelector": {"zone": "z"}}}}})
    await on.patch(Job, "ns/j", {"spec": {"suspend": False}})
    await on.settle()
    (pod,) = await pods(on)
    assert pod["spec"]["nodeSelector"] == {"zone": "z"}
