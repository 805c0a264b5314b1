"""eviction: a deletion that may be refused."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject
from kumi.registry.registry import WriteOptions
from tests.registry.world import World, pod


async def evict(world: World, name: str = "p", **body: object) -> JsonObject:
    return await world.registry.create(world.target("Pod", name, sub="eviction"), dict(body), WriteOptions())


async def test_an_unscheduled_pod_goes_at_once(world: World) -> None:
    await world.create("Pod", pod())
    assert (await evict(world, metadata={"name": "p"}))["code"] == 201
    assert await world.names("Pod") == []


async def test_a_bound_pod_gets_its_grace(world: World) -> None:
    await world.create("Pod", pod(nodeName="n"))
    await evict(world, deleteOptions={"gracePeriodSeconds": 7})
    assert (await world.get("Pod", "p"))["metadata"]["deletionGracePeriodSeconds"] == 7


async def test_preconditions_and_dry_runs_hold(world: World) -> None:
    await world.create("Pod", pod())
    with pytest.raises(ApiError, match="precondition"):
        await evict(world, deleteOptions={"preconditions": {"uid": "other"}})
    await evict(world, deleteOptions={"dryRun": ["All"]})
    assert await world.names("Pod") == ["p"]


async def test_the_names_must_agree(world: World) -> None:
    with pytest.raises(ApiError, match="name in URL does not match name in Eviction object"):
        await evict(world, metadata={"name": "q"})


async def test_a_missing_pod_is_not_found(world: World) -> None:
    with pytest.raises(ApiError, match='pods "none" not found'):
        await evict(world, "none")
