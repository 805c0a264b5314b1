"""binding: once and for good."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject
from kumi.registry.registry import WriteOptions
from tests.registry.world import World, pod


async def bind(world: World, name: str = "p", **body: object) -> JsonObject:
    sent = {"target": {"apiVersion": "v1", "kind": "Node", "name": "n"}, "metadata": {"name": name}, **body}
    return await world.registry.create(world.target("Pod", name, sub="binding"), sent, WriteOptions())


async def test_a_bound_pod_has_its_node_and_says_so(world: World) -> None:
    await world.create("Pod", pod())
    done = await bind(world, metadata={"name": "p", "annotations": {"a": "b"}, "labels": {"c": "d"}})
    assert done == {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    bound = await world.get("Pod", "p")
    assert bound["spec"]["nodeName"] == "n"
    assert bound["metadata"]["annotations"] == {"a": "b"}
    assert bound["metadata"]["labels"] == {"c": "d"}
    (condition,) = bound["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")
    assert condition["lastTransitionTime"]


async def test_a_pod_is_bound_once(world: World) -> None:
    await world.create("Pod", pod())
    await bind(world)
    with pytest.raises(ApiError) as refused:
        await bind(world)
    assert (refused.value.code, refused.value.kind) == (409, "pods/binding")
    assert refused.value.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"'
    )


async def test_what_is_being_deleted_gated_or_another_pod_is_not_bound(world: World) -> None:
    await world.create("Pod", {**pod(), "metadata": {"name": "p", "finalizers": ["x/y"]}})
    with pytest.raises(ApiError, match="Precondition failed: UID in precondition: other"):
        await bind(world, metadata={"uid": "other"})
    await world.delete("Pod", "p")
    with pytest.raises(ApiError, match="pod p is being deleted, cannot be assigned to a host"):
        await bind(world)
    await world.create("Pod", pod("q", schedulingGates=[{"name": "g"}]))
    with pytest.raises(ApiError, match=r"pod q has non-empty .spec.schedulingGates"):
        await bind(world, "q")


async def test_a_missing_pod_is_not_found(world: World) -> None:
    with pytest.raises(ApiError, match='pods "none" not found'):
        await bind(world, "none")


@pytest.mark.parametrize("target", [{}, {"name": ""}, {"kind": "Pod", "name": "n"}])
async def test_the_target_is_a_node(world: World, target: JsonObject) -> None:
    await world.create("Pod", pod())
    with pytest.raises(ApiError, match="target") as refused:
        await bind(world, target=target)
    assert refused.value.code == 422


async def test_the_condition_that_said_why_not_is_replaced(world: World) -> None:
    await world.create("Pod", pod())
    waiting = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    await world.patch(
        "Pod", "p", {"status": {"conditions": [waiting, {"type": "Other", "status": "True"}]}}, sub="status"
    )
    await bind(world)
    conditions = (await world.get("Pod", "p"))["status"]["conditions"]
    assert {c["type"]: c["status"] for c in conditions} == {"Other": "True", "PodScheduled": "True"}
