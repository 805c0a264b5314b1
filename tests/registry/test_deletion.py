"""delete and deletecollection: grace, finalizers, preconditions, propagation."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError
from kumi.api.meta import format_time
from kumi.registry.registry import DeleteOptions, ListOptions, WriteOptions
from kumi.store.base import Conflict

from .world import NOW_MS, World, config, pod


async def bound(world: World, name: str = "p", **spec: object) -> dict:
    """A pod on a node."""
    return await world.create("Pod", pod(name, nodeName="n", **spec))


async def types(world: World, kind: str) -> list[str]:
    """The types of all events of a kind so far."""
    found: list[str] = []
    events = world.registry.watch(world.target(kind), ListOptions(revision="1"))
    newest = world.store.revision
    async for event in events:
        found.append(event.type)
        if int(event.object["metadata"]["resourceVersion"]) == newest:
            break
    await events.aclose()  # type: ignore[attr-defined]
    return found


async def test_an_object_goes_at_once_and_a_status_says_so(world: World) -> None:
    made = await world.create("ConfigMap", config("a"))
    assert await world.delete("ConfigMap", "a") == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]},
    }
    with pytest.raises(ApiError, match="not found"):
        await world.delete("ConfigMap", "a")


async def test_the_status_of_a_grouped_kind_names_its_group(world: World) -> None:
    await world.create("ResourceFlavor", {"metadata": {"name": "f"}, "spec": {}})
    assert (await world.delete("ResourceFlavor", "f"))["details"]["group"] == "kueue.x-k8s.io"


async def test_a_pod_on_no_node_is_marked_and_goes_at_once(world: World) -> None:
    await world.create("Pod", pod())
    gone = await world.delete("Pod", "p")
    assert gone["metadata"]["deletionGracePeriodSeconds"] == 0
    assert gone["metadata"]["deletionTimestamp"] == format_time(NOW_MS)
    assert await world.names("Pod") == []
    assert await types(world, "Pod") == ["ADDED", "MODIFIED", "DELETED"]


async def test_a_pod_that_ended_goes_at_once(world: World) -> None:
    await bound(world)
    await world.patch("Pod", "p", {"status": {"phase": "Succeeded"}}, sub="status")
    await world.delete("Pod", "p")
    assert await world.names("Pod") == []


@pytest.mark.parametrize("again", [False, True])
async def test_one_that_its_node_removes_as_soon_as_it_is_marked_is_deleted_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    await bound(world)
    await world.patch("Pod", "p", {"status": {"phase": "Succeeded"}}, sub="status")
    put = world.store.put

    async def raced(key: str, value: bytes | None, expected: int) -> int:
        revision = await put(key, value, expected)
        if value is not None or "/pods/" not in key:
            return revision
        monkeypatch.setattr(world.store, "put", put)
        if again:
            await bound(world)
        raise Conflict(key, expected, revision)

    monkeypatch.setattr(world.store, "put", raced)
    answer = await world.delete("Pod", "p")
    assert answer["metadata"]["deletionTimestamp"]
    assert await world.names("Pod") == (["p"] if again else []), "another one of its name is left alone"


async def test_a_bound_pod_is_marked_and_waits_for_its_kubelet(world: World) -> None:
    await bound(world)
    marked = await world.delete("Pod", "p")
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert marked["metadata"]["deletionTimestamp"] == format_time(NOW_MS + 30_000)
    assert marked["metadata"]["generation"] == 2
    await world.delete("Pod", "p", grace_seconds=0)
    assert await world.names("Pod") == []


async def test_a_second_deletion_can_only_shorten_the_grace(world: World) -> None:
    await bound(world)
    await world.delete("Pod", "p")
    shorter = await world.delete("Pod", "p", grace_seconds=5)
    assert shorter["metadata"]["deletionGracePeriodSeconds"] == 5
    assert shorter["metadata"]["deletionTimestamp"] == format_time(NOW_MS + 5_000)
    assert shorter["metadata"]["generation"] == 2
    revision = world.store.revision
    assert await world.delete("Pod", "p", grace_seconds=50) == shorter
    assert await world.delete("Pod", "p") == shorter
    assert world.store.revision == revision


async def test_a_negative_grace_counts_as_one_second(world: World) -> None:
    await bound(world)
    assert (await world.delete("Pod", "p", grace_seconds=-4))["metadata"]["deletionGracePeriodSeconds"] == 1


async def test_a_pod_with_a_finalizer_stays_until_both_are_done(world: World) -> None:
    made = pod(nodeName="n")
    made["metadata"]["finalizers"] = ["x/y"]
    await world.create("Pod", made)
    await world.delete("Pod", "p")
    await world.patch("Pod", "p", {"metadata": {"finalizers": None}})
    assert await world.names("Pod") == ["p"]
    await world.delete("Pod", "p", grace_seconds=0)
    assert await world.names("Pod") == []
    await world.create("Pod", {**pod("q"), "metadata": {"name": "q", "finalizers": ["x/y"]}})
    await world.delete("Pod", "q")
    assert await world.names("Pod") == ["q"]
    await world.patch("Pod", "q", {"metadata": {"finalizers": None}})
    assert await world.names("Pod") == []


async def test_a_finalizer_holds_an_object(world: World) -> None:
    await world.create("ConfigMap", {"metadata": {"name": "a", "finalizers": ["x/y"]}})
    held = await world.delete("ConfigMap", "a")
    assert held["metadata"]["deletionTimestamp"] == format_time(NOW_MS)
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    world.now_ms += 5_000
    assert await world.delete("ConfigMap", "a") == held
    with pytest.raises(ApiError, match="no new finalizers can be added") as refused:
        await world.patch("ConfigMap", "a", {"metadata": {"finalizers": ["x/y", "x/z"]}})
    assert len(refused.value.causes) == 2
    assert (await world.patch("ConfigMap", "a", {"data": {"k": "v"}}))["data"] == {"k": "v"}
    last = await world.patch("ConfigMap", "a", {"metadata": {"finalizers": None}})
    assert "finalizers" not in last["metadata"]
    assert await world.names("ConfigMap") == []
    assert await types(world, "ConfigMap") == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"]


async def test_a_finalizer_may_also_go_by_an_update_or_a_status_write(world: World) -> None:
    await world.create("Pod", {**pod(), "metadata": {"name": "p", "finalizers": ["x/y"]}})
    await world.delete("Pod", "p")
    await world.patch("Pod", "p", {"metadata": {"finalizers": []}}, sub="status")
    assert await world.names("Pod") == []


async def test_a_dry_run_of_the_last_finalizer_removes_nothing(world: World) -> None:
    await world.create("ConfigMap", {"metadata": {"name": "a", "finalizers": ["x/y"]}})
    await world.delete("ConfigMap", "a")
    await world.patch("ConfigMap", "a", {"metadata": {"finalizers": None}}, dry_run=True)
    assert await world.names("ConfigMap") == ["a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"uid": "other"},
            'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in '
            "record (uid-2). The object might have been deleted and then recreated",
        ),
        (
            {"revision": "1"},
            'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match the '
            "ResourceVersion in record (3). The object might have been modified",
        ),
    ],
)
async def test_preconditions(world: World, options: dict, message: str) -> None:
    made = await world.create("ConfigMap", config("a"))
    with pytest.raises(ApiError) as refused:
        await world.delete("ConfigMap", "a", **options)
    assert (refused.value.code, refused.value.reason, refused.value.kind) == (409, "Conflict", "ConfigMap")
    assert refused.value.message == message
    right = {"uid": made["metadata"]["uid"], "revision": made["metadata"]["resourceVersion"]}
    assert (await world.delete("ConfigMap", "a", **right))["status"] == "Success"


@pytest.mark.parametrize(("propagation", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")])
async def test_propagation_is_a_finalizer(world: World, propagation: str, finalizer: str) -> None:
    await world.create("ConfigMap", config("a"))
    held = await world.delete("ConfigMap", "a", propagation=propagation)
    assert held["metadata"]["finalizers"] == [finalizer]
    assert held["metadata"]["deletionTimestamp"]
    again = await world.delete("ConfigMap", "a")
    assert again["metadata"]["finalizers"] == [finalizer]
    await world.delete("ConfigMap", "a", propagation="Background")
    assert await world.names("ConfigMap") == []


async def test_a_pod_that_is_already_going_takes_no_other_propagation(world: World) -> None:
    await bound(world)
    await world.delete("Pod", "p", propagation="Foreground")
    again = await world.delete("Pod", "p", propagation="Background")
    assert again["metadata"]["finalizers"] == ["foregroundDeletion"]


async def test_a_job_whose_deletion_says_nothing_leaves_its_pods(world: World) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    for name in ("j", "k"):
        await world.create("Job", {"metadata": {"name": name}, "spec": {"template": template}})
    assert (await world.delete("Job", "j"))["metadata"]["finalizers"] == ["orphan"]
    assert (await world.delete("Job", "k", propagation="Background"))["status"] == "Success"


async def test_an_unknown_propagation_is_refused(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    with pytest.raises(ApiError) as refused:
        await world.delete("ConfigMap", "a", propagation="Sideways")
    assert refused.value.code == 422
    assert refused.value.message == (
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": '
        'supported values: "Foreground", "Background", "Orphan", "nil"'
    )


async def test_a_dry_run_deletes_nothing(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    await bound(world)
    assert (await world.delete("ConfigMap", "a", dry_run=True))["status"] == "Success"
    assert (await world.delete("Pod", "p", dry_run=True))["metadata"]["deletionGracePeriodSeconds"] == 30
    assert "deletionTimestamp" not in (await world.get("Pod", "p"))["metadata"]
    assert await world.names("ConfigMap") == ["a"]


async def test_a_namespace_terminates_until_its_own_finalizer_goes(world: World) -> None:
    gone = await world.delete("Namespace", "ns")
    assert (gone["status"], gone["spec"]) == ({"phase": "Terminating"}, {"finalizers": ["kubernetes"]})
    assert gone["metadata"]["deletionTimestamp"]
    assert await world.delete("Namespace", "ns") == gone
    with pytest.raises(ApiError) as refused:
        await world.create("ConfigMap", config("late"))
    assert refused.value.code == 403
    target = world.target("Namespace", "ns", sub="finalize")
    await world.registry.update(target, {"metadata": {"name": "ns"}, "spec": {}}, WriteOptions())
    assert await world.names("Namespace") == []


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_the_namespaces_of_the_system_may_not_be_deleted(world: World, name: str) -> None:
    with pytest.raises(ApiError, match=f'namespaces "{name}" is forbidden: this namespace may not be deleted'):
        await world.delete("Namespace", name)


async def test_a_collection_is_what_was_selected(world: World) -> None:
    for name, tier in (("a", "x"), ("b", "x"), ("c", "y")):
        await world.create("ConfigMap", {"metadata": {"name": name, "labels": {"tier": tier}}})
    gone = await world.registry.delete_collection(
        world.target("ConfigMap"), ListOptions(labels="tier=x"), DeleteOptions()
    )
    assert [obj["metadata"]["name"] for obj in gone.items] == ["a", "b"]
    assert await world.names("ConfigMap") == ["c"]


async def test_a_collection_of_all_namespaces(world: World) -> None:
    await world.create("Namespace", {"metadata": {"name": "two"}})
    await world.create("ConfigMap", config("a"))
    await world.create("ConfigMap", config("b"), ns="two")
    await world.registry.delete_collection(world.target("ConfigMap", ns=""), ListOptions(), DeleteOptions())
    assert await world.names("ConfigMap", ns="") == []
