"""Columns of the apps group."""

from __future__ import annotations

from kumi.api.columns.cells import count, images, pairs, selected
from kumi.api.scheme import AGE, Column
from kumi.api.wire import JsonObject


def _ready(obj: JsonObject, _now_ms: int) -> str:
    return f"{(obj.get('status') or {}).get('readyReplicas') or 0}/{(obj.get('spec') or {}).get('replicas') or 0}"


def _template(obj: JsonObject) -> JsonObject:
    template: JsonObject = (obj.get("spec") or {}).get("template") or {}
    return template


CONTAINERS = Column("Containers", priority=1, cell=lambda obj, _now_ms: images(_template(obj), "name"))
IMAGES = Column("Images", priority=1, cell=lambda obj, _now_ms: images(_template(obj), "image"))
SELECTOR = Column("Selector", priority=1, cell=lambda obj, _now_ms: selected((obj.get("spec") or {}).get("selector")))

DEPLOYMENT = (
    Column("Ready", cell=_ready),
    Column("Up-to-date", type="integer", cell=count("updatedReplicas")),
    Column("Available", type="integer", cell=count("availableReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
)
REPLICA_SET = (
    Column("Desired", ".spec.replicas", "integer"),
    Column("Current", type="integer", cell=count("replicas")),
    Column("Ready", type="integer", cell=count("readyReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
)
STATEFUL_SET = (Column("Ready", cell=_ready), AGE, CONTAINERS, IMAGES)


def _nodes(daemon_set: JsonObject, _now_ms: int) -> str:
    return pairs((_template(daemon_set).get("spec") or {}).get("nodeSelector"))


DAEMON_SET = (
    Column("Desired", type="integer", cell=count("desiredNumberScheduled")),
    Column("Current", type="integer", cell=count("currentNumberScheduled")),
    Column("Ready", type="integer", cell=count("numberReady")),
    Column("Up-to-date", type="integer", cell=count("updatedNumberScheduled")),
    Column("Available", type="integer", cell=count("numberAvailable")),
    Column("Node Selector", cell=_nodes),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
)


def _controller(revision: JsonObject, _now_ms: int) -> str:
    for owner in revision["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            group = str(owner.get("apiVersion", "")).rpartition("/")[0]
            kind = str(owner.get("kind", "")).lower()
            return f"{kind}.{group}/{owner.get('name', '')}" if group else f"{kind}/{owner.get('name', '')}"
    return "<none>"


CONTROLLER_REVISION = (
    Column("Controller", cell=_controller),
    Column("Revision", type="integer", cell=lambda revision, _now_ms: revision.get("revision") or 0),
    AGE,
)
