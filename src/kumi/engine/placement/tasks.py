"""Tasks: where the pods of every gang are in their life, and the sums that rules read, kept as pods change.

The rule, for a pod that belongs to a PodGroup:
    Pending      it has no node                            Bound, Running   it has one, by its phase
    Releasing    it has one and is being deleted           Succeeded, Failed, Unknown   its phase
    Allocated    given a node in this session              Pipelined   promised a node that others are leaving
    Binding      given one, and it has been told
    holding = Allocated, Binding, Bound, Running           ready = holding + Succeeded
A gang's or a queue's `allocated` counts who holds or is Pipelined; `asked` adds the Pending ones.
Why          a session reads sums that are there; nothing is counted again when it opens.
Priority     a task's own, else 1; a gang's: the value of its class, else that of the default class, else 0.
Cost         O(resources) a pod that changes.
Source       Volcano: task status, job info.
Not here     what nodes are charged: nodes.py; who is placed: actions/.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import IntEnum
from itertools import count
from typing import Any, TypeAlias, TypeVar

from kumi.engine.ends import Ends
from kumi.engine.gangs import (
    DisruptionBudget,
    Listed,
    Member,
    NamespaceQuota,
    Phase,
    PodGroup,
    PriorityClass,
    Queue,
)
from kumi.engine.journal import Journal
from kumi.engine.model import Amounts, Pod
from kumi.engine.placement.nodes import ONE_POD, PODS

T = TypeVar("T")


class Status(IntEnum):
    """Where a task is in its life."""

    PENDING = 0
    ALLOCATED = 1
    PIPELINED = 2
    BINDING = 3
    BOUND = 4
    RUNNING = 5
    RELEASING = 6
    SUCCEEDED = 7
    FAILED = 8
    UNKNOWN = 9


HOLDING = (Status.ALLOCATED, Status.BINDING, Status.BOUND, Status.RUNNING)
READY = (*HOLDING, Status.SUCCEEDED)
Kept: TypeAlias = Queue | PodGroup | PriorityClass | DisruptionBudget | NamespaceQuota
"""what placement is told of, besides nodes and pods"""
KEPT: tuple[type, ...] = (Queue, PodGroup, PriorityClass, DisruptionBudget, NamespaceQuota)
OUTSIDE = (Phase.NEW, Phase.PENDING)
"""the phases of gangs that aren't let in"""
Rank: TypeAlias = tuple[str, str, int]
"""the queue and the priority class of a task's gang ("" none), and the task's own priority"""
COUNTED = (*HOLDING, Status.PIPELINED)
"""whose requests count as allocated to their gang and queue"""


class Job:
    """One gang. Changed through Tasks only."""

    __slots__ = (
        "allocated",
        "asked",
        "by_status",
        "free",
        "group",
        "held",
        "key",
        "known",
        "roles",
        "stamp",
        "tasks",
        "told",
        "wanted",
    )

    def __init__(self, key: str) -> None:
        self.key = key
        self.group: PodGroup | None = None
        self.tasks: dict[str, None] = {}
        self.stamp = 0
        """stands for one content of all that follows, and of its pods; never used twice, also where a trial is taken back"""
        self.known: dict[str, tuple[int, PodGroup | None, int, Any]] = {}
        """what was found in one such content (`once`); no part of what a trial takes back"""
        self.told: tuple[int, object] | None = None
        """in which such content all that wait were told why, and what; None: that isn't known"""
        self.by_status: dict[Status, dict[str, None]] = {}
        self.roles: dict[tuple[str, Status], int] = {}
        self.free: dict[str, int] = {}
        """role -> pending tasks that ask for nothing"""
        self.allocated: Amounts = {}
        """of those that are COUNTED"""
        self.held: Amounts = {}
        """of those that hold"""
        self.asked: Amounts = {}
        """of those that are COUNTED or pending"""
        self.wanted: Amounts = {}
        """of all of them"""

    def once(self, name: str, make: Callable[[], T], beside: int = 0) -> T:
        """What follows from the gang, its tasks and its PodGroup, made when it isn't known. `beside`: stands for what else it
        follows from."""
        kept = self.known.get(name)
        if kept is None or kept[0] != self.stamp or kept[1] is not self.group or kept[2] != beside:
            kept = (self.stamp, self.group, beside, make())
            self.known[name] = kept
        made: T = kept[3]
        return made

    def count(self, *statuses: Status) -> int:
        """How many tasks are in one of these."""
        return sum([len(self.by_status[s]) for s in statuses if s in self.by_status])

    def role_count(self, role: str, *statuses: Status) -> int:
        """How many tasks of the role are."""
        return sum(self.roles.get((role, s), 0) for s in statuses)

    def role_minima(self) -> tuple[tuple[str, int], ...]:
        """Those of the roles, where the gang's own covers them."""
        if self.group is None or self.group.least < sum(least for _, least in self.group.least_of):
            return ()
        return self.group.least_of

    def toward(self, *statuses: Status) -> int:
        """How many tasks in one of these count toward the gang's minimum: of a role no more than help."""
        have, minima = self.count(*statuses), self.role_minima()
        if self.group is None or not minima:
            return have
        filled = sum(min(self.role_count(role, *statuses), least) for role, least in minima)
        return filled + min(have - filled, self.group.least - sum(least for _, least in minima))


