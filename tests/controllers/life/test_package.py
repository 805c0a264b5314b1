"""The life of Workloads: looks come to rest; the way through checks, time-outs and activity on a real registry."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api import batch, core, kueue
from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.controllers import all_deciders
from kumi.controllers.life import KUEUE, KUMI, RULES, Policy, Rules, WorkloadLife
from kumi.engine.model import Profile
from kumi.engine.settings import PodsReady, Settings
from kumi.jobs.queue_hook import QueueHook
from kumi.runtime.reconcile import Patch
from kumi.testing.stage import Stage
from kumi.testing.view import FakeView
from tests.controllers.made import GPU, NOW_MS, admission, cluster_queue, flavor, local_queue, node, workload

times = st.integers(-120, 120).map(lambda s: format_time(NOW_MS + s * 1000))
REASONS = {
    "QuotaReserved": ["QuotaReserved", "PendingEvaluation", "WaitingForQuota", "AdmissionGated", "Suspended"],
    "Admitted": ["Admitted", "NoReservation"],
    "Evicted": ["Preempted", "Deactivated", "AdmissionCheck", "PodsReadyTimeout"],
    "Requeued": ["Deactivated", "PodsReadyTimeout", "ClusterQueueStopped", "LocalQueueStopped", "Preempted"],
    "DeactivationTarget": ["AdmissionCheck"],
    "PodsReady": ["Started", "WaitForRecovery"],
    "Finished": ["Succeeded"],
}


@st.composite
def statuses(draw: st.DrawFn) -> JsonObject:
    made: JsonObject = {"conditions": []}
    for type_, reasons in REASONS.items():
        if draw(st.integers(0, 2)) == 0:
            truth = draw(st.sampled_from(["True", "False"]))
            condition = {"type": type_, "status": truth, "reason": draw(st.sampled_from(reasons)), "message": ""}
            made["conditions"].append({**condition, "lastTransitionTime": draw(times)})
    if draw(st.booleans()):
        made["admission"] = admission()
    if draw(st.booleans()):
        made["requeueState"] = {"count": draw(st.integers(1, 3)), "requeueAt": draw(times)}
    names = draw(st.lists(st.sampled_from(["a", "b", "c"]), unique=True))
    states = st.sampled_from(["Pending", "Ready", "Retry", "Rejected"])
    made["admissionChecks"] = [{"name": n, "state": draw(states), "lastTransitionTime": draw(times)} for n in names]
    return made


def written(manifest: JsonObject, body: JsonObject) -> JsonObject:
    """The Workload after a merge patch."""

    def merge(old: Any, new: Any) -> Any:
        if not isinstance(new, dict):
            return new
        made = dict(old) if isinstance(old, dict) else {}
        for key, value in new.items():
            if value is None:
                made.pop(key, None)
            else:
                made[key] = merge(made.get(key), value)
        return made

    patch = {k: v for k, v in body.items() if k != "metadata"}
    merged: JsonObject = merge(manifest, patch)
    return merged


@pytest.mark.parametrize("rules", [KUEUE, KUMI], ids=["kueue", "kumi"])
@given(
    status=statuses(),
    active=st.booleans(),
    stops=st.tuples(*[st.sampled_from(["None", "Hold", "HoldAndDrain"])] * 2),
    limit=st.sampled_from([None, 1]),
)
@settings(max_examples=300)
def test_looks_come_to_rest_and_a_look_at_rest_changes_nothing(
    rules: Rules, status: JsonObject, active: bool, stops: tuple[str, str], limit: int | None
) -> None:
    life = WorkloadLife(Policy(PodsReady(timeout_ms=60_000, recovery_ms=30_000, limit=limit)), rules)
    checks = {"admissionChecks": [{"name": "a"}, {"name": "b"}]}
    queues = (local_queue(stopPolicy=stops[0]), cluster_queue(stopPolicy=stops[1], admissionChecksStrategy=checks))
    seen = workload(status=status, spec={"active": active, "maximumExecutionTimeSeconds": 90})
    for _ in range(12):
        outcome = life.reconcile(FakeView(seen, *queues), "team/w", NOW_MS)
        if not outcome.writes:
            break
        (patch,) = outcome.writes
        assert isinstance(patch, Patch)
        assert isinstance(patch.body, dict)
        after = written(seen, patch.body)
        assert msgspec.convert(after, kueue.Workload) != msgspec.convert(seen, kueue.Workload), "a write of nothing"
        seen = after
    else:
        raise AssertionError("the looks chase each other")
    assert life.reconcile(FakeView(seen, *queues), "team/w", NOW_MS) == outcome


def test_each_profile_has_its_strategies() -> None:
    assert (RULES["kueue"], RULES["kumi"]) == (KUEUE, KUMI)


def test_a_change_of_a_queue_concerns_its_workloads() -> None:
    other, mine = workload("other", queue="elsewhere"), workload("mine")
    view = FakeView(other, mine, local_queue(), local_queue("elsewhere", queue="else"), cluster_queue())
    related = WorkloadLife().watches.related
    (door,) = [q for q in view.list(kueue.LocalQueue) if q.metadata.name == "lq"]
    (pool,) = view.list(kueue.ClusterQueue)
    assert list(related[kueue.LocalQueue](door, view)) == ["team/mine"]
    assert list(related[kueue.ClusterQueue](pool, view)) == ["team/mine"]


def test_numbers_in_a_queues_status_concern_nobody() -> None:
    matters = WorkloadLife().watches.matters[kueue.ClusterQueue]

    def view(status: JsonObject, **spec: Any) -> kueue.ClusterQueue:
        return msgspec.convert({**cluster_queue(**spec), "status": status}, kueue.ClusterQueue)

    active = {"conditions": [{"type": "Active", "status": "True", "reason": "Ready"}]}
    assert not matters(view(active), view({**active, "pendingWorkloads": 7}))
    assert matters(view({}), view(active))
    assert matters(view(active), view(active, stopPolicy="Hold"))


def test_what_is_gone_has_no_life() -> None:
    assert WorkloadLife().reconcile(FakeView(), "team/w", NOW_MS).writes == ()


def manifest(made: JsonObject) -> JsonObject:
    meta = {k: v for k, v in made["metadata"].items() if k in ("name", "namespace", "labels")}
    return {k: v for k, v in {**made, "metadata": meta}.items() if k != "status"}


CHECK: JsonObject = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "AdmissionCheck",
    "metadata": {"name": "capacity"},
    "spec": {"controllerName": "example.com/capacity"},
}
JOB: JsonObject = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j", "namespace": "team", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
    "spec": {
        "parallelism": 2,
        "completions": 2,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "c", "image": "i", "resources": {"limits": {GPU: "1"}}}],
            }
        },
    },
}


async def cluster(settings: Settings | None = None, *checks: str) -> Stage:
    from kumi.controllers import all_controllers

    profile = Profile(settings=settings or Settings())
    deciders = [decider for make in all_deciders(profile) for decider in make()]
    stage = Stage(all_controllers(profile=profile), deciders, hooks=[QueueHook()])
    await stage.open("team")
    asks = {"admissionChecksStrategy": {"admissionChecks": [{"name": c} for c in checks]}} if checks else {}
    for made in (flavor(), cluster_queue(**asks), local_queue(), node()):
        await stage.make(manifest(made))
    await stage.patch(core.Node, "n1", {"status": node()["status"]}, "status")
    for _ in checks:
        await stage.make(CHECK)
        active = {
            "type": "Active",
            "status": "True",
            "reason": "Up",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        await stage.patch(kueue.AdmissionCheck, "capacity", {"status": {"conditions": [active]}}, "status")
    return stage


async def the_workload(stage: Stage) -> JsonObject:
    (found,) = await stage.all(kueue.Workload)
    return found


def truth(found: JsonObject) -> dict[str, tuple[str, str]]:
    return {c["type"]: (c["status"], c["reason"]) for c in found.get("status", {}).get("conditions", [])}


async def answer(stage: Stage, state: str, **more: Any) -> None:
    found = await the_workload(stage)
    told = {"name": "capacity", "state": state, "lastTransitionTime": format_time(stage.now_ms), "message": "", **more}
    key = f"team/{found['metadata']['name']}"
    await stage.patch(kueue.Workload, key, {"status": {"admissionChecks": [told]}}, "status")
    await stage.settle()


async def test_a_job_with_a_check_starts_when_it_is_ready_with_what_the_check_adds() -> None:
    stage = await cluster(None, "capacity")
    await stage.make(JOB)
    await stage.settle()
    found = await the_workload(stage)
    assert truth(found)["QuotaReserved"][0] == "True"
    assert truth(found)["Admitted"] == ("False", "UnsatisfiedAdmissionChecks")
    assert [c["state"] for c in found["status"]["admissionChecks"]] == ["Pending"]
    assert await stage.all(core.Pod) == []
    await answer(stage, "Ready", podSetUpdates=[{"name": "main", "annotations": {"booking": "1"}}])
    assert truth(await the_workload(stage))["Admitted"] == ("True", "Admitted")
    pods = await stage.all(core.Pod)
    assert [p["metadata"]["annotations"]["booking"] for p in pods] == ["1", "1"]
    assert {p["spec"]["nodeName"] for p in pods} == {"n1"}


async def test_a_check_that_says_later_frees_the_quota_until_then() -> None:
    stage = await cluster(None, "capacity")
    await stage.make(JOB)
    await stage.settle()
    await answer(stage, "Retry", requeueAfterSeconds=30)
    found = await the_workload(stage)
    assert found["status"].get("admission") is None
    assert truth(found)["Evicted"] == ("True", "AdmissionCheck")
    assert truth(found)["Requeued"] == ("False", "AdmissionCheck")
    assert [(c["state"], c["retryCount"]) for c in found["status"]["admissionChecks"]] == [("Pending", 1)]
    stage.advance(31)
    await stage.settle()
    found = await the_workload(stage)
    assert truth(found)["QuotaReserved"] == ("True", "QuotaReserved")
    assert truth(found)["Requeued"][0] == "True"


async def test_a_check_that_says_no_deactivates_and_its_user_can_try_again() -> None:
    stage = await cluster(None, "capacity")
    await stage.make(JOB)
    await stage.settle()
    await answer(stage, "Rejected", message="never")
    found = await the_workload(stage)
    assert found["spec"]["active"] is False
    assert truth(found)["Evicted"] == ("True", "DeactivatedDueToAdmissionCheck")
    assert found["status"].get("admission") is None
    assert "DeactivationTarget" not in truth(found)
    await stage.patch(kueue.Workload, f"team/{found['metadata']['name']}", {"spec": {"active": True}})
    await stage.settle()
    found = await the_workload(stage)
    assert truth(found)["QuotaReserved"][0] == "True"
    assert [c["state"] for c in found["status"]["admissionChecks"]] == ["Pending"]


async def test_pods_that_do_not_get_ready_are_put_back_and_given_up_after_their_limit() -> None:
    ready = PodsReady(timeout_ms=10_000, recovery_ms=0, backoff_base_ms=5_000, limit=1)
    stage = await cluster(Settings(pods_ready=ready))
    await stage.make(JOB)
    await stage.settle()
    assert len(await stage.all(core.Pod)) == 2
    stage.advance(11)
    await stage.settle()
    found = await the_workload(stage)
    assert truth(found)["Evicted"] == ("True", "PodsReadyTimeout")
    assert found["status"]["requeueState"]["count"] == 1
    assert await stage.all(core.Pod) == []
    stage.advance(6)
    await stage.settle()
    assert len(await stage.all(core.Pod)) == 2
    stage.advance(11)
    await stage.settle()
    found = await the_workload(stage)
    assert truth(found)["Evicted"] == ("True", "DeactivatedDueToRequeuingLimitExceeded")
    assert found["spec"]["active"] is False


async def test_a_job_runs_no_longer_than_it_may() -> None:
    stage = await cluster()
    limited = {**JOB, "metadata": {**JOB["metadata"], "labels": {**JOB["metadata"]["labels"], LIMIT: "20"}}}
    await stage.make(limited)
    await stage.settle()
    stage.advance(21)
    await stage.settle()
    found = await the_workload(stage)
    assert truth(found)["Evicted"] == ("True", "DeactivatedDueToMaximumExecutionTimeExceeded")
    assert await stage.all(core.Pod) == []


LIMIT = "kueue.x-k8s.io/max-exec-time-seconds"


async def test_a_queue_in_use_goes_when_its_last_workload_is_over() -> None:
    stage = await cluster()
    await stage.make(JOB)
    await stage.settle()
    await stage.delete(kueue.ClusterQueue, "gpus")
    await stage.delete(kueue.ResourceFlavor, "default")
    await stage.settle()
    assert await stage.one(kueue.ClusterQueue, "gpus") is not None
    assert await stage.one(kueue.ResourceFlavor, "default") is not None
    for pod in await stage.all(core.Pod):
        await stage.pod_status("team", pod["metadata"]["name"], {"phase": "Succeeded"})
    await stage.settle()
    assert await stage.one(kueue.ClusterQueue, "gpus") is None
    assert await stage.one(kueue.ResourceFlavor, "default") is None


async def test_finished_workloads_are_kept_for_as_long_as_they_are_wanted() -> None:
    stage = await cluster(Settings(keep_finished_ms=60_000))
    await stage.make(JOB)
    await stage.settle()
    for pod in await stage.all(core.Pod):
        await stage.pod_status("team", pod["metadata"]["name"], {"phase": "Succeeded"})
    await stage.settle()
    assert truth(await the_workload(stage))["Finished"] == ("True", "Succeeded")
    stage.advance(61)
    await stage.settle()
    assert await stage.all(kueue.Workload) == []


async def test_a_priority_class_that_is_worth_something_else_changes_its_workloads() -> None:
    stage = await cluster()
    high = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "high"},
        "value": 5,
    }
    await stage.make(high)
    labels = {**JOB["metadata"]["labels"], "kueue.x-k8s.io/priority-class": "high"}
    await stage.make({**JOB, "metadata": {**JOB["metadata"], "labels": labels}})
    await stage.settle()
    assert (await the_workload(stage))["spec"]["priority"] == 5
    await stage.patch(kueue.WorkloadPriorityClass, "high", {"value": 9})
    await stage.settle()
    assert (await the_workload(stage))["spec"]["priority"] == 9


async def test_a_gate_that_is_taken_from_the_job_lets_its_workload_in_the_queue() -> None:
    stage = await cluster()
    gates = {"kueue.x-k8s.io/admission-gated-by": "a.example/x,b.example/y"}
    await stage.make({**JOB, "metadata": {**JOB["metadata"], "annotations": gates}})
    await stage.settle()
    assert "Admitted" not in {k for k, v in truth(await the_workload(stage)).items() if v[0] == "True"}
    await stage.patch(
        batch.Job, "team/j", {"metadata": {"annotations": {"kueue.x-k8s.io/admission-gated-by": "b.example/y"}}}
    )
    await stage.settle()
    found = await the_workload(stage)
    assert found["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] == "b.example/y"
    await stage.patch(batch.Job, "team/j", {"metadata": {"annotations": {"kueue.x-k8s.io/admission-gated-by": None}}})
    await stage.settle()
    assert truth(await the_workload(stage))["Admitted"] == ("True", "Admitted")
