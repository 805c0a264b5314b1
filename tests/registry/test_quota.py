"""Quotas: never over, whoever races, whatever the status says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.quantity import nano
from kumi.api.scheme import load
from kumi.api.usage import used_by
from kumi.api.wire import JsonObject
from kumi.store.base import Conflict
from tests.registry.world import World, config, pod


def quota(name: str = "q", scopes: list[str] | None = None, **hard: Any) -> JsonObject:
    named = {key.replace("__", "/").replace("_", "."): str(value) for key, value in hard.items()}
    return {"metadata": {"name": name}, "spec": {"hard": named, **({"scopes": scopes} if scopes else {})}}


def asking(name: str, cpu: str, **spec: Any) -> JsonObject:
    made = pod(name, **spec)
    made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return made


async def refused(world: World, kind: str, obj: JsonObject) -> str:
    with pytest.raises(ApiError) as error:
        await world.create(kind, obj)
    assert (error.value.code, error.value.reason) == (403, "Forbidden")
    return error.value.message


class SlowStore:
    """Lets others run between the decision to write and the write."""

    def __init__(self, world: World) -> None:
        put = world.store.put

        async def slow(key: str, value: bytes | None, expected: int | None = None) -> int:
            for _ in range(3):
                await asyncio.sleep(0)
            return await put(key, value, expected)

        world.store.put = slow  # type: ignore[method-assign]


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["create", "create", "create", "delete", "end"]), st.integers(0, 3), st.integers(1, 5)),
    max_size=30,
)


@settings(max_examples=300)
@given(OPERATIONS, st.integers(1, 6))
def test_usage_never_exceeds_what_is_hard_whoever_races(operations: list[tuple[str, int, int]], hard: int) -> None:
    async def run() -> None:
        world = World(load())
        await world.create("Namespace", {"metadata": {"name": "ns"}})
        await world.create("ResourceQuota", quota(cpu=hard, pods=4))
        SlowStore(world)

        async def one(verb: str, number: int, cpu: int) -> None:
            try:
                if verb == "create":
                    await world.create("Pod", asking(f"p{number}", str(cpu)))
                elif verb == "delete":
                    await world.delete("Pod", f"p{number}")
                else:
                    await world.patch("Pod", f"p{number}", {"status": {"phase": "Succeeded"}}, sub="status")
            except (ApiError, Conflict):
                pass
            pods = (await world.registry.list(world.target("Pod"), _all())).items
            kind = world.kind("Pod")
            assert sum(used_by(kind, each).get("cpu", 0) for each in pods) <= nano(hard)
            assert sum(used_by(kind, each).get("pods", 0) for each in pods) <= nano(4)

        await asyncio.gather(*(one(*operation) for operation in operations))

    asyncio.run(run())


def _all() -> Any:
    from kumi.registry.registry import ListOptions

    return ListOptions()


async def test_of_many_that_race_for_the_last_places_as_many_win_as_there_are(world: World) -> None:
    await world.create("ResourceQuota", quota(pods=3))
    SlowStore(world)
    results = await asyncio.gather(*(world.create("Pod", pod(f"p{i}")) for i in range(20)), return_exceptions=True)
    assert sum(isinstance(result, dict) for result in results) == 3
    assert len(await world.names("Pod")) == 3


async def test_the_refusal_says_what_was_asked_for_used_and_allowed(world: World) -> None:
    await world.create("ResourceQuota", quota(cpu="1", pods=5))
    await world.create("Pod", asking("a", "600m"))
    message = await refused(world, "Pod", asking("b", "500m"))
    assert message == ('pods "b" is forbidden: exceeded quota: q, requested: cpu=500m, used: cpu=600m, limited: cpu=1')


async def test_a_pod_must_say_what_a_quota_limits(world: World) -> None:
    await world.create("ResourceQuota", quota(limits_memory="1Gi", requests_cpu="1"))
    message = await refused(world, "Pod", pod())
    assert message.endswith("failed quota: q: must specify limits.memory for: c; requests.cpu for: c")


async def test_a_failed_creation_holds_no_place(world: World) -> None:
    await world.create("ResourceQuota", quota(configmaps=2))
    await world.create("ConfigMap", config("a"))
    for _ in range(3):
        with pytest.raises(ApiError, match="already exists"):
            await world.create("ConfigMap", config("a"))
    await world.create("ConfigMap", config("b"))


async def test_what_goes_frees_its_place_at_once(world: World) -> None:
    await world.create("ResourceQuota", quota(configmaps=1))
    await world.create("ConfigMap", config("a"))
    await refused(world, "ConfigMap", config("b"))
    await world.delete("ConfigMap", "a")
    await world.create("ConfigMap", config("b"))


async def test_what_was_there_before_the_quota_counts(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    await world.create("ResourceQuota", quota(count__configmaps=1))
    await refused(world, "ConfigMap", config("b"))


async def test_a_change_is_refused_only_for_what_it_adds(world: World) -> None:
    spec = {"type": "ClusterIP", "ports": [{"port": 80}], "selector": {"a": "b"}}
    await world.create("ResourceQuota", quota(services_nodeports=0, services=0))
    await world.patch("ResourceQuota", "q", {"spec": {"hard": {"services": "1"}}})
    await world.create("Service", {"metadata": {"name": "s"}, "spec": spec})
    await world.patch("ResourceQuota", "q", {"spec": {"hard": {"services": "0"}}})
    await world.patch("Service", "s", {"metadata": {"labels": {"a": "b"}}})
    with pytest.raises(ApiError, match=r"services\.nodeports=1"):
        await world.patch("Service", "s", {"spec": {"type": "NodePort"}})


async def test_quotas_with_scopes_count_their_pods_only(world: World) -> None:
    await world.create("ResourceQuota", quota("best", ["BestEffort"], pods=1))
    await world.create("ResourceQuota", quota("rest", ["NotBestEffort"], pods=1))
    await world.create("Pod", pod("a"))
    await world.create("Pod", asking("b", "1"))
    assert "exceeded quota: best" in await refused(world, "Pod", pod("c"))
    assert "exceeded quota: rest" in await refused(world, "Pod", asking("d", "1"))


async def test_other_namespaces_and_kinds_are_free(world: World) -> None:
    await world.create("ResourceQuota", quota(pods=0))
    await world.create("Namespace", {"metadata": {"name": "other"}})
    await world.create("Pod", pod(), ns="other")
    await world.create("ConfigMap", config("a"))


async def test_a_dry_run_is_checked_and_holds_nothing(world: World) -> None:
    await world.create("ResourceQuota", quota(pods=1))
    await world.create("Pod", pod("a"), dry_run=True)
    await world.create("Pod", pod("b"))
    with pytest.raises(ApiError, match="exceeded quota"):
        await world.create("Pod", pod("c"), dry_run=True)


async def test_the_status_is_told_once_its_controller_keeps_it(world: World) -> None:
    await world.create("ResourceQuota", quota(pods=5, configmaps=5))
    await world.create("Pod", pod("a"))
    assert (await world.get("ResourceQuota", "q"))["status"] == {}
    begun = {"hard": {"pods": "5", "configmaps": "5"}, "used": {"pods": "1", "configmaps": "0"}}
    await world.patch("ResourceQuota", "q", {"status": begun}, sub="status")
    await world.create("Pod", pod("b"))
    assert (await world.get("ResourceQuota", "q"))["status"]["used"] == {"pods": "2", "configmaps": "0"}


async def test_a_follower_that_was_cut_off_counts_anew(scheme: Any) -> None:
    world = World(scheme, bound=4)
    await world.create("Namespace", {"metadata": {"name": "ns"}})
    await world.create("ResourceQuota", quota(configmaps=30))
    for number in range(5):
        await world.create("ConfigMap", config(f"a{number}"))
    await world.patch("ResourceQuota", "q", {"metadata": {"labels": {"a": "b"}}})
    for number in range(20):
        await world.patch("ConfigMap", "a0", {"data": {"k": str(number)}})
    await world.patch("ResourceQuota", "q", {"spec": {"hard": {"configmaps": "6"}}})
    await world.create("ConfigMap", config("last"))
    await refused(world, "ConfigMap", config("over"))
