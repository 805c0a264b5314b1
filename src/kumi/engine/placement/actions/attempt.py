"""Attempt: places for tasks of one gang, and who has to go for them, so that nobody goes in vain.

The rule   a task is promised a place where nobody has to go, if there is one; else it needs room on one node (clear)
           clear    victims go one after the other (victims' order) until the task goes there; from the last one backwards, each
                    that may stay after all stays. The task is promised the place. Where it still doesn't go, nobody leaves
           trim     units of victims, the last taken first: where all tasks that are promised something on the nodes of a unit
                    find a place without its going, it stays. Again and again, until no unit may stay
           goes     the queue may have the task, there is room once those have left who are leaving, and the predicates pass
           mutual   between queues: the queue of those that go might take the gang's new places in its turn. Nobody goes then,
                    and it is tried again with no more of that queue's tasks than it may lose without that; until nobody takes
                    anything back, or there is no room
Why        what must never happen: an eviction after which the preemptor doesn't go, and one more victim than it takes. Victims
           of the first task are often enough for the next ones, and those of later ones make earlier ones needless. And two
           queues that take from each other for ever: of what none of them may have whole, say, the last pod of a node.
All or nothing  the caller opens the trial around it and commits, or everything is as it was.
Minimal    exact where the gang's tasks are equal; with different ones nothing is taken needlessly as long as those on other nodes
           stay where they were promised.
Cost       clear: O(victims on the node) asks; trim: O(units x tasks on their nodes); mutual: an ask for each gang that loses, and
           of a queue that takes back, log(its victims) times as many.
Source     Kumi's own; Kueue: minimal preemptions (remove until it fits, add back).
Not here   who may be a victim: preempt_least.py, reclaim_least.py, gang_least.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, TypeAlias

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.actions.victims import enough
from kumi.engine.placement.choose import choose
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.makeup import Makeup, makeup
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.placement.tasks import READY, Job, Rank, Status, request, task_priority


class Attempt:
    """See the module. `gone`: who leaves, and what they were; `promised`: the gang's tasks that have a place, by uid. `at_most`:
    of how many of its tasks a queue, by name, may be asked; one that isn't in it of any number."""

    def __init__(
        self, framework: Framework, outcome: Outcome, job: Job, at_most: Mapping[str, int] | None = None
    ) -> None:
        self.framework, self.job = framework, job
        self._at_most = at_most or {}
        self._statement = Statement(framework, outcome)
        self.gone: dict[str, tuple[Pod, Status]] = {}
        self.promised: dict[str, Pod] = {}

    def place(self, task: Pod) -> bool:
        """Promises the task the best place for which nobody has to go."""
        framework, queue = self.framework, self.framework.queue_of(self.job)
        if queue is None or not framework.allocatable(queue, task) or framework.pre_predicate(task) is not Fit.OK:
            return False
        rows, _ = choose(framework, task, 1)
        if rows:
            self._promise(task, framework.nodes.name_by_row()[rows[0]])
        return bool(rows)

    def fill(self, tasks: Sequence[Pod]) -> bool:
        """Promises places to as many of the tasks as the gang needs; False, and none, where that isn't possible."""
        return self._try(lambda: any(self.is_complete() for task in tasks if self.place(task)))

    def clear(self, task: Pod, name: str, victims: Sequence[Pod]) -> bool:
        """Makes room for the task on the node; False, and everything as it was, where these victims aren't enough."""
        return self._try(lambda: self._clear(task, name, victims))

    def evict(self, unit: Sequence[Pod], by: str) -> None:
        """These leave."""
        for pod in unit:
            self.gone[pod.uid] = (pod, self.framework.tasks.status[pod.uid])
            self._statement.evict(pod, by)

    def trim(self, units: Sequence[Sequence[Pod]]) -> None:
        """Units that needn't go stay."""
        left = list(units)
        while True:
            kept = [unit for unit in reversed(left) if not self._try(lambda unit=unit: self._does_without(unit))]  # type: ignore[misc]
            if len(kept) == len(left):
                return
            left = kept[::-1]

    def is_complete(self) -> bool:
        """Has the gang its minimum, with what it is promised?"""
        return is_complete(self.framework, self.job)

    def open_to(self, pods: Sequence[Pod]) -> Sequence[Pod]:
        """Those of the tasks whose queues may lose one more."""
        if not self._at_most:
            return pods
        left = self._left()
        return [pod for pod in pods if left.get(self._queue(pod), 1) > 0]

    def within(self, pods: Sequence[Pod]) -> Sequence[Pod]:
        """The first of the tasks, as many of each queue as it may lose besides who is gone."""
        if not self._at_most:
            return pods
        left = self._left()
        return [pod for pod in pods if _take(left, self._queue(pod))]

    def _left(self) -> dict[str, int]:
        """How many more of its tasks each of these queues may lose."""
        left = dict(self._at_most)
        for pod, _ in self.gone.values():
            _take(left, self._queue(pod))
        return left

    def _queue(self, pod: Pod) -> str:
        queue = self.framework.queue_of(self.framework.job_of(pod))
        return queue.name if queue is not None else ""

    def takers(self) -> dict[str, int]:
        """Queues that might take back what the gang is promised, once it has it, for what goes, by name; and how many of these
        tasks each may lose without that."""
        framework, tasks, mine = self.framework, self.framework.tasks, self.framework.queue_of(self.job)
        lost: dict[str, list[Pod]] = {}
        for pod, _ in self.gone.values():
            if framework.queue_of(framework.job_of(pod)) is not mine:
                lost.setdefault(self._queue(pod), []).append(pod)
        if mine is None or not mine.reclaimable or not lost:
            return {}
        with framework.journal.trial():
            for task in self.promised.values():
                tasks.move(task.uid, Status.BOUND, tasks.node[task.uid])
            return {name: self._most(pods) for name, pods in lost.items() if self._take_back(pods)}

    def _most(self, lost: Sequence[Pod]) -> int:
        """How many of these tasks of one queue, which takes back when it has lost all, it may lose without that."""
        most, too_many = 0, len(lost)
        while too_many - most > 1:
            middle = (most + too_many) // 2
            with self.framework.journal.trial():
                for pod in lost[middle:]:
                    self.framework.tasks.move(pod.uid, self.gone[pod.uid][1], self.framework.tasks.node[pod.uid])
                takes = self._take_back(lost[:middle])
            most, too_many = (most, middle) if takes else (middle, too_many)
        return most

    def _take_back(self, lost: Sequence[Pod]) -> bool:
        """Does one of the gangs that lose these take back?"""
        return any(self._takes_back(pod) for pod in {pod.member.group: pod for pod in lost}.values())

    def _takes_back(self, pod: Pod) -> bool:
        """Might the pod's queue, when the pod is gone, take something of the gang by the actions of the file?"""
        framework, job, promised = self.framework, self.framework.job_of(pod), list(self.promised.values())
        queue, actions = framework.queue_of(job), framework.conf.actions
        if queue is None or framework.overused(queue) or not framework.preemptive(queue, request(pod)):
            return False
        if "reclaim" in actions and framework.reclaimable(pod, promised):
            return True
        return "gangreclaim" in actions and bool(framework.evictable(job, promised, reclaim=True))

    def commit(self) -> None:
        """It is decided."""
        self._statement.commit()

    def goes(self, task: Pod, name: str) -> bool:
        """May the task have that node, once who is leaving has left?"""
        framework, queue = self.framework, self.framework.queue_of(self.job)
        if queue is None or not framework.allocatable(queue, task) or not enough(framework, name, task, ()):
            return False
        return bool(framework.predicate(task)[framework.nodes.row_by_name[name]] == Fit.OK)

    def _clear(self, task: Pod, name: str, victims: Sequence[Pod]) -> bool:
        order = Heap(lambda a, b: self.framework.victim_less(a, b, self.job), victims)
        taken: list[Pod] = []
        while not self.goes(task, name):
            if not len(order):
                return False
            taken.append(order.pop())
            self.evict(taken[-1:], task.uid)
        for pod in reversed(taken):
            self._spare(pod)
            if not self.goes(task, name):
                self.evict([pod], task.uid)
        self._promise(task, name)
        return True

    def _does_without(self, unit: Sequence[Pod]) -> bool:
        tasks = self.framework.tasks
        nodes = dict.fromkeys(tasks.node[pod.uid] for pod in unit)
        concerned = [task for task in self.promised.values() if tasks.node[task.uid] in nodes]
        concerned = concerned or list(self.promised.values())[-1:]
        # whoever never preempts keeps what is free: nobody leaves for them
        concerned.sort(key=lambda task: not task.member.never_preempts)
        places = {task.uid: tasks.node[task.uid] for task in concerned}
        for task in concerned:
            self._withdraw(task)
        for pod in unit:
            self._spare(pod)
        return all(self._again(task, places[task.uid]) for task in concerned) and self.is_complete()

    def _again(self, task: Pod, name: str) -> bool:
        if self.goes(task, name):
            self._promise(task, name)
            return True
        return self.place(task)

    def _spare(self, pod: Pod) -> None:
        _, before = self.gone.pop(pod.uid)
        self._statement.spare(pod, before)

    def _promise(self, task: Pod, name: str) -> None:
        self._statement.place(task, name, Status.PIPELINED)
        self.promised[task.uid] = task

    def _withdraw(self, task: Pod) -> None:
        self._statement.withdraw(task)
        del self.promised[task.uid]

    def _try(self, change: Callable[[], bool]) -> bool:
        """Makes the change where it succeeds, else none."""
        before = (dict(self.gone), dict(self.promised), self._statement.mark())
        with self.framework.journal.trial() as trial:
            if change():
                trial.commit()
                return True
        self.gone, self.promised = before[0], before[1]
        self._statement.reset(before[2])
        return False


