"""The catalogue: kinds come, change and go with their definitions, and objects and watches with them."""

from __future__ import annotations

from typing import Any

import msgspec
import orjson
import pytest

from kumi.api.apiextensions import CustomResourceDefinition, kind_defined_by
from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme, load
from kumi.api.wire import JsonObject
from kumi.registry.custom.kind import CustomKind
from kumi.registry.registry import DeleteOptions, ListOptions, Registry, Target, WriteOptions
from tests.registry.custom.made import GROUP, NUMBER, TEXT, definition, of, version, widget
from tests.registry.world import World

CRD = "CustomResourceDefinition"
NAME = f"widgets.{GROUP}"
FINALIZER = "x.example.com/held"
DELETE = DeleteOptions()


@pytest.fixture
def scheme() -> Scheme:
    """A catalogue of its own."""
    return load()


def served(world: World, kind: str = "Widget") -> CustomKind | None:
    """The kind, if it is served."""
    found = world.scheme.find(GROUP, kind)
    return found if isinstance(found, CustomKind) else None


def conditions(obj: JsonObject) -> dict[str, str]:
    """Type and status."""
    return {c["type"]: c["status"] for c in obj["status"]["conditions"]}


async def define(world: World, *versions: JsonObject, **names: Any) -> JsonObject:
    """Makes a definition."""
    return await world.create(CRD, definition(*versions, **names))


async def test_a_definition_is_established_as_it_is_made(world: World) -> None:
    made = await define(world)
    assert conditions(made) == {"NamesAccepted": "True", "Established": "True"}
    assert made["status"]["storedVersions"] == ["v1"]
    kind = served(world)
    assert kind is not None
    assert kind.resource == NAME
    created = await world.create("Widget", widget(size=1, odd=1))
    assert created["spec"] == {"size": 1, "color": "red"}


