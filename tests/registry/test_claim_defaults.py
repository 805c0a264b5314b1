"""What claims and volumes get on their way in."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.registry.claim_defaults import ClaimDefaults
from kumi.registry.objects import Objects
from kumi.registry.registry import Registry
from tests.registry.world import World


@pytest.fixture
async def world(scheme: Scheme) -> World:
    made = World(scheme)
    hook = ClaimDefaults(Objects(made.store), scheme)
    made.registry = Registry(made.store, scheme, lambda: made.now_ms, lambda: made.new_uid(), [hook])  # noqa: PLW0108
    await made.create("Namespace", {"metadata": {"name": "ns"}})
    return made


async def class_(world: World, name: str, *, default: bool = False, grows: bool = False) -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    made = {"metadata": {"name": name, "annotations": annotations}, "provisioner": "p", "allowVolumeExpansion": grows}
    await world.create("StorageClass", made)


def claim(**spec: Any) -> JsonObject:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": "c"}, "spec": {**asked, **spec}}


async def test_a_claim_that_names_no_class_is_of_the_default_one(world: World) -> None:
    await class_(world, "a")
    await class_(world, "b", default=True)
    assert (await world.create("PersistentVolumeClaim", claim()))["spec"]["storageClassName"] == "b"


@pytest.mark.parametrize("named", ["", "a"])
async def test_one_that_names_a_class_or_none_keeps_it(world: World, named: str) -> None:
    await class_(world, "b", default=True)
    made = await world.create("PersistentVolumeClaim", claim(storageClassName=named))
    assert made["spec"]["storageClassName"] == named


async def test_without_a_default_class_it_names_none(world: World) -> None:
    await class_(world, "a")
    assert "storageClassName" not in (await world.create("PersistentVolumeClaim", claim()))["spec"]


async def test_claims_and_volumes_are_held_while_they_are_used(world: World) -> None:
    made = await world.create("PersistentVolumeClaim", {**claim(), "metadata": {"name": "c", "finalizers": ["a.b/c"]}})
    assert made["metadata"]["finalizers"] == ["a.b/c", "kubernetes.io/pvc-protection"]
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    volume = await world.create("PersistentVolume", {"metadata": {"name": "v"}, "spec": spec})
    assert volume["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]


async def test_other_kinds_are_left_alone(world: World) -> None:
    made = await world.create("ConfigMap", {"metadata": {"name": "m"}})
    assert "finalizers" not in made["metadata"]


@pytest.mark.parametrize("grows", [True, False])
async def test_a_claim_grows_where_its_class_lets_it(world: World, grows: bool) -> None:
    await class_(world, "a", grows=grows)
    await world.create("PersistentVolumeClaim", claim(storageClassName="a", volumeName="v"))
    larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    if grows:
        await world.patch("PersistentVolumeClaim", "c", larger)
        return
    with pytest.raises(ApiError) as refused:
        await world.patch("PersistentVolumeClaim", "c", larger)
    assert refused.value.code == 403


async def test_what_does_not_ask_for_another_size_is_let_in(world: World) -> None:
    await class_(world, "a")
    await world.create("PersistentVolumeClaim", claim(storageClassName="a", volumeName="v"))
    made = await world.patch("PersistentVolumeClaim", "c", {"metadata": {"labels": {"a": "b"}}})
    assert made["metadata"]["labels"] == {"a": "b"}
