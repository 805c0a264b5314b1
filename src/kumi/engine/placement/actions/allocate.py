"""Allocate: nodes for gangs, queue by queue, gang by gang, whole or not at all.

The rule   queues in their order. The first queue gives way for good where it has had its share (overused) or has no gang left.
           Its first gang is tried, after pods on their own that go before it (../ahead.py); then the queue takes its place in
           line again:
             tasks in their order, those that are pending, not gated, and wait for room (tasks.py)
             a task that its queue may not have (allocatable) is dropped for this session
             a task whose role failed before is passed over
             a task without a node: the gang goes on with the next, where it may do without (can_go_on), else it ends
             it ends as soon as the gang is ready: a gang that has its minimum gets one task a turn
           ready            what it got is committed; with tasks left it waits for another turn
           pipelined        what it got is kept for it until the session ends, and not committed
           neither          what it got is taken back
May do without  not where it needs every task; yes where it needs fewer than its roles together: while those that are left can
                still make up the minimum; else while every role that failed has its minimum already.
Pending       where no enqueue action is configured, a gang about which nothing was said is let in here.
Order and ties  a heap whose order moves with the shares (heap.py).
Cost          choose.py, a run; O(log n) a gang.
Source        Volcano: allocate action.
Not here      gangs that ask for closeness: they come with topology.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kumi.engine.gangs import Phase
from kumi.engine.model import Pod
from kumi.engine.placement.actions.enqueue import WAITING
from kumi.engine.placement.choose import Chosen, choose
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap, Line
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.statement import Outcome, Refusal, Statement
from kumi.engine.placement.tasks import READY, Job, Status
from kumi.engine.placement.why import no_node, no_share
from kumi.engine.reasons import Reason

Waiting: TypeAlias = Line[Pod] | Heap[Pod]


@dataclass(slots=True)
class _Turns:
    """Who is still to be tried."""

    jobs: dict[str, Heap[Job]] = field(default_factory=dict)
    """queue -> gangs"""
    tasks: dict[str, Waiting] = field(default_factory=dict)
    """gang -> tasks"""


def run(framework: Framework, outcome: Outcome) -> None:
    """See the module."""
    turns = _Turns()
    for job in let_in(framework):
        assert job.group is not None
        turns.jobs.setdefault(job.group.queue, Heap(framework.job_less)).push(job)
    queues = Heap(framework.queue_less, (framework.tasks.queues[name] for name in turns.jobs))
    while len(queues):
        queue = queues.pop()
        if framework.overused(queue) or not len(turns.jobs[queue.name]):
            continue
        job = turns.jobs[queue.name].pop()
        if framework.around.ahead is not None:
            framework.around.ahead(job)
        if turn(framework, outcome, job, _tasks(framework, turns, job)):
            turns.jobs[queue.name].push(job)
        queues.push(queue)


def let_in(framework: Framework) -> list[Job]:
    """The gangs with tasks that wait which may be placed now, by key."""
    if "enqueue" not in framework.conf.actions:
        for job in framework.outside():
            framework.tasks.set_phase(job, Phase.INQUEUE)
    found = []
    for job in framework.unplaced():
        assert job.group is not None
        if job.group.phase not in WAITING and framework.job_valid(job) is None:
            found.append(job)
    return found


def tasks_of(framework: Framework, job: Job) -> Waiting:
    """The gang's tasks that are to be tried, in their order."""
    pods = [framework.tasks.pods[uid] for uid in job.by_status.get(Status.PENDING, ())]
    return framework.line_of(job, (pod for pod in pods if not pod.gated and not framework.tasks.is_free(pod)))


def _tasks(framework: Framework, turns: _Turns, job: Job) -> Waiting:
    """The gang's tasks that are still to be tried."""
    if job.key not in turns.tasks:
        turns.tasks[job.key] = tasks_of(framework, job)
    return turns.tasks[job.key]


