"""Tables: columns in order, cells by type, rows with what was asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.api.meta import format_time
from kumi.api.scheme import AGE, Column, Kind, Scheme
from kumi.api.wire import JsonObject, Listing
from kumi.registry import table

from .world import NOW_MS

OBJECT: JsonObject = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "creationTimestamp": format_time(NOW_MS - 90_000), "resourceVersion": "7"},
    "spec": {"n": 3, "f": 1.5, "yes": True, "text": "t", "list": ["x", "y"], "map": {"k": "v"}},
}


@pytest.fixture
def kind(scheme: Scheme) -> Kind:
    """A kind without columns of its own."""
    found = scheme.find("", "ConfigMap")
    assert found is not None
    return replace(found, columns=())


def cell(kind: Kind, column: Column, obj: JsonObject = OBJECT) -> object:
    return table.cells(kind, [column], obj, NOW_MS)[0]


def test_the_name_comes_first_unless_the_kind_places_it(kind: Kind, scheme: Scheme) -> None:
    assert [c.name for c in table.columns_of(replace(kind, columns=(AGE,)))] == ["Name", "Age"]
    events = scheme.find("", "Event")
    assert events is not None
    names = [c.name for c in table.columns_of(events)]
    assert (names[0], names.count("Name")) == ("Last Seen", 1)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (Column("C", ".spec.n", "integer"), 3),
        (Column("C", ".spec.f", "number"), 1.5),
        (Column("C", ".spec.yes", "boolean"), True),
        (Column("C", ".spec.yes", "integer"), ""),
        (Column("C", ".spec.text", "integer"), ""),
        (Column("C", ".spec.text"), "t"),
        (Column("C", ".spec.yes"), "true"),
        (Column("C", ".spec.n"), "3"),
        (Column("C", ".spec.list[*]"), "x y"),
        (Column("C", ".spec.list"), "[x y]"),
        (Column("C", ".spec.map"), "map[k:v]"),
        (Column("C", ".spec.none"), ""),
        (AGE, "90s"),
        (Column("C", ".spec.none", "date"), ""),
        (Column("C", cell=lambda obj, now_ms: (obj["metadata"]["name"], now_ms)), ("a", NOW_MS)),
        (Column("C", cell=lambda _obj, _now_ms: None), ""),
    ],
)
def test_a_cell(kind: Kind, column: Column, value: object) -> None:
    assert cell(kind, column) == value


def test_what_is_missing_is_null_in_custom_kinds(kind: Kind) -> None:
    assert cell(replace(kind, custom=True), Column("C", ".spec.none")) is None


def test_dates_of_kubernetes_own_kinds_are_strings_those_of_custom_ones_dates(kind: Kind) -> None:
    own = table.render(replace(kind, columns=(AGE,)), [], NOW_MS)["columnDefinitions"]
    custom = table.render(replace(kind, columns=(AGE,), custom=True), [], NOW_MS)["columnDefinitions"]
    assert [c["type"] for c in own] == ["string", "string"]
    assert [c["type"] for c in custom] == ["string", "date"]
    assert [c["format"] for c in own] == ["name", ""]


@pytest.mark.parametrize(
    ("include", "carried"),
    [
        ("None", None),
        (
            "Metadata",
            {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": OBJECT["metadata"]},
        ),
        ("Object", OBJECT),
    ],
)
def test_rows_carry_what_was_asked_for(kind: Kind, include: table.IncludeObject, carried: object) -> None:
    rows = table.render(kind, [OBJECT], NOW_MS, include=include)["rows"]
    assert rows == [{"cells": ["a"], "object": carried}]


def test_a_list_is_a_table_with_the_metadata_of_the_list(kind: Kind) -> None:
    made = table.render_list(kind, Listing([OBJECT], "9", "more", 4), NOW_MS, "", "None")
    assert (made["kind"], made["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert made["metadata"] == {"resourceVersion": "9", "continue": "more", "remainingItemCount": 4}


def test_later_events_of_a_watch_have_no_column_definitions(kind: Kind) -> None:
    assert table.render(kind, [OBJECT], NOW_MS, headers=False)["columnDefinitions"] == []


def test_cells_read_the_stored_version_whatever_was_asked_for(kind: Kind) -> None:
    def up(obj: JsonObject) -> JsonObject:
        return {**obj, "spec": {"new": obj["spec"]["old"]}}

    def down(obj: JsonObject) -> JsonObject:
        return {**obj, "spec": {"old": obj["spec"]["new"]}}

    two = replace(kind, columns=(Column("C", ".spec.new"),), conversions={"v0": (up, down)})
    old = {"apiVersion": "v0", "kind": "ConfigMap", "metadata": {"name": "a"}, "spec": {"old": "x"}}
    row = table.render(two, [old], NOW_MS, version="v0", include="Object")["rows"][0]
    assert row == {"cells": ["a", "x"], "object": old}


def test_every_column_of_every_kind_prints_an_object_that_has_only_a_name(scheme: Scheme) -> None:
    for kind in scheme:
        obj = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "a"}}
        row = table.render(kind, [obj], NOW_MS, include="None")
        assert len(row["rows"][0]["cells"]) == len(row["columnDefinitions"])
        assert "a" in row["rows"][0]["cells"]


def test_partial_lists_carry_metadata_only() -> None:
    made = table.partial_list(Listing([OBJECT], "9"))
    assert made["metadata"] == {"resourceVersion": "9"}
    assert made["items"] == [table.partial(OBJECT)]
    assert "spec" not in made["items"][0]
