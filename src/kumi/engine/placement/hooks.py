"""Hooks: what a plug-in may have a say in. It has a method of that name, or no say.

A plug-in is a frozen dataclass whose fields are its arguments. `configured(option)` makes it from the scheduler's file, and
`open(session)` gives an object with the methods below, for one session: what it computes there once, it keeps there.

    hook               switch                 the answers of all plug-ins together (framework.py)
    job_order          enableJobOrder         the first that is not 0; also queue_order, task_order, victim_queue_order.
                                              job_key, task_key: the same as a key, which is worth more: it is asked once
    predicate          enablePredicate        every node that all take; pre_predicate: first of all, for all nodes at once
    node_order         enableNodeOrder        the sum; load_order, batch_order likewise
    devices            enableNodeOrder        the first that names some
    seated             -                      told that a task is on a node now, or isn't any more; every tier; a plug-in
                                              that has it can have seated_run as well
    preemptable        enablePreemptable      the first tier that names victims decides; also reclaimable, evictable
    overused           enabledOverused        one yes is enough
    allocatable        enabledAllocatable     all must agree; also preemptive, job_ready, job_valid
    job_pipelined      enableJobPipelined     votes: a reject is a no, else the first tier with a permit is a yes, else yes;
                                              also job_enqueueable (enableJobEnqueued)
    job_enqueued       enableJobEnqueued      told
    job_starving       enableJobStarving      the first tier that has the hook: all must agree
    victim_tasks       enabledVictim          the union within the first tier that names any

`job_valid`, `evictable` and `victim_queue_order` have no switch. A task is a Pod, a job a Job (tasks.py).
Source        Volcano: plug-in registration points.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kumi.engine.gangs import Listed, Queue
from kumi.engine.model import Pod
from kumi.engine.placement.nodes import Ints, Mask, Scores
from kumi.engine.placement.tasks import Job
from kumi.engine.reasons import Code, Reason

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework

SWITCH = {
    "job_order": "enableJobOrder",
    "job_key": "enableJobOrder",
    "queue_order": "enableQueueOrder",
    "task_order": "enableTaskOrder",
    "task_key": "enableTaskOrder",
    "predicate": "enablePredicate",
    "pre_predicate": "enablePredicate",
    "node_order": "enableNodeOrder",
    "load_order": "enableNodeOrder",
    "batch_order": "enableNodeOrder",
    "devices": "enableNodeOrder",
    "seated": "",
    "preemptable": "enablePreemptable",
    "reclaimable": "enableReclaimable",
    "preemptive": "enablePreemptive",
    "overused": "enabledOverused",
    "allocatable": "enabledAllocatable",
    "job_ready": "enableJobReady",
    "job_pipelined": "enableJobPipelined",
    "job_enqueueable": "enableJobEnqueued",
    "job_enqueued": "enableJobEnqueued",
    "job_starving": "enableJobStarving",
    "victim_tasks": "enabledVictim",
    "job_valid": "",
    "evictable": "",
    "victim_queue_order": "",
}
"""hook -> the switch that turns it off; "" none"""


_OF_CLASS: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()
"""the hooks of those that have no attributes but their class's; found again where it isn't known. Weak: a plug-in's file that
changes is another class"""


def hooks_of(opened: object) -> tuple[str, ...]:
    """Which hooks a plug-in has that was opened."""
    known = _OF_CLASS.get(type(opened))
    if known is None:
        known = tuple(hook for hook in SWITCH if hasattr(opened, hook))
        if not hasattr(opened, "__dict__"):
            _OF_CLASS[type(opened)] = known
    return known


Fits: TypeAlias = NDArray[np.int8]
"""a Fit a row"""


class Fit(IntEnum):
    """What a node says to a task, the better the smaller. UNSCHEDULABLE: not now, evicting may help; BEYOND: evicting helps
    against
    what is first in the way, and not against the rest; UNRESOLVABLE: evicting doesn't help; ERROR: nobody knows."""

    OK = 0
    UNSCHEDULABLE = 1
    BEYOND = 2
    UNRESOLVABLE = 3
    ERROR = 4


def also(fits: Fits, mask: Mask, said: Fit) -> Fits:
    """What nodes say that said `fits`, where the mask holds and they are asked something more, to which they say `said`."""
    if not mask.any():
        return fits
    answer = fits.copy()
    if said is not Fit.UNSCHEDULABLE:
        answer[mask & (fits == Fit.UNSCHEDULABLE)] = Fit.BEYOND
    answer[mask & (fits == Fit.OK)] = said
    return answer


