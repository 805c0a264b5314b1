"""Preempt: gangs of a queue that need more take it from others of the queue, then from tasks of their own.

The rule, queue by queue, for gangs that are let in, can be placed, and are starving (job_starving), in their order:
    while it is starving     its next task looks for a node among the tasks of other gangs of the queue
    then                     all is committed where the gang is pipelined, else taken back
    afterwards               each pending task of each of them against tasks of its own gang, committed one by one, until one
                             fails
A task looks, node by node, the best score first:
    nodes       those that no predicate rules out for good: what evicting may mend doesn't count
    victims     of the node's candidates those that the plug-ins name; what they free, and what is free once others have left,
                must be enough
    evicts      one after the other (victims' order), until the queue may have the task, it has room, and the predicates pass:
                perhaps nobody. Then it is promised its place there; else they stay, and the next node is tried
With enableTopologyAwarePreemption the node is the one of those tried on which it costs the least: dry_run.py.
Candidates      bound or running, preemptable; a task that asks for nothing takes only from such.
Not eligible    a task that never preempts; one that was nominated for a node where somebody of a lower priority is already
                leaving.
Source          Volcano: preempt action.
Not here        taking from other queues: reclaim.py; whole bundles: gangpreempt.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kumi.engine.gangs import Queue
from kumi.engine.model import Pod
from kumi.engine.placement.actions.dry_run import Limits, cheapest, victims_on
from kumi.engine.placement.actions.victims import (
    EVICTABLE,
    as_running,
    enough,
    is_preemptable,
    may_evict,
    mendable,
    on_node,
    pending,
    starving_by_queue,
)
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap, Line
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.placement.tasks import Job, Status, best_effort

Whose: TypeAlias = Callable[[Pod], bool]
"""whether a task of the queue is in question as a victim"""
Search: TypeAlias = "Callable[[_Turn, Statement, Pod, Whose], bool]"


@dataclass(frozen=True, slots=True)
class _Turn:
    """What one queue's gangs are looked for with. `search`: how a task's node is found."""

    framework: Framework
    outcome: Outcome
    queue: Queue
    search: Search
    limits: Limits


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    arguments = framework.conf.of_action("preempt")
    search = by_cost if arguments.switch("enableTopologyAwarePreemption", default=False) else one_by_one
    starving = starving_by_queue(framework)
    tasks = {job.key: pending(framework, job) for jobs in starving.values() for job in jobs}
    for name in sorted(starving):
        turn = _Turn(framework, outcome, framework.tasks.queues[name], search, Limits.configured(arguments))
        jobs = Heap(framework.job_less, starving[name])
        while len(jobs):
            job = jobs.pop()
            if _among_others(turn, job, tasks[job.key]):
                jobs.push(job)
        for job in starving[name]:
            _within(turn, job)


def _among_others(turn: _Turn, job: Job, tasks: Line[Pod] | Heap[Pod]) -> bool:
    """True where something came of it: the gang gets another turn."""
    framework, assigned = turn.framework, False
    with framework.journal.trial() as trial:
        statement = Statement(framework, turn.outcome)
        while len(tasks) and framework.job_starving(job):
            task = tasks.pop()
            found = _look(turn, statement, task, lambda pod: pod.member.group != job.key)
            assigned = found or assigned
        if framework.job_pipelined(job):
            statement.commit()
            trial.commit()
            return assigned
        undone = statement.evicted
    as_running(framework, undone)
    return False


def _within(turn: _Turn, job: Job) -> None:
    tasks = pending(turn.framework, job)
    while len(tasks):
        task = tasks.pop()
        statement = Statement(turn.framework, turn.outcome)
        found = _look(turn, statement, task, lambda pod: pod.member.group == job.key)
        statement.commit()
        if not found:
            break


def _look(turn: _Turn, statement: Statement, task: Pod, whose: Whose) -> bool:
    """Is there now a place that the task is promised?"""
    framework = turn.framework
    if not may_evict(framework, task) or framework.pre_predicate(task) is not Fit.OK:
        return False
    return turn.search(turn, statement, task, whose)


def one_by_one(turn: _Turn, statement: Statement, task: Pod, whose: Whose) -> bool:
    """The first node, by score, on which the task can be."""
    for name in _by_score(turn.framework, task):
        victims = _victims(turn, task, name, whose)
        if victims is not None and _take(turn, statement, task, name, victims):
            return True
    return False


def by_cost(turn: _Turn, statement: Statement, task: Pod, whose: Whose) -> bool:
    """The node of those tried on which it costs the least."""
    framework, found = turn.framework, []
    names, rows = framework.nodes.name_by_row(), mendable(framework, task).tolist()
    for row in rows:
        name = names[row]
        victims = _victims(turn, task, name, whose)
        if victims is None:
            continue
        one = victims_on(framework, task, name, victims, lambda: _goes(turn, task, name))  # noqa: B023
        if one is not None:
            found.append(one)
            if len(found) == turn.limits.of(len(rows)):
                break
    best = cheapest(found)
    if best is None:
        return False
    for pod in best.victims:
        statement.evict(pod, task.uid)
    statement.place(task, best.node, Status.PIPELINED)
    return True


def _victims(turn: _Turn, task: Pod, name: str, whose: Whose) -> list[Pod] | None:
    """Whom the plug-ins let go on the node, where that is enough."""
    framework = turn.framework
    candidates = [
        pod
        for pod in on_node(framework, name, EVICTABLE)
        if is_preemptable(framework, pod) and whose(pod) and framework.queue_of(framework.job_of(pod)) is turn.queue
        if best_effort(pod) or not best_effort(task)
    ]
    victims = framework.preemptable(task, candidates)
    return victims if enough(framework, name, task, victims) else None


def _take(turn: _Turn, statement: Statement, task: Pod, name: str, victims: list[Pod]) -> bool:
    """Evicts as many of the victims as it takes; nobody where the task then doesn't go there."""
    framework, before = turn.framework, len(statement.evicted)
    order = Heap(lambda a, b: framework.victim_less(a, b, framework.job_of(task)), victims)
    with framework.journal.trial() as trial:
        while not _goes(turn, task, name) and len(order):
            statement.evict(order.pop(), task.uid)
        if _goes(turn, task, name):
            statement.place(task, name, Status.PIPELINED)
            trial.commit()
            return True
    as_running(framework, statement.forget(before))
    return False


def _goes(turn: _Turn, task: Pod, name: str) -> bool:
    """May the task have that node now, or once who is leaving has left?"""
    framework = turn.framework
    if not framework.allocatable(turn.queue, task) or not enough(framework, name, task, []):
        return False
    return bool(framework.predicate(task)[framework.nodes.row_by_name[name]] == Fit.OK)


def _by_score(framework: Framework, task: Pod) -> Iterator[str]:
    """The nodes that evicting may make fit, the best first."""
    rows = mendable(framework, task)
    if not rows.size:
        return
    scores = framework.node_scores(task, rows, np.zeros(rows.size, dtype=np.int64))
    batch = framework.batch_scores(task, rows)
    total = scores if batch is None else scores + batch
    names = framework.nodes.name_by_row()
    for at in np.argsort(-total, kind="stable"):
        yield names[int(rows[at])]
