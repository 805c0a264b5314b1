from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject
from kumi.registry.limit_ranges import ANNOTATION
from tests.registry.world import World, pod


async def limited(world: World, *items: JsonObject) -> None:
    await world.create("LimitRange", {"metadata": {"name": "l"}, "spec": {"limits": list(items)}})


def asking(requests: JsonObject | None = None, limits: JsonObject | None = None) -> JsonObject:
    made = pod()
    parts = {"requests": requests, "limits": limits}
    made["spec"]["containers"][0]["resources"] = {key: value for key, value in parts.items() if value}
    return made


async def refused(world: World, obj: JsonObject, kind: str = "Pod") -> str:
    with pytest.raises(ApiError) as error:
        await world.create(kind, obj)
    assert (error.value.code, error.value.reason) == (403, "Forbidden")
    return error.value.message


async def test_a_container_gets_what_it_leaves_out(world: World) -> None:
    await limited(
        world, {"type": "Container", "default": {"cpu": "2", "memory": "1Gi"}, "defaultRequest": {"cpu": "1"}}
    )
    made = await world.create("Pod", asking(limits={"cpu": "500m"}))
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "1Gi"},
        "requests": {"cpu": "500m", "memory": "1Gi"},
    }
    assert made["metadata"]["annotations"][ANNOTATION] == (
        "LimitRanger plugin set: memory request for container c; memory limit for container c"
    )


async def test_the_quality_of_service_is_that_of_what_it_got(world: World) -> None:
    await limited(world, {"type": "Container", "default": {"cpu": "1", "memory": "1Gi"}})
    assert (await world.create("Pod", pod()))["status"]["qosClass"] == "Guaranteed"


@pytest.mark.parametrize(
    ("item", "resources", "said"),
    [
        ({"min": {"cpu": "1"}}, ({"cpu": "500m"}, None), "minimum cpu usage per Container is 1, but request is 500m"),
        ({"min": {"cpu": "1"}}, ({"cpu": "2"}, {"cpu": "2"}), ""),
        ({"max": {"cpu": "1"}}, (None, {"cpu": "2"}), "maximum cpu usage per Container is 1, but limit is 2"),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            ({"cpu": "1"}, {"cpu": "3"}),
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            (None, None),
            "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            ({"cpu": "1"}, None),
            "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0",
        ),
    ],
)
async def test_what_a_container_may_say(world: World, item: JsonObject, resources: Any, said: str) -> None:
    await limited(world, {"type": "Container", "default": {}, "defaultRequest": {}, **item})
    if said:
        assert said in await refused(world, asking(*resources))
    else:
        await world.create("Pod", asking(*resources))


async def test_a_pod_is_bounded_as_a_whole(world: World) -> None:
    await limited(world, {"type": "Pod", "max": {"memory": "1Gi"}})
    two = asking(limits={"memory": "600Mi"})
    two["spec"]["containers"].append({**two["spec"]["containers"][0], "name": "d"})
    assert "maximum memory usage per Pod is 1Gi, but limit is 1200Mi" in await refused(world, two)
    assert "No limit is specified" in await refused(world, pod())


async def test_every_breach_is_told_at_once(world: World) -> None:
    await limited(world, {"type": "Container", "min": {"cpu": "1"}, "max": {"memory": "1Mi"}})
    message = await refused(world, asking({"cpu": "1m"}, {"memory": "1Gi", "cpu": "1"}))
    assert message.startswith('pods "p" is forbidden: [minimum cpu')
    assert "maximum memory" in message


async def test_claims_are_bounded_when_they_are_made_and_when_they_grow(world: World) -> None:
    await limited(world, {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}})

    def claim(size: str) -> JsonObject:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "volumeName": "v"}
        return {"metadata": {"name": "c"}, "spec": spec}

    said = await refused(world, claim("500Mi"), "PersistentVolumeClaim")
    assert "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi" in said
    await world.create("PersistentVolumeClaim", claim("1Gi"))
    bigger = {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}
    with pytest.raises(ApiError, match="maximum storage usage"):
        await world.patch("PersistentVolumeClaim", "c", bigger)


async def test_what_is_there_may_still_be_changed(world: World) -> None:
    await world.create("Pod", asking({"cpu": "1m"}))
    await limited(world, {"type": "Container", "min": {"cpu": "1"}})
    await world.patch("Pod", "p", {"metadata": {"labels": {"a": "b"}}})
