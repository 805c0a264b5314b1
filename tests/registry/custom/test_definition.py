"""Definitions: what they say by default, and every fault at the place that clients know."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kumi.api.wire import JsonObject
from kumi.registry.custom.definition import fill_in, stored_version, warnings, wrong_definition
from tests.registry.custom.made import GROUP, NUMBER, TEXT, definition, of, version

Change = Callable[[JsonObject], object]


def ready(made: JsonObject) -> JsonObject:
    """A definition as it is when it is validated."""
    fill_in(made)
    made["status"] = {"storedVersions": [stored_version(made)] if stored_version(made) else []}
    return made


def wrong(made: JsonObject, old: JsonObject | None = None) -> list[tuple[str, str]]:
    """(place, reason)."""
    return [(e.path, e.type.removeprefix("FieldValue")) for e in wrong_definition(ready(made), old)]


def test_names_and_conversion_have_defaults() -> None:
    made = definition()
    fill_in(made)
    assert made["spec"]["names"] == {
        "plural": "widgets",
        "kind": "Widget",
        "singular": "widget",
        "listKind": "WidgetList",
    }
    assert made["spec"]["conversion"] == {"strategy": "None"}


def test_the_stored_version_is_the_one_that_is_marked() -> None:
    assert stored_version(definition(version("v1beta1", storage=False), version())) == "v1"
    assert stored_version(definition(version(storage=False))) == ""
    assert stored_version(definition(version(), version("v2"))) == ""


def test_what_is_right() -> None:
    assert wrong(definition()) == []
    assert (
        wrong(definition(version(), version("v1beta1", storage=False, deprecated=True, deprecationWarning="use v1")))
        == []
    )


def set_(*path: str, value: object) -> Change:
    """Sets what is at a path."""

    def change(made: JsonObject) -> None:
        for step in path[:-1]:
            made = made.setdefault(step, {})
        made[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "place", "reason"),
    [
        (set_("metadata", "name", value="other.shop.example.com"), "metadata.name", "Invalid"),
        (set_("spec", "group", value=""), "spec.group", "Required"),
        (set_("spec", "group", value="shop"), "spec.group", "Invalid"),
        (set_("spec", "group", value="Shop.x"), "spec.group", "Invalid"),
        (set_("spec", "scope", value=""), "spec.scope", "Required"),
        (set_("spec", "scope", value="Galaxy"), "spec.scope", "NotSupported"),
        (set_("spec", "preserveUnknownFields", value=True), "spec.preserveUnknownFields", "Invalid"),
        (set_("spec", "names", "plural", value="Widgets"), "spec.names.plural", "Invalid"),
        (set_("spec", "names", "plural", value=""), "spec.names.plural", "Required"),
        (set_("spec", "names", "kind", value="_"), "spec.names.kind", "Invalid"),
        (set_("spec", "names", "listKind", value="Widget"), "spec.names.listKind", "Invalid"),
        (set_("spec", "names", "shortNames", value=["W"]), "spec.names.shortNames[0]", "Invalid"),
        (set_("spec", "names", "categories", value=["a b"]), "spec.names.categories[0]", "Invalid"),
        (set_("spec", "conversion", value={"strategy": "Odd"}), "spec.conversion.strategy", "NotSupported"),
        (
            set_("spec", "conversion", value={"strategy": "None", "webhook": {"x": 1}}),
            "spec.conversion.webhook",
            "Forbidden",
        ),
        (set_("spec", "conversion", value={"strategy": "Webhook"}), "spec.conversion.webhookClientConfig", "Required"),
        (set_("spec", "versions", value=[]), "spec.versions", "Invalid"),
        (set_("spec", "versions", value=[version(), version("v2")]), "spec.versions", "Invalid"),
        (set_("spec", "versions", value=[version(storage=False)]), "status.storedVersions", "Invalid"),
        (set_("spec", "versions", value=[version(), version(storage=False)]), "spec.versions[1].name", "Duplicate"),
        (set_("spec", "versions", value=[version("V1")]), "spec.versions[0].name", "Invalid"),
        (
            set_("spec", "versions", value=[{**version(), "schema": {}}]),
            "spec.versions[0].schema.openAPIV3Schema",
            "Required",
        ),
        (
            set_("spec", "versions", value=[version(deprecationWarning="x")]),
            "spec.versions[0].deprecationWarning",
            "Invalid",
        ),
    ],
)
def test_what_is_wrong(change: Change, place: str, reason: str) -> None:
    made = definition()
    change(made)
    assert (place, reason) in wrong(made)


@pytest.mark.parametrize(
    ("more", "place", "reason"),
    [
        (
            {"subresources": {"scale": {"specReplicasPath": ".n", "statusReplicasPath": ".status.n"}}},
            "subresources.scale.specReplicasPath",
            "Invalid",
        ),
        (
            {"subresources": {"scale": {"specReplicasPath": ".spec.l[0]", "statusReplicasPath": ".status.n"}}},
            "subresources.scale.specReplicasPath",
            "Invalid",
        ),
        (
            {"subresources": {"scale": {"specReplicasPath": ".spec.n"}}},
            "subresources.scale.statusReplicasPath",
            "Required",
        ),
        (
            {"additionalPrinterColumns": [{"name": "", "type": "string", "jsonPath": ".a"}]},
            "additionalPrinterColumns[0].name",
            "Required",
        ),
        (
            {"additionalPrinterColumns": [{"name": "A", "type": "text", "jsonPath": ".a"}]},
            "additionalPrinterColumns[0].type",
            "Invalid",
        ),
        (
            {"additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": "a("}]},
            "additionalPrinterColumns[0].jsonPath",
            "Invalid",
        ),
        (
            {"additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ""}]},
            "additionalPrinterColumns[0].jsonPath",
            "Required",
        ),
        (
            {"additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".a", "format": "x"}]},
            "additionalPrinterColumns[0].format",
            "Invalid",
        ),
        ({"selectableFields": [{"jsonPath": ".spec.nope"}]}, "selectableFields[0].jsonPath", "Invalid"),
        ({"selectableFields": [{"jsonPath": ".spec"}]}, "selectableFields[0].jsonPath", "Invalid"),
        ({"selectableFields": [{"jsonPath": ".metadata.name"}]}, "selectableFields[0].jsonPath", "Invalid"),
        ({"selectableFields": [{"jsonPath": ".spec.note"}] * 2}, "selectableFields[1].jsonPath", "Duplicate"),
        ({"selectableFields": [{"jsonPath": ".spec.note"}] * 9}, "selectableFields", "TooMany"),
    ],
)
def test_what_is_wrong_with_a_version(more: JsonObject, place: str, reason: str) -> None:
    assert (f"spec.{place}", reason) in wrong(definition(version(**more)))
    other = version("v2", of(spec=of(note=TEXT, other=NUMBER)), storage=False)
    assert (f"spec.versions[0].{place}", reason) in wrong(definition(version(**more), other))


def test_a_schema_is_told_at_the_definition_unless_versions_differ() -> None:
    bad, good = of(spec={}), of()
    place = "schema.openAPIV3Schema.properties[spec].type"
    assert wrong(definition(version(schema=bad))) == [(f"spec.validation.{place.removeprefix('schema.')}", "Required")]
    both = definition(version(schema=good), version("v2", bad, storage=False))
    assert wrong(both) == [(f"spec.versions[1].{place}", "Required")]


def test_groups_of_kubernetes_need_its_word() -> None:
    made = definition(group="x.k8s.io")
    place = "metadata.annotations[api-approved.kubernetes.io]"
    assert wrong(made) == [(place, "Required")]
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": "nobody"}
    assert wrong(made) == [(place, "Invalid")]
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, for testing"}
    assert wrong(made) == []
    assert wrong(definition(group="x-k8s.io")) == []


def test_what_is_served_keeps_its_scope_and_kind() -> None:
    old = ready(definition())
    old["status"]["conditions"] = [{"type": "Established", "status": "True"}]
    made = definition(kind="Gadget")
    made["spec"]["scope"] = "Cluster"
    assert {place for place, _ in wrong(made, old)} == {"spec.scope", "spec.names.kind"}


def test_versions_that_were_ever_stored_stay() -> None:
    made = ready(definition())
    made["status"]["storedVersions"] = ["v1", "v0"]
    assert [error.path for error in wrong_definition(made, None)] == ["status.storedVersions[1]"]


def test_its_writer_is_warned_that_webhooks_are_not_called() -> None:
    made = definition(version(), version("v2", storage=False))
    assert warnings(made) == []
    made["spec"]["conversion"] = {"strategy": "Webhook"}
    assert "only the stored version" in warnings(made)[0]
    assert GROUP in made["metadata"]["name"]
