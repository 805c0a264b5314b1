"""JSON as rules see it: names that can be written, times that are times, and nothing that the schema doesn't have."""

from __future__ import annotations

import datetime as dt

import pytest

from kumi.registry.custom.cel.data import cel_value, duration, member_name
from kumi.registry.custom.schema import compile_schema
from tests.registry.custom.made import NUMBER, TEXT, many, of


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a", "a"), ("a-b", "a__dash__b"), ("a.b/c", "a__dot__b__slash__c"), ("a__b", "a__underscores__b"), ("in", "__in__"),
        ("namespace", "__namespace__"), ("1a", ""), ("a b", ""), ("int", "int"),
    ],
)  # fmt: skip
def test_how_a_member_is_named(name: str, written: str) -> None:
    assert member_name(name) == written


def test_only_what_the_schema_has_is_seen() -> None:
    schema = compile_schema({**of(**{"a-b": NUMBER}), "x-kubernetes-preserve-unknown-fields": True})
    assert cel_value(schema, {"a-b": 1, "other": 2}) == {"a__dash__b": 1}


def test_a_map_keeps_its_keys_as_they_are() -> None:
    schema = compile_schema({"type": "object", "additionalProperties": NUMBER})
    assert cel_value(schema, {"a-b": 1, "in": 2}) == {"a-b": 1, "in": 2}


def test_a_whole_object_shows_its_name_and_kind() -> None:
    obj = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "labels": {}}, "spec": 1}
    expected = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "spec": 1}
    assert cel_value(compile_schema(of(spec=NUMBER, metadata=of())), obj, whole=True) == expected


def test_formats_are_times_and_bytes() -> None:
    schema = compile_schema(many({**TEXT, "format": "date-time"}))
    (moment,) = cel_value(schema, ["2020-01-01T01:00:00+01:00"])
    assert moment.ToDatetime(dt.UTC) == dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    span = cel_value(compile_schema({**TEXT, "format": "duration"}), "1h30m")
    assert span.ToTimedelta() == dt.timedelta(minutes=90)
    assert cel_value(compile_schema({**TEXT, "format": "byte"}), "aGk=") == b"hi"
    assert cel_value(compile_schema({**TEXT, "format": "date"}), "2020-01-01").seconds == 1577836800
    with pytest.raises(ValueError, match=r"."):
        cel_value(schema, ["soon"])


def test_a_number_is_a_double_and_a_whole_one_an_integer() -> None:
    assert isinstance(cel_value(compile_schema({"type": "number"}), 1), float)
    assert isinstance(cel_value(compile_schema(NUMBER), 1.0), int)


def test_durations() -> None:
    assert duration("-1m30s") == dt.timedelta(seconds=-90)
    assert duration("1.5h") == dt.timedelta(minutes=90)
    for wrong in ("", "1", "1d", "h"):
        with pytest.raises(ValueError, match="duration"):
            duration(wrong)