def lasting_room(framework: Framework, outcome: Outcome, job: Job, find: Callable[[Attempt], bool]) -> bool:
    """Is room found, for which no queue takes anything back? Then it is decided; else everything is as it was. `find`: what makes
    the room in an attempt, and says whether there is enough."""
    at_most: dict[str, int] = {}
    while True:
        with framework.journal.trial() as trial:
            attempt = Attempt(framework, outcome, job, at_most)
            if not find(attempt):
                return False
            takers = attempt.takers()
            if not takers:
                attempt.commit()
                trial.commit()
                return True
        at_most = {**at_most, **takers}  # each is less than before: it has lost more


def _take(left: dict[str, int], queue: str) -> bool:
    """Counts one more of the queue's tasks, where there is one left."""
    if left.get(queue, 1) <= 0:
        return False
    if queue in left:
        left[queue] -= 1
    return True


def is_complete(framework: Framework, job: Job) -> bool:
    """Has the gang its minimum, with what it is promised? What the plug-ins say, and the number itself: a vote for a gang that
    has waited long enough doesn't make a place for its pods."""
    assert job.group is not None
    have = job.count(*READY, Status.PIPELINED) + sum(job.free.values())
    return have >= job.group.least and framework.job_pipelined(job)


def may_complete(framework: Framework, job: Job) -> bool:
    """May the gang have its minimum although nobody goes, as far as counting tells? No where the nodes haven't that many places
    for what it waits for, kind by kind, each counted as if it were alone."""
    assert job.group is not None
    nodes = framework.nodes
    lacks = job.group.least - job.count(*READY, Status.PIPELINED) - sum(job.free.values())
    waiting = makeup(framework.tasks, nodes.residents, job)
    if waiting.kind is None:
        return True
    known = framework.once("may_complete", dict[Any, tuple[int, bool]])
    kept = known.get((waiting.kind, lacks))
    if kept is None or kept[0] != nodes.version:
        kept = (nodes.version, lacks <= _places_for(framework, waiting))
        known[waiting.kind, lacks] = kept
    return kept[1]


