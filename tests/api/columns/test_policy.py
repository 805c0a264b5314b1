from __future__ import annotations

from kumi.api.columns.policy import POD_DISRUPTION_BUDGET


def test_a_budget_shows_the_bound_that_it_has() -> None:
    budget = {"spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 2}}
    cells = [column.cell(budget, 0) for column in POD_DISRUPTION_BUDGET if column.cell]
    assert cells == ["50%", "N/A", 2]
