"""Capacity, flat: what each queue of a list may have and deserves.

The rule   real(q)       max(total - sum of all guarantees, 0) + guarantee(q), at most capability(q) in what that names
           deserved(q)   as written, at most real, at least the guarantee
           share(q)      max over the resources deserved of allocated / deserved; 1 where nothing is deserved
           first         the smaller share, then one that deserves something
Units      of kumi.engine.model.
Cost       O(queues) when a session opens; O(resources) a question.
Source     Volcano: capacity plug-in.
Not here   queues in a tree: capacity_tree.py; what follows from all this: capacity.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kumi.engine.gangs import Queue
from kumi.engine.placement import amounts
from kumi.engine.placement.amounts import Shared, Sums
from kumi.engine.placement.framework import Framework


@dataclass(slots=True)
class Flat:
    """The list, in one session. `sound`: can anything be decided by it at all?"""

    session: Framework
    sound: bool = True
    real: dict[str, Sums] = field(default_factory=dict)
    deserved: dict[str, Sums] = field(default_factory=dict)
    guarantee: dict[str, Sums] = field(default_factory=dict)

    @classmethod
    def of(cls, session: Framework) -> Flat:
        """As the queues are now."""
        flat, total, queues = cls(session), session.total(), session.tasks.queues
        guaranteed: Shared = {}
        for name in sorted(queues):
            flat.guarantee[name] = dict(queues[name].guarantee)
            guaranteed = amounts.plus(guaranteed, flat.guarantee[name])
        for name in sorted(queues):
            free = amounts.plus(amounts.beyond(total, guaranteed), flat.guarantee[name])
            flat.real[name] = amounts.capped(free, amounts.limits(queues[name].capability))
            deserved = amounts.capped(dict(queues[name].deserved), flat.real[name])
            flat.deserved[name] = amounts.most(deserved, flat.guarantee[name])
        return flat

    def path(self, name: str) -> tuple[str, ...]:
        """The queues whose limits count for the queue: itself."""
        return (name,)

    def above(self, name: str, levels: int) -> tuple[str, ...]:
        """The queues above it: none."""
        return ()

    def whole(self, name: str) -> tuple[str, ...]:
        """The queues whose gangs count for the queue: itself."""
        return (name,)

    def is_inner(self, name: str) -> bool:
        """Has it queues below it? In a list none has."""
        return False

    def compare(self, one: Queue, other: Queue) -> int:
        """Negative: `one` goes first, by its share."""
        allocated = self.session.tasks.allocated
        a, b = (Standing.of(allocated.get(q.name, {}), self.deserved[q.name]) for q in (one, other))
        return a.compare(b)

    def depth(self, one: str, other: str) -> int:
        """How deep what both are under lies."""
        return 0


@dataclass(frozen=True, slots=True)
class Standing:
    """How a queue stands: how much it has of what it deserves, of the resource of which that is most; 1 where it deserves
    nothing."""

    share: float
    deserves: bool

    @classmethod
    def of(cls, allocated: Sums, deserved: Sums) -> Standing:
        """See the class."""
        if amounts.is_empty(deserved):
            return cls(1.0, deserves=False)
        return cls(max(amounts.share(allocated.get(d, 0), deserved[d]) for d in amounts.named(deserved)), deserves=True)

    def compare(self, other: Standing) -> int:
        """Negative: this one goes first."""
        if self.share != other.share:
            return -1 if self.share < other.share else 1
        return int(other.deserves) - int(self.deserves)
