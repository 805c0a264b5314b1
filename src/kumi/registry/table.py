"""Tables: what `kubectl get` prints, as a meta.k8s.io/v1 Table; and objects reduced to their metadata.

Columns    Name, then those of the kind; a kind that lists a column Name itself has it where it lists it. `priority` 0 shows
           always, more only with `-o wide`.
Cells      of a column with a function, what it gives; of one with a path, what it finds:
               string     all that is found, joined by blanks
               integer, number, boolean      the first, if it is one
               date       how long ago the first was, as kubectl prints ages
           Nothing found is null in custom kinds, "" in Kubernetes' own.
Rows       carry the object's metadata (the default), the object, or nothing.
Paths and functions read the stored version, whatever version was asked for.
Source     Kubernetes: receiving resources as tables, printer columns of custom resources.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from kumi.api.columns.cells import age
from kumi.api.scheme import Column, Kind
from kumi.api.wire import JsonObject, Listing
from kumi.registry import versions
from kumi.registry.jsonpath import compile_path

IncludeObject = Literal["None", "Metadata", "Object"]

NAME = Column(
    "Name",
    ".metadata.name",
    description="Name must be unique within a namespace; it can't be changed once the object is there.",
)
_NUMBERS: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "boolean": (bool,)}


def render(
    kind: Kind,
    items: Iterable[JsonObject],
    now_ms: int,
    *,
    version: str = "",
    include: IncludeObject = "Metadata",
    metadata: JsonObject | None = None,
    headers: bool = True,
) -> JsonObject:
    """A Table of objects in served `version`. `metadata` is the list's; without `headers` (the later events of a watch)
    there are no column definitions."""
    columns = columns_of(kind, version)
    rows = [
        {
            "cells": cells(kind, columns, versions.to_stored(kind, version, obj), now_ms),
            "object": _included(obj, include),
        }
        for obj in items
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata or {},
        "columnDefinitions": [_definition(kind, column) for column in columns] if headers else [],
        "rows": rows,
    }


def render_list(kind: Kind, listing: Listing, now_ms: int, version: str, include: IncludeObject) -> JsonObject:
    """A Table of a page."""
    return render(kind, listing.items, now_ms, version=version, include=include, metadata=list_metadata(listing))


def list_metadata(listing: Listing) -> JsonObject:
    """The metadata of a list."""
    metadata: JsonObject = {"resourceVersion": listing.revision}
    if listing.token:
        metadata["continue"] = listing.token
    if listing.remaining is not None:
        metadata["remainingItemCount"] = listing.remaining
    return metadata


def partial(obj: JsonObject, api_version: str = "meta.k8s.io/v1") -> JsonObject:
    """An object reduced to its metadata."""
    return {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": obj["metadata"]}


def partial_list(listing: Listing, api_version: str = "meta.k8s.io/v1") -> JsonObject:
    """A page reduced to metadata."""
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": api_version,
        "metadata": list_metadata(listing),
        "items": [partial(obj, api_version) for obj in listing.items],
    }


def columns_of(kind: Kind, version: str = "") -> tuple[Column, ...]:
    """All columns of a kind in a served version, in order."""
    own = kind.columns_in(version)
    return own if any(column.name == "Name" for column in own) else (NAME, *own)


def cells(kind: Kind, columns: Iterable[Column], obj: JsonObject, now_ms: int) -> list[object]:
    """One row: a cell a column, of an object in the stored version."""
    missing = None if kind.custom else ""
    return [_cell(column, obj, now_ms, missing) for column in columns]


def _cell(column: Column, obj: JsonObject, now_ms: int, missing: object) -> object:
    if column.cell is not None:
        value = column.cell(obj, now_ms)
        return missing if value is None else value
    found = [value for value in compile_path(column.path)(obj) if value is not None]
    if not found:
        return missing
    if column.type == "date":
        return age(str(found[0]), now_ms)
    if column.type in _NUMBERS:
        first: Any = found[0]
        wrong = not isinstance(first, _NUMBERS[column.type]) or (column.type != "boolean" and isinstance(first, bool))
        return missing if wrong else first
    return " ".join(_text(value) for value in found)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(_text(item) for item in value) + "]"
    return str(value)


def _definition(kind: Kind, column: Column) -> JsonObject:
    shown = "string" if column.type == "date" and not kind.custom else column.type
    return {
        "name": column.name,
        "type": shown,
        "format": "name" if column.name == "Name" else "",
        "description": column.description,
        "priority": column.priority,
    }


def _included(obj: JsonObject, include: IncludeObject) -> JsonObject | None:
    if include == "None":
        return None
    return obj if include == "Object" else partial(obj)
