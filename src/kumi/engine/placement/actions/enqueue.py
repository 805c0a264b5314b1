"""Enqueue: which gangs may have their pods made, and be looked at.

The rule   queues in their order; of each the first gang that is Pending (or about which nothing was said), again and again:
           one that says what it needs asks the plug-ins (job_enqueueable); one that doesn't is let in
           let in: it is Inqueue, and the plug-ins are told. Turned away: it isn't asked again in this session
Why        pods of gangs that can't start are never made, and don't crowd the scheduler.
Source     Volcano: enqueue action.
Not here   gangs whose Workload was admitted: they are past the queues, and no session looks at them (framework.py).
"""

from __future__ import annotations

from kumi.engine.gangs import Phase
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import OUTSIDE, Job

WAITING = OUTSIDE


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    waiting: dict[str, Heap[Job]] = {}
    for job in framework.outside():
        assert job.group is not None
        waiting.setdefault(job.group.queue, Heap(framework.job_less)).push(job)
    queues = Heap(framework.queue_less, (framework.tasks.queues[name] for name in waiting))
    while len(queues):
        queue = queues.pop()
        if not len(waiting[queue.name]):
            continue
        job = waiting[queue.name].pop()
        assert job.group is not None
        if job.group.resources is None or framework.job_enqueueable(job):
            let_in(framework, job)
        else:
            outcome.turned_away[job.key] = framework.turned_away(job)
        queues.push(queue)


def let_in(framework: Framework, job: Job) -> None:
    """The gang is Inqueue from now on."""
    assert job.group is not None
    framework.job_enqueued(job)
    framework.tasks.set_phase(job, Phase.INQUEUE)
