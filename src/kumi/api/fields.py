"""Fields as an API server reads them: what is unknown, of the wrong type, missing or out of bounds, each with its path.

    check(kind, version, obj) -> Checked(object, unknown, errors)
        object    a copy without unknown fields and nulls; whatever passes decodes into the kind's view
        unknown   paths of the fields that were left out (`spec.template.spec.containers[0].imagee`), in order of the text
        errors    wrong types, and for Kumi's own kinds what a CustomResourceDefinition would refuse
    decode(text)  -> the JSON value, and the paths of fields that the text gives twice

The rules:
    null is the same as absent, as Kubernetes' decoder has it (in a map or a list it stands for the type's zero value)
    an integer is no number with a fraction, a boolean is no integer; a quantity may be text or a number
    what preserves unknown fields is kept as it is, and so is a list that is JSON text already (orjson.Fragment)
    empty lists and maps of Kubernetes' own kinds are left out unless they must be there, and so are zeros that their types
    can't tell from nothing (an env's value "", a Deployment's paused false)
    quantities of Kubernetes' own kinds are written the canonical way (1024Mi as 1Gi), and times too (in UTC, with a Z); those of
    other kinds stay as written
Law        prune(prune(x)) == prune(x).
Cost       O(size of the object); some 80 us for a pod of 3 KB.
Source     Kubernetes: field validation (strict, warn, ignore), structural schemas and pruning.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from kumi.api.errors import ApiError, FieldError, bad_request, invalid
from kumi.api.meta import canonical_time, is_time
from kumi.api.quantity import QuantityError, canonical, nano
from kumi.api.scheme import Kind
from kumi.api.shapes import Shape, metadata_shape, shape_of
from kumi.api.wire import JsonObject

_PLAIN = re.compile(r"[A-Za-z_$][-A-Za-z0-9_$]*")
_SIMPLE = {"string": str, "boolean": bool}
_ZERO: dict[str, object] = {
    "string": "",
    "boolean": False,
    "integer": 0,
    "number": 0,
    "quantity": "0",
    "int-or-string": 0,
}


class Checked(NamedTuple):
    """What `check` found."""

    object: JsonObject
    unknown: list[str]
    errors: list[FieldError]


def check(kind: Kind, version: str, obj: JsonObject, right: JsonObject | None = None) -> Checked:
    """See the module; `version` is the served version that the object is written in ("" = stored).

    `right` is an object that passed before, in the same version: members that are the same in both, to the type of
    every value, are not looked at again, nor copied."""
    walk = _Walk(omits=not kind.custom)
    known = [key for key, value in obj.items() if key in right and _same(value, right[key])] if right else []
    pruned = walk.mapping(shape_of(kind, version), obj, frozenset(known))
    return Checked(pruned, walk.unknown, walk.errors)


def check_metadata(metadata: object) -> Checked:
    """The same for the metadata of an object of any kind; an absent one is an empty one."""
    return check_part(metadata_shape(), {} if metadata is None else metadata, "metadata")


def check_part(shape: Shape, value: object, *path: str) -> Checked:
    """The same for a part of an object that stands at that path."""
    walk = _Walk()
    walk.inside(*path)
    return Checked(walk.value(shape, value), walk.unknown, walk.errors)


def _same(one: object, other: object) -> bool:
    """By their text: Python takes 1, 1.0 and True for equal."""
    return one is other or orjson.dumps(one) == orjson.dumps(other)


def unknown_fields(kind: Kind, version: str, obj: JsonObject) -> list[str]:
    """Paths of fields that the kind does not have."""
    return check(kind, version, obj).unknown


def prune(kind: Kind, version: str, obj: JsonObject) -> tuple[JsonObject, list[str]]:
    """A copy without unknown fields and nulls, and the paths of the unknown ones."""
    checked = check(kind, version, obj)
    return checked.object, checked.unknown


def check_types(kind: Kind, version: str, obj: JsonObject) -> list[FieldError]:
    """Every field of a wrong type, and what else the kind's schema refuses."""
    return check(kind, version, obj).errors


def refusal(kind: Kind, version: str, obj: JsonObject, errors: Iterable[FieldError]) -> ApiError:
    """What to answer to `errors` of check: 400 for Kubernetes' own kinds (they can't be decoded), 422 for the others."""
    causes = tuple(errors)
    if kind.custom:
        metadata = obj.get("metadata")
        name = str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
        return invalid(kind.kind, name, causes, kind.group)
    texts = "; ".join(f"{cause.path}: {cause.detail}" for cause in causes)
    return bad_request(
        f'{kind.kind} in version "{version or kind.version}" cannot be handled as a {kind.kind}: {texts}'
    )


