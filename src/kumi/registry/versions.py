"""Served versions: what a caller says and hears against what is stored. Pure: a conversion never changes its argument."""

from __future__ import annotations

from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject


def api_version(kind: Kind, version: str) -> str:
    """`group/version` as it stands in an object of that served version ("" = stored)."""
    spoken = version or kind.version
    return f"{kind.group}/{spoken}" if kind.group else spoken


def to_stored(kind: Kind, version: str, obj: JsonObject) -> JsonObject:
    """An object of a served version in the stored one."""
    if kind.twin is not None:
        return kind.twin.to_stored(obj)
    if version in ("", kind.version):
        return obj
    stored = kind.conversions[version][0](obj)
    stored["apiVersion"] = kind.api_version
    return stored


def from_stored(kind: Kind, version: str, obj: JsonObject) -> JsonObject:
    """A stored object in a served version; the same object where that is the stored one."""
    obj = kind.presented(obj)
    if kind.twin is not None:
        return kind.twin.from_stored(obj)
    if version in ("", kind.version):
        return obj
    spoken = kind.conversions[version][1](obj)
    spoken["apiVersion"] = api_version(kind, version)
    return spoken
