"""Annotations -> until when something must be done, and how long it takes.

The rule   deadline         kumi.dev/deadline, a time (RFC 3339); else <anything>/deadline-duration, counted from the creation
           execution time   kumi.dev/execution-duration; else <anything>/execution-duration
           a length is written like 1h30m; a number alone is seconds. What can't be read, or isn't above 0, is not said
Ties       of two prefixes the smaller one counts.
Units      milliseconds.
Source     kube-scheduler-evaluator: annotations of its jobs, whatever domain they were given.
Not here   what follows from it: engine/placement/plugins/least_slack.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kumi.api.meta import ObjectMeta, parse_time
from kumi.api.wire import JsonObject
from kumi.engine.placement.times import duration_ms
from kumi.engine.settings import QueueOrder

DEADLINE = "kumi.dev/deadline"
EXECUTION = "kumi.dev/execution-duration"
DEADLINE_NAME = "/deadline-duration"
EXECUTION_NAME = "/execution-duration"


@dataclass(frozen=True, slots=True)
class Due:
    """Milliseconds; None where nothing is said. `deadline_ms` since the epoch."""

    deadline_ms: int | None = None
    execution_ms: int | None = None


def due(meta: ObjectMeta) -> Due:
    """See the module."""
    return Due(_deadline(meta), _length(meta, EXECUTION, EXECUTION_NAME))


def turn_ms(order: QueueOrder, meta: ObjectMeta, templates: Iterable[JsonObject], otherwise_ms: int) -> int:
    """The place in line of an object with pods of these templates, as QueueOrder.turn_ms has it: by its own words, else by the
    earliest deadline and the longest execution time of the templates, which count from the object's creation."""
    said = [due(meta), *(due(_of_template(meta, template)) for template in templates)]
    deadlines = [one.deadline_ms for one in said if one.deadline_ms is not None]
    lengths = [one.execution_ms for one in said if one.execution_ms is not None]
    deadline = said[0].deadline_ms if said[0].deadline_ms is not None else min(deadlines, default=None)
    length = said[0].execution_ms if said[0].execution_ms is not None else max(lengths, default=None)
    return order.turn_ms(deadline, length, otherwise_ms)


def _of_template(meta: ObjectMeta, template: JsonObject) -> ObjectMeta:
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    return ObjectMeta(creation_timestamp=meta.creation_timestamp, annotations=annotations)


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


def length_ms(text: str) -> int | None:
    """A length of time; None where it is none, or not above 0."""
    seconds = f"{text}s" if text and text.replace(".", "", 1).isdecimal() and text.isascii() else text
    return duration_ms(seconds)
