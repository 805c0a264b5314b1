"""Regular expressions as Kubernetes has them: RE2, which is linear in the text, found anywhere in it.

CEL's own `matches` is the one at hand; Python's `re` reads another dialect, and can be made to run for hours.
"""

from __future__ import annotations

from functools import cache, lru_cache

from cel_expr_python import cel


@cache
def _expression() -> cel.Expression:
    environment = cel.NewEnv(variables={"text": cel.Type.STRING, "pattern": cel.Type.STRING})
    return environment.compile("text.matches(pattern)")


SHORT = 256
"""letters of a text that is remembered with its answer: an object is checked again and again, and asking costs 20 times as much
as remembering"""


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is somewhere in the text; one that can't be read matches nothing."""
    return _remembered(pattern, text) if len(text) <= SHORT else _matches(pattern, text)


@lru_cache(maxsize=16_384)
def _remembered(pattern: str, text: str) -> bool:
    return _matches(pattern, text)


def _matches(pattern: str, text: str) -> bool:
    return _expression().eval(data={"text": text, "pattern": pattern}).value() is True


@lru_cache(maxsize=4096)
def wrong_pattern(pattern: str) -> str:
    """What is wrong with a pattern, "" for nothing."""
    found = _expression().eval(data={"text": "", "pattern": pattern})
    return "" if found.type() == cel.Type.BOOL else str(found.value()).partition(": ")[2]
