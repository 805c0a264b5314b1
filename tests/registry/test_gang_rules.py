"""Queues and pod groups on their way in and out, as far as it depends on what else there is."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.validation.volcano import HIERARCHY, WEIGHTS
from kumi.api.wire import JsonObject
from kumi.registry.gang_rules import QUEUE_NAME, GangRules
from kumi.registry.objects import Objects
from kumi.registry.registry import Registry
from tests.registry.world import World


@pytest.fixture
async def world(scheme: Scheme) -> World:
    made = World(scheme)
    hook = GangRules(Objects(made.store), scheme)
    made.registry = Registry(made.store, scheme, lambda: made.now_ms, lambda: made.new_uid(), [hook])  # noqa: PLW0108
    await made.create("Namespace", {"metadata": {"name": "ns"}})
    return made


async def queue(world: World, name: str, annotations: dict[str, str] | None = None, **spec: Any) -> JsonObject:
    return await world.create("Queue", {"metadata": {"name": name, "annotations": annotations or {}}, "spec": spec})


async def wrong(world: World, name: str, annotations: dict[str, str] | None = None, **spec: Any) -> list[str]:
    with pytest.raises(ApiError) as caught:
        await queue(world, name, annotations, **spec)
    assert caught.value.code == 422
    return [cause.path for cause in caught.value.causes]


async def status(world: World, name: str, **fields: Any) -> None:
    await world.patch("Queue", name, {"status": fields}, sub="status")


async def group(world: World, **spec: Any) -> JsonObject:
    return await world.create("PodGroup", {"metadata": {"name": "g", "namespace": "ns"}, "spec": spec})


async def test_a_queue_gives_back_where_it_does_not_say_otherwise(world: World) -> None:
    assert (await queue(world, "a"))["spec"]["reclaimable"] is True
    assert (await queue(world, "b", reclaimable=False))["spec"]["reclaimable"] is False


async def test_a_path_begins_at_the_root(world: World) -> None:
    made = await queue(world, "a", {HIERARCHY: "eng/dev", WEIGHTS: "2/8"})
    annotations = made["metadata"]["annotations"]
    assert (annotations[HIERARCHY], annotations[WEIGHTS]) == ("root/eng/dev", "1/2/8")
    made = await queue(world, "b", {HIERARCHY: "root/ops", WEIGHTS: "1/2"})
    assert made["metadata"]["annotations"][HIERARCHY] == "root/ops"


async def test_a_path_does_not_end_where_another_goes_on(world: World) -> None:
    await queue(world, "a", {HIERARCHY: "root/eng/dev", WEIGHTS: "1/2/8"})
    assert await wrong(world, "b", {HIERARCHY: "root/eng", WEIGHTS: "1/2"}) == [f"metadata.annotations[{HIERARCHY}]"]
    await queue(world, "c", {HIERARCHY: "root/en", WEIGHTS: "1/2"})


async def test_a_parent_is_there_and_holds_no_pods_itself(world: World) -> None:
    assert await wrong(world, "b", parent="a") == ["spec.parent"]
    await queue(world, "a")
    await status(world, "a", allocated={"pods": "3"})
    assert await wrong(world, "b", parent="a") == ["spec.parent"]
    await status(world, "a", allocated={"pods": None})
    await queue(world, "b", parent="a")
    await status(world, "a", allocated={"pods": "3"})
    await queue(world, "c", parent="a")


@pytest.mark.parametrize("below", ["b", "c"])
async def test_a_parent_is_not_below_its_child(world: World, below: str) -> None:
    for name, parent in (("a", ""), ("b", "a"), ("c", "b"), ("d", "")):
        await queue(world, name, parent=parent)
    with pytest.raises(ApiError, match=r"spec\.parent.*below a itself"):
        await world.patch("Queue", "a", {"spec": {"parent": below}})
    await world.patch("Queue", "a", {"spec": {"parent": "d"}})


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"capability": {"cpu": "9"}}, "spec.capability[cpu]"),
        ({"deserved": {"cpu": "3"}}, "spec.deserved[cpu]"),
        ({"deserved": {"cpu": "2"}, "guarantee": {"resource": {"cpu": "2"}}}, "spec.guarantee[cpu]"),
    ],
)
async def test_children_have_together_no_more_than_their_parent(world: World, spec: JsonObject, path: str) -> None:
    await queue(world, "p", capability={"cpu": "8"}, deserved={"cpu": "4"}, guarantee={"resource": {"cpu": "2"}})
    await queue(world, "x", parent="p", deserved={"cpu": "2"}, guarantee={"resource": {"cpu": "1"}})
    assert await wrong(world, "y", parent="p", **spec) == [path]
    await queue(world, "z", parent="p", deserved={"cpu": "2"}, guarantee={"resource": {"cpu": "1"}})
    with pytest.raises(ApiError, match=r"spec\.deserved\[cpu\]"):
        await world.patch("Queue", "p", {"spec": {"deserved": {"cpu": "3"}}})


async def test_the_two_that_are_always_there_and_parents_are_not_deleted(world: World) -> None:
    for name in ("default", "root", "p"):
        await queue(world, name)
    await queue(world, "x", parent="p")
    for name in ("default", "root", "p"):
        with pytest.raises(ApiError) as caught:
            await world.delete("Queue", name)
        assert caught.value.code == 403
    await world.delete("Queue", "x")
    await world.delete("Queue", "p")


async def test_a_pod_group_is_in_the_queue_of_its_namespace_where_it_names_none(world: World) -> None:
    assert (await group(world, queue="default"))["spec"]["queue"] == "default"
    await world.delete("PodGroup", "g")
    await queue(world, "q")
    await queue(world, "other")
    await world.patch("Namespace", "ns", {"metadata": {"annotations": {QUEUE_NAME: "q"}}})
    assert (await group(world))["spec"]["queue"] == "q"
    await world.delete("PodGroup", "g")
    assert (await group(world, queue="other"))["spec"]["queue"] == "other"


async def test_a_queue_with_queues_below_it_takes_no_pod_groups(world: World) -> None:
    await queue(world, "p")
    await queue(world, "c", parent="p")
    with pytest.raises(ApiError, match=r"spec\.queue.*below it"):
        await group(world, queue="p")
    await group(world, queue="c")


@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown"])
async def test_only_an_open_queue_takes_pod_groups(world: World, state: str) -> None:
    await queue(world, "q")
    await status(world, "q", state=state)
    with pytest.raises(ApiError, match=r"spec\.queue") as caught:
        await group(world, queue="q")
    assert state in str(caught.value)
    await status(world, "q", state="Open")
    await group(world, queue="q")


@pytest.mark.parametrize("name", ["none", "root"])
async def test_a_queue_that_is_not_there_and_the_root_take_none(world: World, name: str) -> None:
    with pytest.raises(ApiError, match=r"spec\.queue"):
        await group(world, queue=name)


async def test_a_queue_with_a_weight_of_nothing_weighs_1_however_often_it_is_applied(world: World) -> None:
    assert (await queue(world, "q", weight=0))["spec"]["weight"] == 1
    assert (await world.patch("Queue", "q", {"spec": {"weight": 0}}))["spec"]["weight"] == 1
    assert await wrong(world, "r", weight=-1) == ["spec.weight"]
