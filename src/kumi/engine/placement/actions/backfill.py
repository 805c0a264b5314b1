"""Backfill: pods that ask for nothing but to be there.

The rule   queues, their gangs, their tasks, each in their order; tasks that are pending (or were promised a place) and ask for
           nothing: the best of the nodes that every predicate takes; room isn't asked for
           as soon as a gang is ready, all that it was given is committed
Why        they weigh nothing, so they wait for nobody.
Skipped    gangs that aren't let in, or can't be placed at all.
Source     Volcano: backfill action.
"""

from __future__ import annotations

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.actions.enqueue import WAITING
from kumi.engine.placement.choose import spread
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.statement import Outcome, Refusal, Statement
from kumi.engine.placement.tasks import READY, Job, Status
from kumi.engine.placement.why import no_node


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    for job in _gangs(framework):
        for task in _tasks(framework, job):
            _place(framework, outcome, job, task)


def _gangs(framework: Framework) -> list[Job]:
    by_queue: dict[str, Heap[Job]] = {}
    for job in framework.unplaced():
        assert job.group is not None
        if not job.free and not job.by_status.get(Status.PIPELINED):
            continue
        if job.group.phase not in WAITING and framework.job_valid(job) is None:
            by_queue.setdefault(job.group.queue, Heap(framework.job_less)).push(job)
    queues = Heap(framework.queue_less, (framework.tasks.queues[name] for name in by_queue))
    found = []
    while len(queues):
        jobs = by_queue[queues.pop().name]
        while len(jobs):
            found.append(jobs.pop())
    return found


def _tasks(framework: Framework, job: Job) -> list[Pod]:
    pods = framework.tasks.pods
    wanting = []
    for status in (Status.PENDING, Status.PIPELINED):
        for uid in list(job.by_status.get(status, ())):
            task = pods[uid]
            if framework.tasks.is_free(task) and not task.gated:
                if status is Status.PIPELINED:
                    framework.nodes.pipeline(framework.tasks.node[uid], task.shape.requests, -1)
                    framework.seated(task, framework.tasks.node[uid], -1)
                    framework.tasks.move(uid, Status.PENDING, "")
                wanting.append(task)
    line = framework.in_line(wanting)
    return [line.pop() for _ in range(len(line))]


def _place(framework: Framework, outcome: Outcome, job: Job, task: Pod) -> None:
    if framework.pre_predicate(task) is not Fit.OK:
        return
    taking = (framework.predicate(task) == Fit.OK).astype(np.int64)
    if not taking.any():
        outcome.refusals[job.key] = Refusal(job.count(*READY), no_node(framework, outcome, task))
        return
    row = spread(framework, task, taking, 1)[0]
    statement = Statement(framework, outcome)
    statement.place(task, framework.nodes.name_by_row()[row], Status.ALLOCATED)
    if framework.job_ready(job):
        for uid in list(job.by_status.get(Status.ALLOCATED, ())):
            statement.dispatch(uid)
        statement.commit()
