"""Reclaim: gangs that need more take back from other queues.

The rule, queues in their order, one that has had its share (overused) dropped; of each the first starving gang:
    while it is starving   its next task that may preempt, whose queue may take back for it (preemptive), and that can be placed
    nodes                  those that no predicate rules out for good, by name; one without a candidate is passed over
    candidates             running, preemptable, of another queue that gives back (reclaimable)
    victims                of them those that the plug-ins name; with what is free once others have left they must be enough
    evicts                 one after the other (victims' order), until there is room; the task is promised it
    then                   all is committed where the gang is pipelined, else taken back
Source     Volcano: reclaim action.
Not here   within a queue: preempt.py.
"""

from __future__ import annotations

from kumi.engine.gangs import Queue
from kumi.engine.model import Pod
from kumi.engine.placement.actions.victims import (
    as_running,
    enough,
    is_preemptable,
    mendable,
    on_node,
    pending,
    starving_by_queue,
)
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.placement.tasks import Job, Status, request


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    jobs = {name: Heap(framework.job_less, found) for name, found in starving_by_queue(framework).items()}
    queues = Heap(framework.queue_less, (framework.tasks.queues[name] for name in jobs))
    while len(queues):
        queue = queues.pop()
        if framework.overused(queue) or not len(jobs[queue.name]):
            continue
        _turn(framework, outcome, queue, jobs[queue.name].pop())
        queues.push(queue)


def _turn(framework: Framework, outcome: Outcome, queue: Queue, job: Job) -> None:
    tasks = pending(framework, job)
    with framework.journal.trial() as trial:
        statement = Statement(framework, outcome)
        while len(tasks) and framework.job_starving(job):
            task = tasks.pop()
            if task.member.never_preempts or not framework.preemptive(queue, request(task)):
                continue
            if framework.pre_predicate(task) is Fit.OK:
                _look(framework, statement, queue, task)
        if framework.job_pipelined(job):
            statement.commit()
            trial.commit()
            return
        undone = statement.evicted
    as_running(framework, undone)


def _look(framework: Framework, statement: Statement, queue: Queue, task: Pod) -> None:
    names = framework.nodes.name_by_row()
    for row in mendable(framework, task).tolist():
        name = names[row]
        candidates = [
            pod
            for pod in on_node(framework, name, (Status.RUNNING,))
            if is_preemptable(framework, pod) and _gives_back(framework, pod, queue)
        ]
        if not candidates:
            continue
        victims = framework.reclaimable(task, candidates)
        if not enough(framework, name, task, victims):
            continue
        order = Heap(lambda a, b: framework.victim_less(a, b, framework.job_of(task)), victims)
        while not enough(framework, name, task, []) and len(order):
            statement.evict(order.pop(), task.uid)
        statement.place(task, name, Status.PIPELINED)
        return


def _gives_back(framework: Framework, pod: Pod, queue: Queue) -> bool:
    theirs = framework.queue_of(framework.job_of(pod))
    return theirs is not None and theirs is not queue and theirs.reclaimable