async def test_a_definition_that_is_wrong_makes_nothing(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        await define(world, version(schema=of(a={})))
    assert refused.value.code == 422
    assert served(world) is None


async def test_a_dry_run_makes_nothing(world: World) -> None:
    await world.create(CRD, definition(), dry_run=True)
    assert served(world) is None


async def test_a_change_makes_the_kind_anew_and_keeps_its_type(world: World) -> None:
    made = await define(world)
    before = served(world)
    made = {**made, "spec": definition(version(), version("v2", storage=False))["spec"]}
    await world.put(CRD, made)
    after = served(world)
    assert before
    assert after
    assert (after.versions, after.type) == (("v1", "v2"), before.type)


async def test_a_change_of_metadata_leaves_the_kind_alone(world: World) -> None:
    await define(world)
    before = served(world)
    await world.patch(CRD, NAME, {"metadata": {"labels": {"a": "b"}}})
    assert served(world) is before


async def test_objects_from_before_a_change_of_the_stored_version_are_read_in_the_new_one(world: World) -> None:
    made = await define(world)
    await world.create("Widget", widget(size=1))
    changed = definition(version(storage=False), version("v2"))["spec"]
    stored = await world.put(CRD, {**made, "spec": changed})
    assert stored["status"]["storedVersions"] == ["v1", "v2"]
    kind = served(world)
    assert kind is not None
    for spoken in ("v1", "v2"):
        found = await world.registry.get(Target(kind, "ns", "w", version=spoken))
        assert (found["apiVersion"], found["spec"]["size"]) == (f"{GROUP}/{spoken}", 1)


async def test_whoever_reads_is_told_what_the_newest_schema_leaves_and_adds(world: World) -> None:
    made = await define(world)
    await world.create("Widget", widget(size=1, note="gone"))
    smaller = of(size=NUMBER, color={**TEXT, "default": "red"}, shape={**TEXT, "default": "round"})
    selectable = [{"jsonPath": ".spec.shape"}]
    newer = version(schema=of(spec=smaller), selectableFields=selectable)
    await world.put(CRD, {**made, "spec": definition(newer)["spec"]})
    kind = served(world)
    assert kind is not None
    everywhere, here = Target(kind), Target(kind, "ns")
    texts = world.registry.texts(here, ListOptions())
    events = world.registry.watch(here, ListOptions())
    told = [
        await world.get("Widget", "w"),
        *(await world.registry.list(here, ListOptions())).items,
        *(await world.registry.list(everywhere, ListOptions(fields="metadata.namespace=ns"))).items,
        *(await world.registry.list(here, ListOptions(fields="metadata.name=w"))).items,
        *(await world.registry.list(here, ListOptions(fields="spec.shape=round"))).items,
        *([] if texts is None else map(orjson.loads, texts.items)),
        (await anext(events)).object,
    ]
    assert [one["spec"] for one in told[:5]] == [{"size": 1, "color": "red", "shape": "round"}] * 5
    assert all(one["spec"] == told[0]["spec"] for one in told)


async def test_a_version_that_objects_may_be_stored_in_cannot_be_dropped(world: World) -> None:
    made = await define(world)
    with pytest.raises(ApiError) as refused:
        await world.put(CRD, {**made, "spec": definition(version("v2"))["spec"]})
    assert [cause.path for cause in refused.value.causes] == ["status.storedVersions[0]"]


async def test_deleting_a_definition_deletes_its_objects_and_ends_its_watches(world: World) -> None:
    await define(world)
    await world.create("Widget", widget(size=1))
    kind = served(world)
    assert kind is not None
    events = world.registry.watch(Target(kind, "ns"), ListOptions())
    assert (await anext(events)).type == "ADDED"
    await world.delete(CRD, NAME)
    assert [event.type async for event in events] == ["DELETED"]
    assert served(world) is None
    assert world.registry.find(Target(kind, "ns", "w")) is None
    with pytest.raises(ApiError) as gone:
        await world.get(CRD, NAME)
    assert gone.value.code == 404


async def test_a_definition_waits_for_objects_that_are_held_and_nothing_new_can_be_made(world: World) -> None:
    await define(world)
    held = widget(size=1)
    held["metadata"]["finalizers"] = [FINALIZER]
    await world.create("Widget", held)
    await world.delete(CRD, NAME)
    found = await world.get(CRD, NAME)
    assert found["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert conditions(found)["Terminating"] == "True"
    with pytest.raises(ApiError) as refused:
        await world.create("Widget", widget("other", size=1))
    assert refused.value.code == 405
    await world.patch("Widget", "w", {"metadata": {"finalizers": None}})
    assert served(world) is None
    with pytest.raises(ApiError):
        await world.get(CRD, NAME)


async def test_a_definition_made_anew_has_none_of_the_old_objects_and_no_older_past(world: World) -> None:
    await define(world)
    await world.create("Widget", widget(size=1))
    await world.delete(CRD, NAME)
    revision = str(world.store.revision)
    await define(world)
    kind = served(world)
    assert kind is not None
    assert (await world.registry.list(Target(kind), ListOptions())).items == []
    with pytest.raises(ApiError) as expired:
        world.registry.watch(Target(kind), ListOptions(revision=revision))
    assert expired.value.code == 410


async def test_a_name_that_comes_free_goes_to_who_waits_for_it(world: World) -> None:
    await define(world, shortNames=["wd"])
    waiting = await define(world, plural="gadgets", kind="Widget")
    assert conditions(waiting) == {"NamesAccepted": "False", "Established": "False"}
    await world.delete(CRD, NAME)
    now = await world.get(CRD, f"gadgets.{GROUP}")
    assert conditions(now) == {"NamesAccepted": "True", "Established": "True"}
    kind = served(world)
    assert kind is not None
    assert kind.plural == "gadgets"


async def test_a_registry_on_the_same_store_has_the_same_kinds_and_goes_on_with_deletions(world: World) -> None:
    await define(world)
    held = widget(size=1)
    held["metadata"]["finalizers"] = [FINALIZER]
    await world.create("Widget", held)
    await world.delete(CRD, NAME)

    def restarted() -> Registry:
        return Registry(world.store, load(), lambda: world.now_ms, world.new_uid)

    again = restarted()
    kind = again.scheme.find(GROUP, "Widget")
    assert isinstance(kind, CustomKind)
    assert kind.terminating
    entry = world.store.get(f"/{GROUP}/widgets/ns/w")
    assert entry is not None
    await world.store.put(entry.key, None)
    last = restarted()
    await last.finish_deletions()
    assert last.scheme.find(GROUP, "Widget") is None
    assert world.store.get(f"/apiextensions.k8s.io/customresourcedefinitions//{NAME}") is None


async def test_a_definition_for_a_kind_of_kumis_own_changes_nothing(world: World) -> None:
    own = world.kind("ResourceFlavor")
    await world.create("ResourceFlavor", {"metadata": {"name": "f"}})
    options = WriteOptions()
    foreign = definition(version("v1beta1"), plural="resourceflavors", kind="ResourceFlavor", group="kueue.x-k8s.io")
    made = await world.registry.create(world.target(CRD), foreign, options)
    assert "itself" in options.warnings[0]
    assert conditions(made)["Established"] == "True"
    assert world.kind("ResourceFlavor") is own
    await world.delete(CRD, "resourceflavors.kueue.x-k8s.io")
    assert (await world.get("ResourceFlavor", "f"))["metadata"]["name"] == "f"


async def test_all_definitions_at_once(world: World) -> None:
    await define(world)
    await define(world, plural="gadgets", kind="Gadget")
    await world.registry.delete_collection(world.target(CRD), ListOptions(), DELETE)
    assert (served(world), served(world, "Gadget")) == (None, None)


async def test_many_objects_go_together(world: World) -> None:
    await define(world)
    for number in range(130):
        await world.create("Widget", widget(f"w{number}", size=1))
    await world.delete(CRD, NAME)
    assert served(world) is None


async def test_selectable_fields_select(world: World) -> None:
    fields = [{"jsonPath": ".spec.size"}, {"jsonPath": ".spec.color"}]
    await define(world, version(selectableFields=fields))
    for number in range(3):
        await world.create("Widget", widget(f"w{number}", size=number + 1))
    kind = served(world)
    assert kind is not None
    found = await world.registry.list(Target(kind, "ns"), ListOptions(fields="spec.size=2,spec.color=red"))
    assert [item["metadata"]["name"] for item in found.items] == ["w1"]
    with pytest.raises(ApiError) as refused:
        await world.registry.list(Target(kind, "ns"), ListOptions(fields="spec.note=x"))
    assert refused.value.message == "field label not supported: spec.note"


async def test_without_the_subresource_the_status_is_like_any_field(world: World) -> None:
    await define(world, version(schema=of(status=of(n=NUMBER))))
    made = await world.create("Widget", {**widget(), "status": {"n": 1}})
    assert made["status"] == {"n": 1}
    changed = await world.patch("Widget", "w", {"status": {"n": 2}})
    assert (changed["status"], changed["metadata"]["generation"]) == ({"n": 2}, 2)


async def test_with_the_subresource_the_status_has_its_own_door(world: World) -> None:
    await define(world, version(schema=of(spec=of(n=NUMBER), status=of(n=NUMBER)), subresources={"status": {}}))
    made = await world.create("Widget", {**widget(n=1), "status": {"n": 1}})
    assert "status" not in made
    changed = await world.patch("Widget", "w", {"status": {"n": 2}, "spec": {"n": 5}}, sub="status")
    assert (changed["spec"], changed["status"], changed["metadata"]["generation"]) == ({"n": 1}, {"n": 2}, 1)
    with pytest.raises(ApiError) as refused:
        await world.patch("Widget", "w", {"status": {"n": "x"}}, sub="status")
    assert [cause.path for cause in refused.value.causes] == ["status.n"]


async def test_an_object_of_another_kind_is_told_what_it_must_be(world: World) -> None:
    await define(world)
    with pytest.raises(ApiError) as refused:
        await world.create("Widget", {**widget(), "kind": "Gadget"})
    assert (refused.value.code, refused.value.kind, refused.value.causes[0].path) == (422, "Gadget", "kind")


async def test_a_loop_that_knows_only_the_names_of_a_kind_writes_whole_objects(world: World) -> None:
    await define(world)
    await world.create("Widget", widget(size=1))
    known = kind_defined_by(msgspec.convert(await world.get(CRD, NAME), CustomResourceDefinition))
    assert known is not None
    await world.client.patch(known, "ns", "w", {"metadata": {"labels": {"a": "b"}}})
    assert (await world.client.get(known, "ns", "w"))["spec"] == {"size": 1, "color": "red"}
    await world.delete(CRD, NAME)
    with pytest.raises(ApiError) as gone:
        await world.client.list(known)
    assert gone.value.code == 404


async def test_a_namespace_goes_only_when_no_object_of_any_kind_is_left(world: World) -> None:
    await define(world)
    await world.create("Widget", widget(size=1))
    await world.delete("Namespace", "ns")
    finalize = world.target("Namespace", "ns", sub="finalize")
    merge, body = "application/merge-patch+json", {"spec": {"finalizers": None}}
    with pytest.raises(ApiError) as refused:
        await world.registry.patch(finalize, merge, body, WriteOptions())
    assert refused.value.code == 409
    await world.delete("Widget", "w")
    await world.registry.patch(finalize, merge, body, WriteOptions())
    with pytest.raises(ApiError):
        await world.get("Namespace", "ns")
