"""Gang preempt and gang reclaim, least: a whole gang's room from gangs that matter less or of other queues, no more than it
takes.

The rule   candidates, plug-ins and order of bundles as in gangpreempt.py and gangreclaim.py (bundles.py). From them, units:
           each task of a safe bundle, by itself; afterwards each gang whose tasks are all candidates, as a whole with everything
           that it holds, wherever that is
           nobody has to go where the gang finds its minimum without. Else units go one after the other until it does; then
           those that needn't go stay, the last taken first, and queues that would take the places back are spared (attempt.py).
           A whole gang leaves or stays as a whole
           without its minimum everything is as it was
Never      a task that never preempts gets a place before anybody goes, or none here: nobody goes for it. The others of its gang
           may take from those that they may take from
Differs    from whole_gang.py: a safe bundle is no lump, a gang is not left with half of its minimum, gangs are stopped also
           where safe tasks alone are not enough, and free nodes come first.
Not placed tasks past the gang's minimum: preempt and reclaim, one by one.
Source     Kumi's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.actions import gangpreempt, gangreclaim
from kumi.engine.placement.actions.attempt import Attempt, lasting_room, may_complete
from kumi.engine.placement.actions.bundles import Asks, bundles, total
from kumi.engine.placement.actions.domains import domains
from kumi.engine.placement.actions.victims import is_large_enough, may_evict
from kumi.engine.placement.actions.whole_gang import Candidates, Evictor, free, waiting
from kumi.engine.placement.amounts import covers, plus
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import HOLDING, READY, Job, Status

Unit = list[Pod]
"""tasks that leave together"""


def preempt(framework: Framework, outcome: Outcome) -> None:
    """Within a queue."""
    gangpreempt.each(framework, outcome, make_room)


def reclaim(framework: Framework, outcome: Outcome) -> None:
    """From other queues."""
    gangreclaim.each(framework, outcome, make_room)


def make_room(framework: Framework, outcome: Outcome, evictor: Evictor, job: Job, wanted: Candidates) -> bool:
    """Did the gang get its minimum?"""
    anybody = _is_anybody(framework, evictor, job)
    if not anybody and not may_complete(framework, job):
        return False
    tasks = waiting(framework, job)
    if not tasks or not _could(framework, job, tasks):
        return False
    asks = Asks(job, total(tasks), evictor.reclaims, evictor.before)

    def find(attempt: Attempt) -> bool:
        def units() -> list[Unit]:
            candidates = attempt.open_to(wanted()) if anybody else []
            return _units(framework, asks, evictor, candidates) if candidates else []

        taken = _take(attempt, asks, tasks, units)
        if taken is not None:
            attempt.trim(taken)
        return taken is not None

    return lasting_room(framework, outcome, job, find)


def _could(framework: Framework, job: Job, tasks: Sequence[Pod]) -> bool:
    """Would the gang have its minimum were each of its tasks alone on the best node for it?"""
    assert job.group is not None
    sizes: dict[PodShape, bool] = {}
    have = job.count(*READY, Status.PIPELINED) + sum(job.free.values())
    for task in tasks:
        if task.shape not in sizes:
            sizes[task.shape] = bool(is_large_enough(framework, task).any())
        have += sizes[task.shape]
    return have >= job.group.least


def _is_anybody(framework: Framework, evictor: Evictor, job: Job) -> bool:
    """Is there anybody whom the gang may take from, as far as queues, priorities and plug-ins tell of gangs?"""
    tasks, mine, below = framework.tasks, framework.queue_of(job), gangpreempt.limit(framework, job)
    for name, said, _ in tasks.ranks:
        queue = tasks.queues.get(name)
        if queue is None or (queue is mine) is evictor.reclaims:
            continue
        if framework.reclaims_from("evictable", queue) if evictor.reclaims else tasks.value(said) < below:
            break
    else:
        return False
    if evictor.reclaims:
        return True
    return any(framework.evicts_from(job, other, reclaim=False) for other in gangpreempt.gangs(framework, job))


def _units(framework: Framework, asks: Asks, evictor: Evictor, candidates: Sequence[Pod]) -> list[Unit]:
    """In the order in which they go."""
    made = bundles(framework, asks, candidates)
    units = [[pod] for b in made if b.safe for pod in b.tasks]
    for bundle in made:
        job = bundle.job
        mine = [pod for b in made if b.job is job for pod in b.tasks]
        if evictor.whole and not bundle.safe and len(mine) == job.count(*HOLDING):
            units.append(mine)
    return units


def _take(attempt: Attempt, asks: Asks, tasks: Sequence[Pod], units: Callable[[], list[Unit]]) -> list[Unit] | None:
    """The units with which the gang finds its minimum, in their order; None: not even with all."""
    framework = attempt.framework
    if attempt.fill(tasks):
        return []
    takers = _takers(attempt, tasks)
    if not takers:
        return None
    room = free(framework, domains(framework, asks.job)[0])
    least = _least(takers)
    taken: list[Unit] = []
    for unit in units():
        uids = {pod.uid for pod in unit}
        fresh = [pod for pod in unit if pod.uid not in attempt.gone]
        if len(attempt.within(fresh)) < len(fresh):
            continue
        taken = [one for one in taken if one[0].uid not in uids]
        attempt.evict(fresh, asks.job.key)
        taken.append(unit)
        room = plus(room, total(fresh))
        if covers(room, least) and attempt.fill(takers):
            return taken
    return None


def _takers(attempt: Attempt, tasks: Sequence[Pod]) -> list[Pod]:
    """The tasks that somebody may go for. The others have their places then, as far as there is room as it is."""
    takers = [task for task in tasks if may_evict(attempt.framework, task)]
    uids = {task.uid for task in takers}
    for task in tasks if takers else ():
        if task.uid not in uids:
            attempt.place(task)
    return takers


def _least(tasks: Sequence[Pod]) -> dict[str, float]:
    """What the gang needs at the very least: the smallest amount that one of its tasks asks for, of each resource."""
    asked = [total([task]) for task in tasks]
    return {d: min(one.get(d, 0) for one in asked) for d in dict.fromkeys(d for one in asked for d in one)}
