"""What manifests say of the time that jobs take, in annotations, and how a scenario says it in their place.

    */execution-duration      how long it takes, as its owner says; and how long it really takes, unless the next is there
    kumi.dev/run-duration     how long it really takes; `forever`: until it is deleted
    */deadline-duration       until when it must be done, from its creation on; kumi.dev/deadline: at that time
    kumi.dev/checkpoint-interval   how often it writes a checkpoint: a run that is cut short goes on from the last one

The rule   on the job; what a job says of itself counts for its pods, and where it says nothing, what the pods' templates say does
Units      milliseconds.
Source     kube-scheduler-evaluator: annotations of its jobs, whatever domain they were given (kumi.jobs.due).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kumi.api.meta import ObjectMeta, parse_time
from kumi.api.wire import JsonObject
from kumi.jobs.due import DEADLINE, DEADLINE_NAME, EXECUTION_NAME, due, length_ms

RUNS = "kumi.dev/run-duration"
CHECKPOINT = "kumi.dev/checkpoint-interval"
LENGTHS = (EXECUTION_NAME, DEADLINE_NAME, RUNS, CHECKPOINT)
"""what keys of lengths of time end with"""
FOREVER = "forever"
DEADLINE_IN = "kumi.dev/deadline-duration"


@dataclass(frozen=True, slots=True)
class Said:
    """Milliseconds; None where nothing is said. `deadline_ms` since the epoch."""

    runs_ms: int | None = None
    said_ms: int | None = None
    deadline_ms: int | None = None
    checkpoint_ms: int | None = None


def said(metas: Iterable[ObjectMeta]) -> Said:
    """What these say: of each the first that says anything."""
    metas = list(metas)
    dues = [due(meta) for meta in metas]
    execution = next((d.execution_ms for d in dues if d.execution_ms is not None), None)
    runs = _first(metas, RUNS)
    forever = next((meta.annotations[RUNS] for meta in metas if RUNS in meta.annotations), "") == FOREVER
    return Said(
        runs_ms=None if forever else runs if runs is not None else execution,
        said_ms=execution,
        deadline_ms=next((d.deadline_ms for d in dues if d.deadline_ms is not None), None),
        checkpoint_ms=_first(metas, CHECKPOINT),
    )


def faults(obj: JsonObject) -> Iterator[str]:
    """What the object and its templates say of time that can't be read: a job that says how long it takes must be understood,
    or it would run until it is deleted."""
    for holder in (obj, *templates(obj)):
        annotations = (holder.get("metadata") or {}).get("annotations") or {}
        yield from _at_odds(annotations)
        for key, value in sorted(annotations.items()):
            if key == DEADLINE:
                if not _is_time(value):
                    yield f"the annotation {key} is {value!r}, which is no time: write one like 2026-01-01T00:00:00Z"
            elif key.endswith(LENGTHS) and value != (FOREVER if key == RUNS else None) and length_ms(value) is None:
                yield f"the annotation {key} is {value!r}, which is no length of time above 0: write 90s, 1h30m or 2d"


def _at_odds(annotations: dict[str, str]) -> Iterator[str]:
    """Words of different prefixes that say different things: only one of them could count, and nobody would know which."""
    for name in (EXECUTION_NAME, DEADLINE_NAME):
        said = {
            key: ms for key, value in sorted(annotations.items()) if key.endswith(name) and (ms := length_ms(value))
        }
        if len(set(said.values())) > 1:
            words = " and ".join(f"{key} ({annotations[key]})" for key in said)
            yield f"the annotations {words} say different lengths: leave one of them"


def _is_time(text: str) -> bool:
    try:
        return parse_time(text) is not None
    except ValueError:
        return False


def text(ms: int) -> str:
    """A length of time, as an annotation has it."""
    return f"{ms // 1000}s" if ms % 1000 == 0 else f"{ms}ms"


def with_words(obj: JsonObject, words: dict[str, str]) -> JsonObject:
    """A copy of the object that says this as well, itself and in the templates of its pods."""
    made = copy.deepcopy(obj)
    for holder in (made, *templates(made)):
        meta = holder.setdefault("metadata", {})
        meta["annotations"] = {**(meta.get("annotations") or {}), **words}
    return made


def templates(obj: JsonObject) -> Iterator[JsonObject]:
    """The pod templates of an object, wherever its kind has them."""
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    if isinstance(spec.get("template"), dict):
        yield spec["template"]
    for key, value in spec.items():
        if key.endswith("ReplicaSpecs") and isinstance(value, dict):
            yield from (one["template"] for one in value.values() if isinstance(one, dict) and one.get("template"))
        elif key == "podSets" and isinstance(value, list):
            yield from (one["template"] for one in value if isinstance(one, dict) and one.get("template"))


def _first(metas: Iterable[ObjectMeta], key: str) -> int | None:
    texts = (meta.annotations[key] for meta in metas if key in meta.annotations)
    return next((found for each in texts if (found := length_ms(each)) is not None), None)
