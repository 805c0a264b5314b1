from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from kumi.registry.apply.claims import SYSTEM, claims, with_structs
from kumi.registry.apply.compare import everything
from kumi.registry.apply.elements import Unnameable
from kumi.registry.apply.fieldset import FieldSet

from .shapes import POD, PODS


@given(PODS)
def test_only_what_is_said_is_claimed(config: dict[str, Any]) -> None:
    assert claims(POD, config) - everything(POD, config) == FieldSet()


@given(PODS)
def test_structs_on_the_way_add_no_item_and_nothing_that_is_not_there(config: dict[str, Any]) -> None:
    claimed = claims(POD, config)
    full = with_structs(POD, claimed)
    assert claimed - full == FieldSet()
    assert full - everything(POD, config) == FieldSet()
    assert all(path[-1].startswith("f:") for path in (full - claimed).paths())
    assert with_structs(POD, full) == full


def test_members_items_and_what_is_empty_are_claimed_and_what_holds_them_is_not() -> None:
    config = {
        "metadata": {"labels": {"a": "1"}, "finalizers": ["x"]},
        "spec": {"containers": [{"name": "c", "ports": []}], "securityContext": {}, "tolerations": []},
    }
    assert claims(POD, config).tree == {
        "f:metadata": {"f:labels": {"f:a": {}}, "f:finalizers": {'v:"x"': {}}},
        "f:spec": {
            "f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}}},
            "f:securityContext": {},
            "f:tolerations": {},
        },
    }


@pytest.mark.parametrize("names", [["a", "a"], [None]])
def test_an_item_without_keys_or_there_twice_is_no_configuration(names: list[str | None]) -> None:
    containers = [{"name": name} for name in names]
    with pytest.raises(Unnameable):
        claims(POD, {"spec": {"containers": containers}})


def test_what_the_server_keeps_is_nobody_s() -> None:
    config = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "b", "uid": "c", "labels": {"d": "e"}},
    }
    assert claims(POD, config) - SYSTEM == FieldSet.of(("f:metadata", "f:labels", "f:d"))
