"""Reclaim, least: gangs that need more take back from other queues, and no more than it takes.

The rule   queues in their order, one that has had its share (overused) dropped; of each the first starving gang, served as in
           preempt_least.py
           a task may take where its queue may take back for it (preemptive); it is placed as its queue may have it (allocatable)
Victims    bound or running tasks of other queues that give back (reclaimable) that let themselves be evicted, of them those
           that the plug-ins name
Differs    from reclaim.py: it takes free nodes first, passes over no idle node, gives back whoever needn't go, and evicts
           nobody for a task that its queue couldn't have afterwards.
Source     Kumi's own.
"""

from __future__ import annotations

from functools import partial

from kumi.engine.gangs import Queue
from kumi.engine.model import Pod
from kumi.engine.placement.actions.attempt import is_any, least_costs
from kumi.engine.placement.actions.preempt_least import Takes, serve
from kumi.engine.placement.actions.victims import starving_by_queue
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import Job, Rank, request


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    jobs = {name: Heap(framework.job_less, found) for name, found in starving_by_queue(framework).items()}
    queues = Heap(framework.queue_less, (framework.tasks.queues[name] for name in jobs))
    while len(queues):
        queue = queues.pop()
        if framework.overused(queue) or not len(jobs[queue.name]):
            continue
        serve(_takes(framework, outcome, jobs[queue.name].pop(), queue))
        queues.push(queue)


def _takes(framework: Framework, outcome: Outcome, job: Job, queue: Queue) -> Takes:
    def whose(pod: Pod) -> bool:
        theirs = framework.queue_of(framework.job_of(pod))
        return theirs is not None and theirs is not queue and theirs.reclaimable

    def among(rank: Rank) -> bool:
        theirs = framework.tasks.queues.get(rank[0])
        return theirs is not None and theirs is not queue and framework.reclaims_from("reclaimable", theirs)

    def may(task: Pod) -> bool:
        return not task.member.never_preempts and framework.preemptive(queue, request(task))

    least = partial(least_costs, framework, among)
    return Takes(framework, outcome, job, partial(is_any, framework, among), least, whose, framework.reclaimable, may)
