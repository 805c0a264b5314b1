"""Actions: the steps of a session, each a function of the session; the scheduler's file says which, in which order.

Not here      which of the two tables a profile uses: ../ways.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kumi.engine.placement.actions import (
    allocate,
    backfill,
    enqueue,
    gang_least,
    gangpreempt,
    gangreclaim,
    lined,
    preempt,
    preempt_least,
    reclaim,
    reclaim_least,
    shuffle,
)
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.statement import Outcome

Action: TypeAlias = Callable[[Framework, Outcome], None]

ACTIONS: dict[str, Action] = {
    "enqueue": enqueue.run,
    "allocate": allocate.run,
    "strict": lined.run_strict,
    "easy": lined.run_easy,
    "conservative": lined.run_conservative,
    "backfill": backfill.run,
    "preempt": preempt.run,
    "reclaim": reclaim.run,
    "gangpreempt": gangpreempt.run,
    "gangreclaim": gangreclaim.run,
    "shuffle": shuffle.run,
}
"""as Volcano has them, and those of a line in the place of allocate"""

LEAST: dict[str, Action] = {
    **ACTIONS,
    "preempt": preempt_least.run,
    "reclaim": reclaim_least.run,
    "gangpreempt": gang_least.preempt,
    "gangreclaim": gang_least.reclaim,
}
"""the same, where those that evict let nobody go in vain"""
