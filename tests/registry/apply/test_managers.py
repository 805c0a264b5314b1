from __future__ import annotations

import orjson
import pytest
from hypothesis import given

from kumi.registry.apply.fieldset import FieldSet, Path
from kumi.registry.apply.managers import (
    ANCIENT,
    UPDATERS,
    Entry,
    Manager,
    decode,
    encode,
    is_reset,
    ordered,
    read_entries,
    same_but_time,
)

from .shapes import SETS

A, B = ("f:data", "f:a"), ("f:data", "f:b")


def entry(
    name: str, *paths: Path, time: str = "2026-01-01T00:00:00Z", apply: bool = False, version: str = "v1"
) -> Entry:
    return Manager(name, "Apply" if apply else "Update", version).entry(FieldSet.of(*paths), time)


def test_an_entry_is_written_as_the_api_has_it() -> None:
    made = Manager("m", "Update", "v1", "status").entry(FieldSet.of(A), "2026-01-01T00:00:00Z")
    assert orjson.loads(encode([made])) == [
        {
            "manager": "m",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:a": {}}},
            "subresource": "status",
        }
    ]
    assert "time" not in orjson.loads(encode([entry("m", A, time="")]))[0]
    assert read_entries(orjson.loads(encode([made]))) == [made]
    assert decode(encode([made])) == [made]


def test_an_apply_speaks_for_all_versions_and_an_update_for_its_own() -> None:
    assert Manager("m", "Apply", "v2").owns(entry("m", A, apply=True))
    assert not Manager("m", "Update", "v2").owns(entry("m", A))
    assert not Manager("m", "Update", "v1").owns(entry("m", A, apply=True))
    assert not Manager("m", "Update", "v1", "status").owns(entry("m", A))


@given(SETS, SETS)
def test_an_entry_without_fields_is_what_is_left_of_it(own: frozenset[Path], gone: frozenset[Path]) -> None:
    before, taken = entry("m", *own), FieldSet.of(*gone)
    left = before.without(taken)
    assert (FieldSet() if left is None else left.fields) == before.fields - taken
    if not before.fields & taken:
        assert left is before
    if not before.may_touch(taken):
        assert not before.fields & taken


def test_applies_stand_before_updates_then_by_time_and_name() -> None:
    entries = [
        entry("b", A),
        entry("a", A),
        entry("late", A, time="2027-01-01T00:00:00Z", apply=True),
        entry("never", A, time="", apply=True),
    ]
    assert [one.manager for one in ordered(entries)] == ["never", "late", "a", "b"]


def test_past_the_cap_the_oldest_updates_become_one_and_lose_no_field() -> None:
    entries = [entry(f"m{i:02}", ("f:data", f"f:{i}"), time=f"2026-01-01T00:00:{i:02}Z") for i in range(UPDATERS + 3)]
    capped = ordered([entry("applier", A, apply=True), *entries])
    updates = [one for one in capped if one.operation == "Update"]
    assert len(updates) == UPDATERS
    assert updates[0].manager == ANCIENT
    assert updates[0].time == "2026-01-01T00:00:03Z"
    assert {path for one in updates for path in one.fields.paths()} == {
        ("f:data", f"f:{i}") for i in range(UPDATERS + 3)
    }
    assert capped[0].manager == "applier"


def test_entries_of_different_versions_do_not_become_one() -> None:
    entries = [entry(f"m{i:02}", A, version=f"v{i}", time=f"2026-01-01T00:00:{i:02}Z") for i in range(UPDATERS + 2)]
    assert ordered(entries) == entries


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        "x",
        [1],
        [{}],
        [{"manager": "m", "operation": "Delete", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}],
        [{"manager": "m", "operation": "Apply", "apiVersion": "", "fieldsType": "FieldsV1", "fieldsV1": {}}],
        [{"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV2", "fieldsV1": {}}],
        [{"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"x": {}}}],
        [{"manager": 1, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}],
        [{"operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}, "time": "then"}],
    ],
)
def test_entries_that_make_no_sense_do_not_count(sent: object) -> None:
    assert read_entries(sent) is None
    assert is_reset(sent) == (sent == [{}])


def test_only_times_may_differ() -> None:
    assert same_but_time([entry("m", A)], [entry("m", A, time="")])
    assert not same_but_time([entry("m", A)], [entry("m", B)])
    assert not same_but_time([entry("m", A)], [])


def test_a_manager_is_told_with_its_version_if_it_updates() -> None:
    assert str(Manager("m", "Apply", "v1")) == '"m"'
    assert str(Manager("m", "Update", "v1", "status")) == '"m" with subresource "status" using v1'


@given(SETS, SETS)
def test_an_entry_with_more_fields_has_both(own: frozenset[Path], more: frozenset[Path]) -> None:
    grown = entry("m", *own).with_also(FieldSet.of(*more), "2027-01-01T00:00:00Z")
    assert set(grown.fields.paths()) == own | more
    assert (grown.manager, grown.time) == ("m", "2027-01-01T00:00:00Z")
