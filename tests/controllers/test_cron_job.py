"""CronJob on the real registry; its jobs end when a test says so."""

from __future__ import annotations

from typing import Any

from kumi.api.batch import CronJob, Job
from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.controllers.cron_job import CronJobController
from kumi.testing.stage import Stage


async def stage(**spec: Any) -> Stage:
    made = Stage([CronJobController()])
    await made.open("ns")
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"template": {"spec": pod}}}
    manifest = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick", "namespace": "ns"}}
    await made.make({**manifest, "spec": {"schedule": "*/10 * * * *", "jobTemplate": template, **spec}})
    await made.settle()
    return made


async def jobs(on: Stage) -> list[str]:
    return [job["metadata"]["name"] for job in await on.all(Job, "ns")]


async def after(on: Stage, minutes: float) -> list[str]:
    on.advance(60 * minutes)
    await on.settle()
    return await jobs(on)


async def end(on: Stage, name: str, condition: str = "Complete") -> None:
    now = format_time(on.now_ms)
    conditions = [
        {"type": "SuccessCriteriaMet" if condition == "Complete" else "FailureTarget", "status": "True"},
        {"type": condition, "status": "True"},
    ]
    status: JsonObject = {"conditions": conditions, "startTime": now}
    if condition == "Complete":
        status["completionTime"] = now
    await on.patch(Job, f"ns/{name}", {"status": status}, "status")
    await on.settle()


async def status(on: Stage) -> JsonObject:
    found = await on.one(CronJob, "ns/tick")
    assert found is not None
    kept: JsonObject = found["status"]
    return kept


async def test_a_job_is_made_when_it_is_due_and_once() -> None:
    on = await stage()
    assert await jobs(on) == []
    [name] = await after(on, 10)
    due_ms = int(name.rpartition("-")[2]) * 60_000
    assert due_ms % 600_000 == 0
    assert due_ms <= on.now_ms
    assert await after(on, 1) == [name]
    found = await on.one(Job, f"ns/{name}")
    assert found is not None
    assert found["metadata"]["labels"] == {"a": "b"}
    assert found["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    kept = await status(on)
    assert kept["lastScheduleTime"] == format_time(due_ms)
    assert [each["name"] for each in kept["active"]] == [name]


async def test_times_that_were_missed_are_made_up_for_by_one() -> None:
    on = await stage()
    assert len(await after(on, 65)) == 1


async def test_what_is_missed_for_too_long_is_passed_over() -> None:
    on = await stage(schedule="0 0 1 1 *", startingDeadlineSeconds=60)
    assert await after(on, 60 * 24 * 366) == []


async def test_a_suspended_one_makes_nothing() -> None:
    on = await stage(suspend=True)
    assert await after(on, 30) == []


async def test_with_forbid_the_next_waits_for_the_one_that_runs() -> None:
    on = await stage(concurrencyPolicy="Forbid")
    [first] = await after(on, 10)
    assert await after(on, 10) == [first]
    await end(on, first)
    assert len(await jobs(on)) == 2


async def test_with_replace_the_one_that_runs_goes() -> None:
    on = await stage(concurrencyPolicy="Replace")
    [first] = await after(on, 10)
    [second] = await after(on, 10)
    assert second != first


async def test_history_is_kept_as_far_as_it_says() -> None:
    on = await stage(successfulJobsHistoryLimit=2, failedJobsHistoryLimit=0)
    made = []
    for number in range(4):
        made.append((await after(on, 10))[-1])
        await end(on, made[-1], "Failed" if number == 0 else "Complete")
    assert await jobs(on) == made[2:]
    assert (await status(on))["lastSuccessfulTime"] == format_time(on.now_ms)
    assert "active" not in await status(on)
