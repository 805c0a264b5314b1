"""Why: what keeps a gang, or what is left of it, from a place, at the end of a session.

The rule, of a gang that isn't ready, the first that holds:
    its pods aren't all there                  what the plug-ins say of it (job_valid)
    it wasn't let in                           its queue is closed, takes no gangs as it stands among the others, or has no
                                               room for what the gang needs
    the line holds it back                     it would pass others, or delay them
    fewer than its minimum have a place        how many of how many, and what kept the next one from it: a node, or gates
    its places are promised                    others are still leaving
    of a gang that is ready, what kept the next of its tasks from a node, where one was tried.
What kept a task: its queue, which has its share, is no longer open or takes none as it stands, or what the nodes say. Tasks of
one shape are explained once a session.
Why        an answer without its reason is no answer.
Cost       O(nodes) a shape and queue that found no room.
Not here   sentences: kumi.bridge.messages.
"""

from __future__ import annotations

from kumi.engine.gangs import QueueState
from kumi.engine.model import Pod
from kumi.engine.placement.actions.enqueue import WAITING
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import READY, Job, Status
from kumi.engine.reasons import Code, Reason


def why(framework: Framework, outcome: Outcome, job: Job) -> tuple[Reason, ...]:
    """See the module; () where there is nothing to say."""
    assert job.group is not None
    if (invalid := framework.job_valid(job)) is not None:
        return (invalid,)
    queue = job.group.queue
    if job.group.phase in WAITING:
        return (_no(framework, queue, Code.NOT_LET_IN),)
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
    if framework.overused(framework.tasks.queues[queue]):
        return (short, _no(framework, queue, Code.QUEUE_SHARE))
    return (short,)


def no_share(framework: Framework, task: Pod) -> tuple[Reason, ...]:
    """Its queue may not have it."""
    group = framework.job_of(task).group
    assert group is not None
    return (_no(framework, group.queue, Code.QUEUE_SHARE),)


def _no(framework: Framework, name: str, full: Code) -> Reason:
    """Why a queue lets no gang in, or takes no more tasks: it isn't open, takes none whatever it has, or is `full`."""
    queue = framework.tasks.queues[name]
    if queue.state is not QueueState.OPEN:
        return Reason(Code.QUEUE_CLOSED, where=name)
    return Reason(framework.bars(queue) or full, where=name)


def no_node(framework: Framework, outcome: Outcome, task: Pod) -> tuple[Reason, ...]:
    """What the nodes say."""
    group = framework.job_of(task).group
    key = (group.queue if group is not None else "", task.shape)
    if key not in outcome.explained:
        outcome.explained[key] = framework.refusals(task)
    return outcome.explained[key]
