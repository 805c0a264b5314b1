"""Validation by schema: every value that is not as its schema says, with its place.

    wrong_values(schema, value) -> Wrong(place, at, error) for each fault

The rule, at a place, in this order; a value of the wrong type is asked nothing more:
    type       null only where nullable; an integer is a number without fraction; int-or-string takes both
    logic      allOf, anyOf, oneOf, not; their branches are about the same value
    text       the first of maxLength, minLength, pattern that fails; format
    numbers    multipleOf, maximum, minimum, each
    lists      maxItems, minItems; items; no repeats in sets and maps
    enum       one of these
    objects    maxProperties, minProperties; required; members
`at` is the place whose value decides: for a member that is missing, the object that lacks it (kumi.registry.custom.ratcheting).
Cost       O(size of the value x logic); patterns are RE2: linear in the text, whatever somebody writes.
Source     OpenAPI v3; Kubernetes: structural schemas, list types; its sentences as recorded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from kumi.api.errors import FieldError
from kumi.registry.custom.cel.patterns import matches
from kumi.registry.custom.formats import wrong_format
from kumi.registry.custom.places import Path, dotted
from kumi.registry.custom.schema import Schema

_CLASSES = {"string": str, "object": dict, "array": list, "integer": int, "boolean": bool}
"""what a value of a type is, but for those that are more than one thing"""
EXACT = 1 << 53
"""up to where floats are exact integers"""


class Wrong(NamedTuple):
    """One fault."""

    place: Path
    at: Path
    error: FieldError


def wrong_values(schema: Schema, value: Any, path: Path = ()) -> list[Wrong]:
    """See the module. At the root, `apiVersion`, `kind` and `metadata` are everybody's and are not looked at."""
    return _faults(schema, value, path)


