"""What cells of several groups need: ages as people read them, conditions, joined lists."""

from __future__ import annotations

from collections.abc import Iterable

from kumi.api.meta import parse_time, selector_text
from kumi.api.scheme import Cell
from kumi.api.wire import JsonObject

NONE = "<none>"
UNKNOWN = "<unknown>"
UNSET = "<unset>"

_SECOND, _MINUTE, _HOUR, _DAY, _YEAR = 1, 60, 3600, 86400, 365 * 86400


def duration(seconds: int) -> str:
    """A duration in two units at most, as kubectl prints ages: 45s, 3m12s, 47m, 5h30m, 12h, 3d4h, 30d, 2y40d, 9y."""
    if seconds < -1:
        return "<invalid>"
    if seconds < 2 * _MINUTE:
        return f"{max(seconds, 0)}s"
    for below, unit, name, small, small_name in (
        (10 * _MINUTE, _MINUTE, "m", _SECOND, "s"),
        (3 * _HOUR, _MINUTE, "m", 0, ""),
        (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
        (2 * _DAY, _HOUR, "h", 0, ""),
        (8 * _DAY, _DAY, "d", _HOUR, "h"),
        (2 * _YEAR, _DAY, "d", 0, ""),
        (8 * _YEAR, _YEAR, "y", _DAY, "d"),
    ):
        if seconds < below:
            rest = seconds % unit // small if small else 0
            return f"{seconds // unit}{name}" + (f"{rest}{small_name}" if rest else "")
    return f"{seconds // _YEAR}y"


def age(time: str | None, now_ms: int) -> str:
    """How long ago a time was; `<unknown>` for none or for what is no time."""
    try:
        ms = parse_time(time)
    except ValueError:
        return UNKNOWN
    return UNKNOWN if ms is None else duration((now_ms - ms) // 1000)


def condition(obj: JsonObject, type_: str) -> JsonObject | None:
    """The status condition of that type."""
    for found in (obj.get("status") or {}).get("conditions") or ():
        if found.get("type") == type_:
            return dict(found)
    return None


def pairs(labels: JsonObject | None) -> str:
    """Labels as `a=1,b=2`, by key."""
    return ",".join(f"{k}={v}" for k, v in sorted((labels or {}).items())) or NONE


def joined(words: Iterable[object]) -> str:
    """Words with commas between, or `<none>`."""
    return ",".join(str(w) for w in words) or NONE


def count(field: str) -> Cell:
    """A number of the status; 0 where it says nothing."""
    return lambda obj, _now_ms: (obj.get("status") or {}).get(field) or 0


def selected(selector: JsonObject | None) -> str:
    """A label selector, or `<none>`."""
    return selector_text(selector) or NONE


def images(template: JsonObject, key: str) -> str:
    """Names or images (`key`) of a pod template's containers."""
    return joined(c.get(key, "") for c in (template.get("spec") or {}).get("containers") or ())
