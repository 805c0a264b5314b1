from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.job_policies import failure_policy, success_policy

TEMPLATE = {"spec": {"containers": [{"name": "main"}]}}


def failing(*rules: dict[str, Any], **spec: Any) -> list[str]:
    found = failure_policy({"podFailurePolicy": {"rules": list(rules)}, "template": TEMPLATE, **spec})
    return [error.path.removeprefix("spec.podFailurePolicy.rules") for error in found]


def codes(*values: int, operator: str = "In", **more: Any) -> dict[str, Any]:
    return {"action": "FailJob", "onExitCodes": {"operator": operator, "values": list(values), **more}}


@pytest.mark.parametrize(
    ("rule", "paths"),
    [
        (codes(1, 2), []),
        (codes(1, containerName="main"), []),
        (codes(1, containerName="other"), ["[0].onExitCodes.containerName"]),
        (codes(), ["[0].onExitCodes.values"]),
        (codes(0), ["[0].onExitCodes.values[0]"]),
        (codes(0, operator="NotIn"), []),
        (codes(2, 1), ["[0].onExitCodes.values"]),
        (codes(1, 1), ["[0].onExitCodes.values[1]"]),
        (codes(1, operator="Maybe"), ["[0].onExitCodes.operator"]),
        ({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}, []),
        (
            {"action": "Ignore", "onPodConditions": [{"type": "a b", "status": "x"}]},
            ["[0].onPodConditions[0].type", "[0].onPodConditions[0].status"],
        ),
        ({"action": "Ignore"}, ["[0]"]),
        ({**codes(1), "onPodConditions": [{"type": "X"}]}, ["[0]"]),
        ({**codes(1), "action": "Explode"}, ["[0].action"]),
        ({**codes(1), "action": ""}, ["[0].action"]),
        ({**codes(1), "action": "FailIndex"}, ["[0].action"]),
    ],
)
def test_what_a_failure_rule_may_say(rule: dict[str, Any], paths: list[str]) -> None:
    assert failing(rule) == paths


def test_indexes_fail_where_they_have_a_limit() -> None:
    assert failing({**codes(1), "action": "FailIndex"}, backoffLimitPerIndex=0) == []


def test_there_are_twenty_rules_at_most() -> None:
    assert failing(*[codes(1)] * 21) == [""]


def succeeding(*rules: dict[str, Any]) -> list[str]:
    spec = {"successPolicy": {"rules": list(rules)}, "completionMode": "Indexed", "completions": 5}
    return [error.path.removeprefix("spec.successPolicy.rules") for error in success_policy(spec)]


@pytest.mark.parametrize(
    ("rule", "paths"),
    [
        ({"succeededCount": 3}, []),
        ({"succeededIndexes": "0,2-4", "succeededCount": 4}, []),
        ({"succeededIndexes": "0,2-4", "succeededCount": 5}, ["[0].succeededCount"]),
        ({"succeededCount": 6}, ["[0].succeededCount"]),
        ({"succeededCount": 0}, ["[0].succeededCount"]),
        ({"succeededIndexes": "4-5"}, ["[0].succeededIndexes"]),
        ({"succeededIndexes": "2,1"}, ["[0].succeededIndexes"]),
        ({"succeededIndexes": "one"}, ["[0].succeededIndexes"]),
        ({}, ["[0]"]),
    ],
)
def test_what_a_success_rule_may_say(rule: dict[str, Any], paths: list[str]) -> None:
    assert succeeding(rule) == paths


def test_a_policy_has_rules() -> None:
    assert succeeding() == [""]
