"""Least slack: whoever has the least time to lose goes first.

The rule, of a gang with a deadline:
    slack       deadline - now - remaining
    remaining   its execution time, less what it has run since the first of its tasks that hold a node started; 0 at least, and
                where nothing is said of it
    first       the smaller slack; a gang without a deadline goes last
    victims     for a gang whose slack has not run out yet, of another gang v,
                  if it would not make it by waiting for v: slack < remaining(v), or nobody knows how long v runs, and
                  if v has plenty: no deadline, or a later one, and deadline(v) - now - execution(preemptor) - execution(v) >= 0:
                  it still makes its own when it starts anew after the preemptor
                one that is late anyway takes from nobody: it would be in vain. Of one without a deadline it has no opinion, and
                others decide; with the argument onlyBySlack it takes from nobody either
    outranks    of gangs of one priority (gangpreempt, equalPriority) the one whose victim the other is
Bound       a gang's deadline is later than that of whoever takes from it. Where all say how long they take, that follows:
                deadline(p) < now + remaining(v) + execution(p) <= deadline(v)
            So of a line of gangs that take each other's place, each has an earlier deadline than the one before, and one ends
            there: of gangs that all take one place, a gang is preempted at most once for each that has an earlier deadline,
            and n of them n (n - 1) / 2 times in all. When every slack has run out nobody is.
Own words   gang_times.py.
Why         a deadline that is missed either way is not worth anybody's work, and nobody who can make it gives way to one who
            would have made it anyway.
With time   all waiting gangs lose slack alike, and a running one keeps its own: the order changes only when something happens.
Units       milliseconds.
Cost        O(tasks) a gang a session.
Source      least slack time scheduling; the rule for victims is Kumi's own.
Not here    the annotations: kumi.jobs.due; the order of workloads in a ClusterQueue: ../../admission/order.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kumi.engine.model import Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.plugins.gang_times import deadline_ms, execution_ms
from kumi.engine.placement.tasks import HOLDING, Job


@dataclass(frozen=True, slots=True)
class LeastSlack:
    """See the module. `evicts`: has it a say in who gives way (enablePreemptable)? Else it orders only. `only_by_slack`: nobody
    gives way to one without a deadline (argument least_slack.onlyBySlack)."""

    evicts: bool = True
    only_by_slack: bool = False

    @classmethod
    def configured(cls, option: Option) -> LeastSlack:
        """See Configured."""
        only = option.arguments.switch("least_slack.onlyBySlack", default=False)
        return cls("enablePreemptable" in option.switches, only)

    def open(self, session: Framework) -> _LeastSlack:
        """See Plugin."""
        return _LeastSlack(session, self.evicts, self.only_by_slack)


@dataclass(frozen=True, slots=True)
class _Time:
    """Of a gang; None: not known. `slack_ms` None: no deadline."""

    deadline_ms: int | None
    execution_ms: int | None
    remaining_ms: int | None
    slack_ms: int | None


@dataclass(frozen=True, slots=True)
class _LeastSlack:
    session: Framework
    evicts: bool
    only_by_slack: bool
    times: dict[str, _Time] = field(default_factory=dict)

    def job_key(self, job: Job) -> tuple[bool, int]:
        slack = self._of(job).slack_ms
        return (slack is None, slack or 0)

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        return self._named(self.session.job_of(preemptor), candidates)

    def evictable(self, preemptor: Job, candidates: Sequence[Pod], reclaim: bool) -> list[Pod] | None:
        return None if reclaim or not self.evicts else self._named(preemptor, candidates)

    def evicts_from(self, preemptor: Job, job: Job, reclaim: bool) -> bool:
        if reclaim or not self.evicts:
            return True
        mine = self._of(preemptor)
        return not self.only_by_slack if mine.slack_ms is None else self._gives(mine, preemptor, job)

    def outranks(self, preemptor: Job, job: Job) -> bool:
        return self.evicts and self._gives(self._of(preemptor), preemptor, job)

    def _named(self, preemptor: Job, candidates: Sequence[Pod]) -> list[Pod] | None:
        mine = self._of(preemptor)
        if mine.slack_ms is None:
            return [] if self.only_by_slack else None
        return [pod for pod in candidates if self._gives(mine, preemptor, self.session.job_of(pod))]

    def _gives(self, mine: _Time, preemptor: Job, job: Job) -> bool:
        theirs = self._of(job)
        if job is preemptor or mine.slack_ms is None or mine.slack_ms < 0:
            return False
        if theirs.remaining_ms is not None and mine.slack_ms >= theirs.remaining_ms:
            return False
        if theirs.deadline_ms is None:
            return True
        if mine.deadline_ms is None or mine.deadline_ms >= theirs.deadline_ms:
            return False
        anew = self.session.around.now_ms + (mine.execution_ms or 0) + (theirs.execution_ms or 0)
        return theirs.deadline_ms >= anew

    def _of(self, job: Job) -> _Time:
        if job.key not in self.times:
            self.times[job.key] = self._counted(job)
        return self.times[job.key]

    def _counted(self, job: Job) -> _Time:
        tasks, now = self.session.tasks, self.session.around.now_ms
        deadline, execution = deadline_ms(tasks, job), execution_ms(tasks, job)
        held = (tasks.pods[uid] for status in HOLDING for uid in job.by_status.get(status, ()))
        started = min((pod.started_ms for pod in held if pod.started_ms), default=now)
        remaining = None if execution is None else max(execution - max(now - started, 0), 0)
        return _Time(deadline, execution, remaining, None if deadline is None else deadline - now - (remaining or 0))
