"""ReplicaSet on the real registry."""

from __future__ import annotations

from typing import Any

from kumi.api.apps import ReplicaSet
from kumi.api.core import Pod
from kumi.api.wire import JsonObject
from kumi.controllers.replica_set import ReplicaSetController, available_at_ms
from kumi.testing.stage import Stage
from kumi.testing.view import decoded

from .made import NOW_MS, at, condition, pod

READY = {"phase": "Running", "conditions": [condition("Ready", "True")]}


def manifest(**spec: Any) -> JsonObject:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "rs", "namespace": "ns"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec},
    }


async def stage(**spec: Any) -> Stage:
    made = Stage([ReplicaSetController()])
    await made.open("ns")
    await made.make(manifest(**spec))
    await made.settle()
    return made


async def names(on: Stage) -> list[str]:
    return [each["metadata"]["name"] for each in await on.all(Pod, "ns")]


async def status(on: Stage) -> JsonObject:
    found = await on.one(ReplicaSet, "ns/rs")
    assert found is not None
    kept: JsonObject = found["status"]
    return kept


async def resize(on: Stage, replicas: int) -> None:
    await on.patch(ReplicaSet, "ns/rs", {"spec": {"replicas": replicas}})
    await on.settle()


async def test_it_has_as_many_pods_as_it_says_and_follows() -> None:
    on = await stage(replicas=3)
    assert len(await names(on)) == 3
    await resize(on, 5)
    assert len(await names(on)) == 5
    await resize(on, 0)
    assert await names(on) == []
    assert (await status(on))["replicas"] == 0


async def test_a_pod_that_goes_is_replaced_by_one_of_another_name() -> None:
    on = await stage(replicas=1)
    [first] = await names(on)
    await on.delete(Pod, f"ns/{first}")
    await on.settle()
    [second] = await names(on)
    assert second != first


async def test_an_ended_pod_does_not_count() -> None:
    on = await stage(replicas=1)
    [first] = await names(on)
    await on.pod_status("ns", first, {"phase": "Failed"})
    await on.settle()
    assert len(await names(on)) == 2
    assert (await status(on))["replicas"] == 1


async def test_those_that_are_missed_least_go_first() -> None:
    on = await stage(replicas=4)
    bound, cheap, _plain, ready = await names(on)
    for name in (bound, cheap, ready):
        binding = {"apiVersion": "v1", "kind": "Binding", "target": {"name": "n1"}}
        await on.client.create({**binding, "metadata": {"namespace": "ns", "name": name}}, subresource="binding")
    await on.pod_status("ns", ready, READY)
    await on.patch(
        Pod, f"ns/{cheap}", {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}}
    )
    left = []
    for size in (3, 2, 1):
        await resize(on, size)
        left.append(set(await names(on)))
    assert left == [{bound, cheap, ready}, {bound, ready}, {ready}]


async def test_a_ready_pod_is_available_after_a_while() -> None:
    on = await stage(replicas=1, minReadySeconds=10)
    [name] = await names(on)
    since = {**READY, "conditions": [condition("Ready", "True", seconds=(on.now_ms - NOW_MS) / 1000)]}
    await on.pod_status("ns", name, since)
    await on.settle()
    counts = await status(on)
    assert (counts["readyReplicas"], counts.get("availableReplicas", 0)) == (1, 0)
    on.advance(11)
    await on.settle()
    assert (await status(on))["availableReplicas"] == 1


async def test_an_orphan_with_its_labels_is_one_of_its_pods() -> None:
    on = Stage([ReplicaSetController()])
    await on.open("ns")
    lone = {**pod("lone", "ns"), "spec": {"containers": [{"name": "c", "image": "i"}]}}
    lone["metadata"] = {"name": "lone", "namespace": "ns", "labels": {"a": "b"}}
    await on.make(lone)
    await on.make(manifest(replicas=1))
    await on.settle()
    assert await names(on) == ["lone"]


def test_a_pod_that_is_not_ready_is_never_available() -> None:
    unready, ready = decoded(pod()), decoded(pod(status={"conditions": [condition("Ready", "True", seconds=5)]}))
    assert isinstance(unready, Pod)
    assert isinstance(ready, Pod)
    assert available_at_ms(unready, 0) is None
    assert available_at_ms(ready, 3) == NOW_MS + 8000
    assert at(5) == ready.status.conditions[0].last_transition_time
