"""A job is found by the names that people give it."""

from __future__ import annotations

import pytest

from kumi.api.errors import KumiError
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.sdk.jobs import ended, find_job, find_workload, name_of, waiting_kinds
from kumi.testing.fake_client import FakeClient


async def make(client: FakeClient, kind: str, name: str, **metadata: object) -> JsonObject:
    versions = {
        "Job": "batch/v1",
        "PyTorchJob": "kubeflow.org/v1",
        "Workload": "kueue.x-k8s.io/v1beta2",
        "PodGroup": "scheduling.volcano.sh/v1beta1",
        "Pod": "v1",
    }
    given = {"name": name, "namespace": "default", **metadata}
    return await client.create({"apiVersion": versions[kind], "kind": kind, "metadata": given})


@pytest.fixture
def client() -> FakeClient:
    return FakeClient(list(load()))


@pytest.mark.parametrize(
    "text", ["bert", "pytorchjob/bert", "PyTorchJob/bert", "pytorchjobs/bert", "default/pytorchjob/bert"]
)
async def test_one_job_by_any_of_its_names(client: FakeClient, text: str) -> None:
    await make(client, "PyTorchJob", "bert")
    found = name_of(await find_job(client, text, "default"))
    assert str(found) == "PyTorchJob default/bert"


@pytest.mark.parametrize("text", ["wl/w", "Workload/w", "default/workloads/w"])
async def test_a_workload_stands_for_its_job(client: FakeClient, text: str) -> None:
    job = await make(client, "Job", "a")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": job["metadata"]["uid"], "controller": True}
    await make(client, "Workload", "w", ownerReferences=[owner])
    assert str(name_of(await find_job(client, text, "default"))) == "Job default/a"


async def test_a_workload_that_is_not_there_or_has_no_job_is_said_so(client: FakeClient) -> None:
    with pytest.raises(KumiError, match="no Workload 'w' in namespace 'default'"):
        await find_job(client, "wl/w", "default")
    await make(client, "Workload", "w")
    with pytest.raises(KumiError, match="belongs to no job"):
        await find_job(client, "wl/w", "default")


async def test_two_kinds_of_one_name_must_be_told_apart(client: FakeClient) -> None:
    await make(client, "PyTorchJob", "bert")
    await make(client, "Job", "bert")
    with pytest.raises(KumiError, match="job/bert, pytorchjob/bert"):
        await find_job(client, "bert", "default")
    assert (await find_job(client, "job/bert", "default"))["kind"] == "Job"


@pytest.mark.parametrize(
    ("text", "found"),
    [("a", "Job default/a"), ("pg/a", "PodGroup default/a"), ("g", "PodGroup default/g"), ("pod/g", "Pod default/g")],
)
async def test_a_gang_and_a_pod_are_found_where_they_are_asked_for_and_no_job_has_the_name(
    client: FakeClient, text: str, found: str
) -> None:
    for kind, name in (("Job", "a"), ("PodGroup", "a"), ("PodGroup", "g"), ("Pod", "g")):
        await make(client, kind, name)
    assert str(name_of(await find_job(client, text, "default", waiting_kinds()))) == found
    if "Job" not in found:
        with pytest.raises(KumiError):
            await find_job(client, text, "default")


async def test_none_and_no_such_kind_say_what_to_do(client: FakeClient) -> None:
    with pytest.raises(KumiError, match=r"no job 'bert' in namespace 'default'.*kubectl get"):
        await find_job(client, "bert", "default")
    with pytest.raises(KumiError, match="potato is not a kind of job"):
        await find_job(client, "potato/bert", "default")


async def test_a_workload_is_found_by_its_owner_not_its_name(client: FakeClient) -> None:
    job = name_of(await make(client, "Job", "a"))
    assert await find_workload(client, job) is None
    await make(client, "Workload", "job-a-00000")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": job.uid}
    await make(client, "Workload", "x", ownerReferences=[owner])
    found = await find_workload(client, job)
    assert found is not None
    assert found["metadata"]["name"] == "x"


@pytest.mark.parametrize(
    ("conditions", "outcome"),
    [
        ([], None),
        ([("Running", "True")], None),
        ([("Complete", "True")], True),
        ([("Running", "False"), ("Succeeded", "True")], True),
        ([("Failed", "True")], False),
        ([("Failed", "False")], None),
    ],
)
def test_a_job_has_ended_when_a_condition_says_so(conditions: list[tuple[str, str]], outcome: bool | None) -> None:
    assert ended({"status": {"conditions": [{"type": t, "status": s} for t, s in conditions]}}) is outcome
