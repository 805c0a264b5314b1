"""Does a rule fit the schema? The type of each part of an expression, as far as the schema says.

    check(tree, scope) -> Types      the type of the whole, and of each node by its number. RuleError: it doesn't fit

The rule: a member that the schema doesn't have, a member of what has none, operands of an operator that it doesn't take,
are refused; what the schema leaves open (`dyn`) fits everything and is found out when the rule runs.
Source     the CEL specification (gradual type checking); Kubernetes: types of schema in CEL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kumi.registry.custom.cel.data import member_name
from kumi.registry.custom.cel.environment import RuleError
from kumi.registry.custom.cel.tree import Call, Comprehension, Constant, ListOf, MapOf, Name, Node, Select, Tree
from kumi.registry.custom.schema import Schema


@dataclass(frozen=True)
class Type:
    """`name` is dyn, null, bool, int, uint, double, string, bytes, timestamp, duration, list, map, object, optional, type.

    `element` is of a list's items (None: it is empty, or unknown), a map's values, an optional's value; `schema` of what a
    schema describes; `whole` of objects with kind and metadata."""

    name: str
    element: Type | None = None
    schema: Schema | None = None
    whole: bool = False

    def text(self) -> str:
        """As errors name it."""
        inner = self.element.text() if self.element else "dyn"
        if self.name == "map":
            return f"map(string, {inner})"
        return f"{self.name}({inner})" if self.name in ("list", "optional") else self.name


DYN, BOOL, INT, DOUBLE, STRING, BYTES = (Type(name) for name in ("dyn", "bool", "int", "double", "string", "bytes"))
NULL, UINT, TIMESTAMP, DURATION, KIND = (Type(name) for name in ("null", "uint", "timestamp", "duration", "type"))
NUMBERS = ("int", "uint", "double")
_FORMATS = {"date-time": TIMESTAMP, "datetime": TIMESTAMP, "date": TIMESTAMP, "duration": DURATION, "byte": BYTES}
_SCALARS = {"boolean": BOOL, "integer": INT, "number": DOUBLE}
_ORDERED = (*NUMBERS, "string", "bool", "bytes", "timestamp", "duration")
COMPARISONS = ("_<_", "_<=_", "_>_", "_>=_")
_LOGIC = ("_&&_", "_||_", "!_", "@not_strictly_false")
_SUMS = ("_+_", "_-_", "_*_", "_/_", "_%_")
_RESULTS: Mapping[str, Type] = {
    **dict.fromkeys(("size", "int", "indexOf", "lastIndexOf", "compareTo", "asInteger", "sign"), INT),
    **dict.fromkeys(
        (
            "@in", "startsWith", "endsWith", "contains", "matches", "bool", "hasValue", "isSorted", "isQuantity", "isInteger",
            "isLessThan", "isGreaterThan", "isIP", "isCIDR", "isURL", "isSemver", "containsIP", "containsCIDR",
        ),
        BOOL,
    ),
    **dict.fromkeys(
        ("string", "lowerAscii", "upperAscii", "trim", "replace", "substring", "join", "charAt", "format", "reverse",
         "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath"),
        STRING,
    ),
    "double": DOUBLE, "uint": UINT, "bytes": BYTES, "timestamp": TIMESTAMP, "duration": DURATION, "type": KIND,
    "split": Type("list", STRING),
}  # fmt: skip
"""what functions give, where it is one thing"""


def of_schema(schema: Schema, *, whole: bool = False) -> Type:
    """The type of values of a schema."""
    if schema.int_or_string or not schema.type:
        return DYN
    if schema.type == "string":
        found = _FORMATS.get(schema.format, STRING)
        return Type(found.name, schema=schema)
    if schema.type == "array":
        return Type("list", of_schema(schema.items) if schema.items else DYN, schema)
    if schema.type == "object":
        if schema.additional is not None and not schema.properties:
            return Type("map", of_schema(schema.additional), schema)
        return Type("object", schema=schema, whole=whole or schema.embedded)
    return _SCALARS.get(schema.type, DYN)


@dataclass
class Types:
    """What was found."""

    root: Type
    by_node: dict[int, Type] = field(default_factory=dict)


def check(tree: Tree, scope: Mapping[str, Type]) -> Types:
    """See the module; `scope` has the types of the variables."""
    checker = _Checker(tree)
    root = checker.of(tree.root, scope)
    return Types(root, checker.found)


class _Checker:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.found: dict[int, Type] = {}

    def of(self, node: Node, scope: Mapping[str, Type]) -> Type:
        """The type of a node."""
        found = self._of(node, scope)
        self.found[node.at] = found
        return found

    def _of(self, node: Node, scope: Mapping[str, Type]) -> Type:
        match node:
            case Constant():
                return _of_constant(node.value)
            case Name():
                return scope.get(node.name, DYN)
            case Select():
                found = self._member(self.of(node.operand, scope), node.field, node)
                return BOOL if node.test else found
            case ListOf():
                elements = [self.of(element, scope) for element in node.elements]
                return Type("list", _joined(elements) if elements else None)
            case MapOf():
                for key, _ in node.entries:
                    if key is not None:
                        self.of(key, scope)
                values = [self.of(value, scope) for _, value in node.entries]
                return Type("map", _joined(values)) if not node.message else DYN
            case Comprehension():
                return self._comprehension(node, scope)
            case Call():
                return self._call(node, scope)

    def _member(self, of: Type, name: str, node: Node) -> Type:
        if of.name == "optional":
            inner = self._member(of.element or DYN, name, node)
            return inner if inner.name == "optional" else Type("optional", inner)
        if of.name == "map":
            return of.element or DYN
        if of.name == "object":
            return self._property(of, name, node)
        if of.name == "dyn":
            return DYN
        raise self._error(node, f"type '{of.text()}' does not support field selection")

    def _property(self, of: Type, name: str, node: Node) -> Type:
        if of.whole and name in ("apiVersion", "kind"):
            return STRING
        if of.whole and name == "metadata":
            return _METADATA
        for given, below in of.schema.properties.items() if of.schema else ():
            if member_name(given) == name:
                return of_schema(below)
        raise self._error(node, f"undefined field '{name}'")

    def _comprehension(self, node: Comprehension, scope: Mapping[str, Type]) -> Type:
        over = self.of(node.range, scope)
        if over.name not in ("list", "map", "dyn", "object"):
            raise self._error(node.range, f"expression of type '{over.text()}' cannot be range of a comprehension")
        item = (over.element or DYN) if over.name == "list" else STRING if over.name == "map" else DYN
        start = self.of(node.start, scope)
        inner = {**scope, node.variable: item, node.accumulator: start}
        if node.second:
            inner |= {node.variable: INT if over.name == "list" else item, node.second: over.element or DYN}
        self.of(node.condition, inner)
        step = self.of(node.step, inner)
        if start.name == "list" and step.name == "list":
            start = step
        return self.of(node.result, {**inner, node.accumulator: start})

    def _call(self, node: Call, scope: Mapping[str, Type]) -> Type:
        target = [self.of(node.target, scope)] if node.target is not None else []
        args = target + [self.of(arg, scope) for arg in node.args]
        function = node.function
        if function in _LOGIC:
            return self._known(node, args, all(arg.name in ("bool", "dyn") for arg in args))
        if function in ("_==_", "_!=_"):
            return self._known(node, args, _comparable(*args))
        if function in COMPARISONS:
            return self._known(node, args, _ordered(*args))
        if function in _SUMS:
            return self._sum(node, args)
        if function in ("_[_]", "_[?_]"):
            found = self._item(args[0], node)
            return Type("optional", found) if function == "_[?_]" else found
        if function == "_?._":
            key = node.args[1]
            name = key.value if isinstance(key, Constant) and isinstance(key.value, str) else ""
            found = self._member(args[0], name, node)
            return found if found.name == "optional" else Type("optional", found)
        return _result(function, args)

    def _known(self, node: Call, args: list[Type], fits: bool) -> Type:
        if not fits:
            raise self._overload(node, args)
        return BOOL

    def _item(self, of: Type, node: Call) -> Type:
        if of.name == "optional":
            return self._item(of.element or DYN, node)
        if of.name in ("list", "map"):
            return of.element or DYN
        if of.name == "dyn":
            return DYN
        raise self._overload(node, [of, self.found[node.args[1].at]])

    def _sum(self, node: Call, args: list[Type]) -> Type:
        one, other = args
        if "dyn" in (one.name, other.name):
            return DYN
        if "timestamp" in (one.name, other.name) or "duration" in (one.name, other.name):
            if one.name == other.name == "timestamp":
                return DURATION
            return TIMESTAMP if "timestamp" in (one.name, other.name) else DURATION
        summed = node.function == "_+_" and one.name in ("string", "bytes", "list")
        if one.name != other.name or not (summed or one.name in NUMBERS):
            raise self._overload(node, args)
        if one.name != "list":
            return Type(one.name)
        known = [side.element for side in args if side.element is not None]
        return Type("list", _joined(known) if known else None)

    def _overload(self, node: Call, args: list[Type]) -> RuleError:
        types = ", ".join(arg.text() for arg in args)
        return self._error(node, f"found no matching overload for '{node.function}' applied to '({types})'")

    def _error(self, node: Node, what: str) -> RuleError:
        return RuleError(f"ERROR: <input>:1:{self._tree.columns.get(node.at, 0) + 1}: {what}")


_METADATA = Type(
    "object", schema=Schema("object", properties={name: Schema("string") for name in ("name", "generateName")})
)


def _result(function: str, args: list[Type]) -> Type:
    """What any other function gives."""
    if function == "_?_:_":
        return _joined(args[1:])
    if function == "-_":
        return args[0]
    if function in ("orValue", "value") and args and args[0].name == "optional":
        return args[0].element or DYN
    if function in ("min", "max", "sum") and args and args[0].name == "list":
        return args[0].element or DYN
    return _RESULTS.get(function, DYN)


def _of_constant(value: object) -> Type:
    if isinstance(value, bool):
        return BOOL
    names = {int: INT, float: DOUBLE, str: STRING, bytes: BYTES}
    return NULL if value is None else names.get(type(value), DYN)


def _joined(types: list[Type]) -> Type:
    """The one type of all, dyn where they differ."""
    first = types[0] if types else DYN
    if any(other.name != first.name for other in types):
        return DYN
    return next((each for each in types if each.element is not None), first)


def _comparable(one: Type, other: Type) -> bool:
    if {"dyn", "null", "optional"} & {one.name, other.name}:
        return True
    return one.name == other.name or {one.name, other.name} <= {"map", "object"}


def _ordered(one: Type, other: Type) -> bool:
    if "dyn" in (one.name, other.name):
        return {one.name, other.name} <= {"dyn", *_ORDERED}
    return (one.name == other.name and one.name in _ORDERED) or {one.name, other.name} <= set(NUMBERS)
