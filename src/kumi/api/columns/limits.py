"""Columns of ResourceQuota and LimitRange."""

from __future__ import annotations

from kumi.api.scheme import AGE, Cell, Column
from kumi.api.wire import JsonObject


def _used(limits: bool) -> Cell:
    def cell(quota: JsonObject, _now_ms: int) -> str:
        status = quota.get("status") or {}
        used = status.get("used") or {}
        names = [name for name in sorted(status.get("hard") or {}) if name.startswith("limits.") == limits]
        return ", ".join(f"{name}: {used.get(name, 0)}/{status['hard'][name]}" for name in names)

    return cell


RESOURCE_QUOTA = (Column("Request", cell=_used(limits=False)), Column("Limit", cell=_used(limits=True)), AGE)
LIMIT_RANGE = (Column("Created At", ".metadata.creationTimestamp"),)
