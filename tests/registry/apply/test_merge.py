from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given

from kumi.registry.apply.claims import claims
from kumi.registry.apply.compare import compare, everything
from kumi.registry.apply.fieldset import FieldSet
from kumi.registry.apply.merge import merge

from .shapes import POD, PODS

Json = dict[str, Any]


@given(PODS, PODS)
def test_what_a_configuration_says_is_there_and_nothing_goes_that_it_does_not_say(obj: Json, config: Json) -> None:
    merged = merge(POD, obj, config)
    assert claims(POD, config) - everything(POD, merged) == FieldSet()
    changed, removed = compare(POD, obj, merged)
    assert not removed
    assert changed - everything(POD, config) == FieldSet()


@given(PODS, PODS)
def test_merging_twice_is_merging_once_and_changes_no_argument(obj: Json, config: Json) -> None:
    before = orjson.dumps([obj, config])
    once = merge(POD, obj, config)
    assert merge(POD, once, config) == once
    assert merge(POD, obj, {}) == obj
    assert orjson.dumps([obj, config]) == before


def names(there: str, config: str) -> str:
    obj = {"spec": {"containers": [{"name": name} for name in there]}}
    said = {"spec": {"containers": [{"name": name} for name in config]}}
    return "".join(item["name"] for item in merge(POD, obj, said)["spec"]["containers"])


def test_items_keep_the_order_of_the_configuration_and_others_their_places() -> None:
    assert names("abc", "") == "abc"
    assert names("", "ab") == "ab"
    assert names("abc", "ca") == "bca"
    assert names("abc", "bxa") == "bcxa"
    assert names("ab", "xa") == "xab"
    assert names("a", "bc") == "abc"


def test_an_item_of_both_merges_and_a_set_is_a_union() -> None:
    obj = {"metadata": {"finalizers": ["a"]}, "spec": {"containers": [{"name": "c", "image": "1", "tty": True}]}}
    config = {"metadata": {"finalizers": ["b"]}, "spec": {"containers": [{"name": "c", "image": "2"}]}}
    assert merge(POD, obj, config) == {
        "metadata": {"finalizers": ["a", "b"]},
        "spec": {"containers": [{"name": "c", "image": "2", "tty": True}]},
    }
