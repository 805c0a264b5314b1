"""HDRF: queues in a hierarchy share by dominant resources, a level at a time.

The rule, for a tree of the queues' paths (annotation volcano.sh/hierarchy "root/a/b"), with gangs as leaves:
    share(n)      dominant share of allocated(n): the largest part of one of the cluster's resources
    leaf          saturated when it has all that it asks for of a resource, or asks for one that it has some of and of which
                  the cluster has none left
    inner node    m = min(1, shares of its children that have something and aren't saturated)
                  allocated = sum of what saturated children have, and of the others' scaled to m: times m / share
                  saturated when all children are
    order         down both paths at once: who isn't saturated first, then the smaller share / weight
    taking back   a task may evict one where its queue is strictly first with the task in and the other one out, each by itself
Why          a queue isn't charged for what only its siblings' surplus has made of it, so it gets its part of every resource
             that it still wants (no starvation by a sibling that is saturated).
Weights      of the first queue by name on whose path the node is, at least 1; of the root 1.
Cost         O(gangs + inner nodes) when something was placed since the last question, and a candidate of taking back.
Source       Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter Workloads (2013); Volcano: drf plug-in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kumi.engine.gangs import Queue
from kumi.engine.model import Pod
from kumi.engine.placement import amounts
from kumi.engine.placement.amounts import Shared, Sums
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import Job, request


@dataclass(slots=True)
class Branch:
    """An inner node."""

    weight: float = 1.0
    branches: dict[str, Branch] = field(default_factory=dict)
    leaves: list[Job] = field(default_factory=list)
    allocated: Sums = field(default_factory=dict)
    share: float = 0.0
    saturated: bool = False

    def weighed(self) -> tuple[bool, float]:
        """What the order looks at."""
        return (self.saturated, self.share / self.weight)


@dataclass(slots=True)
class Hierarchy:
    """The tree in one session. Its shape is that of the beginning; what is allocated is as it is now."""

    session: Framework
    total: Sums
    root: Branch
    _stamp: int = -1

    @classmethod
    def of(cls, session: Framework, total: Sums) -> Hierarchy:
        """As queues and gangs are now."""
        root, tasks = Branch(), session.tasks
        for name in sorted(tasks.queues):
            queue, at = tasks.queues[name], root
            for depth, part in enumerate(queue.hierarchy[1:], 1):
                at = at.branches.setdefault(part, Branch(queue.weights[depth]))
            at.leaves += [tasks.jobs[key] for key in sorted(tasks.of_queue.get(name, ()))]
        return cls(session, total, root)

    def compare(self, one: Queue, other: Queue) -> int:
        """Negative: `one` goes first."""
        if self._stamp != self.session.tasks.stamp:
            self._weigh({})
            self._stamp = self.session.tasks.stamp
        return self._order(one, other)

    def gives(self, reclaimer: Pod, victim: Pod) -> bool:
        """Is the reclaimer's queue first with it in, and the victim out?"""
        mine, theirs = self.session.job_of(reclaimer), self.session.job_of(victim)
        one, other = self.session.queue_of(mine), self.session.queue_of(theirs)
        if one is None or other is None:
            return False
        after: dict[str, Sums] = {mine.key: amounts.plus(mine.allocated, dict(request(reclaimer)))}
        after[theirs.key] = amounts.minus(after.get(theirs.key, theirs.allocated), dict(request(victim)))
        self._weigh(after)
        self._stamp = -1
        return self._order(one, other) < 0

    def _order(self, one: Queue, other: Queue) -> int:
        a, b = self.root, self.root
        for left, right in zip(one.hierarchy[1:], other.hierarchy[1:], strict=False):
            a, b = a.branches[left], b.branches[right]
            if a.weighed() != b.weighed():
                return -1 if a.weighed() < b.weighed() else 1
        return 0

    def _weigh(self, instead: dict[str, Sums]) -> None:
        """Allocated, share and saturation of every inner node, were those gangs to have that."""
        allocated = {job.key: job.allocated for job in self._gangs(self.root)} | instead
        used = amounts.sum_of(allocated.values())
        left = {d for d in amounts.named(self.total) if used.get(d, 0) < self.total[d]}
        self._weigh_branch(self.root, allocated, left)

    def _gangs(self, branch: Branch) -> list[Job]:
        return branch.leaves + [job for below in branch.branches.values() for job in self._gangs(below)]

    def _weigh_branch(self, branch: Branch, allocated: dict[str, Sums], left: set[str]) -> None:
        children: list[tuple[Sums, float, bool]] = []
        for job in branch.leaves:
            has = allocated[job.key]
            children.append((has, amounts.dominant(has, self.total), is_saturated(has, job.wanted, left)))
        for name in sorted(branch.branches):
            below = branch.branches[name]
            self._weigh_branch(below, allocated, left)
            children.append((below.allocated, below.share, below.saturated))
        least = min([1.0, *(share for _, share, saturated in children if share and not saturated)])
        total: Shared = {}
        for has, share, saturated in children:
            if share:
                times = 1.0 if saturated else least / share
                for d, amount in has.items():
                    total[d] = total.get(d, 0.0) + amount * times
        branch.allocated = total
        branch.share = amounts.dominant(total, self.total)
        branch.saturated = all(saturated for _, _, saturated in children)


def is_saturated(allocated: Sums, wanted: Sums, left: set[str]) -> bool:
    """Has the gang all that it wants of something, or some of what nobody can have more of?"""
    return any(wanted.get(d, 0) and (allocated[d] >= wanted[d] or d not in left) for d in amounts.named(allocated))
