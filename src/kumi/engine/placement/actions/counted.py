"""Counted: whether a gang of equal tasks has room, and where, without placing them one by one.

The rule   where all that waits of a gang is alike (../makeup.py), and only the plug-in gang says when it is ready, it lacks n
           tasks. With m places on the nodes for one such task after the other, and s of them that its queue may have:
             n <= m, n <= s   it has room: on the rows that choose.py names for a run of n
             s < n, s <= m    it hasn't: s are placed, the queue may not have the next, for its own sake or the nodes' (why.py)
             else             it hasn't: m are placed, no node takes the next
Same       as allocate.place, which this is tested against, and which is asked wherever one of these doesn't hold: several kinds
           of tasks, tasks that look at others, somebody who is leaving, a plug-in of another kind, rows that run out of a pass.
Why        a line tries each gang that waits on the nodes as they are, and as they will be at many times; most have no room.
Cost       O(resources x nodes) a question, O(n) where there is room.
Source     Kumi's own.
Not here   the placing of one that starts: allocate.py.
"""

from __future__ import annotations

import numpy as np

from kumi.engine.gangs import Queue
from kumi.engine.model import Pod
from kumi.engine.placement.choose import choose
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.line.asking import Places
from kumi.engine.placement.makeup import Makeup
from kumi.engine.placement.statement import Outcome, Refusal
from kumi.engine.placement.tasks import READY, Job
from kumi.engine.placement.why import queue_says


class Counted:
    """A gang whose tasks are alike; `task`: the first of them, `lacks`: how many it needs."""

    __slots__ = ("_framework", "_job", "_queue", "lacks", "task")

    def __init__(self, framework: Framework, job: Job, queue: Queue, task: Pod, lacks: int) -> None:
        self._framework, self._job, self._queue, self.task, self.lacks = framework, job, queue, task, lacks

    def refusal(self, outcome: Outcome) -> Refusal | None:
        """That it has no room on the nodes as they are, and why; None: it has, or that isn't known. `outcome`: knows what nodes
        said to others of its shape."""
        if self._framework.nodes.is_in_motion():
            return None
        room = self._room()
        placed = min(room, self.lacks - 1)
        if self._is_allowed(placed + 1):
            said = outcome.explained.get((self._queue.name, self.task.shape))
            return None if room >= self.lacks or said is None else Refusal(self._has() + placed, said)
        placed = self._allowed(placed)
        with self._framework.journal.trial():
            self._framework.tasks.end_run(self.task, -placed)
            no = queue_says(self._framework, outcome, self.task)
        said = (no,) if no is not None else outcome.explained.get((self._queue.name, self.task.shape))
        return Refusal(self._has() + placed, said) if said else None

    def has_room(self) -> bool:
        """Has it room on the nodes as they are, where nobody is leaving?"""
        return self._room() >= self.lacks and self._is_allowed(self.lacks)

    def places(self) -> Places:
        """Where it goes then; nothing where it has no room, or that isn't known."""
        framework = self._framework
        if framework.pre_predicate(self.task) is not Fit.OK or not self._is_allowed(self.lacks):
            return ()
        rows, _ = choose(framework, self.task, self.lacks)
        if len(rows) < self.lacks:
            return ()
        counts: dict[int, int] = {}
        for row in rows:
            counts[row] = counts.get(row, 0) + 1
        names = framework.nodes.name_by_row()
        return tuple((names[row], self.task.shape, count) for row, count in counts.items())

    def _room(self) -> int:
        """How many of those that it lacks find a place, its queue's share aside."""
        framework, task = self._framework, self.task
        if framework.pre_predicate(task) is not Fit.OK:
            return 0
        room = framework.nodes.places(task.shape, framework.predicate(task) == Fit.OK)
        if (most := framework.most(task)) is not None:
            room = np.minimum(room, most)
        return min(int(np.minimum(room, self.lacks).sum()), self.lacks)

    def _has(self) -> int:
        return self._job.toward(*READY)

    def _is_allowed(self, count: int) -> bool:
        """May the queue have so many of them? It may have fewer where it may have more."""
        framework = self._framework
        if not framework.allocatable(self._queue, self.task):
            return False
        if count == 1:
            return True
        with framework.journal.trial():
            framework.tasks.end_run(self.task, 1 - count)
            return framework.allocatable(self._queue, self.task)

    def _allowed(self, most: int) -> int:
        """How many of them it may have, no more than so many, where one more than these is too many."""
        least = 0
        while least < most:
            middle = (least + most + 1) // 2
            if self._is_allowed(middle):
                least = middle
            else:
                most = middle - 1
        return least


def counted(framework: Framework, job: Job, waiting: Makeup) -> Counted | None:
    """The gang as one that can be counted; None: it can't be."""
    queue = framework.queue_of(job)
    if (
        queue is None
        or len(waiting.alike) != 1
        or waiting.kind is None
        or not framework.asks_alone("gang", "job_ready")
    ):
        return None
    task, count = waiting.alike[0]
    lacks = _lacks(job, task)
    if not 0 < lacks <= count or framework.tasks.is_free(task):
        return None
    if not framework.is_steady(task) or framework.moves_scores(task):
        return None
    return Counted(framework, job, queue, task, lacks)


def _lacks(job: Job, task: Pod) -> int:
    """How many more tasks of that role make it ready; 0: no number of them, or it is."""
    group = job.group
    assert group is not None
    lacks = group.least - job.count(*READY) - sum(job.free.values())
    if group.least < sum(least for _, least in group.least_of):
        return lacks
    for role, least in group.least_of:
        missing = least - job.role_count(role, *READY) - job.free.get(role, 0)
        if missing > 0 and role != task.member.role:
            return 0
        lacks = max(lacks, missing)
    return lacks
