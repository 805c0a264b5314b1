"""Completion indexes of an Indexed Job: a set of integers, and its text (`0-2,4`) as in status.completedIndexes.

Law    parse(text_of(s)) == s; text_of gives sorted runs, a run of two or more as `first-last`.
Cost   O(n log n) in the number of indexes.
"""

from __future__ import annotations

from collections.abc import Iterable


def parse(text: str, limit: int) -> frozenset[int]:
    """The indexes below `limit`; a part that is no index or run is skipped, as nobody but the controller writes it."""
    out: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            out.update(range(int(first), min(int(last or first) + 1, limit)))
    return frozenset(out)


def text_of(indexes: Iterable[int]) -> str:
    """The runs, sorted."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
