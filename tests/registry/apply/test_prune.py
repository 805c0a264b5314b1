from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given

from kumi.registry.apply.compare import everything
from kumi.registry.apply.fieldset import FieldSet
from kumi.registry.apply.prune import prune

from .shapes import POD, PODS

Json = dict[str, Any]


@given(PODS, PODS)
def test_what_was_taken_out_is_gone_and_nothing_new_is_there(obj: Json, other: Json) -> None:
    gone = everything(POD, other)
    before = orjson.dumps(obj)
    left = everything(POD, prune(POD, obj, gone))
    assert left & gone == FieldSet()
    assert left - everything(POD, obj) == FieldSet()
    assert orjson.dumps(obj) == before


@given(PODS)
def test_taking_out_what_is_not_there_changes_nothing(obj: Json) -> None:
    assert prune(POD, obj, FieldSet()) == obj
    assert prune(POD, obj, FieldSet.of(("f:status", "f:phase"))) == obj


def test_an_item_goes_whole_and_a_list_that_is_empty_then_goes_too() -> None:
    obj = {"spec": {"containers": [{"name": "a", "image": "1"}], "hostname": "h"}}
    item = ("f:spec", "f:containers", 'k:{"name":"a"}')
    assert prune(POD, obj, FieldSet.of(item)) == {"spec": {"hostname": "h"}}
    left = prune(POD, obj, FieldSet.of(item), FieldSet.of(item[:2]))
    assert left == {"spec": {"containers": [], "hostname": "h"}}
    assert prune(POD, obj, FieldSet.of((*item, "f:image"))) == {
        "spec": {"containers": [{"name": "a"}], "hostname": "h"}
    }


def test_a_part_of_what_is_one_field_stays() -> None:
    obj = {"spec": {"nodeSelector": {"a": "1"}}}
    assert prune(POD, obj, FieldSet.of(("f:spec", "f:nodeSelector", "f:a"))) == obj
