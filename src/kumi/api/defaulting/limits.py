"""Defaults of LimitRange: what a container gets where its bounds say something and its defaults do not.

    default          what is not said is the max
    defaultRequest   what is not said is the default, else the min
Source     Kubernetes: limit ranges.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject


def default_limit_range(limit_range: JsonObject) -> None:
    """A whole LimitRange."""
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        if item.get("type") != "Container":
            continue
        limits = {**(item.get("max") or {}), **(item.get("default") or {})}
        requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
        for field, amounts in (("default", limits), ("defaultRequest", requests)):
            if amounts:
                item[field] = amounts
