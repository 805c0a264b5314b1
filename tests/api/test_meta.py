from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.meta import (
    Condition,
    Object,
    ObjectMeta,
    OwnerReference,
    TimeError,
    find_condition,
    format_micro_time,
    format_time,
    is_time,
    is_true,
    owner_reference,
    parse_time,
    selector_text,
)

SECONDS = st.integers(0, 4_000_000_000)


@given(SECONDS)
def test_a_time_reads_back_in_whole_seconds(seconds: int) -> None:
    assert parse_time(format_time(seconds * 1000 + 999)) == seconds * 1000


@given(st.integers(0, 4_000_000_000_000))
def test_a_time_with_microseconds_reads_back_to_the_millisecond(ms: int) -> None:
    assert parse_time(format_micro_time(ms)) == ms


def test_times_of_other_zones_are_understood_and_what_is_no_time_is_told() -> None:
    assert parse_time("1970-01-01T02:00:00+02:00") == 0
    assert parse_time(None) is None
    assert parse_time("") is None
    for text in ("yesterday", "2024-01-01", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z"):
        with pytest.raises(TimeError, match=text):
            parse_time(text)


@given(SECONDS)
def test_what_is_written_as_kubernetes_has_it_is_a_time(seconds: int) -> None:
    assert is_time(format_time(seconds * 1000))
    assert is_time(format_micro_time(seconds * 1000))


@pytest.mark.parametrize(
    "text", ["", "soon", "2024-01-01", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z", "20240101T000000Z"]
)
def test_anything_else_is_none(text: str) -> None:
    assert not is_time(text)


def test_an_object_is_known_by_namespace_and_name() -> None:
    assert Object(metadata=ObjectMeta(name="a", namespace="b")).key == "b/a"
    assert Object(metadata=ObjectMeta(name="a")).key == "a"


def test_the_controller_is_the_owner_that_says_so() -> None:
    meta = ObjectMeta(owner_references=[OwnerReference(uid="1"), OwnerReference(uid="2", controller=True)])
    assert meta.controller is not None
    assert meta.controller.uid == "2"
    assert ObjectMeta().controller is None


def test_conditions_are_found_by_type() -> None:
    conditions = [Condition(type="A", status="False"), Condition(type="B", status="True")]
    assert find_condition(conditions, "A") is conditions[0]
    assert (is_true(conditions, "B"), is_true(conditions, "A"), is_true(conditions, "C")) == (True, False, False)


def test_a_child_names_its_owner() -> None:
    wanted = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "a",
        "uid": "u",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    assert owner_reference({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "uid": "u"}}) == wanted
    view = Object(metadata=ObjectMeta(name="a", uid="u"))
    assert owner_reference(view, "v1", "Pod") == wanted


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, ""),
        ({}, ""),
        ({"b": "2", "a": "1"}, "a=1,b=2"),
        ({"matchLabels": {"a": "1"}}, "a=1"),
        (
            {
                "matchLabels": {"a": "1"},
                "matchExpressions": [
                    {"key": "k", "operator": "In", "values": ["y", "x"]},
                    {"key": "k", "operator": "NotIn", "values": ["z"]},
                    {"key": "k", "operator": "Exists"},
                    {"key": "k", "operator": "DoesNotExist"},
                ],
            },
            "a=1,k in (x,y),k notin (z),k,!k",
        ),
    ],
)
def test_a_selector_as_text(selector: dict[str, object] | None, text: str) -> None:
    assert selector_text(selector) == text
