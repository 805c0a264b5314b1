"""TDM (time division): nodes that others own by day are used while they are lent, by tasks that give them back.

The rule   a node's label volcano.sh/revocable-zone names its zone, which is open in the window of the argument
           tdm.revocable-zone.<zone> "H:MM-H:MM"; one that no argument names, or names wrongly, is closed. Where the end isn't
           after the start it is that of the next day
           nodes      of a closed zone take nobody; of an open one those that may use a revocable zone, which it is the best for
           order      gangs that aren't preemptable first
           starving   a gang that isn't preemptable and has a pending task
           pipelined  ready and promised tasks reach the gang's minimum
           evicting   by a task that isn't preemptable and may not use a zone: preemptable ones that run on nodes without a zone
           must go    preemptable ones on nodes of a closed zone, not within tdm.evict.period (1m) of the last time
           budget     of each gang in the given order, no more than
                          unavailable - (tasks - ended - running), if that is said, at least 0
                          running - available, if that is said and not negative
                          1 otherwise
                      a percentage is one of the gang's tasks, rounded up
Why        a batch pod that must leave at eight doesn't begin on a node that serves customers from nine; and services that share
           the rest of the cluster with batch take from it when they need more.
Units      milliseconds; times of day are UTC, since a decision doesn't depend on where it is made.
Source     Volcano: time division multiplexing plug-in. There a window that spans midnight is closed after midnight; here it
           is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Fit, Fits, Vote
from kumi.engine.placement.nodes import Ints, Scores
from kumi.engine.placement.tasks import READY, Job, Status

LABEL = "volcano.sh/revocable-zone"
ARGUMENT = "tdm.revocable-zone."
MINUTE_MS, DAY_MS = 60_000, 86_400_000
BEST = 100.0
_WINDOW = re.compile(r"(\d{1,2}):(\d\d)-(\d{1,2}):(\d\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Window:
    """Of a day: from `start_ms`, for `length_ms`, at least a minute and at most a day."""

    start_ms: int
    length_ms: int

    @classmethod
    def parse(cls, text: str) -> Window | None:
        """None for what is none."""
        found = _WINDOW.fullmatch(text.strip())
        if found is None:
            return None
        hours, minutes = (int(found[1]), int(found[3])), (int(found[2]), int(found[4]))
        if max(hours) > 23 or max(minutes) > 59:
            return None
        start, end = ((60 * h + m) * MINUTE_MS for h, m in zip(hours, minutes, strict=True))
        return cls(start, (end - start) % DAY_MS or DAY_MS)

    def holds(self, now_ms: int) -> bool:
        """Is it now? Its last moment counts."""
        return self._into_ms(now_ms) <= self.length_ms

    def changes_ms(self, now_ms: int) -> int:
        """When it opens or closes next."""
        into = self._into_ms(now_ms)
        return now_ms - into + (self.length_ms + 1 if into <= self.length_ms < DAY_MS - 1 else DAY_MS)

    def _into_ms(self, now_ms: int) -> int:
        """Since it began last."""
        return (now_ms - self.start_ms) % DAY_MS


def _window(written: object) -> Window | None:
    return Window.parse(written) if isinstance(written, str) else None


@dataclass(frozen=True, slots=True)
class Tdm:
    """See the module. `windows`: by zone."""

    windows: tuple[tuple[str, Window | None], ...] = ()
    period_ms: int = MINUTE_MS

    @classmethod
    def configured(cls, option: Option) -> Tdm:
        """See Configured."""
        arguments = option.arguments
        zones = sorted(name for name in arguments.raw if name.startswith(ARGUMENT))
        must = "must be the window of a day, like 8:00-20:00"
        windows = tuple((name.removeprefix(ARGUMENT), arguments.value(name, _window, None, must)) for name in zones)
        return cls(windows, arguments.length_ms("tdm.evict.period") or MINUTE_MS)

    def open(self, session: Framework) -> _Tdm:
        """See Plugin."""
        now, last = session.around.now_ms, session.around.cleared_ms
        windows = {zone: window for zone, window in self.windows if window is not None}
        is_open = tuple(zone for zone, window in windows.items() if window.holds(now))
        times = [window.changes_ms(now) for window in windows.values()]
        quiet = last is not None and now < last + self.period_ms
        if last is not None and quiet:
            times.append(last + self.period_ms)
        return _Tdm(session, is_open, quiet, min(times, default=None))


@dataclass(frozen=True, slots=True)
class _Tdm:
    session: Framework
    open: tuple[str, ...]
    """the zones that are"""
    quiet: bool
    """somebody had to go a moment ago"""
    changes_ms: int | None
    """when one of these does"""
    _lent: dict[int, Ints] = field(default_factory=dict)

    def _zones(self) -> Ints:
        """Of each row: 0 it has no zone, 1 its zone is open, 2 closed."""
        stamp = self.session.nodes.stamp
        if stamp not in self._lent:
            codes, code_by_zone = self.session.nodes.column(LABEL)
            lent = [code_by_zone[zone] for zone in self.open if zone in code_by_zone]
            self._lent[stamp] = np.where(codes == 0, 0, np.where(np.isin(codes, lent), 1, 2))
        return self._lent[stamp]

    def wake_ms(self) -> int | None:
        return self.changes_ms

    def predicate(self, task: Pod) -> Fits:
        takes = 1 if task.member.zone else 0
        return np.where(self._zones() <= takes, Fit.OK, Fit.UNRESOLVABLE).astype(np.int8)

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        if not task.member.zone:
            return np.zeros(rows.size)
        return np.where(self._zones()[rows] == 1, BEST, 0.0)

    def job_key(self, job: Job) -> bool:
        return _gives_way(job)

    def job_starving(self, job: Job) -> bool:
        return not _gives_way(job) and job.count(Status.PENDING) > 0

    def job_pipelined(self, job: Job) -> Vote:
        assert job.group is not None
        enough = job.count(*READY, Status.PIPELINED) >= job.group.least
        return Vote.PERMIT if enough else Vote.REJECT

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        if preemptor.member.preemptable is not False or preemptor.member.zone:
            return []
        status = self.session.tasks.status
        return self._within_budget(pod for pod in candidates if status[pod.uid] is Status.RUNNING and self._is(pod, 0))

    def victim_tasks(self, running: Sequence[Pod]) -> list[Pod]:
        if self.quiet:
            return []
        return self._within_budget(pod for pod in running if self._is(pod, 2))

    def _is(self, pod: Pod, zone: int) -> bool:
        """Is it preemptable, on a node of which _zones says that?"""
        row = self.session.nodes.row_by_name.get(self.session.tasks.node.get(pod.uid, ""))
        gives_way = self.session.customs.consent.one_by_one(pod, self.session.job_of(pod).group)
        return gives_way and row is not None and int(self._zones()[row]) == zone

    def _within_budget(self, candidates: Iterable[Pod]) -> list[Pod]:
        left: dict[str, int] = {}
        victims = []
        for pod in candidates:
            key = pod.member.group
            may = left.setdefault(key, budget(self.session.tasks.jobs[key]))
            if may > 0:
                left[key] = may - 1
                victims.append(pod)
        return victims


def budget(job: Job) -> int:
    """How many of the gang's tasks may be evicted at once."""
    group, running, tasks = job.group, job.count(Status.RUNNING), len(job.tasks)
    if group is not None and group.unavailable:
        gone = tasks - job.count(Status.SUCCEEDED, Status.FAILED) - running
        return max(0, _share(group.unavailable, tasks) - gone)
    if group is not None and group.available and running >= (least := _share(group.available, tasks)):
        return running - least
    return 1


def _share(text: str, tasks: int) -> int:
    """A number, or a percentage of the tasks; 0 for what is neither."""
    number = text.removesuffix("%")
    if not (number.isascii() and number.isdigit()):
        return 0
    return -(-int(number) * tasks // 100) if text.endswith("%") else int(number)


def _gives_way(job: Job) -> bool:
    return job.group is not None and job.group.preemptable is True
