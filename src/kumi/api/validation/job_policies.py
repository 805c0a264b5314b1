"""Validation of a Job's policies: what its pods' failures mean, and when it has succeeded early.

    podFailurePolicy   20 rules at most, each with an action and one requirement: exit codes (255 at most, in order, each once;
                       0 is no failure) or pod conditions
    successPolicy      1 to 20 rules, each with a count, indexes, or both; a count fits the indexes
Source     Kubernetes: Jobs (pod failure policy, success policy), KEP-3329, KEP-3998.
"""

from __future__ import annotations

import re

from kumi.api.errors import FieldError
from kumi.api.validation.names import qualified
from kumi.api.validation.words import duplicate, not_supported, required
from kumi.api.wire import JsonObject

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_RULES, _MOST_CODES, _MOST_CONDITIONS = 20, 255, 20
_RUN = re.compile(r"(\d+)(?:-(\d+))?")


def failure_policy(spec: JsonObject) -> list[FieldError]:
    """Every wrong field of `podFailurePolicy`."""
    policy = spec.get("podFailurePolicy")
    if policy is None:
        return []
    path, rules = "spec.podFailurePolicy.rules", policy.get("rules") or []
    errors = []
    if len(rules) > _MOST_RULES:
        errors.append(FieldError(path, f"must have at most {_MOST_RULES} items", "FieldValueTooMany", len(rules)))
    pod = (spec.get("template") or {}).get("spec") or {}
    names = [c.get("name") for part in ("containers", "initContainers") for c in pod.get(part) or ()]
    for index, rule in enumerate(rules):
        here, action = f"{path}[{index}]", rule.get("action")
        if not action:
            errors.append(required(f"{here}.action", f"valid values: {list(_ACTIONS)}"))
        elif action not in _ACTIONS:
            errors.append(not_supported(f"{here}.action", action, _ACTIONS))
        elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            errors.append(FieldError(f"{here}.action", "requires the backoffLimitPerIndex to be set", value=action))
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if codes is not None:
            errors += _exit_codes(codes, names, f"{here}.onExitCodes")
        if conditions:
            errors += _conditions(conditions, f"{here}.onPodConditions")
        if codes is not None and conditions:
            detail = "specifying both OnExitCodes and OnPodConditions is not supported"
            errors.append(FieldError(here, detail, value=rule))
        if codes is None and not conditions:
            errors.append(FieldError(here, "specifying one of OnExitCodes and OnPodConditions is required", value=rule))
    return errors


def _exit_codes(codes: JsonObject, names: list[object], here: str) -> list[FieldError]:
    errors = []
    operator, values, container = codes.get("operator"), codes.get("values") or [], codes.get("containerName")
    if not operator:
        errors.append(required(f"{here}.operator", f"valid values: {list(_OPERATORS)}"))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{here}.operator", operator, _OPERATORS))
    if container is not None and container not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        errors.append(FieldError(f"{here}.containerName", detail, value=container))
    if not values:
        errors.append(FieldError(f"{here}.values", "at least one value is required", value=values))
    elif len(values) > _MOST_CODES:
        errors.append(
            FieldError(f"{here}.values", f"must have at most {_MOST_CODES} items", "FieldValueTooMany", len(values))
        )
    in_order = True
    for place, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(FieldError(f"{here}.values[{place}]", "must not be 0 for the In operator", value=value))
        if value in values[:place]:
            errors.append(duplicate(f"{here}.values[{place}]", value))
        if place and value < values[place - 1]:
            in_order = False
    if not in_order:
        errors.append(FieldError(f"{here}.values", "must be ordered", value=values))
    return errors


def _conditions(conditions: list[JsonObject], here: str) -> list[FieldError]:
    errors = []
    if len(conditions) > _MOST_CONDITIONS:
        detail = f"must have at most {_MOST_CONDITIONS} items"
        errors.append(FieldError(here, detail, "FieldValueTooMany", len(conditions)))
    for index, pattern in enumerate(conditions):
        wrong, status = qualified(str(pattern.get("type") or "")), pattern.get("status", "True")
        if wrong:
            errors.append(FieldError(f"{here}[{index}].type", wrong, value=pattern.get("type")))
        if not status:
            errors.append(required(f"{here}[{index}].status", f"valid values: {list(_STATUSES)}"))
        elif status not in _STATUSES:
            errors.append(not_supported(f"{here}[{index}].status", status, _STATUSES))
    return errors


def success_policy(spec: JsonObject) -> list[FieldError]:
    """Every wrong field of `successPolicy`."""
    policy = spec.get("successPolicy")
    if policy is None or spec.get("completionMode") != "Indexed":
        return []
    path, rules = "spec.successPolicy.rules", policy.get("rules") or []
    if not rules:
        return [required(path, "at least one rules must be specified when the successPolicy is specified")]
    errors = []
    if len(rules) > _MOST_RULES:
        errors.append(FieldError(path, f"must have at most {_MOST_RULES} items", "FieldValueTooMany", len(rules)))
    completions = spec.get("completions") or 0
    for index, rule in enumerate(rules):
        here, indexes, count = f"{path}[{index}]", rule.get("succeededIndexes"), rule.get("succeededCount")
        if indexes is None and count is None:
            errors.append(required(here, "at least one of succeededCount or succeededIndexes must be specified"))
        wrong, size = ("", completions) if indexes is None else _indexes(str(indexes), completions)
        if wrong:
            errors.append(FieldError(f"{here}.succeededIndexes", wrong, value=indexes))
            size = completions
        if count is not None and count <= 0:
            errors.append(FieldError(f"{here}.succeededCount", "must be greater than zero", value=count))
        elif count is not None and count > size:
            what = (
                "the number of indexes in the specified succeededIndexes field"
                if indexes is not None
                else "completions"
            )
            detail = f"must be less than or equal to {size} ({what})"
            errors.append(FieldError(f"{here}.succeededCount", detail, value=count))
    return errors


def _indexes(text: str, completions: int) -> tuple[str, int]:
    """What is wrong with the runs of a text, and how many indexes they name."""
    total, last = 0, -1
    for part in text.split(",") if text else ():
        match = _RUN.fullmatch(part)
        if match is None:
            return f"cannot convert {part!r} to completion indexes: it is no number and no run such as 0-3", 0
        first, end = int(match[1]), int(match[2] or match[1])
        if first <= last or end < first or (match[2] and end == first):
            return f"non-increasing order, previous: {max(last, 0)}, current: {first}", 0
        if end >= completions:
            return f"too large index: {end}, expected less than {completions}", 0
        total, last = total + end - first + 1, end
    return "", total
