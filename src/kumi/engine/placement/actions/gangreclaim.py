"""Gang reclaim: a gang that needs more takes back from other queues, all that it waits for or nothing.

The rule   queues in their order, one that has had its share (overused) dropped; of each the first starving gang, if its queue may
           take back all that it waits for at once (preemptive)
           candidates   running tasks of queues that give back (reclaimable) that let themselves be evicted (../consent.py)
           of bundles   those of the queue from which the gang takes first (victim queues' order) go first
           then         whole_gang.py
Arguments  maxDomains (8), allowWholeBundle (true).
Source     Volcano: gangreclaim action.
Not here   within a queue: gangpreempt.py; task by task: reclaim.py.
"""

from __future__ import annotations

from functools import partial

from kumi.engine.gangs import Listed
from kumi.engine.model import Amounts, Pod
from kumi.engine.placement.actions.victims import gives_way_to_gangs, starving_by_queue
from kumi.engine.placement.actions.whole_gang import Evictor, MakeRoom, make_room
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.makeup import makeup
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import Job, Status, best_effort, request


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    each(framework, outcome, make_room)


def each(framework: Framework, outcome: Outcome, room: MakeRoom) -> None:
    """Room for each gang that asks."""
    jobs = {name: Heap(framework.job_less, found) for name, found in starving_by_queue(framework).items()}
    queues = Heap(framework.queue_less, (framework.tasks.queues[name] for name in jobs))
    while len(queues):
        queue = queues.pop()
        if framework.overused(queue) or not len(jobs[queue.name]):
            continue
        _turn(framework, outcome, room, jobs[queue.name].pop())
        queues.push(queue)


def _turn(framework: Framework, outcome: Outcome, room: MakeRoom, job: Job) -> None:
    queue, wanted = framework.queue_of(job), _wanted(framework, job)
    assert queue is not None
    if not wanted or not framework.preemptive(queue, wanted):
        return

    def before(one: Job, other: Job) -> int:
        a, b = framework.queue_of(one), framework.queue_of(other)
        return framework.victim_queue_compare(a, b, job) if a is not None and b is not None and a is not b else 0

    evictor = Evictor.configured(framework.conf.of_action("gangreclaim"), before, reclaims=True)
    room(framework, outcome, evictor, job, partial(candidates, framework, job))


def _wanted(framework: Framework, job: Job) -> Listed:
    """What its tasks that need a node ask for in all."""
    sums: Amounts = {}
    for task, count in makeup(framework.tasks, framework.nodes.residents, job).alike:
        for resource, amount in request(task) if not best_effort(task) else ():
            sums[resource] = sums.get(resource, 0) + amount * count
    return tuple(sums.items())


def candidates(framework: Framework, reclaimer: Job) -> list[Pod]:
    """Whom the gang may take from, by gang and uid."""
    tasks, mine = framework.tasks, framework.queue_of(reclaimer)
    found = []
    for job in framework.jobs():
        queue = framework.queue_of(job)
        if queue is not None and queue is not mine and queue.reclaimable:
            pods = (tasks.pods[uid] for uid in sorted(job.by_status.get(Status.RUNNING, ())))
            found += [pod for pod in pods if gives_way_to_gangs(framework, pod)]
    return found
