"""Victims: what all actions that evict ask of tasks and nodes.

The rule   a task lets itself be evicted as it and its gang say (../consent.py), and not where the gang is past the queues (its
           Workload was admitted): only admission takes from it
           a node has enough for a task when what is free, and what those free who are leaving, less what is promised already,
           covers what the task asks for
           victims of an attempt that was taken back run, also those that were only bound
Source     Volcano: preempt and reclaim actions.
Not here   who is taken, in which order: the actions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.actions.enqueue import WAITING
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap, Line
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.nodes import Ints, Mask
from kumi.engine.placement.tasks import Job, Status, task_priority

EVICTABLE = (Status.BOUND, Status.RUNNING)


def starving_by_queue(framework: Framework) -> dict[str, list[Job]]:
    """The gangs that were let in, can be placed, need more and have tasks that wait, by queue; by key."""
    starving: dict[str, list[Job]] = {}
    for job in framework.unplaced():
        assert job.group is not None
        if (
            job.key in framework.held
            or job.group.phase in WAITING
            or framework.job_valid(job) is not None
            or not framework.job_starving(job)
        ):
            continue
        starving.setdefault(job.group.queue, []).append(job)
    return starving


def pending(framework: Framework, job: Job) -> Line[Pod] | Heap[Pod]:
    """The gang's tasks that want a node."""
    pods = (framework.tasks.pods[uid] for uid in job.by_status.get(Status.PENDING, ()))
    return framework.line_of(job, (pod for pod in pods if not pod.gated))


def is_preemptable(framework: Framework, pod: Pod) -> bool:
    """Does the task let itself be evicted for another one?"""
    return not pod.workload and framework.customs.consent.one_by_one(pod, framework.job_of(pod).group)


def gives_way_to_gangs(framework: Framework, pod: Pod) -> bool:
    """Does it for the room of a whole gang?"""
    return not pod.workload and framework.customs.consent.by_gangs(pod, framework.job_of(pod).group)


def may_evict(framework: Framework, task: Pod) -> bool:
    """May somebody go for the task? Not where it says that it never preempts, and not while somebody of a lower priority is
    leaving the node that was cleared for it."""
    if task.member.never_preempts:
        return False
    name = task.member.nominated
    row = framework.nodes.row_by_name.get(name)
    if not name or row is None or framework.predicate(task)[row] == Fit.UNRESOLVABLE:
        return True
    leaving = on_node(framework, name, (Status.RELEASING,))
    return not any(task_priority(pod.member) < task_priority(task.member) for pod in leaving)


def mendable(framework: Framework, task: Pod) -> Ints:
    """The rows that take the task, or would were others evicted; by name."""
    fits = framework.predicate(task)
    rows = framework.nodes.by_name()
    return rows[fits[rows] <= Fit.UNSCHEDULABLE]


def is_large_enough(framework: Framework, task: Pod) -> Mask:
    """Which rows are mendable, and have enough for the task when nobody is there; not to be changed. Kept as long as nodes stay
    as they are: who says why a task waits asks, and who evicts for it."""
    nodes = framework.nodes
    known = framework.once("is_large_enough", dict[str, tuple[int, Mask]])
    kept = known.get(task.uid)
    if kept is None or kept[0] != nodes.version:
        large = np.zeros(nodes.used.shape[1], dtype=np.bool_)
        large[mendable(framework, task)] = True
        kept = known[task.uid] = (nodes.version, large & (nodes.places_empty(task.shape, large) > 0))
    return kept[1]


def on_node(framework: Framework, name: str, statuses: tuple[Status, ...]) -> list[Pod]:
    """The node's tasks in these statuses, by uid."""
    tasks = framework.tasks
    return [tasks.pods[uid] for uid in sorted(tasks.on_node.get(name, ())) if tasks.status[uid] in statuses]


def enough(framework: Framework, name: str, task: Pod, victims: Sequence[Pod]) -> bool:
    """Were these gone as well, would the task have room?"""
    nodes = framework.nodes
    row = nodes.row_by_name[name]
    freed: dict[int, int] = {}
    for victim in victims:
        for line, amount in nodes.asked(victim.shape.requests):
            freed[line] = freed.get(line, 0) + amount
    for line, amount in nodes.asked(task.shape.requests):
        if line < 0:
            return False
        room = nodes.room(line, row) + int(nodes.releasing[line, row]) - int(nodes.pipelined[line, row])
        if room + freed.get(line, 0) < amount:
            return False
    return nodes.devices.goes(task.shape, row, victims)


def as_running(framework: Framework, undone: Sequence[str]) -> None:
    """Victims of a statement that was taken back run, also those that were only bound."""
    for uid in undone:
        framework.tasks.move(uid, Status.RUNNING, framework.tasks.node[uid])
