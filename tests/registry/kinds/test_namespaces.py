"""Namespaces: made active, terminated, held by their own finalizers."""

from __future__ import annotations

from kumi.registry.kinds import namespaces
from tests.registry.world import World


def new() -> dict:
    namespace: dict = {"metadata": {"name": "a", "labels": {"x": "y"}}}
    namespaces.on_create(namespace)
    return namespace


def test_a_new_namespace_is_active_and_held() -> None:
    made = new()
    assert (made["spec"], made["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
    assert namespaces.held(made)


def test_the_finalizer_is_there_once() -> None:
    made: dict = {"metadata": {"name": "a"}, "spec": {"finalizers": ["kubernetes", "x/y"]}}
    namespaces.on_create(made)
    assert made["spec"]["finalizers"] == ["kubernetes", "x/y"]


def test_an_update_does_not_change_its_finalizers() -> None:
    changed = {"metadata": {"name": "a"}, "spec": {"finalizers": []}}
    namespaces.on_update(changed, new())
    assert changed["spec"] == {"finalizers": ["kubernetes"]}


def test_its_end_is_a_phase() -> None:
    made = new()
    namespaces.terminate(made)
    assert made["status"]["phase"] == "Terminating"


def test_without_its_finalizers_nothing_of_its_own_holds_it() -> None:
    made = new()
    namespaces.finalize(made, {"spec": {}})
    assert not namespaces.held(made)


async def test_a_namespace_keeps_its_finalizers_through_updates_and_patches(world: World) -> None:
    made = await world.patch("Namespace", "ns", {"spec": {"finalizers": None}, "metadata": {"labels": None}})
    assert made["spec"] == {"finalizers": ["kubernetes"]}
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": "ns"}
