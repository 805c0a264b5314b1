"""Which subresource answers which verb."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError
from kumi.registry.registry import WriteOptions
from tests.registry.world import World, pod


async def test_a_namespace_is_finalized_by_update_and_by_patch(world: World) -> None:
    await world.create("Namespace", {"metadata": {"name": "b"}})
    for name in ("ns", "b"):
        await world.delete("Namespace", name)
    target = world.target("Namespace", "ns", sub="finalize")
    current = await world.get("Namespace", "ns")
    body = {**current, "metadata": dict(current["metadata"]), "spec": {}}
    await world.registry.update(target, body, WriteOptions())
    await world.patch("Namespace", "b", {"spec": {"finalizers": None}}, sub="finalize")
    assert await world.names("Namespace") == []


async def test_finalizing_an_active_namespace_does_not_remove_it(world: World) -> None:
    await world.patch("Namespace", "ns", {"spec": {"finalizers": None}}, sub="finalize")
    assert (await world.get("Namespace", "ns"))["spec"] == {}


async def test_finalizing_is_conditional_on_the_revision(world: World) -> None:
    stale = await world.get("Namespace", "ns")
    await world.patch("Namespace", "ns", {"metadata": {"labels": {"a": "b"}}})
    target = world.target("Namespace", "ns", sub="finalize")
    body = {**stale, "metadata": dict(stale["metadata"]), "spec": {}}
    with pytest.raises(ApiError) as refused:
        await world.registry.update(target, body, WriteOptions())
    assert refused.value.reason == "Conflict"


async def test_verbs_that_a_subresource_does_not_have(world: World) -> None:
    await world.create("Pod", pod())
    target = world.target("Pod", "p", sub="log")
    for call in (
        world.registry.create(target, {}, WriteOptions()),
        world.registry.update(target, {}, WriteOptions()),
        world.patch("Pod", "p", {}, sub="binding"),
    ):
        with pytest.raises(ApiError) as refused:
            await call
        assert refused.value.code == 405
