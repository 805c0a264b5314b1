"""Expressions as trees: every form of the language, macros spelled out."""

from __future__ import annotations

import pytest

from kumi.registry.custom.cel.environment import compile_rule
from kumi.registry.custom.cel.tree import (
    Call,
    Comprehension,
    Constant,
    ListOf,
    MapOf,
    Name,
    Node,
    Select,
    children,
    names,
)


def root(text: str) -> Node:
    """The tree of an expression."""
    return compile_rule(text).tree.root


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-7", -7),
        ("1.5", 1.5),
        ("'x'", "x"),
        ("b'x'", b"x"),
        ("true", True),
        ("false", False),
        ("null", None),
    ],
)
def test_constants(text: str, value: object) -> None:
    found = root(text)
    assert isinstance(found, Constant)
    assert (found.value, type(found.value)) == (value, type(value))


def test_members_and_whether_they_are_there() -> None:
    member, there = root("self.a.b"), root("has(self.a)")
    assert isinstance(member, Select)
    assert (member.field, member.test) == ("b", False)
    assert isinstance(member.operand, Select)
    assert isinstance(member.operand.operand, Name)
    assert isinstance(there, Select)
    assert there.test


def test_calls_lists_and_maps() -> None:
    call, made, keyed = root("self.a.startsWith('x')"), root("[1, self]"), root("{'a': 1}")
    assert isinstance(call, Call)
    assert (call.function, len(call.args)) == ("startsWith", 1)
    assert call.target is not None
    assert isinstance(made, ListOf)
    assert len(made.elements) == 2
    assert isinstance(keyed, MapOf)
    assert [type(key) for key, _ in keyed.entries] == [Constant]


def test_a_macro_is_a_comprehension() -> None:
    found = root("self.all(x, x > 0)")
    assert isinstance(found, Comprehension)
    assert (found.variable, [type(each) for each in children(found)][:2]) == ("x", [Name, Constant])


def test_names_that_are_read() -> None:
    assert {"self", "oldSelf", "x"} <= set(names(root("self.exists(x, x == oldSelf)")))
    assert "oldSelf" not in set(names(root("self == 'oldSelf'")))


def test_each_node_knows_where_it_stands() -> None:
    tree = compile_rule("1 == self.b").tree
    assert isinstance(tree.root, Call)
    assert [tree.columns[arg.at] for arg in tree.root.args] == [0, 9]
