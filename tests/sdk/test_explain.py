"""Why a job waits is told as things are now, not as they were at the last attempt."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.core import Pod
from kumi.api.scheme import SCHEME, Kind, load
from kumi.api.wire import JsonObject, Listing
from kumi.runtime.decider import FAILED_TO_DECIDE
from kumi.sdk.explain import as_of_now, explain
from kumi.sdk.jobs import name_of
from kumi.testing.fake_client import FakeClient

ADMITTED = {"admission": {"clusterQueue": "q"}}
FINISHED = {"conditions": [{"type": "Finished", "status": "True"}]}


@pytest.fixture
def client() -> FakeClient:
    return FakeClient(list(load()))


async def put(client: FakeClient, kind: str, name: str, **fields: Any) -> JsonObject:
    versions = {
        "Job": "batch/v1",
        "Workload": "kueue.x-k8s.io/v1beta2",
        "PodGroup": "scheduling.volcano.sh/v1beta1",
        "Pod": "v1",
        "Event": "v1",
    }
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


async def test_pods_are_listed_once(client: FakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    job = await put(client, "Job", "a")
    owner = {"ownerReferences": [{"uid": job["metadata"]["uid"], "kind": "Job", "name": "a"}]}
    admitted = {**ADMITTED, "conditions": [{"type": "Admitted", "status": "True"}]}
    await put(client, "Workload", "w", metadata=owner, status=admitted)
    await put(client, "Pod", "p0", metadata=owner)
    listed: list[str] = []
    whole = client.list

    async def counted(kind: Kind, *args: Any, **options: Any) -> Listing:
        listed.append(kind.kind)
        return await whole(kind, *args, **options)

    monkeypatch.setattr(client, "list", counted)
    await explain(client, name_of(job))
    assert listed.count("Pod") == 1


FULL = {"type": "PodScheduled", "status": "False", "message": "No node takes the pod."}
SHORT = {"type": "Unschedulable", "status": "True", "message": "1 of the 2 pods that start together fit."}


async def job_with_pods(client: FakeClient, *said: JsonObject | None) -> JsonObject:
    """A job and a pod for each: why it has no node, or {}: it says nothing; None: it has one. All are of gang g."""
    job = await put(client, "Job", "a")
    meta = {
        "ownerReferences": [{"uid": job["metadata"]["uid"], "kind": "Job", "name": "a"}],
        "annotations": {"scheduling.k8s.io/group-name": "g"},
    }
    for number, condition in enumerate(said):
        spec = {"nodeName": "n"} if condition is None else {}
        await put(client, "Pod", f"p{number}", metadata=meta, spec=spec, status={"conditions": [condition or {}]})
    return job


async def test_a_job_that_no_queue_holds_says_why_its_pods_have_no_node(client: FakeClient) -> None:
    job = name_of(await job_with_pods(client, None, {}, FULL))
    assert await explain(client, job) == (
        "2 of its 3 pods have no node: no node takes the pod",
        "that is said of pod default/p2",
    )


async def test_a_job_whose_pods_all_have_nodes_waits_for_nothing(client: FakeClient) -> None:
    job = name_of(await job_with_pods(client, None, None))
    assert await explain(client, job) == (
        "it waits for nothing: each of its 2 pods has a node",
        "nothing holds it back",
    )


async def test_what_keeps_the_gang_is_said_of_its_job_its_pods_and_itself(client: FakeClient) -> None:
    job = name_of(await job_with_pods(client, FULL, {}))
    group = name_of(await put(client, "PodGroup", "g", status={"conditions": [SHORT]}))
    pod = name_of(await client.get(SCHEME.of(Pod), "default", "p1"))
    for one, many in ((job, "2 of its 2 pods have"), (group, "2 of its 2 pods have"), (pod, "its pod has")):
        assert await explain(client, one) == (
            f"{many} no node: 1 of the 2 pods that start together fit",
            "that is said of gang default/g (kumi gangs)",
        )


async def test_a_pod_of_another_scheduler_is_told_so(client: FakeClient) -> None:
    pod = name_of(await put(client, "Pod", "p", spec={"schedulerName": "mine"}))
    assert (await explain(client, pod))[0] == "its pod has no node: it names the scheduler mine, which is not Kumi"


async def test_a_gang_whose_pods_are_not_there_says_so_and_one_that_has_ended_too(client: FakeClient) -> None:
    group = name_of(await put(client, "PodGroup", "g", status={"conditions": [SHORT]}))
    assert (await explain(client, group))[0] == "it waits: 1 of the 2 pods that start together fit"
    over = name_of(await put(client, "PodGroup", "over", status={"phase": "Completed"}))
    assert (await explain(client, over))[0] == "it has finished: Completed"


async def test_a_job_that_was_admitted_and_whose_pods_find_no_node_says_so(client: FakeClient) -> None:
    job = await job_with_pods(client, None, FULL)
    owner = {"ownerReferences": [{"uid": job["metadata"]["uid"], "kind": "Job", "name": "a"}]}
    admitted = {**ADMITTED, "conditions": [{"type": "Admitted", "status": "True"}]}
    await put(client, "Workload", "w", metadata=owner, status=admitted)
    assert (await explain(client, name_of(job)))[0] == (
        "it was admitted, and 1 of its 2 pods has no node: no node takes the pod"
    )


async def warn(client: FakeClient, name: str, about: JsonObject, text: str, reason: str = "FailedCreate") -> None:
    involved = {"kind": about["kind"], "name": about["metadata"]["name"], "uid": about["metadata"]["uid"]}
    said = {"type": "Warning", "message": text, "reason": reason, "lastTimestamp": name}
    await put(client, "Event", name, involvedObject=involved, **said)


async def test_of_what_nobody_has_decided_yet_it_is_said_that_it_is_so_and_since_when(client: FakeClient) -> None:
    spec = {"schedulerName": "default-scheduler"}
    pod = await put(client, "Pod", "q", spec=spec, metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    group = await put(client, "PodGroup", "g")
    for young in (pod, group):
        since = young["metadata"]["creationTimestamp"]
        assert await explain(client, name_of(young)) == (
            f"it waits: nothing has been decided about it yet, since {since}",
            "is the scheduler running (kumi status)?",
        )


async def test_what_keeps_a_pod_from_a_decision_is_told_by_the_warning_about_it_its_maker_or_its_gang(
    client: FakeClient,
) -> None:
    job = await put(client, "Job", "a")
    group = await put(client, "PodGroup", "g")
    owner = {"uid": job["metadata"]["uid"], "kind": "Job", "name": "a", "controller": True}
    meta = {"ownerReferences": [owner], "annotations": {"scheduling.k8s.io/group-name": "g"}}
    pod = await put(client, "Pod", "p", metadata=meta)
    for number, about in enumerate((job, group, pod)):
        await warn(client, f"e{number}", about, f"Create PodGroup: no queue {number}.")
        for one in (pod, job):
            assert await explain(client, name_of(one)) == (
                f"it waits: create PodGroup: no queue {number}",
                "it is decided about when that is put right",
            )
    assert (await explain(client, name_of(group)))[0] == "it waits: create PodGroup: no queue 2"


async def test_a_workload_that_has_no_record_says_the_warning_about_it(client: FakeClient) -> None:
    job = await put(client, "Job", "a")
    owner = {"ownerReferences": [{"uid": job["metadata"]["uid"], "kind": "Job", "name": "a"}]}
    await warn(client, "e", await put(client, "Workload", "w", metadata=owner), "Nothing is decided: a plug-in fails")
    assert (await explain(client, name_of(job)))[0] == "it waits: nothing is decided: a plug-in fails"


async def test_a_gang_that_was_let_in_waits_for_its_pods_and_a_gated_pod_for_its_gates(client: FakeClient) -> None:
    group = await put(client, "PodGroup", "g", status={"phase": "Inqueue"})
    assert (await explain(client, name_of(group)))[0] == "it waits for its pods: none is there yet"
    pod = await put(client, "Pod", "p", spec={"schedulingGates": [{"name": "mine"}]})
    assert (await explain(client, name_of(pod)))[0] == (
        "its pod has no node: it has scheduling gates, and is looked at when they are gone: mine"
    )


async def test_what_was_decided_before_nobody_could_decide_any_more_is_told_with_that(client: FakeClient) -> None:
    job = await job_with_pods(client, FULL)
    group = await put(client, "PodGroup", "g", status={"conditions": [SHORT]})
    said = await explain(client, name_of(job))
    await warn(client, "e1", group, "Old news.")
    assert await explain(client, name_of(job)) == said
    await warn(client, "e2", group, "Nothing is decided: plug-in x fails", FAILED_TO_DECIDE)
    failing = "; at e2: nothing is decided: plug-in x fails"
    assert await explain(client, name_of(job)) == (said[0], said[1] + failing)
    waits = await put(client, "Job", "w")
    owner = {"ownerReferences": [{"uid": waits["metadata"]["uid"], "kind": "Job", "name": "w"}]}
    record = {"layer": "Gang", "message": "It is full."}
    workload = await put(client, "Workload", "w", metadata=owner, status={"decision": record})
    await warn(client, "e3", workload, "Nothing is decided: plug-in x fails", FAILED_TO_DECIDE)
    first, second = await explain(client, name_of(waits))
    assert first == "it waits at the gang: it is full"
    assert second.endswith("; at e3: nothing is decided: plug-in x fails")
