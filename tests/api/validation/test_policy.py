from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.policy import validate_pod_disruption_budget


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"minAvailable": 1, "selector": {}}, []),
        ({"maxUnavailable": "30%"}, []),
        ({"minAvailable": 1, "maxUnavailable": 1}, ["spec"]),
        ({"minAvailable": -1}, ["spec.minAvailable"]),
        ({"minAvailable": "101%"}, ["spec.minAvailable"]),
        ({"maxUnavailable": "x"}, ["spec.maxUnavailable"]),
        ({"selector": {"matchLabels": {"a b": "c"}}}, ["spec.selector.matchLabels"]),
        ({"unhealthyPodEvictionPolicy": "Odd"}, ["spec.unhealthyPodEvictionPolicy"]),
    ],
)
def test_what_a_budget_may_say(spec: dict[str, Any], paths: list[str]) -> None:
    found = validate_pod_disruption_budget({"metadata": {"name": "b"}, "spec": spec}, None)
    assert [error.path for error in found] == paths


def test_its_counts_are_not_negative() -> None:
    found = validate_pod_disruption_budget({"metadata": {"name": "b"}, "status": {"currentHealthy": -1}}, None)
    assert [error.path for error in found] == ["status.currentHealthy"]
