"""Kubernetes' protobuf, read into the JSON that says the same: kubectl sends its own kinds in it.

    "k8s\\0" Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: the object's own message}
A message is a row of fields: a varint of (number << 3 | wire type), then the value: a varint (type 0), eight bytes (1), a
length and so many bytes (2), four bytes (5). What each number means is in kumi.api.openapi.messages.

The rules:
    a number that isn't known is passed over, as Kubernetes does
    of a field that is there twice the last one counts; messages are merged, lists go on
    Go writes values that were never set, too; the zero of a field that JSON leaves out when it is zero is left out
    numbers of a list may stand one by one or packed into one field
Cost       O(size of the body); nesting is bounded by the messages themselves, none of which holds itself.
Source     Kubernetes: API concepts, "Protobuf encoding"; Protocol Buffers: "Encoding".
Not here   OpenAPI documents in protobuf: openapi/protobuf.py.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import orjson

from kumi.api.errors import KumiError
from kumi.api.openapi.messages import MessageField, message_of, messages
from kumi.api.wire import JsonObject

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
VARINT_BYTES_AT_MOST = 10
EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)

Raw: TypeAlias = int | bytes
"""a value as it stands on the wire: a varint, or bytes"""


class Malformed(KumiError):
    """Bytes that are not what they should be."""


def decode(body: bytes) -> JsonObject:
    """The object that a request's body says; KumiError for anything that isn't one."""
    if not body.startswith(MAGIC):
        raise Malformed("the body does not begin with the four bytes that mark Kubernetes' protobuf")
    type_meta = raw = b""
    for number, value in _fields(body[len(MAGIC) :]):
        if number == 1:
            type_meta = _bytes(value, "typeMeta")
        elif number == 2:
            raw = _bytes(value, "raw")
    names = {number: _text(value, "typeMeta") for number, value in _fields(type_meta) if number in (1, 2)}
    api_version, kind = names.get(1, ""), names.get(2, "")
    message = message_of(api_version, kind)
    if not message:
        raise Malformed(f'no protobuf form is known of kind "{kind}" in version "{api_version}"')
    found: JsonObject = {"apiVersion": api_version, "kind": kind}
    _read(message, raw, found)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A whole number of at most 64 bits and where it ends."""
    value = 0
    for number in range(VARINT_BYTES_AT_MOST):
        if at >= len(data):
            raise Malformed("it ends within a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return value & (1 << 64) - 1, at
    raise Malformed("a number is longer than 64 bits")


def _fields(data: bytes) -> Iterator[tuple[int, Raw]]:
    """The fields of a message: number and value."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire_type = key >> 3, key & 7
        if not number:
            raise Malformed("a field has the number 0")
        if wire_type == VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire_type == BYTES:
            length, at = _varint(data, at)
        elif wire_type in (FIXED64, FIXED32):
            length = 8 if wire_type == FIXED64 else 4
        else:
            raise Malformed(f"field {number} is of the wire type {wire_type}")
        if length > len(data) - at:
            raise Malformed(f"field {number} is longer than what it is in")
        yield number, data[at : at + length]
        at += length


def _read(message: str, data: bytes, into: JsonObject) -> None:
    """Puts the fields of a message into an object."""
    table = messages()[message]
    for number, value in _fields(data):
        if (field := table.get(number)) is not None:
            _put(field, value, into)


def _put(field: MessageField, value: Raw, into: JsonObject) -> None:
    """Puts one field into an object."""
    name, type_, form = field
    if form == "list":
        into.setdefault(name, []).extend(_items(field, value))
    elif form == "map":
        key, item = _entry(field, value)
        into.setdefault(name, {})[key] = item
    elif type_ in READERS:
        found = READERS[type_](value, name)
        if found is None or (form == "unless zero" and found == ZEROS.get(type_, 0)):
            into.pop(name, None)
        else:
            into[name] = found
    else:
        part = into.setdefault(name, {}) if name else into
        _read(type_, _bytes(value, name or type_), part)
        if form == "unless zero" and not part:
            del into[name]


def _items(field: MessageField, value: Raw) -> Iterator[object]:
    """What one field adds to a list."""
    if field.type in VARINTS and isinstance(value, bytes):
        at = 0
        while at < len(value):
            number, at = _varint(value, at)
            yield READERS[field.type](number, field.name)
    else:
        yield _one(field, value)


def _one(field: MessageField, value: Raw) -> object:
    """One value of a list or a map."""
    if field.type in READERS:
        return READERS[field.type](value, field.name)
    found: JsonObject = {}
    _read(field.type, _bytes(value, field.name), found)
    return found


def _entry(field: MessageField, value: Raw) -> tuple[str, object]:
    """Key and value of a map's entry; what is missing is zero."""
    parts: dict[int, Raw] = {1: b"", 2: 0 if field.type in VARINTS else b""}
    parts |= dict(_fields(_bytes(value, field.name)))
    return _text(parts[1], field.name), _one(field, parts[2])


def _bytes(value: Raw, name: str) -> bytes:
    if not isinstance(value, bytes):
        raise Malformed(f"{name} is a number")
    return value


def _number(value: Raw, name: str) -> int:
    if not isinstance(value, int):
        raise Malformed(f"{name} is no number")
    return value


def _text(value: Raw, name: str) -> str:
    try:
        return _bytes(value, name).decode()
    except UnicodeDecodeError:
        raise Malformed(f"{name} is not UTF-8") from None


def _flag(value: Raw, name: str) -> bool:
    return _number(value, name) != 0


def _signed(value: Raw, name: str, bits: int) -> int:
    found = _number(value, name) & (1 << bits) - 1
    return found - (1 << bits) if found >> bits - 1 else found


def _int32(value: Raw, name: str) -> int:
    return _signed(value, name, 32)


def _int64(value: Raw, name: str) -> int:
    return _signed(value, name, 64)


def _base64(value: Raw, name: str) -> str:
    return base64.b64encode(_bytes(value, name)).decode()


def _quantity(value: Raw, name: str) -> str:
    """Quantity{1: text}"""
    parts = dict(_fields(_bytes(value, name)))
    return _text(parts.get(1, b""), name) or "0"


def _int_or_text(value: Raw, name: str) -> int | str:
    """IntOrString{1: 0 for a number or 1 for text, 2: number, 3: text}"""
    parts = dict(_fields(_bytes(value, name)))
    return _text(parts.get(3, b""), name) if parts.get(1) else _int32(parts.get(2, 0), name)


def _moment(value: Raw, name: str) -> datetime | None:
    """Timestamp{1: seconds since 1970, 2: nanoseconds}, in UTC; None for an empty one: it was never set."""
    parts = dict(_fields(_bytes(value, name)))
    if not parts:
        return None
    try:
        seconds, nanos = _int64(parts.get(1, 0), name), _int32(parts.get(2, 0), name)
        return EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        raise Malformed(f"{name} is not within the years 1 to 9999") from None


def _time(value: Raw, name: str) -> str | None:
    found = _moment(value, name)
    return None if found is None else f"{found.isoformat(timespec='seconds')}Z"


def _micro_time(value: Raw, name: str) -> str | None:
    found = _moment(value, name)
    return None if found is None else f"{found.isoformat(timespec='microseconds')}Z"


def _owned_fields(value: Raw, name: str) -> object:
    """FieldsV1{1: JSON}"""
    raw = _bytes(dict(_fields(_bytes(value, name))).get(1, b""), name)
    try:
        return orjson.loads(raw) if raw else None
    except orjson.JSONDecodeError as error:
        raise Malformed(f"{name} is no JSON: {error}") from None


VARINTS = ("bool", "int32", "int64")
ZEROS = {"text": "", "bytes": "", "quantity": "0"}
"""type -> its zero, where that isn't 0"""
READERS: dict[str, Callable[[Raw, str], object]] = {
    "text": _text,
    "bool": _flag,
    "int32": _int32,
    "int64": _int64,
    "bytes": _base64,
    "quantity": _quantity,
    "int or text": _int_or_text,
    "time": _time,
    "micro time": _micro_time,
    "fields": _owned_fields,
}
"""type -> how a value is read; None is a value that isn't there"""