def _places_for(framework: Framework, waiting: Makeup) -> float:
    """For how many of them there are places on the nodes, at most; infinite where one changes what nodes say to the next."""
    places, nodes = 0, framework.nodes
    for task, count in waiting.alike:
        if not framework.is_steady(task):
            return inf
        room = nodes.places_later(task.shape, framework.predicate(task) == Fit.OK)
        places += min(int(np.minimum(room, count).sum()), count)
    return places


Cost: TypeAlias = tuple[tuple[int, int], int, int]
NOTHING: Cost = ((-(2**62), 0), 0, -(2**62))
"""less than any room costs"""


def least_costs(framework: Framework, among: Callable[[Rank], bool]) -> dict[str, Cost]:
    """What no room costs less than, by node: one victim, of those there of such ranks whom it matters least for. Nodes without
    any are not in it."""
    tasks = framework.tasks
    least: dict[str, Cost] = {}
    ranks = [rank for rank in tasks.ranks if among(rank)]
    for matters, rank in sorted(((tasks.value(rank[1]), rank[2]), rank) for rank in ranks):
        for node in tasks.ranks[rank]:
            least.setdefault(node, (matters, 1, matters[0]))
    return least


def is_any(framework: Framework, among: Callable[[Rank], bool]) -> bool:
    """Is anybody of such ranks on a node?"""
    return any(among(rank) for rank in framework.tasks.ranks)


def costs_of_own(framework: Framework, job: Job) -> dict[str, Cost]:
    """The same of the gang's own tasks, which say nothing of what they cost."""
    node = framework.tasks.node
    return dict.fromkeys((node[uid] for uid in job.tasks if uid in node), NOTHING)


def cost_on(framework: Framework, task: Pod, name: str, victims: Sequence[Pod]) -> Cost | None:
    """What room for the task costs on the node as far as amounts go: how much the highest victim matters, how many there are,
    the sum of their priorities. The victims in the order in which they would go; None: all together are not enough."""
    needed: list[Pod] = []
    for pod in victims:
        if enough(framework, name, task, needed):
            break
        needed.append(pod)
    if not enough(framework, name, task, needed):
        return None
    for pod in needed[::-1]:
        without = [p for p in needed if p is not pod]
        if enough(framework, name, task, without):
            needed = without
    found = needed or list(victims[:1])
    matters = [(framework.tasks.priority(framework.job_of(p)), task_priority(p.member)) for p in found]
    return (max(matters, default=(-(2**62), 0)), len(found), sum(m[0] for m in matters))