def type_name(value: Any) -> str:
    """As sentences name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return {str: "string", int: "integer", float: "number", list: "array", dict: "object"}[type(value)]


def canonical(value: Any) -> bytes:
    """Two values are equal as JSON if these are (1 and 1.0 are, true and 1 are not)."""
    return orjson.dumps(_plain(value), option=orjson.OPT_SORT_KEYS)


def is_type(type_: str, value: Any) -> bool:
    """Whether a value that is not null is of a type."""
    found = type_name(value)
    if type_ == "number":
        return found in ("integer", "number")
    if type_ == "integer":
        return found == "integer" or (isinstance(value, float) and value.is_integer())
    return found == type_


def _walk(schema: Schema, value: Any, path: Path, out: list[Wrong]) -> None:
    """Puts the faults of a value into `out`."""
    if value is None:
        if not schema.nullable and (schema.type or schema.int_or_string):
            out.append(_of_type(schema, value, path))
        return
    if type(value) is not _CLASSES.get(schema.type) and not _may_be(schema, value):
        out.append(_of_type(schema, value, path))
        return
    if schema.has_words:
        _words(schema, value, path, out)
    if isinstance(value, dict):
        _object(schema, value, path, out)
    elif isinstance(value, list):
        _list(schema, value, path, out)
    elif not schema.bounds and not schema.pattern:
        return
    elif isinstance(value, str):
        _text(schema, value, path, out)
    elif not isinstance(value, bool):
        _number(schema, value, path, out)


def _may_be(schema: Schema, value: Any) -> bool:
    """Whether the schema has a value of this type."""
    if schema.int_or_string:
        return type_name(value) in ("integer", "string") or is_type("integer", value)
    return not schema.type or is_type(schema.type, value)


def _words(schema: Schema, value: Any, path: Path, out: list[Wrong]) -> None:
    """Logic, enum and format."""
    _logic(schema, value, path, out)
    if schema.enum and canonical(value) not in {canonical(word) for word in schema.enum}:
        words = ", ".join(json.dumps(word) for word in schema.enum)
        out.append(_fault(path, f"supported values: {words}", "FieldValueNotSupported", _shown(value)))
    if schema.format and wrong_format(schema.format, value):
        what = f"{dotted(path)} in body must be of type {schema.format}: {json.dumps(_shown(value))}"
        out.append(_fault(path, what, "FieldValueInvalid", _shown(value)))


def _logic(schema: Schema, value: Any, path: Path, out: list[Wrong]) -> None:
    here = f'"{dotted(path)}"'
    for branch in schema.all_of:
        _walk(branch, value, path, out)
    if schema.any_of:
        tried = [_faults(branch, value, path) for branch in schema.any_of]
        if all(tried):
            out.append(_fault(path, f"{here} must validate at least one schema (anyOf)", "FieldValueInvalid", ""))
            out += _fewest(tried)
    if schema.one_of:
        tried = [_faults(branch, value, path) for branch in schema.one_of]
        good = sum(not faults for faults in tried)
        if good == 0:
            what = f"{here} must validate one and only one schema (oneOf). Found none valid"
            out.append(_fault(path, what, "FieldValueInvalid", ""))
            out += _fewest(tried)
        elif good > 1:
            what = f"{here} must validate one and only one schema (oneOf). Found {good} valid alternatives"
            out.append(_fault(path, what, "FieldValueInvalid", ""))
    if schema.not_ is not None and not _faults(schema.not_, value, path):
        out.append(_fault(path, f"{here} must not validate the schema (not)", "FieldValueInvalid", ""))


def _text(schema: Schema, value: str, path: Path, out: list[Wrong]) -> None:
    bounds, size = schema.bounds, len(value)
    if size > bounds.get("maxLength", size):
        out.append(_fault(path, f"may not be more than {bounds['maxLength']} bytes", "FieldValueTooLong", None))
    elif size < bounds.get("minLength", 0):
        what = f"{dotted(path)} in body should be at least {bounds['minLength']} chars long"
        out.append(_fault(path, what, "FieldValueInvalid", value))
    elif schema.pattern and not matches(schema.pattern, value):
        out.append(_fault(path, f"{dotted(path)} in body should match '{schema.pattern}'", "FieldValueInvalid", value))


def _number(schema: Schema, value: float, path: Path, out: list[Wrong]) -> None:
    bounds, body = schema.bounds, f"{dotted(path)} in body should be"
    step = bounds.get("multipleOf")
    if step and not _is_multiple(value, step):
        out.append(_fault(path, f"{body} a multiple of {step}", "FieldValueInvalid", value))
    most, least = bounds.get("maximum"), bounds.get("minimum")
    if most is not None:
        strictly = bool(bounds.get("exclusiveMaximum"))
        if value > most or (strictly and value == most):
            out.append(
                _fault(path, f"{body} less than {'' if strictly else 'or equal to '}{most}", "FieldValueInvalid", value)
            )
    if least is not None:
        strictly = bool(bounds.get("exclusiveMinimum"))
        if value < least or (strictly and value == least):
            out.append(
                _fault(
                    path, f"{body} greater than {'' if strictly else 'or equal to '}{least}", "FieldValueInvalid", value
                )
            )


def _list(schema: Schema, value: list[Any], path: Path, out: list[Wrong]) -> None:
    bounds, size = schema.bounds, len(value)
    if size > bounds.get("maxItems", size):
        out.append(_fault(path, f"must have at most {bounds['maxItems']} items", "FieldValueTooMany", size))
    elif size < bounds.get("minItems", 0):
        what = f"{dotted(path)} in body should have at least {bounds['minItems']} items"
        out.append(_fault(path, what, "FieldValueInvalid", size))
    if schema.items is not None:
        for index, item in enumerate(value):
            _walk(schema.items, item, (*path, index), out)
    if schema.list_type in ("set", "map"):
        _repeats(schema, value, path, out)


def _repeats(schema: Schema, value: list[Any], path: Path, out: list[Wrong]) -> None:
    seen: dict[bytes, int] = {}
    for index, item in enumerate(value):
        identity: Any = item
        if schema.list_type == "map":
            if not isinstance(item, dict):
                continue
            identity = {key: item[key] for key in schema.list_keys if key in item}
        text = canonical(identity)
        if seen.setdefault(text, index) != index:
            out.append(
                Wrong(
                    (*path, index),
                    path,
                    FieldError(dotted((*path, index)), "", "FieldValueDuplicate", _shown(identity)),
                )
            )


def _object(schema: Schema, value: dict[str, Any], path: Path, out: list[Wrong]) -> None:
    bounds, size = schema.bounds, len(value)
    if size > bounds.get("maxProperties", size):
        out.append(_fault(path, f"must have at most {bounds['maxProperties']} items", "FieldValueTooMany", size))
    elif size < bounds.get("minProperties", 0):
        what = f"{dotted(path)} in body should have at least {bounds['minProperties']} properties"
        out.append(_fault(path, what, "FieldValueInvalid", size))
    for name in schema.required:
        if name not in value:
            out.append(Wrong((*path, name), path, FieldError(dotted((*path, name)), "", "FieldValueRequired")))
    for name, member in value.items():
        if name == "metadata" and (not path or schema.embedded):
            continue
        below = schema.below(name)
        if below is not None:
            _walk(below, member, (*path, name), out)
    if schema.embedded:
        _embedded(value, path, out)


def _embedded(value: dict[str, Any], path: Path, out: list[Wrong]) -> None:
    """A whole object within another: it names its kind and version."""
    for name in ("apiVersion", "kind"):
        if not isinstance(value.get(name), str) or not value[name]:
            out.append(
                Wrong((*path, name), path, FieldError(dotted((*path, name)), "must not be empty", "FieldValueRequired"))
            )


def _fewest(tried: list[list[Wrong]]) -> list[Wrong]:
    """The faults of the branch that has the fewest: the one that was meant, most likely."""
    return min(tried, key=len)


def _faults(schema: Schema, value: Any, path: Path) -> list[Wrong]:
    found: list[Wrong] = []
    _walk(schema, value, path, found)
    return found


def _of_type(schema: Schema, value: Any, path: Path) -> Wrong:
    wanted = "integer,string" if schema.int_or_string else schema.type
    found = type_name(value)
    return _fault(path, f'{dotted(path)} in body must be of type {wanted}: "{found}"', "FieldValueTypeInvalid", found)


def _fault(path: Path, detail: str, type_: str, value: Any) -> Wrong:
    return Wrong(path, path, FieldError(dotted(path), detail, type_, value))


def _shown(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else json.dumps(value)


def _is_multiple(value: float, step: float) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    quotient = value / step
    return math.isfinite(quotient) and abs(quotient - round(quotient)) < 1e-9


def _plain(value: Any) -> Any:
    """The same with whole floats as integers."""
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(below) for key, below in value.items()}
    return value


def errors_of(faults: Iterable[Wrong]) -> list[FieldError]:
    """What the writer is told."""
    return [fault.error for fault in faults]
