"""Columns of the scheduling and coordination groups."""

from __future__ import annotations

from kumi.api.scheme import AGE, Column

PRIORITY_CLASS = (
    Column("Value", ".value"),
    Column("Global-Default", cell=lambda o, _now_ms: bool(o.get("globalDefault"))),
    AGE,
    Column("PreemptionPolicy", ".preemptionPolicy"),
)

LEASE = (Column("Holder", ".spec.holderIdentity"), AGE)
