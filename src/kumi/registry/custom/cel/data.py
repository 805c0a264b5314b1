"""JSON as rules see it: by the schema, so that a `date-time` is a timestamp and a member has a name that CEL can read.

    member_name(name)            `a-b` as `a__dash__b`, `namespace` as `__namespace__`; "" for what no rule can name
    cel_value(schema, value)     the value with its members under these names, and only those that the schema has
    of whole objects (the root, embedded resources): apiVersion, kind, metadata.name and metadata.generateName too
Source     Kubernetes: validation rules (escaping, types of schema in CEL).
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from typing import Any

from kumi.registry.custom.schema import Schema

KEYWORDS = frozenset(
    (
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
        "loop", "package", "namespace", "return",
    )
)  # fmt: skip
_NAMEABLE = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*\Z")
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_UNITS = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
OF_METADATA = ("name", "generateName")


def member_name(name: str) -> str:
    """See the module."""
    if name in KEYWORDS:
        return f"__{name}__"
    if not _NAMEABLE.match(name):
        return ""
    return re.sub(r"__|[./-]", lambda found: _ESCAPES[found[0]], name)


def cel_value(schema: Schema, value: Any, *, whole: bool = False) -> Any:
    """See the module; `whole` for the root. ValueError: a text isn't what its format says."""
    if value is None:
        return None
    if isinstance(value, dict):
        return _object(schema, value, whole=whole or schema.embedded)
    if isinstance(value, list):
        items = schema.items
        return [cel_value(items, item) for item in value] if items is not None else value
    if isinstance(value, str) and not schema.int_or_string:
        return _text(schema.format, value)
    if schema.type == "number":
        return float(value)
    if schema.type == "integer" and isinstance(value, float):
        return int(value)
    return value


def _object(schema: Schema, value: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    if schema.additional is not None and not schema.properties:
        additional = schema.additional
        return {key: cel_value(additional, below) for key, below in value.items()}
    found = {}
    for name, below in value.items():
        inner, shown = schema.properties.get(name), member_name(name)
        if inner is not None and shown and not (whole and name == "metadata"):
            found[shown] = cel_value(inner, below)
    if whole:
        found |= {name: value[name] for name in ("apiVersion", "kind") if name in value}
        metadata = value.get("metadata")
        if isinstance(metadata, dict):
            found["metadata"] = {name: metadata[name] for name in OF_METADATA if name in metadata}
    return found


def _text(format: str, value: str) -> Any:
    if format in ("date-time", "datetime"):
        return _timestamp(_moment(value))
    if format == "date":
        return _timestamp(dt.datetime.fromisoformat(value).replace(tzinfo=dt.UTC))
    if format == "duration":
        return span(duration(value))
    return base64.b64decode(value) if format == "byte" else value


def _timestamp(moment: dt.datetime) -> object:
    """Within an object, times have to be the messages that CEL knows them as (imported when there are any: it takes a while)."""
    from google.protobuf.timestamp_pb2 import Timestamp

    found = Timestamp()
    found.FromDatetime(moment)
    return found


def span(length: dt.timedelta) -> object:
    """A duration as CEL knows it within an object, or as what a function gives."""
    from google.protobuf.duration_pb2 import Duration

    found = Duration()
    found.FromTimedelta(length)
    return found


def _moment(text: str) -> dt.datetime:
    moment = dt.datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", text.replace("t", "T")))
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def duration(text: str) -> dt.timedelta:
    """As Go writes it: `1h30m`. ValueError."""
    sign, rest = (-1 if text.startswith("-") else 1), text.lstrip("+-")
    parts = re.findall(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        raise ValueError(f"{text!r} is no duration")
    return dt.timedelta(seconds=sign * sum(float(number) * _UNITS[unit] for number, unit in parts))
