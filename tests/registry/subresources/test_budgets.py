"""Disruption budgets: what they allow, counted down."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject
from kumi.registry.registry import WriteOptions
from tests.registry.world import World, pod

READY = [{"type": "Ready", "status": "True"}]


async def running(world: World, name: str = "p", ready: bool = True) -> None:
    made = pod(name, nodeName="n")
    made["metadata"]["labels"] = {"guard": "yes"}
    await world.create("Pod", made)
    status = {"phase": "Running", "conditions": READY if ready else []}
    await world.patch("Pod", name, {"status": status}, sub="status")


async def budget(world: World, name: str = "b", allowed: int = 0, healthy: int = 1, **spec: Any) -> None:
    selector = {"matchLabels": {"guard": "yes"}}
    given = {"minAvailable": 1, "selector": selector, **spec}
    await world.create("PodDisruptionBudget", {"metadata": {"name": name}, "spec": given})
    status = {
        "observedGeneration": 1,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": 1,
        "expectedPods": 1,
    }
    await world.patch("PodDisruptionBudget", name, {"status": status}, sub="status")


async def evict(world: World, name: str = "p", **body: object) -> JsonObject:
    return await world.registry.create(world.target("Pod", name, sub="eviction"), dict(body), WriteOptions())


async def test_a_budget_that_allows_none_refuses(world: World) -> None:
    await running(world)
    await budget(world)
    with pytest.raises(ApiError) as refused:
        await evict(world)
    assert (refused.value.code, refused.value.reason) == (429, "TooManyRequests")
    [cause] = refused.value.status()["details"]["causes"]
    assert cause == {
        "reason": "DisruptionBudget",
        "message": "The disruption budget b needs 1 healthy pods and has 1 currently",
    }


async def test_a_granted_eviction_is_counted_down_and_noted_and_marks_the_pod(world: World) -> None:
    await running(world)
    await budget(world, allowed=1, healthy=2)
    await evict(world)
    status = (await world.get("PodDisruptionBudget", "b"))["status"]
    assert status["disruptionsAllowed"] == 0
    assert list(status["disruptedPods"]) == ["p"]
    there = await world.get("Pod", "p")
    assert there["metadata"]["deletionTimestamp"]
    marks = [c for c in there["status"]["conditions"] if c["type"] == "DisruptionTarget"]
    assert [mark["reason"] for mark in marks] == ["EvictionByEvictionAPI"]


async def test_of_evictions_that_race_only_as_many_win_as_are_allowed(world: World) -> None:
    for number in range(5):
        await running(world, f"p{number}")
    await budget(world, allowed=2, healthy=5)
    results = await asyncio.gather(*(evict(world, f"p{n}") for n in range(5)), return_exceptions=True)
    assert sum(isinstance(result, dict) for result in results) == 2
    going = [
        name for name in await world.names("Pod") if "deletionTimestamp" in (await world.get("Pod", name))["metadata"]
    ]
    assert len(going) == 2


async def test_a_budget_that_was_not_counted_yet_refuses_for_now(world: World) -> None:
    await running(world)
    await budget(world, allowed=1)
    await world.put(
        "PodDisruptionBudget",
        {**(await world.get("PodDisruptionBudget", "b")), "spec": {"minAvailable": 2, "selector": {}}},
    )
    with pytest.raises(ApiError) as refused:
        await evict(world)
    assert refused.value.retry_after_seconds == 10


async def test_two_budgets_are_one_too_many(world: World) -> None:
    await running(world)
    await budget(world, "a", allowed=1)
    await budget(world, "b", allowed=1)
    with pytest.raises(ApiError, match="more than one PodDisruptionBudget") as refused:
        await evict(world)
    assert refused.value.code == 500


async def test_unhealthy_pods_go_where_enough_are_healthy_or_the_budget_says_so(world: World) -> None:
    await running(world, "sick", ready=False)
    await budget(world, healthy=0)
    with pytest.raises(ApiError, match="disruption budget"):
        await evict(world, "sick")
    await world.patch("PodDisruptionBudget", "b", {"status": {"currentHealthy": 1}}, sub="status")
    await evict(world, "sick")
    await running(world, "ill", ready=False)
    await world.delete("PodDisruptionBudget", "b")
    await budget(world, "c", healthy=0, unhealthyPodEvictionPolicy="AlwaysAllow")
    await evict(world, "ill")


async def test_a_negative_allowance_and_a_full_book_are_refused(world: World) -> None:
    await running(world)
    await budget(world, allowed=-1)
    with pytest.raises(ApiError, match="negative"):
        await evict(world)
    noted = {f"p{n}": "2026-01-01T00:00:00Z" for n in range(2001)}
    body = {"status": {"disruptionsAllowed": 1, "disruptedPods": noted}}
    await world.patch("PodDisruptionBudget", "b", body, sub="status")
    with pytest.raises(ApiError, match="too big"):
        await evict(world)


async def test_pods_that_no_budget_selects_and_dry_runs_change_nothing(world: World) -> None:
    await running(world)
    await budget(world, allowed=1, healthy=2)
    await evict(world, deleteOptions={"dryRun": ["All"]})
    assert (await world.get("PodDisruptionBudget", "b"))["status"]["disruptionsAllowed"] == 1
    await world.patch("Pod", "p", {"metadata": {"labels": {"guard": "no"}}})
    await evict(world)
    assert (await world.get("PodDisruptionBudget", "b"))["status"]["disruptionsAllowed"] == 1