class Tasks:
    """All gangs, their pods and their queues."""

    def __init__(
        self, journal: Journal, is_free: Callable[[Pod], bool] | None = None, ends: Ends | None = None
    ) -> None:
        self._journal, self._ends = journal, ends
        self.is_free = is_free or best_effort
        """which tasks wait for no room: gangs count them as placed, and get them afterwards"""
        self._stamps = count(1)
        self.stamp = 0
        """stands for one content of the sums; never used twice, also where a trial is taken back"""
        self.queues: dict[str, Queue] = {}
        self.classes: dict[str, PriorityClass] = {}
        self.budgets: dict[str, DisruptionBudget] = {}
        self.budgets_of: dict[str, tuple[DisruptionBudget, ...]] = {}
        """the same by namespace, by key"""
        self.spent: dict[str, tuple[str, ...]] = {}
        """pods whose eviction was decided -> the budgets that guard them and have not changed since (budgets.py)"""
        self.quotas: dict[str, NamespaceQuota] = {}
        self.jobs: dict[str, Job] = {}
        """also those whose PodGroup isn't there (yet): `group` is None"""
        self.pods: dict[str, Pod] = {}
        self.requests: dict[str, Listed] = {}
        """what each task counts for"""
        self.status: dict[str, Status] = {}
        self.node: dict[str, str] = {}
        self.on_node: dict[str, dict[str, None]] = {}
        self.ranks: dict[Rank, dict[str, int]] = {}
        """what tasks are that have a node -> node -> how many such"""
        self.allocated: dict[str, Amounts] = {}
        """queue -> what its gangs hold or are promised"""
        self.asked: dict[str, Amounts] = {}
        """queue -> that and what they wait for"""
        self.of_queue: dict[str, dict[str, None]] = {}
        self.admitted: dict[str, dict[str, None]] = {}
        """pod group -> its pods that a Workload has had admitted: they are no tasks, and it is past the queues"""
        self.waiting: dict[str, None] = {}
        """gangs with pending tasks"""
        self.outside: dict[str, None] = {}
        """gangs that aren't let in"""
        self.touched: dict[str, None] = {}
        """gangs of which something changed since somebody emptied this"""
        self._group_of: dict[str, str] = {}
        """of these pods"""

    # what comes in

    def put(self, noun: Kept) -> None:
        """There is such a thing, or it changed."""
        match noun:
            case Queue():
                self._journal.put(self.queues, noun.name, noun)
                self._touch_all(noun.name)
            case PriorityClass():
                self._journal.put(self.classes, noun.name, noun)
            case DisruptionBudget():
                self._put_budget(noun.key, noun)
            case NamespaceQuota():
                self._journal.put(self.quotas, noun.key, noun)
            case PodGroup():
                self._put_group(noun)

    def known(self, noun: Kept) -> Kept | None:
        """What is there under the same key."""
        match noun:
            case Queue():
                return self.queues.get(noun.name)
            case PriorityClass():
                return self.classes.get(noun.name)
            case DisruptionBudget():
                return self.budgets.get(noun.key)
            case NamespaceQuota():
                return self.quotas.get(noun.key)
            case PodGroup():
                return self.jobs[noun.key].group if noun.key in self.jobs else None

    def remove(self, type_: type, key: str) -> None:
        """One of the types KEPT is gone; pods stay where they are."""
        if type_ is PodGroup:
            self._remove_group(key)
        elif type_ is Queue:
            self._journal.drop(self.queues, key)
            self._touch_all(key)
        elif type_ is PriorityClass:
            self._journal.drop(self.classes, key)
        elif type_ is DisruptionBudget:
            self._put_budget(key, None)
        else:
            self._journal.drop(self.quotas, key)

    def _put_budget(self, key: str, budget: DisruptionBudget | None) -> None:
        """One that is another than it was has counted whose eviction was decided before. None: it is gone."""
        before = self.budgets.get(key)
        if before == budget:
            return
        for uid, keys in list(self.spent.items()) if before is not None else ():
            if keys == (key,):
                self._journal.drop(self.spent, uid)
            elif key in keys:
                self._journal.put(self.spent, uid, tuple(other for other in keys if other != key))
        if budget is None:
            self._journal.drop(self.budgets, key)
        else:
            self._journal.put(self.budgets, key, budget)
        namespace = key.partition("/")[0]
        others = (one for one in self.budgets_of.get(namespace, ()) if one.key != key)
        there = tuple(sorted((*others, *([budget] if budget else [])), key=lambda one: one.key))
        if there:
            self._journal.put(self.budgets_of, namespace, there)
        else:
            self._journal.drop(self.budgets_of, namespace)

    def _put_group(self, group: PodGroup) -> None:
        """It may have gone to another queue."""
        job = self._job(group.key)
        before = job.group.queue if job.group is not None else None
        anew = _place_of(group) != _place_of(job.group)
        if anew:
            self._rank_all(job, -1)
        if before != group.queue:
            self._enter(job, before, -1)
            self._enter(job, group.queue, 1)
        self._journal.swap(job, "group", group)
        if self._ends is not None:
            self._ends.say(group.key, group.execution_ms)
        self._let_in(job.key, group.phase)
        if anew:
            self._rank_all(job, 1)
        self.touch(group.key)

    def touch(self, key: str) -> None:
        """There may be something new to say of the gang."""
        if key not in self.touched:
            self._journal.put(self.touched, key, None)

    def _touch_all(self, queue: str) -> None:
        for key in self.of_queue.get(queue, ()):
            self.touch(key)

    def set_phase(self, job: Job, phase: Phase) -> None:
        """Of a gang whose PodGroup is there."""
        assert job.group is not None
        self._journal.swap(job, "group", replace(job.group, phase=phase))
        self._let_in(job.key, phase)

    def _let_in(self, key: str, phase: Phase) -> None:
        if phase in OUTSIDE:
            self._journal.put(self.outside, key, None)
        else:
            self._journal.drop(self.outside, key)

    def _remove_group(self, key: str) -> None:
        job = self.jobs.get(key)
        if job is None or job.group is None:
            return
        self._enter(job, job.group.queue, -1)
        self._rank_all(job, -1)
        self._journal.drop(self.outside, key)
        self._journal.swap(job, "group", None)
        if self._ends is not None:
            self._ends.say(key, None)
        self._rank_all(job, 1)
        self._tidy(job)

    def put_pod(self, pod: Pod, node: str) -> None:
        """The pod is so, on that node ("": none), also where it names no gang: such a pod is forgotten. One of a Workload is no
        task: admission decides about it."""
        if not pod.member.group or pod.workload:
            self.remove_pod(pod.uid)
            if pod.member.group:
                self._admit(pod)
            return
        self._unadmit(pod.uid)
        old = self.pods.get(pod.uid)
        status = status_of(pod, node)
        if old is not None:
            if _counted_as(old) == _counted_as(pod):
                self._journal.put(self.pods, pod.uid, pod)
                if old != pod:
                    self._restamp(self.jobs[pod.member.group])
                self.move(pod.uid, status, node)
                return
            self.remove_pod(pod.uid)
        job = self._job(pod.member.group)
        self._journal.put(self.pods, pod.uid, pod)
        self._journal.put(self.requests, pod.uid, request(pod))
        self._journal.put(job.tasks, pod.uid, None)
        self._count(job, [pod], None, status)
        self._set(pod.uid, status, node)

    def remove_pod(self, uid: str) -> None:
        """The pod is gone."""
        self._unadmit(uid)
        pod = self.pods.get(uid)
        if pod is None:
            return
        job = self.jobs[pod.member.group]
        self._count(job, [pod], self.status[uid], None)
        self._set(uid, self.status[uid], "")
        self._journal.drop(job.tasks, uid)
        self._journal.drop(self.pods, uid)
        self._journal.drop(self.requests, uid)
        self._journal.drop(self.status, uid)
        self._tidy(job)

    def move(self, uid: str, status: Status, node: str) -> None:
        """The task is there now."""
        before = self.status[uid]
        if before is not status:
            pod = self.pods[uid]
            self._count(self.jobs[pod.member.group], [pod], before, status)
        elif self.node.get(uid, "") == node:
            return
        self._set(uid, status, node)

    def end_run(self, like: Pod, count: int) -> None:
        """So many tasks of a gang, all like this one, are thought of as ended: its queue has that much less."""
        group = self.jobs[like.member.group].group
        if group is not None:
            self._journal.swap(self, "stamp", next(self._stamps))
            self._add(self._sums(self.allocated, group.queue), self.requests[like.uid], -count)

    def turn_run(self, pods: Sequence[Pod], status: Status) -> None:
        """These tasks, of one gang, role, shape, priority and status, are so now, and stay where they are."""
        before = self.status[pods[0].uid]
        if before is not status:
            self._count(self.jobs[pods[0].member.group], pods, before, status)
            self._journal.put_many(self.status, dict.fromkeys([pod.uid for pod in pods], status))

    def seat_run(self, pods: Sequence[Pod], status: Status, nodes: Sequence[str]) -> None:
        """The same of tasks that wait, each of which is on its node now."""
        self.turn_run(pods, status)
        seats = {pod.uid: node for pod, node in zip(pods, nodes, strict=True)}
        self._journal.put_many(self.node, seats)
        ranked = self._ranked(pods[0])
        self._journal.put_many(ranked, {node: ranked.get(node, 0) + more for node, more in Counter(nodes).items()})
        for uid, node in seats.items():
            if node not in self.on_node:
                self._journal.put(self.on_node, node, {})
            self._journal.put(self.on_node[node], uid, None)

    def _admit(self, pod: Pod) -> None:
        key = pod.member.group
        if key not in self.admitted:
            self._journal.put(self.admitted, key, {})
        self._journal.put(self.admitted[key], pod.uid, None)
        self._journal.put(self._group_of, pod.uid, key)
        self.touch(key)

    def _unadmit(self, uid: str) -> None:
        key = self._group_of.get(uid)
        if key is None:
            return
        self._journal.drop(self._group_of, uid)
        self.touch(key)
        self._journal.drop(self.admitted[key], uid)
        if not self.admitted[key]:
            self._journal.drop(self.admitted, key)

    # what rules ask

    def is_past(self, job: Job) -> bool:
        """Was the gang admitted as a Workload? Then it asks no queue, and is nobody's victim here."""
        return job.key in self.admitted or (job.group is not None and bool(job.group.workload))

    def priority(self, job: Job) -> int:
        """Of a gang."""
        return self.value(job.group.priority_class if job.group is not None else "")

    def value(self, name: str) -> int:
        """Of a priority class."""
        if name in self.classes:
            return self.classes[name].value
        defaults = [c for c in self.classes.values() if c.default]
        return max(((c.value, c.name) for c in defaults), default=(0, ""))[0]

    # sums

    def _job(self, key: str) -> Job:
        if key not in self.jobs:
            self._journal.put(self.jobs, key, Job(key))
        return self.jobs[key]

    def _tidy(self, job: Job) -> None:
        if job.group is None and not job.tasks:
            self._journal.drop(self.jobs, job.key)

    def _set(self, uid: str, status: Status, node: str) -> None:
        self._journal.put(self.status, uid, status)
        before = self.node.get(uid, "")
        if before == node:
            return
        if before:
            self._journal.drop(self.on_node[before], uid)
            self._journal.drop(self.node, uid)
            self._rank(self.pods[uid], before, -1)
        if node:
            self._rank(self.pods[uid], node, 1)
            if node not in self.on_node:
                self._journal.put(self.on_node, node, {})
            self._journal.put(self.on_node[node], uid, None)
            self._journal.put(self.node, uid, node)

    def _rank(self, pod: Pod, node: str, more: int) -> None:
        """So many more tasks like this one are on the node (negative: fewer)."""
        nodes = self._ranked(pod)
        if left := nodes.get(node, 0) + more:
            self._journal.put(nodes, node, left)
            return
        self._journal.drop(nodes, node)
        if not nodes:
            self._journal.drop(self.ranks, self._rank_of(pod))

    def _rank_of(self, pod: Pod) -> Rank:
        return (*_place_of(self.jobs[pod.member.group].group), task_priority(pod.member))

    def _ranked(self, pod: Pod) -> dict[str, int]:
        """How many tasks of the rank of this one are on each node."""
        rank = self._rank_of(pod)
        if rank not in self.ranks:
            self._journal.put(self.ranks, rank, {})
        return self.ranks[rank]

    def _rank_all(self, job: Job, more: int) -> None:
        for uid in job.tasks:
            if uid in self.node:
                self._rank(self.pods[uid], self.node[uid], more)

    def _enter(self, job: Job, queue: str | None, times: int) -> None:
        """The gang's sums come to the queue, or leave it."""
        if queue is None:
            return
        if times > 0:
            if queue not in self.of_queue:
                self._journal.put(self.of_queue, queue, {})
            self._journal.put(self.of_queue[queue], job.key, None)
        else:
            self._journal.drop(self.of_queue[queue], job.key)
        self._journal.swap(self, "stamp", next(self._stamps))
        self._add(self._sums(self.allocated, queue), tuple(job.allocated.items()), times)
        self._add(self._sums(self.asked, queue), tuple(job.asked.items()), times)

    def _count(self, job: Job, pods: Sequence[Pod], before: Status | None, after: Status | None) -> None:
        """Tasks of the gang, of one role and shape, go from one status to another (None: they weren't there, they go)."""
        journal, role, n = self._journal, pods[0].member.role, len(pods)
        uids = dict.fromkeys([pod.uid for pod in pods])
        if before is not None:
            journal.drop_many(job.by_status[before], uids)
            journal.put(job.roles, (role, before), job.roles[role, before] - n)
        if after is not None:
            if after not in job.by_status:
                journal.put(job.by_status, after, {})
            journal.put_many(job.by_status[after], uids)
            journal.put(job.roles, (role, after), job.roles.get((role, after), 0) + n)
        self.touch(job.key)
        waits = n * ((after is Status.PENDING) - (before is Status.PENDING))
        if waits:
            self._count_waiting(job, pods[0], waits)
        counted = n * ((after in COUNTED) - (before in COUNTED))
        wanted, queue = self.requests[pods[0].uid], job.group.queue if job.group is not None else None
        self._restamp(job)
        if before is None or after is None:
            self._add(job.wanted, wanted, n if before is None else -n)
        if counted:
            self._add(job.allocated, wanted, counted)
            if queue is not None:
                self._add(self._sums(self.allocated, queue), wanted, counted)
        if held := n * ((after in HOLDING) - (before in HOLDING)):
            self._add(job.held, wanted, held)
        if asked := counted + waits:
            self._add(job.asked, wanted, asked)
            if queue is not None:
                self._add(self._sums(self.asked, queue), wanted, asked)

    def untell(self, uid: str) -> None:
        """What the task was told didn't reach it."""
        pod = self.pods.get(uid)
        if pod is not None:
            self._journal.swap(self.jobs[pod.member.group], "told", None)

    def _restamp(self, job: Job) -> None:
        self._journal.swap(self, "stamp", next(self._stamps))
        self._journal.swap(job, "stamp", self.stamp)

    def _count_waiting(self, job: Job, like: Pod, more: int) -> None:
        """So many more of the gang's tasks like this one wait (negative: fewer)."""
        if more > 0:
            self._journal.put(self.waiting, job.key, None)
        elif not job.by_status[Status.PENDING]:
            self._journal.drop(self.waiting, job.key)
        if self.is_free(like):
            self._add(job.free, ((like.member.role, 1),), more)

    def _sums(self, table: dict[str, Amounts], key: str) -> Amounts:
        if key not in table:
            self._journal.put(table, key, {})
        return table[key]

    def _add(self, sums: Amounts, amounts: tuple[tuple[str, int], ...], times: int) -> None:
        for resource, amount in amounts:
            left = sums.get(resource, 0) + amount * times
            if left:
                self._journal.put(sums, resource, left)
            else:
                self._journal.drop(sums, resource)


