"""Capacity: each queue has what it deserves, and may use what is idle up to its capability.

The rule, for a queue q; real, deserved, allocated and the order: capacity_flat.py, with enableHierarchy capacity_tree.py:
    first         the higher priority, then as there
    allocatable   it is open, and allocated + request is within real, of it and of every queue above
    takes back    it is open, allocated + request is within its real, and of something that is asked for no more than deserved:
                  its own deserved, or that of one of the N queues above it
    let in        it is open, and needs + allocated + inqueue - elastic (queue_needs.py) is within real, of it and of every
                  queue above
    victims       in the victims' order, those that ask for something that the reclaimer asks for, while their queue keeps its
                  guarantee without them, and it is past what it deserves: it deserves none of what they ask for, or has more
                  than it deserves of some of it. The same holds of the N queues above that aren't the reclaimer's as well.
                  Where it deserves none of it, and a queue within N levels is above both, the reclaimer's own queue must
                  deserve some
    victims' queues   those nearer to the reclaimer's in the tree first
Open          and without queues below it, where they are a tree.
N             ancestorReclaimLevel; 0: teams take from each other without a look at what a team as a whole has. The root never
              counts.
Units         floats, of the units of kumi.engine.model.
Source        Volcano: capacity plug-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumi.engine.gangs import Listed, Queue, QueueState
from kumi.engine.model import Pod
from kumi.engine.placement import amounts
from kumi.engine.placement.amounts import ALWAYS, Shared, Sums
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.hooks import Vote
from kumi.engine.placement.nodes import PODS
from kumi.engine.placement.plugins.capacity_flat import Flat
from kumi.engine.placement.plugins.capacity_tree import ROOT, Tree
from kumi.engine.placement.plugins.queue_needs import Needs, needs
from kumi.engine.placement.tasks import Job, request
from kumi.engine.reasons import Code


@dataclass(frozen=True, slots=True)
class Capacity:
    """See the module. `hierarchy`: queues form a tree; `levels`: N."""

    hierarchy: bool = False
    levels: int = 0

    @classmethod
    def configured(cls, option: Option) -> Capacity:
        """See Configured."""
        levels = option.arguments.whole("ancestorReclaimLevel", 0)
        return cls("enableHierarchy" in option.switches, max(0, levels))

    def open(self, session: Framework) -> _Capacity:
        """See Plugin."""
        lines = Tree.of(session) if self.hierarchy else Flat.of(session)
        return _Capacity(session, Needs(session).open(), lines, self.levels)


@dataclass(frozen=True, slots=True)
class _Capacity:
    session: Framework
    needs: Needs
    lines: Flat | Tree
    levels: int

    def queue_order(self, one: Queue, other: Queue) -> int:
        if not self.lines.sound:
            return 0
        if one.priority != other.priority:
            return -1 if one.priority > other.priority else 1
        return self.lines.compare(one, other)

    def victim_queue_order(self, one: Queue, other: Queue, preemptor: Queue) -> int:
        if not self.lines.sound:
            return 0
        a, b = self.lines.depth(one.name, preemptor.name), self.lines.depth(other.name, preemptor.name)
        return int(a < b) - int(a > b)

    def allocatable(self, queue: Queue, task: Pod) -> bool:
        wanted = request(task)
        return self._takes(queue) and all(self._within(name, wanted) for name in self.lines.path(queue.name))

    def withholds(self, queue: Queue, wanted: Listed) -> bool:
        if not self._takes(queue):
            return True
        total = self.session.total()
        short = [name for name in self.lines.path(queue.name) if not self._within(name, wanted)]
        return any(amounts.within(self._with(name, wanted), total, wanted) for name in short)

    def preemptive(self, queue: Queue, wanted: Listed) -> bool:
        if not self._takes(queue) or not self._within(queue.name, wanted):
            return False
        return any(
            deserves_some(self._allocated(name), self.lines.deserved[name], wanted)
            for name in (queue.name, *self.lines.above(queue.name, self.levels))
            if name == queue.name or name != ROOT
        )

    def bars(self, queue: Queue) -> Code | None:
        """Why gangs in the queue wait, whatever it has; that it isn't open aside."""
        if not self.lines.sound:
            return Code.QUEUES_NO_TREE
        return Code.QUEUE_INNER if self.lines.is_inner(queue.name) else None

    def _takes(self, queue: Queue) -> bool:
        return queue.state is QueueState.OPEN and self.bars(queue) is None

    def _allocated(self, name: str) -> Sums:
        allocated = self.session.tasks.allocated
        return amounts.sum_of(allocated.get(one, {}) for one in self.lines.whole(name))

    def _within(self, name: str, wanted: Listed) -> bool:
        return amounts.within(self._with(name, wanted), self.lines.real[name], wanted)

    def _with(self, name: str, wanted: Listed) -> Sums:
        return amounts.plus(self._allocated(name), dict(wanted))

    def reclaimable(self, reclaimer: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        if not self.lines.sound:
            return []
        job = self.session.job_of(reclaimer)
        order = Heap(lambda a, b: self.session.victim_less(a, b, job), candidates)
        left: dict[str, Sums] = {}
        victims = []
        while len(order):
            pod = order.pop()
            if dims(request(pod)) & dims(request(reclaimer)) and self._gives(pod, left, reclaimer):
                victims.append(pod)
        return victims

    def evictable(self, preemptor: Job, candidates: Sequence[Pod], reclaim: bool) -> list[Pod] | None:
        if not reclaim:
            return list(candidates)
        left: dict[str, Sums] = {}
        return [pod for pod in candidates if self.lines.sound and self._gives(pod, left, None)]

    def _gives(self, pod: Pod, left: dict[str, Sums], reclaimer: Pod | None) -> bool:
        """May its queue lose the task, with what it has `left`? A yes is charged to `left`, of the queues that were looked at."""
        queue = self.session.queue_of(self.session.job_of(pod))
        if queue is None:
            return False
        own, wanted = queue.name, request(pod)
        has = left.get(own) or self._allocated(own)
        if not amounts.covers(amounts.minus(has, dict(wanted)), self.lines.guarantee[own]):
            return False
        looked_at = {own: has}
        if reclaimer is not None:
            if not is_relevant(self.lines.deserved[own], wanted) and self._is_spared(own, reclaimer):
                return False
            for name in self._teams(own, reclaimer):
                looked_at[name] = left.get(name) or self._allocated(name)
        if not all(past_deserved(sums, self.lines.deserved[name], wanted) for name, sums in looked_at.items()):
            return False
        for name, sums in looked_at.items():
            left[name] = amounts.minus(sums, dict(wanted))
        return True

    def _teams(self, victims: str, reclaimer: Pod) -> list[str]:
        """The queues above the victim's, as far as they count, that aren't at the same place above the reclaimer's."""
        mine = self.lines.above(self._queue_of(reclaimer), self.levels)
        theirs = self.lines.above(victims, self.levels)
        return [name for at, name in enumerate(theirs) if name != ROOT and mine[at : at + 1] != (name,)]

    def _is_spared(self, victims: str, reclaimer: Pod) -> bool:
        """Are both of one team, where the reclaimer's queue deserves none of what it wants either?"""
        queue = self._queue_of(reclaimer)
        team = set(self.lines.above(victims, self.levels)) & set(self.lines.above(queue, self.levels)) - {ROOT}
        return bool(team) and not is_relevant(self.lines.deserved[queue], request(reclaimer))

    def _queue_of(self, task: Pod) -> str:
        group = self.session.job_of(task).group
        assert group is not None
        return group.queue

    def job_enqueueable(self, job: Job) -> Vote:
        queue = self.session.queue_of(job)
        if queue is None or not self._takes(queue):
            return Vote.REJECT
        wanted = needs(job)
        fits = all(self._lets_in(name, wanted) for name in self.lines.path(queue.name))
        return Vote.PERMIT if fits else Vote.REJECT

    def turned_away(self, job: Job) -> Code:
        queue, wanted, total = self.session.queue_of(job), needs(job), self.session.total()
        if queue is None or not self._takes(queue):
            return Code.NOT_LET_IN
        short = [name for name in self.lines.path(queue.name) if not self._lets_in(name, wanted)]
        fits = any(amounts.within(self._claimed(name, wanted), total, wanted.items()) for name in short)
        return Code.NOT_LET_IN if fits else Code.NODES_CLAIMED

    def _lets_in(self, name: str, wanted: Shared) -> bool:
        return amounts.within(self._claimed(name, wanted), self.lines.real[name], wanted.items())

    def _claimed(self, name: str, wanted: Shared) -> Sums:
        """What the queue and all below it have and are still to get, and what is wanted."""
        counted = self.lines.whole(name)
        inqueue = amounts.sum_of(self.needs.of(one) for one in counted)
        elastic = amounts.sum_of(self.needs.elastic(one) for one in counted)
        total = amounts.plus(amounts.plus(wanted, self._allocated(name)), inqueue)
        return amounts.minus(total, elastic)

    def job_enqueued(self, job: Job) -> None:
        self.needs.let_in(job)


def deserves_some(allocated: Sums, deserved: Sums, wanted: Listed) -> bool:
    """Is it, with what is wanted, still within what it deserves of something that is wanted?"""
    return any(allocated.get(d, 0) + a <= deserved.get(d, 0) for d, a in wanted if d != PODS and a > 0)


def is_relevant(deserved: Sums, wanted: Listed) -> bool:
    """Does it deserve some of what is wanted? That it is a pod counts here."""
    return not set(amounts.named(deserved)).isdisjoint(amounts.named(dict(wanted)))


def past_deserved(allocated: Sums, deserved: Sums, wanted: Listed) -> bool:
    """Does it deserve none of what the task asks for, or has more of some of it than it deserves? Of cpu and memory nothing
    deserved says nothing; of other resources a 0 that is written does."""
    if not is_relevant(deserved, wanted):
        return True
    asked = dims(wanted)
    return any(
        allocated.get(d, 0) > amount
        for d, amount in deserved.items()
        if d in asked and (d not in ALWAYS or amount >= amounts.tenth(d))
    )


def dims(wanted: Listed) -> set[str]:
    """The resources that are asked for, pods aside."""
    return {d for d, amount in wanted if d != PODS and amount > 0}