class Vote(IntEnum):
    """Of a plug-in on a job."""

    REJECT = -1
    ABSTAIN = 0
    PERMIT = 1


class Hooks(Protocol):
    """Whatever of the methods above the plug-in has."""


class Plugin(Protocol):
    """See the module."""

    def open(self, session: Framework) -> Hooks:
        """For one session."""
        ...


class Configured(Protocol):
    """The class of a plug-in."""

    def configured(self, option: Option) -> Plugin:
        """With the arguments of the file."""
        ...


class JobOrder(Protocol):
    """Which of two gangs goes first."""

    def job_order(self, one: Job, other: Job) -> int:
        """Negative: `one` does; 0: no opinion."""
        ...


class JobKey(Protocol):
    """Which of two gangs goes first: the one with the smaller key."""

    def job_key(self, job: Job) -> Any:
        """Comparable with those of other gangs. It moves with the gang's own sums, and with nothing else within a session."""
        ...


class QueueOrder(Protocol):
    """Which of two queues goes first."""

    def queue_order(self, one: Queue, other: Queue) -> int:
        """Negative: `one` does; 0: no opinion."""
        ...


class TaskOrder(Protocol):
    """Which of two tasks of a gang goes first."""

    def task_order(self, one: Pod, other: Pod) -> int:
        """Negative: `one` does; 0: no opinion."""
        ...


class TaskKey(Protocol):
    """Which of two tasks of a gang goes first: the one with the smaller key."""

    def task_key(self, task: Pod) -> Any:
        """Comparable with those of other tasks. It doesn't move within a session."""
        ...


class VictimQueueOrder(Protocol):
    """From which of two queues a preemptor takes first."""

    def victim_queue_order(self, one: Queue, other: Queue, preemptor: Queue) -> int:
        """Negative: from `one`; 0: no opinion."""
        ...


class Predicate(Protocol):
    """Which nodes take a task, room aside."""

    def predicate(self, task: Pod) -> Fits:
        """One a row."""
        ...

    def steady(self, task: Pod) -> bool:
        """Does placing one such task leave the answers for the other nodes as they are? Without it: yes."""
        ...

    def most(self, task: Pod) -> Ints | None:
        """How many such tasks each row takes, of those that take one; None, or without it: any number."""
        ...


class Timed(Protocol):
    """Answers otherwise as time passes."""

    def wake_ms(self) -> int | None:
        """When it does next, after the session's `now_ms`; None: not before something comes."""
        ...


class Refusals(Protocol):
    """Why no node takes a task: of a plug-in that has a predicate."""

    def refusals(self, task: Pod) -> tuple[Reason, ...]:
        """A reason a cause; `nodes` says how many."""
        ...


class PrePredicate(Protocol):
    """Whether a task can be placed at all."""

    def pre_predicate(self, task: Pod) -> Fit:
        """OK, or the answer of every node."""
        ...


class NodeOrder(Protocol):
    """How good nodes are for a task, each by itself."""

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """One for each of `rows`, were placed[i] more tasks like this one on the node already."""
        ...

    def moves_scores(self, task: Pod) -> bool:
        """Does placing such a task change what other nodes get? Without it: no."""
        ...


class LoadOrder(Protocol):
    """How good nodes are for a task by what is on them, each by itself. In Volcano it counts with the batch."""

    def load_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """As node_order."""
        ...


class BatchOrder(Protocol):
    """How good nodes are for a task, compared with each other."""

    def batch_order(self, task: Pod, rows: Ints) -> Scores | None:
        """One for each of `rows`, which are all that are in question; None: they are all alike to it."""
        ...

    def steady(self, task: Pod) -> bool:
        """Does placing one such task leave the scores of the other nodes as they are? Without it: yes."""
        ...


class Devices(Protocol):
    """Which of a node's GPUs a task gets, where some are shared (devices.py)."""

    def devices(self, task: Pod, row: int) -> tuple[int, ...]:
        """Their numbers on the row's node, which has room for the task; (): no opinion."""
        ...


class Seated(Protocol):
    """Hears where tasks are."""

    def seated(self, task: Pod, row: int, times: int) -> None:
        """It is on the row's node, or promised it (1), or not any more (-1). What it keeps of it, a trial may take back."""
        ...


