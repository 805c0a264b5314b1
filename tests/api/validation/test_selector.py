from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.selector import label_selector, selects


@pytest.mark.parametrize(
    ("selector", "paths"),
    [
        (None, []),
        ({}, []),
        ({"matchLabels": {"a": "b"}}, []),
        ({"matchLabels": {"a": "b c"}}, ["s.matchLabels"]),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x", "y z"]}]},
            ["s.matchExpressions[0].values[1]"],
        ),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn"}]}, ["s.matchExpressions[0].values"]),
        ({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]}, ["s.matchExpressions[0].values"]),
        (
            {"matchExpressions": [{"key": "a b", "operator": "Near"}]},
            ["s.matchExpressions[0].operator", "s.matchExpressions[0].key"],
        ),
    ],
)
def test_selectors(selector: dict[str, Any] | None, paths: list[str]) -> None:
    assert [error.path for error in label_selector(selector, "s")] == paths


@pytest.mark.parametrize(
    ("selector", "labels", "selected"),
    [
        (None, {}, False),
        ({}, {"a": "1"}, True),
        ({"matchLabels": {"a": "1"}}, {"a": "1", "b": "2"}, True),
        ({"matchLabels": {"a": "1"}}, {"a": "2"}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}, {"a": "1"}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, {}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {}, False),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, {"a": ""}, False),
        ({"matchExpressions": [{"key": "a", "operator": "Near"}]}, {"a": ""}, False),
    ],
)
def test_whom_a_selector_selects(selector: dict[str, Any] | None, labels: dict[str, str], selected: bool) -> None:
    assert selects(selector, labels) is selected
