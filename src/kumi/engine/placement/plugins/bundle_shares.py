"""Bundle shares: whole gangs are taken back only from what a queue has past the share that proportion gives it.

The rule   of another queue's tasks, in the given order, while the queue has more than it deserves (proportion.py)
           within a queue no opinion
Why        proportion itself has a say on single tasks only; without this one, gangreclaim may take from a queue all that it has.
Source     Kumi's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kumi.engine.gangs import Queue
from kumi.engine.model import Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Reclaimable, ReclaimsFrom
from kumi.engine.placement.plugins.proportion import Proportion
from kumi.engine.placement.tasks import Job


@dataclass(frozen=True, slots=True)
class BundleShares:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> BundleShares:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> _BundleShares:
        """See Plugin."""
        return _BundleShares(Proportion().open(session))


class _Shares(Reclaimable, ReclaimsFrom, Protocol):
    """What is asked of proportion."""


@dataclass(frozen=True, slots=True)
class _BundleShares:
    proportion: _Shares

    def reclaims_from(self, queue: Queue) -> bool:
        return self.proportion.reclaims_from(queue)

    def evictable(self, preemptor: Job, candidates: Sequence[Pod], reclaim: bool) -> list[Pod] | None:
        if not reclaim:
            return None
        return self.proportion.reclaimable(candidates[0], candidates) if candidates else []
