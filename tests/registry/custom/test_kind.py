"""Kinds made from definitions: versions, what each of them has, and objects from before a change."""

from __future__ import annotations

from kumi.api.shapes import definition_name, definitions_of, shape_of
from kumi.api.wire import JsonObject
from kumi.registry.custom.definition import fill_in
from kumi.registry.custom.kind import CustomKind, custom_kind
from kumi.registry.custom.names import settle
from tests.registry.custom.made import GROUP, NUMBER, TEXT, definition, keyed, of, version, widget

OLD = version(
    "v1beta1", of(spec=of(size=NUMBER)), storage=False, deprecated=True, additionalPrinterColumns=[
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1}
    ],
)  # fmt: skip
SCALE = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"}
NEW = version(subresources={"status": {}, "scale": SCALE}, selectableFields=[{"jsonPath": ".spec.color"}])


def made(*versions: JsonObject, revision: int = 5, **more: JsonObject) -> CustomKind:
    """The kind of a definition."""
    said = definition(*versions)
    said["spec"] |= more
    fill_in(said)
    settle(said, [], None, "2027-01-15T08:00:00Z")
    return custom_kind(said, revision, 3)


def test_it_is_a_kind_like_any_other() -> None:
    kind = made(NEW, OLD)
    assert (kind.group, kind.version, kind.kind, kind.plural, kind.namespaced) == (
        GROUP,
        "v1",
        "Widget",
        "widgets",
        True,
    )
    assert (kind.versions, kind.custom, kind.strategic) == (("v1", "v1beta1"), True, False)


def test_each_version_has_its_own() -> None:
    kind = made(NEW, OLD)
    assert (kind.subresources_in("v1"), kind.subresources_in("v1beta1")) == (("status", "scale"), ())
    assert [column.name for column in kind.columns_in("v1")] == ["Age"]
    assert [(column.name, column.priority) for column in kind.columns_in("v1beta1")] == [("Size", 1)]
    scale = kind.scale_in("v1")
    assert scale
    assert (scale.spec_replicas, scale.label_selector) == (".spec.size", ".status.s")
    assert kind.scale_in("v1beta1") is None
    assert (kind.selectable_in(""), kind.selectable_in("v1beta1")) == ((".spec.color",), ())
    assert (kind.deprecation("v1"), kind.deprecation("v1beta1")) == ("", f"{GROUP}/v1beta1 Widget is deprecated")


def test_a_version_that_is_not_served_is_not_there_but_objects_are_stored_in_it() -> None:
    kind = made({**NEW, "served": False}, OLD)
    assert (kind.version, kind.versions) == ("v1", ("v1beta1",))


def test_a_webhook_leaves_the_stored_version_only() -> None:
    assert made(NEW, OLD, conversion={"strategy": "Webhook"}).versions == ("v1",)


def test_objects_are_filled_and_checked_by_the_version_that_is_spoken() -> None:
    kind, obj = made(NEW, OLD), widget(size=0, note=None)
    kind.fill("v1", obj)
    assert obj["spec"] == {"size": 0, "color": "red"}
    assert [error.path for error in kind.wrong("v1", obj, None)] == ["spec.size"]
    assert kind.wrong("v1beta1", widget(size=0), None) == []
    assert [error.path for error in kind.wrong_status("v1", obj, widget(size=1))] == ["spec.size"]


def test_what_comes_in_is_pruned_and_its_metadata_is_everybodys() -> None:
    obj = widget(size=1, odd=2)
    obj["metadata"]["odd"] = 1
    checked = made(NEW).taken("v1", obj)
    assert checked.unknown == ["metadata.odd", "spec.odd"]
    assert (checked.object["metadata"], checked.object["spec"]) == ({"name": "w"}, {"size": 1})
    assert made(NEW).taken("v1", {**widget(), "metadata": {"name": 1}}).errors[0].path == "metadata.name"


def test_objects_from_before_a_change_are_read_as_it_is_now() -> None:
    kind, obj = made(NEW, revision=5), widget(size=1, gone=1)
    obj["metadata"]["resourceVersion"] = "4"
    assert kind.presented(obj)["spec"] == {"size": 1, "color": "red"}
    assert obj["spec"] == {"size": 1, "gone": 1}
    obj["metadata"]["resourceVersion"] = "6"
    assert kind.presented(obj) is obj


def test_openapi_and_shapes_come_from_the_definition() -> None:
    kind = made(version(schema=of(spec=of(l=keyed(of(k=TEXT))))))
    name = definition_name(kind, "v1")
    assert name == "com.example.shop.v1.Widget"
    schema = definitions_of(kind, "v1")[name]
    assert set(schema["properties"]) == {"apiVersion", "kind", "metadata", "spec"}
    shape = shape_of(kind, "v1").members["spec"].members["l"]
    assert (shape.list_type, shape.list_keys) == ("map", ("k",))


def test_a_kind_that_goes_is_the_same_but_for_that() -> None:
    kind = made(NEW)
    assert (kind.going().terminating, kind.going().type) == (True, kind.type)
