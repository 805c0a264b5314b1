"""Amounts that are a number or a share: `3`, `"25%"`.

Source     Kubernetes: IntOrString, disruption budgets, rolling updates.
"""

from __future__ import annotations

import re

from kumi.api.errors import FieldError

_PERCENT = re.compile(r"[0-9]+%")


def number_or_percent(value: object, path: str) -> list[FieldError]:
    """What is wrong with it; nothing with what is absent."""
    if isinstance(value, str) and not _PERCENT.fullmatch(value):
        detail = (
            "a valid percent string must be a numeric string followed by an ending '%' "
            "(e.g. '1%', or '93%', regex used for validation is '[0-9]+%')"
        )
        return [FieldError(path, detail, value=value)]
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        return [FieldError(path, "must be greater than or equal to 0", value=value)]
    return []


def at_most_all(value: object, path: str) -> list[FieldError]:
    """A share of more than all is none."""
    if isinstance(value, str) and _PERCENT.fullmatch(value) and int(value[:-1]) > 100:
        return [FieldError(path, "must not be greater than 100%", value=value)]
    return []


def is_zero(value: object) -> bool:
    """0, 0% or nothing."""
    return value in (None, 0, "") or (isinstance(value, str) and value.rstrip("%").strip("0") == "")