def strict_refusal(kind: Kind, version: str, faults: Iterable[str]) -> ApiError:
    """400 for a writer who asked for strict field validation; `faults` as they would be warned of."""
    return bad_request(
        f'{kind.kind} in version "{version or kind.version}" cannot be handled as a {kind.kind}: '
        f"strict decoding error: {', '.join(faults)}"
    )


def decode(text: bytes | str) -> tuple[Any, list[str]]:
    """The JSON value, and the paths that are given more than once (the last one counts). ApiError 400."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"the body can't be read as JSON: {error}") from error
    try:
        return value, duplicate_fields(text)
    except RecursionError as error:
        raise bad_request("the body can't be read as JSON: it is nested too deep") from error


def duplicate_fields(text: bytes | str) -> list[str]:
    """Paths that a JSON text gives more than once; the text is known to be JSON."""
    twice: list[str] = []
    if not _may_repeat(text):
        return twice

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(members)
        if len(found) != len(members):
            twice.append("")
        return found

    json.loads(text, object_pairs_hook=pairs)
    return _paths_of_duplicates(json.loads(text, object_pairs_hook=_Members), "") if twice else []


def _may_repeat(text: bytes | str) -> bool:
    """False is certain: a member that is given twice leaves its name out of the value, and with it two quotation marks.

    Counting them costs a twentieth of looking at every member."""
    raw = text.encode() if isinstance(text, str) else text
    try:
        return b"\\u" in raw or raw.count(b'"') != orjson.dumps(orjson.loads(raw)).count(b'"')
    except TypeError:  # it nests deeper than orjson writes
        return True


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object as written, repeats and all."""


def _paths_of_duplicates(value: Any, path: str) -> list[str]:
    if isinstance(value, _Members):
        seen: set[str] = set()
        found = []
        for key, below in value:
            here = _join(path, key)
            if key in seen and here not in found:
                found.append(here)
            seen.add(key)
            found += _paths_of_duplicates(below, here)
        return found
    if isinstance(value, list):
        return [p for index, below in enumerate(value) for p in _paths_of_duplicates(below, f"{path}[{index}]")]
    return []


def _join(path: str, key: str) -> str:
    if not _PLAIN.fullmatch(key):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _name_of_type(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)


