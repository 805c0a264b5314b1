"""Preempt, least: gangs of a queue that need more take it from others of the queue, and no more than it takes.

The rule, queue by queue, for gangs that are let in, can be placed, and are starving, in their order:
    without its minimum   one attempt (attempt.py): its tasks in their order until it has it; all is committed, or nothing
    with its minimum      an attempt a task, as long as it is starving
    at last               tasks of it against tasks of its own that matter less, an attempt a task: whatever plug-ins say of equal
                          ones, they would take each other's place for ever
A task           a place for which nobody has to go; else the node where that costs the least: the highest victim matters least
                 (its gang's priority, its own), then the fewest victims, then the lowest sum of priorities, then the name
Victims          as in preempt.py: of a node's bound or running tasks that let themselves be evicted, those that the plug-ins
                 name. They are asked in the order in which victims would go: a plug-in that lets go so and so many then means
                 the same ones as the next
Differs          from preempt.py: it takes free nodes first, and gives back whoever needn't go. There the first node by score is
                 taken, victims that a later one makes needless go all the same, and a vote can commit half a gang's evictions.
In vain          a gang that finds no room for its minimum as it is, where nobody may be in question, isn't tried.
Cost             O(nodes x victims on a node) a task that needs an eviction. Of tasks of one shape, after one that found nothing
                 none is tried.
Source           Kumi's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush

from kumi.engine.gangs import Queue
from kumi.engine.model import Pod
from kumi.engine.placement.actions.attempt import (
    Attempt,
    Cost,
    cost_on,
    costs_of_own,
    is_any,
    is_complete,
    lasting_room,
    least_costs,
    may_complete,
)
from kumi.engine.placement.actions.victims import (
    EVICTABLE,
    is_large_enough,
    is_preemptable,
    may_evict,
    on_node,
    pending,
    starving_by_queue,
)
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import READY, Job, Rank, Status, best_effort, task_priority


@dataclass(frozen=True, slots=True)
class Takes:
    """From whom tasks of a gang take. `anybody`: may somebody be in question anywhere; `least`: the nodes where that is so, and
    what room can't cost less than there; `whose`: is this one; `named`: whom of a node's the plug-ins let go."""

    framework: Framework
    outcome: Outcome
    job: Job
    anybody: Callable[[], bool]
    least: Callable[[], Mapping[str, Cost]]
    whose: Callable[[Pod], bool]
    named: Callable[[Pod, list[Pod]], list[Pod]]
    may: Callable[[Pod], bool]
    """may anybody go for this task?"""


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    starving = starving_by_queue(framework)
    for name in sorted(starving):
        jobs = Heap(framework.job_less, starving[name])
        while len(jobs):
            job = jobs.pop()
            queue = framework.tasks.queues[name]
            serve(_takes(framework, outcome, job, queue, own=False))
            if _lacks_one(job):
                _alone(_takes(framework, outcome, job, queue, own=True), lambda: True)


def _lacks_one(job: Job) -> bool:
    """Does it lack one task at most? A task that takes the place of one of its own makes no gang more complete; nor does one that
    comes, where two are missing."""
    assert job.group is not None
    return job.count(*READY, Status.PIPELINED) + sum(job.free.values()) + 1 >= job.group.least


def _takes(framework: Framework, outcome: Outcome, job: Job, queue: Queue, *, own: bool) -> Takes:
    known: dict[str, bool] = {}

    def theirs(key: str) -> bool:
        other = framework.tasks.jobs[key]
        if (other is job) is not own or framework.queue_of(other) is not queue:
            return False
        return own or framework.preempts_from(job, framework.tasks.priority(other))

    def whose(pod: Pod) -> bool:
        key = pod.member.group
        if key not in known:
            known[key] = theirs(key)
        return known[key]

    def among(rank: Rank) -> bool:
        return rank[0] == queue.name and framework.preempts_from(job, framework.tasks.value(rank[1]))

    def of_own(task: Pod, candidates: list[Pod]) -> list[Pod]:
        below = [pod for pod in candidates if task_priority(pod.member) < task_priority(task.member)]
        return framework.preemptable(task, below) if below else []

    least = partial(costs_of_own, framework, job) if own else partial(least_costs, framework, among)
    return Takes(
        framework,
        outcome,
        job,
        partial(is_any, framework, among),
        least,
        whose,
        of_own if own else framework.preemptable,
        partial(may_evict, framework),
    )


def serve(takes: Takes) -> None:
    """Room for a starving gang: its minimum at once, the others one by one."""
    framework, job = takes.framework, takes.job
    if not is_complete(framework, job):
        if not may_complete(framework, job) and not takes.anybody():
            return
        if not lasting_room(framework, takes.outcome, job, partial(_minimum, takes)):
            return
    _alone(takes, lambda: framework.job_starving(job))


def _minimum(takes: Takes, attempt: Attempt) -> bool:
    """Are so many of the gang's tasks promised a place now that it has its minimum?"""
    framework, job = takes.framework, takes.job
    tasks, failed = pending(framework, job), dict[object, None]()
    while len(tasks) and not is_complete(framework, job):
        task = tasks.pop()
        if task.shape not in failed and not find(takes, attempt, task):
            failed[task.shape] = None
    if not is_complete(framework, job):
        return False
    attempt.trim([[pod] for pod, _ in attempt.gone.values()])
    return True


