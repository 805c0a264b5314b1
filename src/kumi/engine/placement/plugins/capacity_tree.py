"""Capacity, as a tree: queues under queues; each is bound by what is above it.

The rule   the tree       one root, named `root`, which is the parent of whoever names none; gangs are in the leaves: one in an
                          inner queue waits. A queue whose parent isn't there, a cycle: nothing is decided at all
           capability     what a queue doesn't name of it comes from its parent. The root: as written, else no limit
           real(q)        max(real(parent) - sum of the siblings' and its own guarantee, 0) + guarantee(q), at most capability(q);
                          of the root its capability
           deserved(q)    as written, at least the guarantee; of the root the sum of its children's
           allocated(q)   its own, and of all queues under it; so is what they need
           first          a leaf before an inner queue; two leaves by the shares of the queues just below what both are under,
                          which, where these are inner ones, are those of the beginning of the session
Why          a team's queues fight with each other before they do with those of other teams.
Inner queues what was placed from one before it had queues below it counts. In Volcano one gang in an inner queue stops everybody.
Units        of kumi.engine.model.
Cost         O(queues) when a session opens; a question about an inner queue O(queues below it).
Source       Volcano: hierarchical queues of the capacity plug-in.
Not here     a list of queues: capacity_flat.py; what follows from all this: capacity.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from kumi.engine.gangs import Queue
from kumi.engine.placement import amounts
from kumi.engine.placement.amounts import Shared, Sums
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.plugins.capacity_flat import Standing

ROOT = "root"


@dataclass(slots=True)
class Tree:
    """The tree, in one session. `sound`: can anything be decided by it at all?"""

    session: Framework
    sound: bool = False
    real: dict[str, Sums] = field(default_factory=dict)
    deserved: dict[str, Sums] = field(default_factory=dict)
    guarantee: dict[str, Sums] = field(default_factory=dict)
    _ancestors: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """from the root down"""
    _children: dict[str, list[str]] = field(default_factory=dict)
    _whole: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """each queue with all below it"""
    _at_open: dict[str, Standing] = field(default_factory=dict)
    """of inner queues"""

    @classmethod
    def of(cls, session: Framework) -> Tree:
        """As the queues are now."""
        tree = cls(session)
        tree.sound = tree._grow()
        if tree.sound:
            tree._share_out()
        return tree

    def _grow(self) -> bool:
        """Ancestors, children and all below. False where it is no tree."""
        queues = self.session.tasks.queues
        for name in sorted(queues):
            path, at = [name], name
            while at != ROOT:
                at = queues[at].parent or ROOT
                if at not in queues or at in path:
                    return False
                path.append(at)
            self._ancestors[name] = tuple(path[:0:-1])
            if name != ROOT:
                self._children.setdefault(path[1], []).append(name)
        for name in sorted(queues, key=lambda n: -len(self._ancestors[n])):
            below = self._children.get(name, ())
            self._whole[name] = (name, *(one for child in below for one in self._whole[child]))
        return ROOT in queues

    def is_inner(self, name: str) -> bool:
        """Has it queues below it?"""
        return name in self._children

    def _share_out(self) -> None:
        """Real, deserved and guarantee of every queue, from the root down."""
        queues = self.session.tasks.queues
        capability: dict[str, Shared] = {}
        for name in sorted(queues, key=lambda n: (len(self._ancestors[n]), n)):
            queue = queues[name]
            if name == ROOT:
                written: Shared = dict(queue.capability)
                capability[name] = self._unlimited() if amounts.is_empty(written) else written
                self.real[name] = capability[name]
                self.guarantee[name], self.deserved[name] = {}, {}
                continue
            parent = self._ancestors[name][-1]
            capability[name] = {**capability[parent], **amounts.limits(queue.capability)}
            self.guarantee[name] = dict(queue.guarantee)
            self.deserved[name] = amounts.most(dict(queue.deserved), self.guarantee[name])
            siblings: Shared = {}
            for child in self._children[parent]:
                siblings = amounts.plus(siblings, dict(queues[child].guarantee))
            free = amounts.plus(amounts.beyond(self.real[parent], siblings), self.guarantee[name])
            self.real[name] = amounts.capped(free, capability[name])
        for child in self._children.get(ROOT, ()):
            self.deserved[ROOT] = amounts.plus(self.deserved[ROOT], self.deserved[child])
            self.guarantee[ROOT] = amounts.plus(self.guarantee[ROOT], self.guarantee[child])
        for name in self._children:
            self._at_open[name] = Standing.of(self._allocated(name), self.deserved[name])

    def _unlimited(self) -> Shared:
        """No limit of anything that the cluster has."""
        return dict.fromkeys((*amounts.ALWAYS, *self.session.total()), math.inf)

    def _allocated(self, name: str) -> Sums:
        allocated = self.session.tasks.allocated
        return amounts.sum_of(allocated.get(one, {}) for one in self._whole[name])

    def path(self, name: str) -> tuple[str, ...]:
        """The queues whose limits count for the queue: itself, and those above it."""
        return (name, *self._ancestors[name][::-1])

    def above(self, name: str, levels: int) -> tuple[str, ...]:
        """The queues above it, the nearest first, the root too; at most so many."""
        return self._ancestors[name][::-1][:levels]

    def whole(self, name: str) -> tuple[str, ...]:
        """The queues whose gangs count for the queue."""
        return self._whole[name]

    def compare(self, one: Queue, other: Queue) -> int:
        """Negative: `one` goes first."""
        a, b = one.name, other.name
        if self.is_inner(a) != self.is_inner(b):
            return -1 if self.is_inner(b) else 1
        if not self.is_inner(a):
            below = self.depth(a, b) + 1
            a, b = ((*self._ancestors[n], n)[min(below, len(self._ancestors[n]))] for n in (a, b))
        return self._standing(a).compare(self._standing(b))

    def _standing(self, name: str) -> Standing:
        if name in self._at_open:
            return self._at_open[name]
        return Standing.of(self._allocated(name), self.deserved[name])

    def depth(self, one: str, other: str) -> int:
        """How deep what both are under lies; 0: the root."""
        shared = 0
        for a, b in zip(self._ancestors[one], self._ancestors[other], strict=False):
            if a != b:
                break
            shared += 1
        return max(shared - 1, 0)
