"""Columns of ReplicationControllers."""

from __future__ import annotations

from kumi.api.columns.cells import count, images, pairs
from kumi.api.scheme import AGE, Column
from kumi.api.wire import JsonObject


def _template(obj: JsonObject) -> JsonObject:
    template: JsonObject = (obj.get("spec") or {}).get("template") or {}
    return template


REPLICATION_CONTROLLER = (
    Column("Desired", ".spec.replicas", "integer"),
    Column("Current", type="integer", cell=count("replicas")),
    Column("Ready", type="integer", cell=count("readyReplicas")),
    AGE,
    Column("Containers", priority=1, cell=lambda obj, _now_ms: images(_template(obj), "name")),
    Column("Images", priority=1, cell=lambda obj, _now_ms: images(_template(obj), "image")),
    Column("Selector", priority=1, cell=lambda obj, _now_ms: pairs((obj.get("spec") or {}).get("selector"))),
)
