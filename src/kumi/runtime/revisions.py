"""Comparing resource versions.

Kubernetes calls them opaque; in the embedded server, and in every etcd-backed API server, they are integers that only
grow, over all objects of a kind. Where both sides read as integers they are compared; elsewhere nothing is known but
whether they are equal, and callers fall back to the order in which they were told.
"""

from __future__ import annotations


def reached(seen: str, wanted: str) -> bool | None:
    """Whether `seen` is at `wanted` or past it; None where that can't be told."""
    if seen == wanted:
        return True
    if seen.isdecimal() and wanted.isdecimal():
        return int(seen) >= int(wanted)
    return None


def newest(first: str, second: str) -> str:
    """The greater of the two; the second where that can't be told."""
    return first if reached(second, first) is False else second
