"""Validation of label selectors.

Source     Kubernetes: labels and selectors (set-based requirements).
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.validation.names import label_value, labels, qualified
from kumi.api.validation.words import forbidden, not_supported, required
from kumi.api.wire import JsonObject

OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def label_selector(selector: JsonObject | None, path: str) -> list[FieldError]:
    """matchLabels and matchExpressions."""
    selector = selector or {}
    errors = labels(selector.get("matchLabels"), f"{path}.matchLabels")
    for index, rule in enumerate(selector.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        key, operator, values = rule.get("key") or "", rule.get("operator") or "", rule.get("values") or []
        if operator in ("In", "NotIn"):
            if not values:
                errors.append(required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                errors.append(forbidden(f"{here}.values", detail))
        else:
            errors.append(not_supported(f"{here}.operator", operator, OPERATORS))
        if qualified(key):
            errors.append(FieldError(f"{here}.key", qualified(key), value=key))
        for place, value in enumerate(values):
            if label_value(value):
                errors.append(FieldError(f"{here}.values[{place}]", label_value(value), value=value))
    return errors


def selects(selector: JsonObject | None, found: JsonObject) -> bool:
    """Whether a selector selects an object with these labels; an absent one selects nothing."""
    if selector is None:
        return False
    if any(found.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for rule in selector.get("matchExpressions") or ():
        key, operator, values = rule.get("key"), rule.get("operator"), rule.get("values") or []
        holds = {
            "In": key in found and found[key] in values,
            "NotIn": key not in found or found[key] not in values,
            "Exists": key in found,
            "DoesNotExist": key not in found,
        }
        if not holds.get(str(operator), False):
            return False
    return True
