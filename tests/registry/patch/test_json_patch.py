"""JSON patch: RFC 6902's laws and the corners of its paths."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given

from kumi.registry.patch import BadPatch, Unappliable, json_patch

from .test_merge import documents


def escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def diff(old: Any, new: Any, path: str = "") -> list[dict]:
    """Operations that make `new` of `old`."""
    if isinstance(old, dict) and isinstance(new, dict):
        operations = [{"op": "remove", "path": f"{path}/{escape(k)}"} for k in old if k not in new]
        for key, value in new.items():
            here = f"{path}/{escape(key)}"
            operations += diff(old[key], value, here) if key in old else [{"op": "add", "path": here, "value": value}]
        return operations
    if isinstance(old, list) and isinstance(new, list):
        shared = min(len(old), len(new))
        operations = [op for i in range(shared) for op in diff(old[i], new[i], f"{path}/{i}")]
        operations += [{"op": "remove", "path": f"{path}/{i}"} for i in reversed(range(shared, len(old)))]
        return operations + [{"op": "add", "path": f"{path}/-", "value": value} for value in new[shared:]]
    if old == new and type(old) is type(new):
        return []
    return [{"op": "replace", "path": path, "value": new}]


@given(documents, documents)
def test_applying_the_difference_gives_the_target(old: dict, new: dict) -> None:
    assert json_patch.apply(copy.deepcopy(old), diff(old, copy.deepcopy(new))) == new


@given(documents)
def test_every_value_passes_the_test_of_itself(document: dict) -> None:
    operations = [{"op": "test", "path": f"/{escape(key)}", "value": value} for key, value in document.items()]
    assert json_patch.apply(copy.deepcopy(document), operations) == document


@given(documents, documents)
def test_a_move_is_a_copy_and_a_removal(inner: dict, outer: dict) -> None:
    document = {"from": inner, "to": outer}
    moved = json_patch.apply(copy.deepcopy(document), [{"op": "move", "from": "/from", "path": "/to/x"}])
    copied = json_patch.apply(
        copy.deepcopy(document),
        [{"op": "copy", "from": "/from", "path": "/to/x"}, {"op": "remove", "path": "/from"}],
    )
    assert moved == copied


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        ({"op": "add", "path": "/l/1", "value": 9}, {"l": [1, 9, 2], "m": {"a/b": 1, "m~n": 2}}),
        ({"op": "add", "path": "/l/2", "value": 9}, {"l": [1, 2, 9], "m": {"a/b": 1, "m~n": 2}}),
        ({"op": "add", "path": "/l/-", "value": 9}, {"l": [1, 2, 9], "m": {"a/b": 1, "m~n": 2}}),
        ({"op": "remove", "path": "/m/a~1b"}, {"l": [1, 2], "m": {"m~n": 2}}),
        ({"op": "replace", "path": "/m/m~0n", "value": None}, {"l": [1, 2], "m": {"a/b": 1, "m~n": None}}),
        ({"op": "add", "path": "", "value": {"new": True}}, {"new": True}),
        ({"op": "test", "path": "/none", "value": None}, {"l": [1, 2], "m": {"a/b": 1, "m~n": 2}}),
        ({"op": "move", "from": "/l/0", "path": "/l/1"}, {"l": [2, 1], "m": {"a/b": 1, "m~n": 2}}),
    ],
)
def test_one_operation(operation: dict, result: dict) -> None:
    assert json_patch.apply({"l": [1, 2], "m": {"a/b": 1, "m~n": 2}}, [operation]) == result


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/none"},
        {"op": "replace", "path": "/none", "value": 1},
        {"op": "remove", "path": "/l/2"},
        {"op": "add", "path": "/l/3", "value": 1},
        {"op": "add", "path": "/l/01", "value": 1},
        {"op": "add", "path": "/l/-1", "value": 1},
        {"op": "remove", "path": "/l/-"},
        {"op": "add", "path": "/none/x", "value": 1},
        {"op": "add", "path": "/l/0/x", "value": 1},
        {"op": "add", "path": "x", "value": 1},
        {"op": "add", "path": "/x"},
        {"op": "add", "value": 1},
        {"op": "copy", "path": "/x"},
        {"op": "copy", "from": "/none", "path": "/x"},
        {"op": "move", "from": "/m", "path": "/m/x"},
        {"op": "test", "path": "/l/0", "value": True},
        {"op": "test", "path": "/none", "value": 1},
        {"op": "add", "path": "", "value": []},
        {"op": "remove", "path": ""},
        {"op": "frob", "path": "/l"},
    ],
)
def test_what_can_not_be_done_is_refused(operation: dict) -> None:
    with pytest.raises(Unappliable):
        json_patch.apply({"l": [1, 2], "m": {}}, [operation])


def test_a_copy_shares_nothing_with_its_source() -> None:
    document = json_patch.apply(
        {"a": {"x": 1}},
        [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "replace", "path": "/b/x", "value": 2}],
    )
    assert document == {"a": {"x": 1}, "b": {"x": 2}}


@pytest.mark.parametrize("patch", [{}, "a", [1], [[]], None])
def test_what_is_no_list_of_operations_is_no_patch(patch: object) -> None:
    with pytest.raises(BadPatch, match="list of operations"):
        json_patch.apply({}, patch)
