"""A set of fields of an object, as a value.

A field is a path of elements, written as the API writes them: `f:<name>` a member, `k:<keys>` an item of a list by its keys,
`v:<value>` an item of a set, `i:<index>` an item by place. The set is a tree of nested objects (FieldsV1), and is kept as that:

    {"f:data": {".": {}, "f:a": {}}}      .data and .data.a
    {"f:data": {"f:a": {}}}               .data.a alone: what has members and no `.` is only on the way
    {}                                    at the root: nothing; elsewhere: the field itself

Laws       union, intersection, difference are those of sets of paths; equal sets have equal trees.
Trees      are never changed once made, and share their branches: a set may be stored as it is and used on.
Cost       O(the smaller tree) where two sets touch; a branch that only one has is taken as it is.
Source     Kubernetes: server-side apply, FieldsV1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject
from kumi.registry.apply.elements import canonical_element

SELF = "."
LEAF: JsonObject = {}
"""A field with nothing below it. Shared: never changed."""
_ITSELF: JsonObject = {SELF: LEAF}
DEPTH_AT_MOST = 200

Path = tuple[str, ...]


class FieldSet:
    """A set of fields; `tree` is its FieldsV1, read-only."""

    __slots__ = ("tree",)

    def __init__(self, tree: JsonObject | None = None) -> None:
        self.tree: JsonObject = tree or {}

    @classmethod
    def of(cls, *paths: Path) -> FieldSet:
        """The set of these paths."""
        made = cls()
        for path in paths:
            node: JsonObject = LEAF
            for element in reversed(path):
                node = {element: node}
            made |= cls(node)
        return made

    def __bool__(self) -> bool:
        return bool(self.tree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldSet) and self.tree == other.tree

    def __hash__(self) -> int:
        return hash(frozenset(self.paths()))

    def __repr__(self) -> str:
        return f"FieldSet({self.tree})"

    def __contains__(self, path: Path) -> bool:
        node = self.tree
        for element in path:
            below = node.get(element)
            if below is None:
                return False
            node = below
        return bool(path) and is_field(node)

    def __or__(self, other: FieldSet) -> FieldSet:
        if not self.tree or self.tree is other.tree:
            return other
        return FieldSet(_union(self.tree, other.tree)) if other.tree else self

    def __and__(self, other: FieldSet) -> FieldSet:
        return FieldSet(_intersection(self.tree, other.tree))

    def __sub__(self, other: FieldSet) -> FieldSet:
        if not self.tree.keys() & other.tree.keys():
            return self
        return FieldSet(_difference(self.tree, other.tree))

    def without_below(self, other: FieldSet) -> FieldSet:
        """Without the fields of `other` and all that is below them."""
        return FieldSet(_cut(self.tree, other.tree)) if self.tree.keys() & other.tree.keys() else self

    def paths(self) -> Iterator[Path]:
        """Every path, a field before those below it, in the order of their text."""
        yield from _paths(self.tree, ())


def is_field(node: JsonObject) -> bool:
    """Whether a node of a tree (not its root) is a field of the set itself, not only on the way to one."""
    return not node or SELF in node


def read(tree: object) -> FieldSet:
    """The set that a tree from outside stands for. KumiError if it is none."""
    return FieldSet(_read(tree, root=True))


def _read(tree: object, *, root: bool, depth: int = 0) -> JsonObject:
    if not isinstance(tree, dict) or depth > DEPTH_AT_MOST:
        raise KumiError("a set of fields is a tree of objects")
    out: JsonObject = {}
    for key, below in tree.items():
        if key == SELF:
            if not root:
                out[SELF] = LEAF
        else:
            out[canonical_element(key)] = _read(below, root=False, depth=depth + 1)
    return out if root else _plain(out)


def _plain(node: JsonObject) -> JsonObject:
    """The one way to write a field with nothing below it."""
    return LEAF if len(node) == 1 and SELF in node else node


def _union(one: JsonObject, other: JsonObject) -> JsonObject:
    out = dict(one)
    for key, below in other.items():
        there = out.get(key)
        if there is None:
            out[key] = below
        elif there is not below and key != SELF:
            out[key] = _plain(_union(there or _ITSELF, below or _ITSELF))
    return out


def _intersection(one: JsonObject, other: JsonObject) -> JsonObject:
    out: JsonObject = {}
    for key, below in one.items():
        there = other.get(key)
        if there is None:
            continue
        if key == SELF:
            out[SELF] = LEAF
        elif both := _intersection(below or _ITSELF, there or _ITSELF):
            out[key] = _plain(both)
    return out


def _difference(one: JsonObject, other: JsonObject) -> JsonObject:
    out: JsonObject = {}
    for key, below in one.items():
        there = other.get(key)
        if there is None:
            out[key] = below
        elif key != SELF and (left := _difference(below or _ITSELF, there or _ITSELF)):
            out[key] = _plain(left)
    return out


def _cut(one: JsonObject, other: JsonObject) -> JsonObject:
    out: JsonObject = {}
    for key, below in one.items():
        there = other.get(key)
        if there is None:
            out[key] = below
        elif not is_field(there) and (left := _cut(below or _ITSELF, there)):
            out[key] = _plain(left)
    return out


def _paths(node: JsonObject, above: Path) -> Iterator[Path]:
    for key in sorted(node):
        if key == SELF:
            continue
        below: Any = node[key]
        path = (*above, key)
        if is_field(below):
            yield path
        yield from _paths(below, path)
