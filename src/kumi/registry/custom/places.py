"""Places in an object: a path is a tuple of member names and indexes, written out only for what is wrong.

    text_of(path)        `spec.items[1].key`; a key of a map (`Key`) stands in brackets: `metadata.labels[a/b]`
    dotted(path)         the same with keys of maps like any member: `spec.labels.a`
Which one it is depends on who finds the fault, as in Kubernetes: schemas speak of members, rules and lists of keys.
"""

from __future__ import annotations

from typing import Any, TypeAlias


class Key(str):
    """A key of a map, where a path tells it from a member."""

    __slots__ = ()


Path: TypeAlias = tuple["str | int", ...]


class Missing:
    """What is at a place that isn't there."""


MISSING = Missing()


def text_of(path: Path) -> str:
    """See the module."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int | Key) else f".{step}" if text else step
    return text


def dotted(path: Path) -> str:
    """See the module."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def at(value: Any, path: Path) -> Any:
    """What is at a place, MISSING for nothing."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                return MISSING
            value = value[step]
        elif not isinstance(value, dict) or step not in value:
            return MISSING
        else:
            value = value[step]
    return value