def turn(framework: Framework, outcome: Outcome, job: Job, tasks: Waiting) -> bool:
    """One turn of a gang. True where it is to have another one."""
    with framework.journal.trial() as trial:
        statement = Statement(framework, outcome)
        place(framework, outcome, statement, job, tasks)
        if framework.job_ready(job):
            statement.commit()
            trial.commit()
            return len(tasks) > 0
        if framework.job_pipelined(job):
            trial.commit()
    return False


def place(framework: Framework, outcome: Outcome, statement: Statement, job: Job, tasks: Waiting) -> None:
    """Tasks one after the other, until the gang is ready, or can't be."""
    queue = framework.queue_of(job)
    assert queue is not None
    failed: dict[str, None] = {}
    refused: tuple[Reason, ...] = ()
    barred: Pod | None = None
    ready: list[int] = []
    status, first = Status.PENDING, None
    names = framework.nodes.name_by_row()
    while len(tasks):
        task = tasks.pop()
        if not framework.allocatable(queue, task):
            barred = task
            continue
        if task.member.role and task.member.role in failed:
            continue
        if not ready or first is None or not _equal(framework, task, first):
            first, ready = task, []
            if framework.pre_predicate(task) is Fit.OK:
                ready, status = choose(framework, task, _run(framework, job, tasks))
            if len(ready) > 1:
                task = _most_of_a_run(framework, statement, tasks, task, (ready, status))
        if not ready:
            failed[task.member.role] = None
            barred, refused = None, no_node(framework, outcome, task)
            if not can_go_on(job, failed):
                break
            continue
        statement.place(task, names[ready.pop(0)], status)
        if framework.job_ready(job):
            break
    if barred is not None:
        refused = no_share(framework, outcome, barred)
    if refused:
        outcome.refusals[job.key] = Refusal(job.toward(*READY), refused)
    else:
        outcome.refusals.pop(job.key, None)


def _most_of_a_run(framework: Framework, statement: Statement, tasks: Waiting, first: Pod, chosen: Chosen) -> Pod:
    """Places all but the last of the tasks like the first at once, and takes away their rows, where one by one would do the same:
    had the gang been ready before, it would be so then; had its queue not been allowed one of them, it wouldn't be the last
    one. The task that is next."""
    rows, status = chosen
    job = framework.job_of(first)
    queue = framework.queue_of(job)
    assert queue is not None
    role = first.member.role
    run = [first, *tasks.next_like(lambda t: t.member.role == role and _equal(framework, t, first), len(rows) - 1)]
    if len(run) > 1:
        placed = len(run) - 1
        with framework.journal.trial() as trial:
            mark = statement.mark_allocated()
            statement.place_run(run[:-1], rows[:placed], status)
            if not framework.job_ready(job) and framework.allocatable(queue, run[-1]):
                trial.commit()
                del rows[:placed]
                return run[-1]
        statement.forget_allocated(mark)
        tasks.give_back(run[1:])
    return first


def _run(framework: Framework, job: Job, tasks: Waiting) -> int:
    """How many tasks are placed at once at most: those that the gang still needs."""
    assert job.group is not None
    if framework.job_ready(job):
        return 1
    return max(1, min(job.group.least - job.count(*READY), len(tasks) + 1))


def _equal(framework: Framework, task: Pod, other: Pod) -> bool:
    """Is one place for the other one for this task?"""
    if task.shape is not other.shape or task.member.nominated or task.member.priority != other.member.priority:
        return False
    return framework.alike(task, other)


def can_go_on(job: Job, failed: dict[str, None]) -> bool:
    """May the gang do without the tasks of these roles?"""
    assert job.group is not None
    group, least_of = job.group, dict(job.group.least_of)
    if group.least == len(job.tasks):
        return False
    if group.least < sum(least_of.values()):
        left = sum(
            count
            for (role, status), count in job.roles.items()
            if status in READY or (status is Status.PENDING and role not in failed)
        )
        return left >= group.least
    return all(job.role_count(role, *READY) >= least_of[role] for role in failed if role in least_of)
