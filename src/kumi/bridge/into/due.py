"""Whose turn it is by what is said of time: of an object with pod templates, as a queue orders it.

The rule   the object's own words; where it says nothing, the earliest deadline and the longest execution time of its templates,
           which count from the object's creation
Units      milliseconds.
Not here   the annotations: kumi.jobs.due; what an order makes of them: engine/settings.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from kumi.api.meta import ObjectMeta
from kumi.api.wire import JsonObject
from kumi.engine.settings import QueueOrder
from kumi.jobs.due import due


def turn_ms(order: QueueOrder, meta: ObjectMeta, templates: Iterable[JsonObject], otherwise_ms: int) -> int:
    """The place in line of an object with pods of these templates, as QueueOrder.turn_ms has it; see the module."""
    said = [due(meta), *(due(_of_template(meta, template)) for template in templates)]
    deadlines = [one.deadline_ms for one in said if one.deadline_ms is not None]
    lengths = [one.execution_ms for one in said if one.execution_ms is not None]
    deadline = said[0].deadline_ms if said[0].deadline_ms is not None else min(deadlines, default=None)
    length = said[0].execution_ms if said[0].execution_ms is not None else max(lengths, default=None)
    return order.turn_ms(deadline, length, otherwise_ms)


def _of_template(meta: ObjectMeta, template: JsonObject) -> ObjectMeta:
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    return ObjectMeta(creation_timestamp=meta.creation_timestamp, annotations=annotations)
