from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.registry.apply.fieldset import DEPTH_AT_MOST, FieldSet, Path, read

from .shapes import PATHS, SETS


def made(paths: frozenset[Path]) -> FieldSet:
    return FieldSet.of(*sorted(paths))


@given(SETS, SETS)
def test_the_algebra_is_that_of_sets_of_paths(one: frozenset[Path], other: frozenset[Path]) -> None:
    assert set((made(one) | made(other)).paths()) == one | other
    assert set((made(one) & made(other)).paths()) == one & other
    assert set((made(one) - made(other)).paths()) == one - other


@given(SETS, SETS)
def test_equal_sets_have_equal_trees_however_they_came_about(one: frozenset[Path], other: frozenset[Path]) -> None:
    assert (made(one) | made(other)) == (made(other) | made(one)) == made(one | other)
    assert (made(one) - made(other)) == made(one - other)
    assert (made(one) & made(other)) == made(one & other)
    assert bool(made(one)) == bool(one)


@given(SETS, PATHS)
def test_what_is_in_a_set_is_one_of_its_paths(paths: frozenset[Path], path: Path) -> None:
    assert (path in made(paths)) == (path in paths)
    assert () not in made(paths)


@given(SETS, SETS)
def test_no_operation_changes_its_operands(one: frozenset[Path], other: frozenset[Path]) -> None:
    a, b = made(one), made(other)
    before = orjson.dumps([a.tree, b.tree])
    _ = a | b, a & b, a - b
    assert orjson.dumps([a.tree, b.tree]) == before


@given(SETS)
def test_a_set_survives_being_written_and_read(paths: frozenset[Path]) -> None:
    assert read(orjson.loads(orjson.dumps(made(paths).tree))) == made(paths)


def test_a_field_with_nothing_below_it_is_written_one_way() -> None:
    assert read({"f:a": {".": {}}}) == read({"f:a": {}}) == FieldSet.of(("f:a",))
    assert read({".": {}}) == FieldSet()
    assert read({'k:{"b":1, "a":2}': {}}) == FieldSet.of(('k:{"a":2,"b":1}',))
    assert FieldSet.of(("f:a", "f:b"), ("f:a",)).tree == {"f:a": {".": {}, "f:b": {}}}


def nested(depth: int) -> object:
    tree: object = {}
    for _ in range(depth):
        tree = {"f:a": tree}
    return tree


@pytest.mark.parametrize(
    "tree",
    [None, [], {"f:a": 1}, {"a": {}}, {"x:a": {}}, {"k:1": {}}, {"k:{": {}}, {"i:x": {}}, nested(DEPTH_AT_MOST + 2)],
)
def test_what_is_no_set_is_refused(tree: object) -> None:
    with pytest.raises(KumiError):
        read(tree)


@given(st.lists(SETS, max_size=3))
def test_sets_of_the_same_paths_have_the_same_hash(sets: list[frozenset[Path]]) -> None:
    assert len({made(paths) for paths in sets}) == len(set(sets))