class _Walk:
    """One pass over an object. The path is kept as a stack, and written out only for what is wrong."""

    def __init__(self, *, omits: bool = False) -> None:
        self.unknown: list[str] = []
        self.errors: list[FieldError] = []
        self._omits = omits
        self._path: list[str | int] = []

    def inside(self, *names: str) -> None:
        """What comes is at that path."""
        self._path += names

    def value(self, shape: Shape, value: Any) -> Any:
        """The pruned copy of a value that is not null."""
        type_ = shape.type
        if type_ == "object":
            return self.mapping(shape, value) if type(value) is dict else self._wrong(shape, value)
        if type_ == "array":
            if type(value) is list:
                return self._array(shape, value)
            return value if type(value) is orjson.Fragment else self._wrong(shape, value)
        if not self._is(shape, value):
            return self._wrong(shape, value)
        if shape.bounded:
            self._bounds(shape, value, value if type_ != "string" else len(value))
        if shape.time:
            return self._moment(shape, value)
        return value if type_ != "quantity" or shape.strict else canonical(value)

    def _moment(self, shape: Shape, value: str) -> str:
        """A time as it is written in the answer; "" is none."""
        try:
            return canonical_time(value, shape.time) if value else value
        except ValueError as error:
            self.errors.append(FieldError(self._text(), str(error), "FieldValueTypeInvalid", value))
            return value

    @staticmethod
    def _is(shape: Shape, value: Any) -> bool:
        type_ = shape.type
        if type_ in _SIMPLE:
            return type(value) is _SIMPLE[type_] and (not shape.encoded or _is_base64(value))
        if type_ == "integer":
            return type(value) is int and (shape.integers is None or value in shape.integers)
        if type_ == "number":
            return type(value) in (int, float)
        if type_ == "quantity":
            return _is_quantity(value)
        if type_ == "int-or-string":
            return type(value) in (int, str)
        return True

    def mapping(self, shape: Shape, value: JsonObject, right: frozenset[str] = frozenset()) -> JsonObject:
        """The pruned copy of an object; its members `right` are taken as they are."""
        members, other, path = shape.members, shape.any_member, self._path
        out: JsonObject = {}
        for key, below in value.items():
            inner = members.get(key) or other
            if key in right:
                out[key] = below
            elif inner is None:
                if shape.open:
                    out[key] = below
                else:
                    self.unknown.append(self._text(key))
            elif inner.exact is type(below):
                if below or not (inner.omitted and self._omits):
                    out[key] = below
            elif below is None:
                if other is not None and inner.type in _ZERO:
                    out[key] = _ZERO[inner.type]
            else:
                path.append(key)
                kept = self.value(inner, below)
                path.pop()
                if kept or not (inner.omitted and self._omits):
                    out[key] = kept
        self._complete(shape, out)
        if shape.bounded:
            self._bounds(shape, value, len(out))
        return out

    def _complete(self, shape: Shape, out: JsonObject) -> None:
        """Notes what must be there and is not."""
        for name in shape.required:
            if name not in out:
                self.errors.append(FieldError(self._text(name), "", "FieldValueRequired"))

    def _array(self, shape: Shape, value: list[Any]) -> list[Any]:
        inner, path = shape.items or Shape(), self._path
        out = []
        for index, below in enumerate(value):
            if inner.exact is type(below):
                out.append(below)
                continue
            path.append(index)
            given = _zero(inner) if below is None else below
            out.append(None if given is None else self.value(inner, given))
            path.pop()
        if shape.keys:
            self._repeats(shape, out)
        if shape.bounded:
            self._bounds(shape, value, len(out))
        return out

    def _repeats(self, shape: Shape, items: list[Any]) -> None:
        seen: set[tuple[tuple[str, Any], ...]] = set()
        for index, item in enumerate(items):
            if isinstance(item, dict):
                own = tuple((key, item[key]) for key in shape.keys if key in item)
                if own and own in seen:
                    self.errors.append(FieldError(self._text(index), "", "FieldValueDuplicate", dict(own)))
                seen.add(own)

    def _wrong(self, shape: Shape, value: object) -> Any:
        """Notes a wrong type, and gives the zero value in its place."""
        path, got = self._text(), _name_of_type(value)
        if shape.type == "quantity" and got in ("string", "number", "integer"):
            detail, shown = str(QuantityError(value)), value
        elif shape.encoded and got == "string":
            detail, shown = "illegal base64 data", got
        elif shape.type == "integer" and got == "integer":
            detail, shown = (
                f"must fit in {'32' if shape.integers and shape.integers.stop <= 2**31 else '64'} bits",
                value,
            )
        else:
            detail, shown = f"expected {shape.type}, got {got}", got
        self.errors.append(FieldError(path, detail, "FieldValueTypeInvalid", shown))
        return _zero(shape)

    def _bounds(self, shape: Shape, value: Any, size: Any) -> None:
        """Enum, pattern, whether it is a time, and how small or large: a number by itself, all else by its length."""
        if shape.enum and value not in shape.enum:
            supported = ", ".join(f'"{word}"' for word in sorted(shape.enum))
            self._add(f"supported values: {supported}", "FieldValueNotSupported", value)
            return
        if shape.minimum is not None and size < shape.minimum:
            self._add(f"should be greater than or equal to {shape.minimum}", "FieldValueInvalid", value)
        if shape.maximum is not None and size > shape.maximum:
            self._add(f"should be less than or equal to {shape.maximum}", "FieldValueInvalid", value)
        if shape.least and size < shape.least:
            unit = "characters long" if shape.type == "string" else "items" if shape.type == "array" else "properties"
            verb = "be" if shape.type == "string" else "have"
            self._add(f"should {verb} at least {shape.least} {unit}", "FieldValueInvalid", size)
        if shape.most is not None and size > shape.most:
            long = shape.type == "string"
            detail = f"may not be more than {shape.most} bytes" if long else f"must have at most {shape.most} items"
            self._add(detail, "FieldValueTooLong" if long else "FieldValueTooMany", size)
        if shape.pattern is not None and value and not shape.pattern.search(value):
            self._add(f"should match '{shape.pattern.pattern}'", "FieldValueInvalid", value)
        if shape.moment and value and not is_time(value):
            self._add("must be of type date-time", "FieldValueInvalid", value)

    def _add(self, detail: str, type_: str, value: object) -> None:
        self.errors.append(FieldError(self._text(), detail, type_, value))

    def _text(self, last: str | int | None = None) -> str:
        path = ""
        for key in [*self._path, *([] if last is None else [last])]:
            path = f"{path}[{key}]" if isinstance(key, int) else _join(path, key)
        return path


def _zero(shape: Shape) -> Any:
    """What null stands for where something has to be."""
    if shape.type in _ZERO:
        return _ZERO[shape.type]
    return {"object": {}, "array": []}.get(shape.type)


def _is_base64(text: Any) -> bool:
    try:
        base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except ValueError:
        return False
    return True


def _is_quantity(value: Any) -> bool:
    try:
        nano(value)
    except QuantityError:
        return False
    return True
