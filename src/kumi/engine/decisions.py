"""What the engine decides, as data. Each is assumed on the state at once; the decider settles it when its write is
acknowledged (ok) or refused (the assumption is undone and the thing is decided again)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kumi.engine.model import Admission
from kumi.engine.reasons import Reason, Record


@dataclass(frozen=True, slots=True)
class Admit:
    """The workload may start with this; quota and (where Kumi places) nodes are held for it from now on."""

    workload: str
    admission: Admission


@dataclass(frozen=True, slots=True)
class Hold:
    """The workload waits, and why. Only decided anew when the record differs from the one before."""

    workload: str
    record: Record


@dataclass(frozen=True, slots=True)
class Evict:
    """The workload must stop; it keeps its quota until its pods are gone. `why` is the condition's reason
    (ClusterQueueStopped, LocalQueueStopped, Deactivated, NodeFailures ...)."""

    workload: str
    why: str
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Bind:
    """This pod on that node."""

    pod: str
    node: str


@dataclass(frozen=True, slots=True)
class Unplaced:
    """The pod can't be placed now, and why. Only decided anew when the reasons differ."""

    pod: str
    reasons: tuple[Reason, ...]


Decision: TypeAlias = Admit | Hold | Evict | Bind | Unplaced
