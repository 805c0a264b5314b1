"""Expressions that decide whether a webhook is asked."""

from __future__ import annotations

import pytest

from kumi.registry.webhooks.conditions import ConditionFailed, hold

REQUEST = {"object": {"spec": {"replicas": 3}}, "oldObject": None, "operation": "CREATE"}


@pytest.mark.parametrize(
    ("expressions", "holds"),
    [
        ([], True),
        (["object.spec.replicas > 2", "oldObject == null"], True),
        (["object.spec.replicas > 3"], False),
        (["object.nothing.there", "false"], False),
    ],
)
def test_all_must_hold_and_one_that_is_false_decides(expressions: list[str], holds: bool) -> None:
    assert hold([{"name": "c", "expression": text} for text in expressions], REQUEST) == holds


@pytest.mark.parametrize("text", ["object.nothing.there", "1 +", "'text'"])
def test_one_that_fails_is_told(text: str) -> None:
    with pytest.raises(ConditionFailed, match="'c'"):
        hold([{"name": "c", "expression": text}], REQUEST)
