"""An expression as a tree, read from its compiled form (the protobuf message cel.expr.CheckedExpr).

    parse(bytes) -> Tree       macros are spelled out: `all`, `exists`, `map` and `filter` are comprehensions

Why        what an expression reads, whether it fits a schema and how dear it can get are questions about its tree, which the
           library only hands out in this form.
Source     the CEL specification: cel/expr/syntax.proto, cel/expr/checked.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(slots=True)
class Constant:
    """A literal."""

    at: int
    value: bool | int | float | str | bytes | None


@dataclass(slots=True)
class Name:
    """A variable."""

    at: int
    name: str


@dataclass(slots=True)
class Select:
    """`operand.field`, or `has(operand.field)` where `test`."""

    at: int
    operand: Node
    field: str
    test: bool


@dataclass(slots=True)
class Call:
    """A function, an operator (`_+_`) or a member function (`target` is what it is called on)."""

    at: int
    function: str
    target: Node | None
    args: list[Node]


@dataclass(slots=True)
class ListOf:
    """A list literal."""

    at: int
    elements: list[Node]


@dataclass(slots=True)
class MapOf:
    """A map literal, or a message where `message` names its type: keys are nodes, or None for a message's fields."""

    at: int
    message: str
    entries: list[tuple[Node | None, Node]]


@dataclass(slots=True)
class Comprehension:
    """For each `variable` (and `second`: key and value, or index and value) of `range`: accumulator := step."""

    at: int
    variable: str
    second: str
    range: Node
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node


Node: TypeAlias = Constant | Name | Select | Call | ListOf | MapOf | Comprehension
"""`at` is the node's number; Tree.columns says where it stands."""


@dataclass
class Tree:
    """An expression; `columns` is where each node stands in the text, from 0."""

    root: Node
    columns: dict[int, int] = field(default_factory=dict)


def parse(compiled: bytes) -> Tree:
    """See the module."""
    checked = _one(_fields(_one(_fields(compiled), 2)), 4), _one(_fields(_one(_fields(compiled), 2)), 5)
    columns = {}
    for number, entry in _fields(checked[1]):
        if number == 4 and isinstance(entry, bytes):
            parts = dict(_fields(entry))
            columns[int(parts.get(1, 0))] = int(parts.get(2, 0))
    return Tree(_node(checked[0]), columns)


def names(node: Node) -> Iterator[str]:
    """Every variable that is read, comprehensions' own ones too."""
    if isinstance(node, Name):
        yield node.name
    for below in children(node):
        yield from names(below)


def children(node: Node) -> Iterator[Node]:
    """What is one step below."""
    match node:
        case Select():
            yield node.operand
        case Call():
            if node.target is not None:
                yield node.target
            yield from node.args
        case ListOf():
            yield from node.elements
        case MapOf():
            for key, value in node.entries:
                if key is not None:
                    yield key
                yield value
        case Comprehension():
            yield from (node.range, node.start, node.condition, node.step, node.result)


Value: TypeAlias = int | bytes


def _fields(message: bytes) -> Iterator[tuple[int, Value]]:
    """The fields of a protobuf message in order: varints as int, 64 bits and texts and messages as bytes."""
    place, end = 0, len(message)
    while place < end:
        tag, place = _varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield number, value
            continue
        size = 8 if kind == 1 else 4
        if kind == 2:
            size, place = _varint(message, place)
        yield number, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


def _one(fields: Iterator[tuple[int, Value]], number: int) -> bytes:
    return next((value for found, value in fields if found == number and isinstance(value, bytes)), b"")


def _node(message: bytes) -> Node:
    at, body, kind = 0, b"", 0
    for number, value in _fields(message):
        if number == 2:
            at = int(value) if isinstance(value, int) else 0
        elif isinstance(value, bytes):
            kind, body = number, value
    match kind:
        case 4:
            return Name(at, _one(_fields(body), 1).decode())
        case 5:
            parts = dict(_fields(body))
            return Select(at, _node(_one(_fields(body), 1)), _one(_fields(body), 2).decode(), bool(parts.get(3)))
        case 6:
            target = _one(_fields(body), 1)
            args = [_node(value) for number, value in _fields(body) if number == 3 and isinstance(value, bytes)]
            return Call(at, _one(_fields(body), 2).decode(), _node(target) if target else None, args)
        case 7:
            return ListOf(at, [_node(v) for number, v in _fields(body) if number == 1 and isinstance(v, bytes)])
        case 8:
            return _map(at, body)
        case 9:
            return _comprehension(at, body)
    return Constant(at, _constant(body))


def _map(at: int, body: bytes) -> MapOf:
    entries: list[tuple[Node | None, Node]] = []
    for number, value in _fields(body):
        if number == 2 and isinstance(value, bytes):
            key = _one(_fields(value), 3)
            entries.append((_node(key) if key else None, _node(_one(_fields(value), 4))))
    return MapOf(at, _one(_fields(body), 1).decode(), entries)


def _comprehension(at: int, body: bytes) -> Comprehension:
    parts = {number: value for number, value in _fields(body) if isinstance(value, bytes)}
    node = {number: _node(parts.get(number, b"")) for number in (2, 4, 5, 6, 7)}
    name = {number: parts.get(number, b"").decode() for number in (1, 3, 8)}
    return Comprehension(at, name[1], name[8], node[2], name[3], node[4], node[5], node[6], node[7])


def _constant(body: bytes) -> bool | int | float | str | bytes | None:
    for number, value in _fields(body):
        match number:
            case 2:
                return bool(value)
            case 3 if isinstance(value, int):
                return value - (1 << 64) if value >= 1 << 63 else value
            case 4:
                return value
            case 5 if isinstance(value, bytes):
                return float(struct.unpack("<d", value)[0])
            case 6 if isinstance(value, bytes):
                return value.decode()
            case 7:
                return value
    return None
