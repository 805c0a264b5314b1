"""Why: what keeps a gang, or what is left of it, from a place, at the end of a session.

The rule, of a gang that isn't ready, the first that holds:
    it wasn't let in                           its queue is closed, or takes no gangs as it stands among the others; or who has no
                                               room for what the gang needs: the queue, its namespace's quotas, the nodes.
                                               Where it has pods already, and not all, that too
    its pods aren't all there                  what the plug-ins say of it (job_valid)
    the line holds it back                     it would pass others, or delay them
    fewer than its minimum have a place        how many of how many, and what kept the next one from it: a node, or gates
    its places are promised                    others are still leaving
    of a gang that is ready, what kept the next of its tasks from a node, where one was tried.
What kept a task: its queue, which has its share, is no longer open or takes none as it stands, or what the nodes say. Tasks of
one shape are explained once a session.
Share      a queue is at its share, and still not what is in the way, where it might not have the task were it alone and without
           limits either, or where no node would have room for the task were it empty: then the nodes say why.
Why        an answer without its reason is no answer, and a reason that nobody can do anything about is none.
Cost       O(nodes) a shape and queue that found no room.
Not here   sentences: kumi.bridge.messages.
"""

from __future__ import annotations

from kumi.engine.gangs import QueueState
from kumi.engine.model import Pod
from kumi.engine.placement.actions.enqueue import WAITING
from kumi.engine.placement.actions.victims import is_large_enough
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import READY, Job, Status
from kumi.engine.reasons import Code, Reason


def why(framework: Framework, outcome: Outcome, job: Job) -> tuple[Reason, ...]:
    """See the module; () where there is nothing to say."""
    assert job.group is not None
    invalid = framework.job_valid(job)
    if job.group.phase in WAITING and (job.key in outcome.turned_away or invalid is None):
        no = _no(framework, job, outcome.turned_away.get(job.key, Code.NOT_LET_IN))
        return (no, invalid) if invalid is not None and job.tasks else (no,)
    if invalid is not None:
        return (invalid,)
    kept = outcome.refusals.get(job.key)
    if framework.job_ready(job):
        return kept.why if kept is not None else ()
    if (held := outcome.held.get(job.key)) is not None:
        return (held,)
    promised = job.count(Status.PIPELINED)
    if promised and framework.job_pipelined(job):
        return (Reason(Code.PROMISED, pods=promised),)
    placed = kept.placed if kept is not None else job.toward(*READY)
    short = Reason(Code.GANG_SHORT, need=job.group.least, have=placed, pods=job.group.least - placed)
    if kept is not None:
        return (short, *kept.why)
    gated = sum(framework.tasks.pods[uid].gated for uid in job.by_status.get(Status.PENDING, ()))
    if gated:
        return (short, Reason(Code.PODS_GATED, pods=gated))
    if framework.overused(framework.tasks.queues[job.group.queue]):
        return (short, *_untried(framework, outcome, job))
    return (short,)


def _untried(framework: Framework, outcome: Outcome, job: Job) -> tuple[Reason, ...]:
    """Of a gang whose turn didn't come, as its queue has no more to give; the same of all whose next tasks are alike."""
    assert job.group is not None
    task = next_task(framework, job)
    if task is None:
        return (_no(framework, job, Code.QUEUE_SHARE),)
    key = (job.group.queue, task.shape)
    if key not in outcome.untried:
        outcome.untried[key] = no_share(framework, outcome, task)
    return outcome.untried[key]


def next_task(framework: Framework, job: Job) -> Pod | None:
    """The first of the gang's tasks that wait for room; None: none does."""

    def first() -> Pod | None:
        pods = (framework.tasks.pods[uid] for uid in job.by_status.get(Status.PENDING, ()))
        line = framework.line_of(job, (pod for pod in pods if not framework.tasks.is_free(pod)))
        return line.pop() if len(line) else None

    return job.once("next", first)


def no_share(framework: Framework, outcome: Outcome, task: Pod) -> tuple[Reason, ...]:
    """Its queue may not have it: what the queue says, or the nodes."""
    no = queue_says(framework, outcome, task)
    if no is None:
        return no_node(framework, outcome, task) or (_no(framework, framework.job_of(task), Code.QUEUE_SHARE),)
    return (no,)


def queue_says(framework: Framework, outcome: Outcome, task: Pod) -> Reason | None:
    """Why its queue may not have a task; None: that is no more than the nodes say."""
    job = framework.job_of(task)
    no, queue = _no(framework, job, Code.QUEUE_SHARE), framework.queue_of(job)
    if no.code is not Code.QUEUE_SHARE:
        return no
    if task.shape not in outcome.sizes:
        outcome.sizes[task.shape] = bool(is_large_enough(framework, task).any())
    assert queue is not None
    return no if outcome.sizes[task.shape] and framework.withholds(queue, task) else None


def _no(framework: Framework, job: Job, full: Code) -> Reason:
    """Why a gang isn't let in, or gets no more: its queue isn't open, takes none whatever it has, or something is `full`."""
    assert job.group is not None
    name = job.group.queue
    queue = framework.tasks.queues[name]
    if queue.state is not QueueState.OPEN:
        return Reason(Code.QUEUE_CLOSED, where=name)
    code = framework.bars(queue) or full
    return Reason(code, where=job.key.partition("/")[0] if code is Code.NAMESPACE_QUOTA else name)


def no_node(framework: Framework, outcome: Outcome, task: Pod) -> tuple[Reason, ...]:
    """What the nodes say."""
    group = framework.job_of(task).group
    key = (group.queue if group is not None else "", task.shape)
    if key not in outcome.explained:
        outcome.explained[key] = framework.refusals(task)
    return outcome.explained[key]
