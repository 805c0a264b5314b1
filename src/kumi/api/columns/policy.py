"""Columns of the policy group."""

from __future__ import annotations

from kumi.api.columns.cells import count
from kumi.api.scheme import AGE, Cell, Column


def _given(field: str) -> Cell:
    def cell(budget: dict[str, object], _now_ms: int) -> str:
        spec = budget.get("spec")
        value = spec.get(field) if isinstance(spec, dict) else None
        return "N/A" if value is None else str(value)

    return cell


POD_DISRUPTION_BUDGET = (
    Column("Min Available", cell=_given("minAvailable")),
    Column("Max Unavailable", cell=_given("maxUnavailable")),
    Column("Allowed Disruptions", type="integer", cell=count("disruptionsAllowed")),
    AGE,
)