def _alone(takes: Takes, wanted: Callable[[], bool]) -> None:
    """An attempt for each task that waits."""
    framework = takes.framework
    tasks, failed = pending(framework, takes.job), dict[object, None]()
    while len(tasks) and wanted():
        task = tasks.pop()
        if task.shape in failed:
            continue
        if not lasting_room(framework, takes.outcome, takes.job, partial(_one, takes, task)):
            failed[task.shape] = None


def _one(takes: Takes, task: Pod, attempt: Attempt) -> bool:
    return find(takes, attempt, task) and is_complete(takes.framework, takes.job)


def find(takes: Takes, attempt: Attempt, task: Pod) -> bool:
    """Is the task promised a place now?"""
    if attempt.place(task):
        return True
    if not takes.may(task) or takes.framework.pre_predicate(task) is not Fit.OK:
        return False
    return any(attempt.clear(task, name, victims) for name, victims in _by_cost(takes, attempt, task))


def _by_cost(takes: Takes, attempt: Attempt, task: Pod) -> Iterator[tuple[str, Sequence[Pod]]]:
    """The nodes where evicting may make room, the cheapest first, and whom the plug-ins let go there. A node is looked at when
    none that is known is cheaper than this one could be at best."""
    framework, rows = takes.framework, takes.framework.nodes.row_by_name
    large = is_large_enough(framework, task).tolist()
    at_best = ((cost, name) for name, cost in takes.least().items() if name in rows and large[rows[name]])
    line: list[tuple[Cost, str, Sequence[Pod]]] = [(cost, name, []) for cost, name in at_best]
    heapify(line)
    while line:
        _, name, known = heappop(line)
        if known:
            yield name, known
            continue
        victims = _victims(takes, attempt, task, name)
        if victims and (cost := cost_on(framework, task, name, victims)) is not None:
            heappush(line, (cost, name, victims))


def _victims(takes: Takes, attempt: Attempt, task: Pod, name: str) -> Sequence[Pod]:
    """Whom the plug-ins let go on the node, as far as the attempt may take them."""
    framework = takes.framework
    candidates = [
        pod
        for pod in on_node(framework, name, EVICTABLE)
        if takes.whose(pod) and is_preemptable(framework, pod) and (best_effort(pod) or not best_effort(task))
    ]
    asked = attempt.open_to(candidates)
    return attempt.within(takes.named(task, framework.sorted_victims(asked, takes.job))) if asked else []
