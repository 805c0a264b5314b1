"""What every verb works with: the objects, the scheme, the only sources of time and chance, and who has a say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kumi.api.meta import format_time
from kumi.api.scheme import Scheme
from kumi.registry.hooks import AdmissionHook
from kumi.registry.objects import Objects


@dataclass(frozen=True)
class Environment:
    """`clock_ms`: now, milliseconds since the epoch. `new_uid`: a UUID that was never used."""

    objects: Objects
    scheme: Scheme
    clock_ms: Callable[[], int]
    new_uid: Callable[[], str]
    hooks: Sequence[AdmissionHook] = ()

    def now(self) -> str:
        """Now, as the API writes times."""
        return format_time(self.clock_ms())
