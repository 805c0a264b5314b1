"""OpenAPI v2 in protobuf: the only form in which kubectl asks for it.

kubectl does so when OpenAPI v3 can't answer: for a kind that is not served at all, say. Without this form such a user reads
of content types instead of the kind that doesn't exist.

The message of each part is a table: key of the JSON document -> field number and how its value is written. Keys that start
with `x-` are vendor extensions; keys that OpenAPI v2 doesn't have (anyOf, nullable) are left out.
Source     the field numbers are those of gnostic's OpenAPIv2.proto (package openapi.v2).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import orjson

from kumi.api.wire import JsonObject

MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
ASKED_AS = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

Write: TypeAlias = Callable[[int, Any], bytes]
"""field number and value -> the field"""
Table: TypeAlias = Mapping[str, tuple[int, Write]]

VARINT, FIXED64, BYTES = 0, 1, 2


def document(v2: JsonObject) -> bytes:
    """A v2 document as protobuf."""
    return _message(DOCUMENT, v2)


def write_varint(value: int) -> bytes:
    """A whole number, seven bits a byte, the lowest first; a negative one as 64 bits."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def write_bytes(number: int, value: bytes) -> bytes:
    """A field of bytes, text or a message."""
    return write_varint(number << 3 | BYTES) + write_varint(len(value)) + value


def _text(number: int, value: str) -> bytes:
    return write_bytes(number, value.encode())


def _texts(number: int, values: Iterable[str]) -> bytes:
    return b"".join(_text(number, value) for value in values)


def _flag(number: int, value: bool) -> bytes:
    return write_varint(number << 3 | VARINT) + write_varint(int(value))


def _whole(number: int, value: int) -> bytes:
    return write_varint(number << 3 | VARINT) + write_varint(int(value))


def _double(number: int, value: float) -> bytes:
    return write_varint(number << 3 | FIXED64) + struct.pack("<d", value)


def _any(number: int, value: object) -> bytes:
    """Any JSON value, as text in the message's field `yaml`."""
    return write_bytes(number, _text(2, orjson.dumps(value).decode()))


def _anys(number: int, values: Iterable[object]) -> bytes:
    return b"".join(_any(number, value) for value in values)


def _named(number: int, name: str, value: bytes) -> bytes:
    return write_bytes(number, _text(1, name) + value)


def _message(table: Table, value: JsonObject, extensions: int = 0) -> bytes:
    """The fields of a message; `extensions` is the number of its vendor extensions."""
    parts = []
    for key, part in value.items():
        if key in table:
            number, write = table[key]
            parts.append(write(number, part))
        elif extensions and key.startswith("x-"):
            parts.append(_named(extensions, key, _any(2, part)))
    return b"".join(parts)


def _schema(number: int, value: JsonObject) -> bytes:
    return write_bytes(number, _message(SCHEMA, value, extensions=31))


def _schemas(number: int, values: Iterable[JsonObject]) -> bytes:
    return b"".join(_schema(number, value) for value in values)


def _named_schemas(number: int, values: Mapping[str, JsonObject]) -> bytes:
    return write_bytes(number, b"".join(_named(1, name, _schema(2, value)) for name, value in values.items()))


def _schema_or_flag(number: int, value: JsonObject | bool) -> bytes:
    return write_bytes(number, _flag(2, value) if isinstance(value, bool) else _schema(1, value))


def _info(number: int, value: JsonObject) -> bytes:
    return write_bytes(number, _message({"title": (1, _text), "version": (2, _text)}, value))


def _paths(number: int, value: Mapping[str, JsonObject]) -> bytes:
    items = (_named(2, path, write_bytes(2, _message(PATH_ITEM, item, extensions=10))) for path, item in value.items())
    return write_bytes(number, b"".join(items))


def _operation(number: int, value: JsonObject) -> bytes:
    return write_bytes(number, _message(OPERATION, value, extensions=13))


def _parameters(number: int, values: Iterable[JsonObject]) -> bytes:
    return b"".join(write_bytes(number, write_bytes(1, _parameter(value))) for value in values)


def _parameter(value: JsonObject) -> bytes:
    if value["in"] == "body":
        return write_bytes(1, _message(BODY_PARAMETER, value))
    table, number = (PATH_PARAMETER, 4) if value["in"] == "path" else (QUERY_PARAMETER, 3)
    return write_bytes(2, write_bytes(number, _message(table, value)))


def _responses(number: int, values: Mapping[str, JsonObject]) -> bytes:
    codes = (
        _named(1, code, write_bytes(2, write_bytes(1, _message(RESPONSE, value)))) for code, value in values.items()
    )
    return write_bytes(number, b"".join(codes))


def _security_definitions(number: int, values: Mapping[str, JsonObject]) -> bytes:
    items = (
        _named(1, name, write_bytes(2, write_bytes(2, _message(API_KEY, value)))) for name, value in values.items()
    )
    return write_bytes(number, b"".join(items))


def _security(number: int, values: Iterable[Mapping[str, list[str]]]) -> bytes:
    def requirement(value: Mapping[str, list[str]]) -> bytes:
        return b"".join(_named(1, name, write_bytes(2, _texts(1, scopes))) for name, scopes in value.items())

    return b"".join(write_bytes(number, requirement(value)) for value in values)


SCHEMA: Table = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "default": (5, _any),
    "multipleOf": (6, _double),
    "maximum": (7, _double),
    "exclusiveMaximum": (8, _flag),
    "minimum": (9, _double),
    "exclusiveMinimum": (10, _flag),
    "maxLength": (11, _whole),
    "minLength": (12, _whole),
    "pattern": (13, _text),
    "maxItems": (14, _whole),
    "minItems": (15, _whole),
    "uniqueItems": (16, _flag),
    "maxProperties": (17, _whole),
    "minProperties": (18, _whole),
    "required": (19, _texts),
    "enum": (20, _anys),
    "additionalProperties": (21, _schema_or_flag),
    "type": (22, lambda number, value: write_bytes(number, _text(1, value))),
    "items": (23, lambda number, value: write_bytes(number, _schema(1, value))),
    "allOf": (24, _schemas),
    "properties": (25, _named_schemas),
    "readOnly": (27, _flag),
    "example": (30, _any),
}
BODY_PARAMETER: Table = {
    "description": (1, _text),
    "name": (2, _text),
    "in": (3, _text),
    "required": (4, _flag),
    "schema": (5, _schema),
}
QUERY_PARAMETER: Table = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (6, _text),
    "uniqueItems": (20, _flag),
}
PATH_PARAMETER: Table = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (5, _text),
    "uniqueItems": (19, _flag),
}
RESPONSE: Table = {
    "description": (1, _text),
    "schema": (2, lambda number, value: write_bytes(number, _schema(1, value))),
}
OPERATION: Table = {
    "tags": (1, _texts),
    "description": (3, _text),
    "operationId": (5, _text),
    "produces": (6, _texts),
    "consumes": (7, _texts),
    "parameters": (8, _parameters),
    "responses": (9, _responses),
    "schemes": (10, _texts),
}
PATH_ITEM: Table = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "patch": (8, _operation),
    "parameters": (9, _parameters),
}
API_KEY: Table = {"type": (1, _text), "name": (2, _text), "in": (3, _text), "description": (4, _text)}
DOCUMENT: Table = {
    "swagger": (1, _text),
    "info": (2, _info),
    "paths": (8, _paths),
    "definitions": (9, _named_schemas),
    "security": (12, _security),
    "securityDefinitions": (13, _security_definitions),
}
