"""Verdicts: what one attempt came to.

    ADMITTED        it gets what it was nominated for
    NO_FIT          it doesn't fit, and eviction can't change that
    NO_CANDIDATES   within what is its queue's, but nobody may go for it, or too few
    PENDING         it waits for its victims, or for those of an earlier entry, with whom gone it fits
    OUTRUN          an earlier entry of the cycle took what it was nominated for
    HELD            it fits, and nobody may start until the pods of all who did are ready
Words          the value is Kueue's word for why a workload goes back in its queue.
Not here       how it is reached: snapshot.py, live.py; what follows from it: requeue.py, cycle.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kumi.engine.admission.entries import Entry


class Outcome(Enum):
    """See the module; the last five come from elsewhere than a cycle's heads."""

    ADMITTED = "Admitted"
    NO_FIT = "NoFit"
    NO_CANDIDATES = "PreemptionNoCandidates"
    PENDING = "PendingPreemption"
    OUTRUN = "FailedAfterNomination"
    HELD = "WaitingForPodsReady"
    GATED = "PreemptionGated"
    MIGRATING = "PendingMigration"
    PREEMPTION_FAILED = "PreemptionFailed"
    NAMESPACE = "NamespaceMismatch"
    OTHER = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """An entry and what it came to. `skipped`: a preemptor that another one of the cycle outran; `recomputed`: what came of
    looking for other victims, where its own were taken ("": they weren't)."""

    entry: Entry
    outcome: Outcome
    skipped: bool = False
    recomputed: str = ""
