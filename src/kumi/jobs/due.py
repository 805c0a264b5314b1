"""Annotations -> until when something must be done, and how long it takes.

The rule   deadline         kumi.dev/deadline, a time (RFC 3339); else <anything>/deadline-duration, counted from the creation
           execution time   kumi.dev/execution-duration; else <anything>/execution-duration
           a length is written like 1h30m or 2d; a number alone is seconds. What can't be read, or isn't above 0, is not said
           what is made for a job (its Workload, its pod group) says the same, the deadline as a time: it may be made later
Ties       of two prefixes the smaller one counts. Of several objects the earliest deadline, the longest execution time.
Units      milliseconds.
Source     kube-scheduler-evaluator: annotations of its jobs, whatever domain they were given.
Not here   whose turn it is by that: kumi.bridge.into.due; what follows: engine/placement/plugins/least_slack.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kumi.api.meta import ObjectMeta, format_micro_time, format_time, parse_time
from kumi.engine.placement.times import duration_ms

DEADLINE = "kumi.dev/deadline"
EXECUTION = "kumi.dev/execution-duration"
DEADLINE_NAME = "/deadline-duration"
EXECUTION_NAME = "/execution-duration"
SECOND_MS = 1000
DAY_MS = 86_400_000
LONGEST_MS = 1000 * 2**37
"""what is longer, some four thousand years, is a mistake: no calendar has its end"""
_DAYS = re.compile(r"(\d+(?:\.\d*)?)d")


@dataclass(frozen=True, slots=True)
class Due:
    """Milliseconds; None where nothing is said. `deadline_ms` since the epoch."""

    deadline_ms: int | None = None
    execution_ms: int | None = None


def due(meta: ObjectMeta) -> Due:
    """See the module."""
    return Due(_deadline(meta), _length(meta, EXECUTION, EXECUTION_NAME))


def told(*metas: ObjectMeta) -> dict[str, str]:
    """The annotations that say the same as these objects of what is made for them; {} where they say nothing."""
    said = [due(meta) for meta in metas]
    deadlines = [one.deadline_ms for one in said if one.deadline_ms is not None]
    lengths = [one.execution_ms for one in said if one.execution_ms is not None]
    words = {}
    if deadlines:
        words[DEADLINE] = _time(min(deadlines))
    if lengths:
        words[EXECUTION] = _text(max(lengths))
    return words


def length_ms(text: str) -> int | None:
    """A length of time; None where it is none, or not above 0, or longer than LONGEST_MS."""
    if text and text.isascii() and text.replace(".", "", 1).isdecimal():
        text = f"{text}s"
    days = _DAYS.match(text)
    rest = text[days.end() :] if days else text
    more = duration_ms(rest) if rest not in ("", "0s") else 0
    if more is None or (days is None and not rest):
        return None
    found = more + (float(days[1]) * DAY_MS if days else 0)
    return round(found) or None if found < LONGEST_MS else None


def _deadline(meta: ObjectMeta) -> int | None:
    try:
        at = parse_time(meta.annotations.get(DEADLINE))
    except ValueError:
        at = None
    if at is not None:
        return at
    length, created = _length(meta, "", DEADLINE_NAME), parse_time(meta.creation_timestamp)
    return None if length is None or created is None else created + length


def _length(meta: ObjectMeta, own: str, name: str) -> int | None:
    texts = [meta.annotations[own]] if own in meta.annotations else []
    texts += [text for key, text in sorted(meta.annotations.items()) if key.endswith(name) and key != own]
    return next((found for text in texts if (found := length_ms(text)) is not None), None)


def _time(ms: int) -> str:
    return format_micro_time(ms) if ms % SECOND_MS else format_time(ms)


def _text(ms: int) -> str:
    return f"{ms}ms" if ms % SECOND_MS else f"{ms // SECOND_MS}s"