class SeatedRun(Protocol):
    """Hears where tasks that are alike are, all at once: instead of being told by `seated` of each."""

    def seated_run(self, tasks: Sequence[Pod], rows: Sequence[int]) -> None:
        """Each is on its row's node, or promised it."""
        ...


class PreemptsFrom(Protocol):
    """Whom a task may not evict anyway: of a plug-in that is preemptable, and names nobody where it says no."""

    def preempts_from(self, preemptor: Job, priority: int) -> bool:
        """Might it evict tasks of other gangs of that priority?"""
        ...


class ReclaimsFrom(Protocol):
    """Which queues give nothing now: of a plug-in that is reclaimable or evictable, and names nobody of a queue to which it says
    no. A no stays one as tasks are evicted."""

    def reclaims_from(self, queue: Queue) -> bool:
        """Might others get something of it?"""
        ...


class EvictsFrom(Protocol):
    """From which gangs a gang gets nothing: of a plug-in that is evictable, and names nobody of a gang to which it says no."""

    def evicts_from(self, preemptor: Job, job: Job, reclaim: bool) -> bool:
        """Might it evict tasks of that gang? `reclaim`: it is of another queue."""
        ...


class Outranks(Protocol):
    """Which of two gangs of one priority may take the other's place: of a plug-in that is evictable."""

    def outranks(self, preemptor: Job, job: Job) -> bool:
        """May the preemptor take from the other one? Never so that they could take from each other in turn. Without it: no."""
        ...


class Preemptable(Protocol):
    """Whom a task may evict within its queue."""

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        """Those of the candidates, in their order; None: no opinion."""
        ...


class Reclaimable(Protocol):
    """Whom a task may evict in other queues."""

    def reclaimable(self, reclaimer: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        """Those of the candidates, in their order; None: no opinion."""
        ...


class Evictable(Protocol):
    """Whom a gang may evict as a whole."""

    def evictable(self, preemptor: Job, candidates: Sequence[Pod], reclaim: bool) -> list[Pod] | None:
        """Those of the candidates, in their order; None: no opinion. `reclaim`: they are of other queues."""
        ...


class Preemptive(Protocol):
    """May the queue take back from others for these tasks?"""

    def preemptive(self, queue: Queue, wanted: Listed) -> bool:
        """`wanted`: what they ask for together."""
        ...


class Overused(Protocol):
    """Has the queue had its share?"""

    def overused(self, queue: Queue) -> bool:
        """Yes: none of its gangs is looked at."""
        ...


class Allocatable(Protocol):
    """May the queue have this much more?"""

    def allocatable(self, queue: Queue, task: Pod) -> bool:
        """Yes or no. A no stays one as more tasks of the queue are placed."""
        ...


class Withholds(Protocol):
    """For whose sake a queue may not have more: of a plug-in that has allocatable or overused."""

    def withholds(self, queue: Queue, wanted: Listed) -> bool:
        """It may not have this: might it, were the queue alone and without limits? Without it: yes."""
        ...


class JobReady(Protocol):
    """Is enough of the gang placed to let it run?"""

    def job_ready(self, job: Job) -> bool:
        """Yes or no. A yes stays one as more of its tasks are placed."""
        ...


class JobPipelined(Protocol):
    """Will enough of it be, once what was promised is free?"""

    def job_pipelined(self, job: Job) -> Vote:
        """A vote."""
        ...


class JobValid(Protocol):
    """Can the gang be placed at all?"""

    def job_valid(self, job: Job) -> Reason | None:
        """None: yes."""
        ...


class JobEnqueueable(Protocol):
    """May the gang's pods be made?"""

    def job_enqueueable(self, job: Job) -> Vote:
        """A vote."""
        ...


class TurnedAway(Protocol):
    """Who has no room for a gang: of a plug-in that has job_enqueueable."""

    def turned_away(self, job: Job) -> Code:
        """It said no. Without it: the gang's queue, NOT_LET_IN."""
        ...


class JobEnqueued(Protocol):
    """Hears that a gang was let in."""

    def job_enqueued(self, job: Job) -> None:
        """It counts from now on."""
        ...


class JobStarving(Protocol):
    """Does the gang need more than it has?"""

    def job_starving(self, job: Job) -> bool:
        """Yes or no."""
        ...


class VictimTasks(Protocol):
    """Who has to go whoever waits."""

    def victim_tasks(self, running: Sequence[Pod]) -> list[Pod]:
        """Those of the running ones, in their order."""
        ...
