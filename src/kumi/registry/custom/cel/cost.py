"""How dear a rule can get, in units of about one step, with everything as large as the schema lets it be.

    most_of(schema)              how many items, members or letters a value has at most
    estimate(tree, types)        what one run of an expression costs at most

The rule   a step costs 1, making a list 10, a map 30; a comprehension costs its body as often as its range is long; text is
           read at a tenth of a unit a letter. A size that the schema doesn't bound is what fits in a request of 3 MiB.
Limits     PER_RULE for one rule, with all the places where it runs; PER_DEFINITION for all rules of a schema together.
Why        a rule that can be made to run for minutes stops the server for everybody: it is refused with its definition.
Source     Kubernetes: resource constraints on validation rules.
"""

from __future__ import annotations

from kumi.registry.custom.cel.tree import Call, Comprehension, Constant, ListOf, MapOf, Name, Node, Select, Tree
from kumi.registry.custom.cel.types import Type, Types
from kumi.registry.custom.schema import Schema

PER_RULE, PER_DEFINITION = 10_000_000, 100_000_000
REQUEST_BYTES = 3 * 1024 * 1024
LETTER = 0.1
_READ_WHOLE = (
    "startsWith",
    "endsWith",
    "lowerAscii",
    "upperAscii",
    "trim",
    "replace",
    "split",
    "substring",
    "join",
    "format",
)
_ELSEWHERE = 1 << 10
"""size of what no schema bounds, such as a text that an expression makes"""


def least_bytes(schema: Schema) -> int:
    """How small a value can be in JSON."""
    if schema.type == "object":
        needed = (name for name in schema.required if name in schema.properties)
        return 2 + sum(len(name) + 4 + least_bytes(schema.properties[name]) for name in needed)
    return {"string": 2, "array": 2, "boolean": 4}.get(schema.type, 1)


def most_of(schema: Schema) -> int:
    """See the module."""
    bounds = schema.bounds
    if schema.type == "array":
        room = REQUEST_BYTES // ((least_bytes(schema.items) if schema.items else 1) + 1)
        return int(bounds.get("maxItems", room))
    if schema.type == "object":
        if schema.additional is None:
            return len(schema.properties)
        return int(bounds.get("maxProperties", REQUEST_BYTES // (least_bytes(schema.additional) + 6)))
    if schema.enum:
        return max(len(str(word)) for word in schema.enum)
    if schema.format in ("date-time", "datetime", "date", "duration"):
        return 64
    return int(bounds.get("maxLength", REQUEST_BYTES))


def estimate(tree: Tree, types: Types) -> float:
    """See the module."""
    return _Estimate(types).of(tree.root)


class _Estimate:
    def __init__(self, types: Types) -> None:
        self._types = types

    def of(self, node: Node) -> float:
        """The cost of a node with all below."""
        match node:
            case Constant():
                return 0
            case Name():
                return 1
            case Select():
                return 1 + self.of(node.operand)
            case ListOf():
                return 10 + sum(self.of(element) for element in node.elements)
            case MapOf():
                parts = [part for entry in node.entries for part in entry if part is not None]
                return 30 + sum(self.of(part) for part in parts)
            case Comprehension():
                body = self.of(node.condition) + self.of(node.step)
                return self.of(node.range) + self.of(node.start) + self.size(node.range) * body + self.of(node.result)
            case Call():
                return self._call(node)

    def size(self, node: Node) -> float:
        """How large the value of a node is at most."""
        match node:
            case Constant():
                return len(node.value) if isinstance(node.value, str | bytes) else 1
            case ListOf():
                return len(node.elements)
            case MapOf():
                return len(node.entries)
            case Comprehension():
                return self.size(node.range)
            case Call() if node.function == "_+_":
                return sum(self.size(arg) for arg in node.args)
            case Call() if node.function == "_?_:_":
                return max(self.size(arg) for arg in node.args[1:])
        return _size(self._types.by_node.get(node.at))

    def _call(self, node: Call) -> float:
        parts = [*([node.target] if node.target is not None else []), *node.args]
        below = sum(self.of(part) for part in parts)
        match node.function:
            case "matches" if len(parts) == 2:
                return below + 1 + (LETTER * self.size(parts[0]) + 1) * max(1.0, self.size(parts[1]) / 4)
            case "contains" if len(parts) == 2:
                return below + 1 + LETTER * self.size(parts[0]) * max(1.0, LETTER * self.size(parts[1]))
            case "@in":
                return below + self.size(parts[1])
            case "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_":
                return below + 1 + LETTER * min(self.size(part) for part in parts)
            case "_+_":
                return below + 1 + LETTER * sum(self.size(part) for part in parts)
            case "isSorted" | "sum" | "min" | "max":
                return below + 1 + sum(self.size(part) for part in parts[:1])
        if node.function in _READ_WHOLE:
            return below + 1 + LETTER * self.size(parts[0])
        return below + 1


def _size(type_: Type | None) -> float:
    if type_ is None or type_.name in ("bool", "int", "uint", "double", "null", "timestamp", "duration", "type"):
        return 1
    if type_.name == "optional":
        return _size(type_.element)
    return most_of(type_.schema) if type_.schema is not None else _ELSEWHERE
