"""Settings: what an administrator chose for all queues, as values.

The names are those of Kueue's Configuration file; kumi.engine.policy reads them from the policy.
Units         milliseconds.
Not here      what belongs to one queue: model.ClusterQueue.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FairStrategy(Enum):
    """When a queue may take from another one in fair sharing; see admission/victims.py."""

    FINAL_SHARE = "LessThanOrEqualToFinalShare"
    INITIAL_SHARE = "LessThanInitialShare"


UNSAID_MS = 2**52
"""later than any time"""


class QueueOrder(Enum):
    """Who goes first of those of equal priority that wait in one line: workloads of a ClusterQueue, pods on their own.

    TIME who came first; SHORTEST the shortest execution time; DEADLINE the earliest deadline; LEAST_SLACK who has the least time
    to lose, slack = deadline - now - execution time. Who doesn't say what counts goes last, equals by who came first. Slack
    shrinks alike for all who wait, so the order is that of the latest start, deadline - execution time. FAIR: whose LocalQueue
    (workloads) or namespace (pods) holds the smaller dominant share."""

    TIME = "time"
    LEAST_SLACK = "leastSlack"
    SHORTEST = "shortest"
    DEADLINE = "deadline"
    FAIR = "fair"

    def counts_ms(self, deadline_ms: int | None, execution_ms: int | None) -> int | None:
        """What the order counts of one that says this, the smaller first; None: that isn't said, or nothing of it counts."""
        match self:
            case QueueOrder.SHORTEST:
                return execution_ms
            case QueueOrder.DEADLINE:
                return deadline_ms
            case QueueOrder.LEAST_SLACK:
                return None if deadline_ms is None else deadline_ms - (execution_ms or 0)
        return None

    def turn_ms(self, deadline_ms: int | None, execution_ms: int | None, otherwise_ms: int) -> int:
        """The place in line of a workload that says this as a time that is never 0: where the order is by time or shares, the
        time that it has `otherwise`; who doesn't say what counts is past all who do, by that time."""
        if self in (QueueOrder.TIME, QueueOrder.FAIR):
            return otherwise_ms
        counts = self.counts_ms(deadline_ms, execution_ms)
        return UNSAID_MS + otherwise_ms if counts is None else counts or 1


class Discipline(Enum):
    """Who may pass whom in the line of pods on their own, and of gangs. OPEN: whoever doesn't fit is passed. STRICT: nobody
    passes the first that doesn't fit. EASY: who doesn't delay the first that doesn't fit. CONSERVATIVE: who delays nobody."""

    OPEN = "open"
    STRICT = "strict"
    EASY = "easy"
    CONSERVATIVE = "conservative"


DEPTH = 1000
"""how many are looked at behind the first that doesn't fit, where nothing is said"""


class RequeueTime(Enum):
    """Where an evicted workload stands in its queue: by its eviction, or by its creation as before."""

    EVICTION = "Eviction"
    CREATION = "Creation"


@dataclass(frozen=True, slots=True)
class FairSharing:
    """Dominant shares decide who goes first in a cohort and who may be preempted. `strategies` in the order in which they are
    tried. `within_nominal`: a queue within its nominal quota takes back without comparing; `non_borrowing_first`: who needs not
    borrow goes before who has the smaller share."""

    strategies: tuple[FairStrategy, ...] = (FairStrategy.FINAL_SHARE, FairStrategy.INITIAL_SHARE)
    within_nominal: bool = True
    non_borrowing_first: bool = True


@dataclass(frozen=True, slots=True)
class UsageSharing:
    """Admission fair sharing: LocalQueues of one ClusterQueue take turns by what they used. Usage halves in `half_life_ms` (0: it
    is forgotten at once); `weights`: resource -> what a unit counts for, 1 where it isn't named."""

    half_life_ms: int = 0
    sampling_ms: int = 300_000
    weights: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class PodsReady:
    """All or nothing with ready pods. `limit` None: requeued without end; `recovery_ms` 0: a lost pod has all the time."""

    timeout_ms: int = 1_800_000
    recovery_ms: int = 1_800_000
    block_admission: bool = False
    backoff_base_ms: int = 60_000
    backoff_max_ms: int = 3_600_000
    backoff_jitter: float = 0.0001
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Transformation:
    """A resource that counts as others: each unit of `input` as so many thousand-millionths (`outputs`: name, amount) of a unit
    of each of these, times the units of `multiply_by` that the pod requests ("": just so). `replace`: and no longer as
    itself."""

    input: str
    outputs: tuple[tuple[str, int], ...] = ()
    replace: bool = False
    multiply_by: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """See the module. `fair`, `by_usage`, `pods_ready` None: not in force. `block_undeclared`: a resource that no queue covers
    keeps a workload out (False: it is not counted). `priority_in_cohort`: of the heads of a cohort's queues the one of the higher
    priority goes first (False: the older one). `recompute_overlap`: a preemptor whose victims an earlier one of the cycle took is
    tried again in the same cycle. `reclaimable`: pods that have ended give their quota back before their job ends.
    `resume_scan`: a search for flavors goes on where the last cycle left it. `excluded_prefixes`, `transformations`: what a pod
    counts for in quota where that isn't what it requests. `priority_boost`: a workload's own annotation adds to its priority.
    `keep_finished_ms`: for how long a workload that is over is kept (None: as long as its job). `order`: who goes first
    of equal priorities; `line`: who may pass whom of pods on their own, `depth`: of how many behind the first that waits."""

    fair: FairSharing | None = None
    by_usage: UsageSharing | None = None
    pods_ready: PodsReady | None = None
    requeue_time: RequeueTime = RequeueTime.EVICTION
    block_undeclared: bool = True
    priority_in_cohort: bool = True
    recompute_overlap: bool = True
    partial_admission: bool = True
    reclaimable: bool = True
    resume_scan: bool = True
    preemptors_first: bool = False
    excluded_prefixes: tuple[str, ...] = ()
    transformations: tuple[Transformation, ...] = ()
    priority_boost: bool = True
    keep_finished_ms: int | None = None
    order: QueueOrder = QueueOrder.TIME
    line: Discipline = Discipline.OPEN
    depth: int = DEPTH
