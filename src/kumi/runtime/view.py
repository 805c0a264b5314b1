"""What a loop sees: decoded objects of the kinds it asked for, at one moment, never newer than itself in parts.

`Cache` (kumi.runtime.informer) fills one from watches; a test fills one by hand. Sequences are sorted by key, so that a
loop that goes through them decides alike everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from kumi.api.meta import Object

T = TypeVar("T", bound=Object)


class View(Protocol):
    """Read-only, typed."""

    def get(self, type_: type[T], namespace: str, name: str) -> T | None:
        """One object, if it is there."""
        ...

    def list(self, type_: type[T], namespace: str = "") -> Sequence[T]:
        """All, or those of a namespace, by key."""
        ...

    def owned(self, type_: type[T], owner_uid: str) -> Sequence[T]:
        """Those whose controller owner reference has that uid, by key."""
        ...

    def labelled(self, type_: type[T], label: str, value: str) -> Sequence[T]:
        """Those with that label at that value, by key (an index, not a scan, for labels that a loop declared)."""
        ...
