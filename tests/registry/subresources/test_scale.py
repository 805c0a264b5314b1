"""scale: an object as an autoscaler sees it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.registry.subresources import scale
from tests.registry.world import World

TEMPLATE = {"spec": {"containers": [{"name": "pytorch", "image": "i"}]}}
JOB: JsonObject = {
    "metadata": {"name": "t", "labels": {"a": "b"}},
    "spec": {
        "pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "template": TEMPLATE},
            "Worker": {"replicas": 2, "template": TEMPLATE},
        }
    },
}


@pytest.fixture
async def job(world: World) -> JsonObject:
    return await world.create("PyTorchJob", JOB)


async def test_the_scale_shows_the_workers(world: World, job: JsonObject) -> None:
    status = {"replicaStatuses": {"Worker": {"active": 1, "selector": "x=y"}}}
    await world.patch("PyTorchJob", "t", {"status": status}, sub="status")
    found = await world.get("PyTorchJob", "t", sub="scale")
    assert (found["kind"], found["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert found["metadata"].keys() == {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}
    assert (found["spec"], found["status"]) == ({"replicas": 2}, {"replicas": 1, "selector": "x=y"})


async def test_setting_it_changes_the_object(world: World, job: JsonObject) -> None:
    made = await world.patch("PyTorchJob", "t", {"spec": {"replicas": 3}}, sub="scale")
    assert made["spec"] == {"replicas": 3}
    now = await world.get("PyTorchJob", "t")
    assert now["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 3
    assert now["metadata"]["generation"] == job["metadata"]["generation"] + 1
    assert now["metadata"]["labels"] == {"a": "b"}


async def test_it_is_conditional_on_its_revision(world: World, job: JsonObject) -> None:
    found = await world.get("PyTorchJob", "t", sub="scale")
    await world.put("PyTorchJob", {**found, "spec": {"replicas": 4}}, sub="scale")
    with pytest.raises(ApiError) as refused:
        await world.put("PyTorchJob", {**found, "spec": {"replicas": 5}}, sub="scale")
    assert (refused.value.reason, refused.value.kind) == ("Conflict", "pytorchjobs")


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (
            {"spec": {"replicas": -1}},
            422,
            'Scale.autoscaling "t" is invalid: spec.replicas: Invalid value: -1: must be greater',
        ),
        ({"spec": {"replicas": "many"}}, 400, "spec.replicas"),
        ({"kind": "Pod"}, 400, "does not match the expected kind"),
        ({"metadata": {"name": "x"}}, 400, "does not match the name on the URL"),
    ],
)
async def test_what_is_no_scale_is_refused(
    world: World, job: JsonObject, change: JsonObject, code: int, message: str
) -> None:
    with pytest.raises(ApiError) as refused:
        await world.patch("PyTorchJob", "t", change, sub="scale")
    assert refused.value.code == code
    assert message in refused.value.message


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        (
            {
                "matchExpressions": [
                    {"key": "a", "operator": "In", "values": ["y", "x"]},
                    {"key": "b", "operator": "NotIn", "values": ["z"]},
                    {"key": "c", "operator": "Exists"},
                    {"key": "d", "operator": "DoesNotExist"},
                ]
            },
            "a in (x,y),b notin (z),c,!d",
        ),
        ({"app": "web"}, "app=web"),
    ],
)
def test_the_selector_of_plain_kinds_is_text(scheme: Scheme, selector: JsonObject, text: str) -> None:
    kind = next(k for k in scheme if k.kind == "Job")
    obj = {"metadata": {"name": "x"}, "spec": {"replicas": 2, "selector": selector}, "status": {"replicas": 1}}
    found = scale.read(replace(kind, scale=None), obj)
    assert found["status"] == {"replicas": 1, "selector": text}
    assert found["spec"] == {"replicas": 2}
