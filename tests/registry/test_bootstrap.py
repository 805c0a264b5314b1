"""What a cluster has from the start."""

from __future__ import annotations

import pytest

from kumi.api.scheme import Scheme
from kumi.registry.authorization.defaults import AUTOUPDATE
from kumi.registry.bootstrap import bootstrap

from .world import World, pod


async def test_a_new_cluster_has_its_namespaces_and_priorities(scheme: Scheme) -> None:
    world = World(scheme)
    await bootstrap(world.registry)
    assert await world.names("Namespace") == ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert await world.names("PriorityClass") == ["system-cluster-critical", "system-node-critical"]
    assert (await world.get("PriorityClass", "system-node-critical"))["value"] == 2_000_001_000


async def test_a_second_time_changes_nothing(scheme: Scheme) -> None:
    world = World(scheme)
    await bootstrap(world.registry)
    await world.patch("Namespace", "default", {"metadata": {"labels": {"mine": "yes"}}})
    revision = world.store.revision
    await bootstrap(world.registry)
    assert world.store.revision == revision


async def test_a_scheme_without_priority_classes_is_no_hindrance(scheme: Scheme) -> None:
    few = Scheme()
    for kind in scheme:
        if kind.kind == "Namespace":
            few.register(kind)
    world = World(few)
    await bootstrap(world.registry)
    assert "default" in await world.names("Namespace")


async def test_a_deletion_that_a_crash_cut_in_two_is_ended(world: World) -> None:
    """The mark was written, the removal was not."""
    await world.create("Pod", pod("going"))
    await world.create("Pod", {**pod("held"), "metadata": {"name": "held", "finalizers": ["x/y"]}})
    await world.create("Pod", pod("waiting", nodeName="n"))
    await world.create("Pod", pod("staying"))
    put, removals = world.store.put, []

    async def put_or_crash(key: str, value: bytes | None, expected: int | None = None) -> int:
        if value is None:
            removals.append(key)
            raise ConnectionError
        return await put(key, value, expected)

    world.store.put = put_or_crash  # type: ignore[method-assign]
    with pytest.raises(ConnectionError):
        await world.delete("Pod", "going")
    await world.delete("Pod", "held")
    await world.delete("Pod", "waiting")
    world.store.put = put  # type: ignore[method-assign]
    assert removals == ["/core/pods/ns/going"]
    assert "going" in await world.names("Pod")
    await bootstrap(world.registry)
    assert await world.names("Pod") == ["held", "staying", "waiting"]


async def test_roles_that_lack_something_get_it_and_keep_what_is_theirs(world: World) -> None:
    await bootstrap(world.registry)
    whole = (await world.get("ClusterRole", "system:basic-user"))["rules"]
    own = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
    await world.patch("ClusterRole", "system:basic-user", {"rules": [own, whole[0]]})
    await world.patch("ClusterRoleBinding", "system:discovery", {"subjects": None})
    await bootstrap(world.registry)
    assert (await world.get("ClusterRole", "system:basic-user"))["rules"] == [own, *whole]
    bound = await world.get("ClusterRoleBinding", "system:discovery")
    assert [subject["name"] for subject in bound["subjects"]] == ["system:authenticated"]


async def test_a_role_that_is_not_to_be_updated_stays_as_it_is(world: World) -> None:
    await bootstrap(world.registry)
    patch = {"metadata": {"annotations": {AUTOUPDATE: "false"}}, "subjects": None}
    await world.patch("ClusterRoleBinding", "system:public-info-viewer", patch)
    await bootstrap(world.registry)
    assert "subjects" not in await world.get("ClusterRoleBinding", "system:public-info-viewer")


async def test_roles_made_of_others_have_their_rules_from_the_start(world: World) -> None:
    await bootstrap(world.registry)
    for name in ("view", "edit", "admin", "kueue-batch-user-role", "kueue-batch-admin-role"):
        assert (await world.get("ClusterRole", name))["rules"], name
