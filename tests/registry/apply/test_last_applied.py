from __future__ import annotations

import orjson
import pytest

from kumi.api.wire import JsonObject
from kumi.registry.apply.fieldset import FieldSet
from kumi.registry.apply.last_applied import ANNOTATION, SIZE_AT_MOST, allowed, renewed

from .shapes import shape

MAPS = shape("ConfigMap")
OWN = ("f:metadata", "f:annotations", f"f:{ANNOTATION}")


def live(text: str) -> JsonObject:
    return {"metadata": {"annotations": {ANNOTATION: text, "other": "x"}}}


def test_kubectl_may_take_over_what_it_last_applied() -> None:
    last = orjson.dumps({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}).decode()
    found = allowed(MAPS, live(last), "v1")
    assert ("f:data", "f:a") in found
    assert OWN in found
    assert ("f:data", "f:b") not in found


@pytest.mark.parametrize("text", ["", "{", "[]", '{"apiVersion":"v2","data":{"a":"1"}}'])
def test_an_annotation_that_says_nothing_of_this_version_allows_nothing(text: str) -> None:
    assert allowed(MAPS, live(text), "v1") == FieldSet()
    assert allowed(MAPS, {"metadata": {}}, "v1") == FieldSet()


def test_the_annotation_is_written_anew_without_itself() -> None:
    obj = live("{}")
    config = {
        "kind": "ConfigMap",
        "metadata": {"name": "a", "annotations": {ANNOTATION: "old", "mine": "1"}},
        "data": {},
    }
    renewed(obj, config)
    annotations = obj["metadata"]["annotations"]
    assert annotations["other"] == "x"
    assert orjson.loads(annotations[ANNOTATION]) == {
        "kind": "ConfigMap", "data": {}, "metadata": {"name": "a", "annotations": {"mine": "1"}},
    }  # fmt: skip


def test_an_object_without_one_gets_none_and_one_too_large_is_not_written() -> None:
    plain: JsonObject = {"metadata": {"annotations": {"other": "x"}}}
    renewed(plain, {"kind": "ConfigMap", "metadata": {}})
    assert plain == {"metadata": {"annotations": {"other": "x"}}}
    obj = live("{}")
    renewed(obj, {"kind": "ConfigMap", "metadata": {}, "data": {"a": "x" * SIZE_AT_MOST}})
    assert obj == live("{}")
