"""Gang preempt: a gang that needs more takes it from gangs of its queue that matter less, all that it waits for or nothing.

The rule   queue by queue, of the gangs that are let in, can be placed and are starving, in their order, each once
           candidates   bound or running tasks of gangs of the queue of a lower priority that let themselves be evicted
                        (../consent.py)
           of bundles   those of the gang that comes last go first
           then         whole_gang.py
           equals       where equalPriority is on, those of gangs of the same priority are candidates too, as far as a plug-in
                        says that the one goes before the other (outranks: least_slack). That none of them is against it is not
                        enough: of two that nothing tells apart each would take the other's place, for ever, for nothing.
                        `priority` names none of them, so it isn't in such a file
Arguments  maxDomains (8), allowWholeBundle (true), equalPriority (false), which is Kumi's own.
Source     Volcano: gangpreempt action.
Not here   from other queues: gangreclaim.py; task by task: preempt.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from kumi.engine.model import Pod
from kumi.engine.placement.actions.victims import EVICTABLE, gives_way_to_gangs, starving_by_queue
from kumi.engine.placement.actions.whole_gang import Evictor, MakeRoom, make_room
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import Job


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    each(framework, outcome, make_room)


def each(framework: Framework, outcome: Outcome, room: MakeRoom) -> None:
    """Room for each gang that asks."""
    evictor = Evictor.configured(
        framework.conf.of_action("gangpreempt"),
        lambda one, other: framework.job_compare(other, one) if one is not other else 0,
        reclaims=False,
    )
    for _, starving in sorted(starving_by_queue(framework).items()):
        jobs = Heap(framework.job_less, starving)
        while len(jobs):
            job = jobs.pop()
            if framework.job_starving(job):
                room(framework, outcome, evictor, job, partial(candidates, framework, job))


def candidates(framework: Framework, preemptor: Job) -> list[Pod]:
    """Whom the gang may take from, by gang and uid."""
    return [pod for job in gangs(framework, preemptor) for pod in _evictable(framework)[job.key]]


def gangs(framework: Framework, preemptor: Job) -> Iterator[Job]:
    """The gangs of these, by key."""
    tasks = framework.tasks
    queue, mine, below = framework.queue_of(preemptor), tasks.priority(preemptor), limit(framework, preemptor)
    for key in _evictable(framework):
        job = tasks.jobs[key]
        if job is preemptor or framework.queue_of(job) is not queue or (theirs := tasks.priority(job)) >= below:
            continue
        if theirs < mine or framework.outranks(preemptor, job):
            yield job


def _evictable(framework: Framework) -> dict[str, list[Pod]]:
    """The tasks that let themselves be evicted, by uid, of each gang that has some, by key; kept until a task is somewhere
    else."""
    tasks = framework.tasks
    kept = framework.once("evictable", dict[str, Any])
    if kept.get("stamp") != tasks.stamp:
        found: dict[str, list[Pod]] = {}
        for job in framework.jobs():
            uids = sorted(uid for status in EVICTABLE for uid in job.by_status.get(status, ()))
            pods = [pod for uid in uids if gives_way_to_gangs(framework, pod := tasks.pods[uid])]
            if pods:
                found[job.key] = pods
        kept.update(stamp=tasks.stamp, found=found)
    made: dict[str, list[Pod]] = kept["found"]
    return made


def limit(framework: Framework, preemptor: Job) -> int:
    """Gangs of a priority below this may be candidates."""
    equals = framework.conf.of_action("gangpreempt").switch("equalPriority", default=False)
    return framework.tasks.priority(preemptor) + equals
