from __future__ import annotations

from copy import deepcopy
from typing import Annotated

from kumi.api.defaulting.structural import by_schema
from kumi.api.meta import Object, View
from kumi.api.schema import say
from kumi.api.wire import JsonObject


class Inner(View):
    """Something within."""

    size: Annotated[int | None, say(default=1)] = None


class Outer(Object):
    """A kind of this test."""

    given: Annotated[Inner | None, say(default={})] = None
    absent: Inner | None = None
    rows: list[Inner] = []
    by_name: dict[str, Inner] = {}


DEFAULT = by_schema(Outer, "example.com", "v1")


def test_an_absent_member_gets_its_default_and_those_below_it() -> None:
    obj: JsonObject = {}
    DEFAULT(obj)
    assert obj == {"given": {"size": 1}}


def test_what_is_given_stays_and_is_completed_wherever_it_is() -> None:
    obj: JsonObject = {"given": {"size": 5}, "absent": {}, "rows": [{}, {"size": 2}], "byName": {"a": {}}}
    DEFAULT(obj)
    assert obj == {
        "given": {"size": 5},
        "absent": {"size": 1},
        "rows": [{"size": 1}, {"size": 2}],
        "byName": {"a": {"size": 1}},
    }


def test_defaulting_twice_changes_nothing_and_objects_share_no_defaults() -> None:
    one: JsonObject = {}
    other: JsonObject = {}
    DEFAULT(one)
    DEFAULT(other)
    before = deepcopy(one)
    DEFAULT(one)
    assert one == before
    one["given"]["size"] = 9
    assert other == before
