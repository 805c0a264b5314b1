"""Provisioning checks on the real registry: asked for, answered, tried again, given up."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api import core, kueue
from kumi.api.provisioning import ProvisioningRequest, ProvisioningRequestConfig, StoredPodTemplate
from kumi.api.wire import JsonObject
from kumi.controllers import all_controllers, all_deciders
from kumi.jobs.queue_hook import QueueHook
from kumi.testing.stage import Stage

from .made import GPU, cluster_queue, flavor, local_queue, node

QUEUES = "kueue.x-k8s.io/v1beta2"
CONFIG: JsonObject = {
    "apiVersion": QUEUES,
    "kind": "ProvisioningRequestConfig",
    "metadata": {"name": "atomic"},
    "spec": {
        "provisioningClassName": "check-capacity",
        "parameters": {"zone": "a"},
        "managedResources": [GPU],
        "retryStrategy": {"backoffLimitCount": 1, "backoffBaseSeconds": 10},
        "podSetUpdates": {"nodeSelector": [{"key": "pool", "valueFromProvisioningClassDetail": "node-pool"}]},
    },
}
CHECK: JsonObject = {
    "apiVersion": QUEUES,
    "kind": "AdmissionCheck",
    "metadata": {"name": "capacity"},
    "spec": {
        "controllerName": "kueue.x-k8s.io/provisioning-request",
        "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "atomic"},
    },
}


def job(resource: str = GPU) -> JsonObject:
    container = {"name": "c", "image": "i", "resources": {"limits": {resource: "1"}}}
    labels = {"kueue.x-k8s.io/queue-name": "lq"}
    annotations = {"provreq.kueue.x-k8s.io/priority": "high"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "team", "labels": labels, "annotations": annotations},
        "spec": {
            "parallelism": 2,
            "completions": 2,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def manifest(made: JsonObject) -> JsonObject:
    meta = {k: v for k, v in made["metadata"].items() if k in ("name", "namespace", "labels")}
    return {k: v for k, v in {**made, "metadata": meta}.items() if k != "status"}


async def cluster() -> Stage:
    deciders = [decider for make in all_deciders() for decider in make()]
    stage = Stage(all_controllers(), deciders, hooks=[QueueHook()])
    await stage.open("team")
    queue = cluster_queue(admissionChecksStrategy={"admissionChecks": [{"name": "capacity"}]})
    queue["spec"]["resourceGroups"][0]["coveredResources"].append("cpu")
    queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"].append({"name": "cpu", "nominalQuota": 8})
    labelled = node()
    labelled["metadata"]["labels"] = {"zone": "a", "pool": "p1"}
    for made in (flavor(nodeLabels={"zone": "a"}), queue, local_queue(), labelled, CHECK, CONFIG):
        await stage.make(manifest(made))
    await stage.patch(core.Node, "n1", {"status": node()["status"]}, "status")
    await stage.settle()
    return stage


async def the_workload(stage: Stage) -> JsonObject:
    (found,) = await stage.all(kueue.Workload)
    return found


async def check_state(stage: Stage) -> JsonObject:
    (found,) = (await the_workload(stage))["status"]["admissionChecks"]
    state: JsonObject = found
    return state


async def say(stage: Stage, type_: str, **status: Any) -> None:
    """The autoscaler's word."""
    (request,) = await stage.all(ProvisioningRequest)
    told = {
        "type": type_,
        "status": "True",
        "reason": "R",
        "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    key = f"team/{request['metadata']['name']}"
    await stage.patch(ProvisioningRequest, key, {"status": {"conditions": [told], **status}}, "status")
    await stage.settle()


async def test_a_check_is_active_while_its_config_is_there() -> None:
    stage = await cluster()

    async def active() -> tuple[str, str]:
        found = await stage.one(kueue.AdmissionCheck, "capacity") or {}
        (told,) = found["status"]["conditions"]
        return told["status"], told["reason"]

    assert await active() == ("True", "Active")
    await stage.delete(ProvisioningRequestConfig, "atomic")
    await stage.settle()
    assert await active() == ("False", "BadParametersRef")


async def test_capacity_is_asked_for_with_what_admission_adds() -> None:
    stage = await cluster()
    await stage.make(job())
    await stage.settle()
    (request,) = await stage.all(ProvisioningRequest)
    workload = await the_workload(stage)
    assert request["metadata"]["name"] == f"{workload['metadata']['name']}-capacity-1"
    assert request["spec"]["provisioningClassName"] == "check-capacity"
    assert request["spec"]["parameters"] == {"zone": "a", "priority": "high"}
    (template,) = await stage.all(StoredPodTemplate)
    assert request["spec"]["podSets"] == [{"podTemplateRef": {"name": template["metadata"]["name"]}, "count": 2}]
    assert template["template"]["spec"]["nodeSelector"] == {"zone": "a"}
    assert (await check_state(stage))["state"] == "Pending"
    assert await stage.all(core.Pod) == []


async def test_provisioned_capacity_starts_the_job_on_it() -> None:
    stage = await cluster()
    await stage.make(job())
    await stage.settle()
    await say(stage, "Provisioned", provisioningClassDetails={"node-pool": "p1"})
    assert (await check_state(stage))["state"] == "Ready"
    pods = await stage.all(core.Pod)
    (request,) = await stage.all(ProvisioningRequest)
    assert len(pods) == 2
    for pod in pods:
        said = pod["metadata"]["annotations"]
        assert said["autoscaling.x-k8s.io/consume-provisioning-request"] == request["metadata"]["name"]
        assert said["autoscaling.x-k8s.io/provisioning-class-name"] == "check-capacity"
        assert pod["spec"]["nodeSelector"] == {"zone": "a", "pool": "p1"}


async def test_a_request_that_fails_is_made_again_later_and_given_up_after_its_limit() -> None:
    stage = await cluster()
    await stage.make(job())
    await stage.settle()
    await say(stage, "Failed")
    assert (await the_workload(stage))["status"].get("admission") is None
    assert await stage.all(ProvisioningRequest) == []
    stage.advance(11)
    await stage.settle()
    (second,) = await stage.all(ProvisioningRequest)
    assert second["metadata"]["name"].endswith("-capacity-2")
    await say(stage, "Failed")
    workload = await the_workload(stage)
    assert workload["spec"]["active"] is False
    assert await stage.all(ProvisioningRequest) == []


async def test_capacity_that_is_revoked_stops_the_job() -> None:
    stage = await cluster()
    await stage.make(job())
    await stage.settle()
    await say(stage, "Provisioned")
    await say(stage, "CapacityRevoked")
    assert (await the_workload(stage))["spec"]["active"] is False
    assert await stage.all(core.Pod) == []


async def test_pods_that_need_none_of_it_start_at_once() -> None:
    stage = await cluster()
    await stage.make(job("cpu"))
    await stage.settle()
    assert await stage.all(ProvisioningRequest) == []
    assert (await check_state(stage))["state"] == "Ready"
    assert len(await stage.all(core.Pod)) == 2


@pytest.mark.parametrize("type_", ["Accepted", "BookingExpired"])
async def test_what_is_on_its_way_is_waited_for(type_: str) -> None:
    stage = await cluster()
    await stage.make(job())
    await stage.settle()
    await say(stage, type_)
    assert await stage.all(core.Pod) == []
    assert (await check_state(stage))["state"] == "Pending"