def _place_of(group: PodGroup | None) -> tuple[str, str]:
    return (group.queue, group.priority_class) if group is not None else ("", "")


def _counted_as(pod: Pod) -> tuple[object, ...]:
    return (pod.shape, pod.member.group, pod.member.role, task_priority(pod.member))


def status_of(pod: Pod, node: str) -> Status:
    """What the pod itself says."""
    if pod.phase == "Running":
        return Status.RELEASING if pod.terminating else Status.RUNNING
    if pod.phase == "Pending":
        if pod.terminating:
            return Status.RELEASING
        return Status.BOUND if node else Status.PENDING
    return {"Succeeded": Status.SUCCEEDED, "Failed": Status.FAILED}.get(pod.phase, Status.UNKNOWN)


def request(pod: Pod) -> tuple[tuple[str, int], ...]:
    """What the pod counts for: what it asks for, and that it is one of `pods`."""
    return ((PODS, ONE_POD), *((r, a) for r, a in pod.shape.requests if a > 0 and r != PODS))


def nobody(pod: Pod) -> bool:
    """No task is free: every pod takes one of the pods of its node, so half a gang can be left over of any."""
    return False


def best_effort(pod: Pod) -> bool:
    """Does it ask for nothing but to be there?"""
    return not any(amount > 0 for resource, amount in pod.shape.requests if resource != PODS)


def task_priority(member: Member) -> int:
    """Of a task."""
    return 1 if member.priority is None else member.priority
