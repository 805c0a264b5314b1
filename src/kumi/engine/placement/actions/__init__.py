"""Actions: the steps of a session, each a function of the session; the scheduler's file says which, in which order.

Not here      which of the two tables a profile uses: ../ways.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kumi.engine.placement.named import Named

if TYPE_CHECKING:
    from kumi.engine.placement.framework import Framework
    from kumi.engine.placement.statement import Outcome

Action: TypeAlias = Callable[["Framework", "Outcome"], None]

_HERE = "kumi.engine.placement.actions"

ACTIONS: Named[Action] = Named(
    {
        "enqueue": f"{_HERE}.enqueue:run",
        "allocate": f"{_HERE}.allocate:run",
        "strict": f"{_HERE}.lined:run_strict",
        "easy": f"{_HERE}.lined:run_easy",
        "conservative": f"{_HERE}.lined:run_conservative",
        "backfill": f"{_HERE}.backfill:run",
        "preempt": f"{_HERE}.preempt:run",
        "reclaim": f"{_HERE}.reclaim:run",
        "gangpreempt": f"{_HERE}.gangpreempt:run",
        "gangreclaim": f"{_HERE}.gangreclaim:run",
        "shuffle": f"{_HERE}.shuffle:run",
    }
)
"""as Volcano has them, and those of a line in the place of allocate"""

LEAST: Named[Action] = Named(
    {
        **ACTIONS.where,
        "allocate": f"{_HERE}.allocate_kept:run",
        "preempt": f"{_HERE}.preempt_least:run",
        "reclaim": f"{_HERE}.reclaim_least:run",
        "gangpreempt": f"{_HERE}.gang_least:preempt",
        "gangreclaim": f"{_HERE}.gang_least:reclaim",
    }
)
"""the same, where nobody goes in vain: by those that evict, and since what was promised is kept"""
