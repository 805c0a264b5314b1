"""Admission that reads other objects: namespaces and priorities."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject

from .world import World, config, pod


async def priority_class(world: World, name: str, value: int, **more: object) -> None:
    await world.create("PriorityClass", {"metadata": {"name": name}, "value": value, **more})


async def test_nothing_is_made_in_a_namespace_that_is_not_there(world: World) -> None:
    with pytest.raises(ApiError, match='namespaces "none" not found') as refused:
        await world.create("ConfigMap", config("a"), ns="none")
    assert refused.value.status()["details"] == {"name": "none", "kind": "namespaces"}


async def test_nothing_is_made_in_a_namespace_that_is_being_terminated(world: World) -> None:
    await world.delete("Namespace", "ns")
    with pytest.raises(ApiError) as refused:
        await world.create("ConfigMap", config("late"))
    assert refused.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": (
            'configmaps "late" is forbidden: unable to create new content in namespace ns because it is being terminated'
        ),
        "reason": "Forbidden",
        "details": {
            "name": "late",
            "kind": "configmaps",
            "causes": [
                {
                    "reason": "NamespaceTerminating",
                    "message": "namespace ns is being terminated",
                    "field": "metadata.namespace",
                }
            ],
        },
        "code": 403,
    }


async def test_what_is_in_such_a_namespace_may_still_change(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    await world.delete("Namespace", "ns")
    assert (await world.patch("ConfigMap", "a", {"data": {"k": "v"}}))["data"] == {"k": "v"}


def priority_of(made: JsonObject) -> tuple[object, object, object]:
    spec = made["spec"]
    return spec.get("priorityClassName"), spec["priority"], spec["preemptionPolicy"]


async def test_a_pod_without_a_class_has_priority_0(world: World) -> None:
    assert priority_of(await world.create("Pod", pod())) == (None, 0, "PreemptLowerPriority")


async def test_a_pod_has_the_number_and_the_policy_of_its_class(world: World) -> None:
    await priority_class(world, "high", 1000, preemptionPolicy="Never")
    made = await world.create("Pod", pod(priorityClassName="high"))
    assert priority_of(made) == ("high", 1000, "Never")


async def test_a_pod_without_a_class_gets_the_lowest_of_the_global_defaults(world: World) -> None:
    await priority_class(world, "a", 50, globalDefault=True)
    await priority_class(world, "b", 40, globalDefault=True)
    await priority_class(world, "c", 10)
    assert priority_of(await world.create("Pod", pod()))[:2] == ("b", 40)


async def test_a_class_that_is_not_there_is_refused(world: World) -> None:
    with pytest.raises(ApiError, match='pods "p" is forbidden: no PriorityClass with name none was found') as refused:
        await world.create("Pod", pod(priorityClassName="none"))
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"priority": 7}, "the integer value of priority (7) must not be provided in pod spec"),
        (
            {"preemptionPolicy": "Never"},
            "the string value of PreemptionPolicy (Never) must not be provided in pod spec",
        ),
    ],
)
async def test_a_pod_may_not_say_another_priority_than_its_class(world: World, given: JsonObject, message: str) -> None:
    await priority_class(world, "high", 1000)
    with pytest.raises(ApiError) as refused:
        await world.create("Pod", pod(priorityClassName="high", **given))
    assert message in refused.value.message
    made = await world.create("Pod", pod("q", priorityClassName="high", priority=1000))
    assert made["spec"]["priority"] == 1000


async def test_a_pod_keeps_its_priority_when_its_class_goes(world: World) -> None:
    await priority_class(world, "high", 1000)
    await world.create("Pod", pod(priorityClassName="high"))
    await world.delete("PriorityClass", "high")
    made = await world.patch("Pod", "p", {"metadata": {"labels": {"a": "b"}}})
    assert made["spec"]["priority"] == 1000
