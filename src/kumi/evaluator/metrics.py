"""Metrics: what a policy did to the jobs, in figures. Pure functions of the facts of a run (facts.Facts).

The rule, for a job that arrives at a, first starts at s, ends at e and needs work w:
    wait             s - a, of jobs that started; until the first start, what it waits after a preemption is in `queued`
    queued           all the time that it waits: until each of its starts, or until it ends or the run is over
    jct              e - a, of jobs that finished
    slowdown         jct / w, of jobs that finished and need any work
    bounded slowdown max(1, jct / max(w, 10 s)): short jobs don't drown the others
    tardiness        max(0, e - deadline), of finished jobs with a deadline
    deadline met     it finished by its deadline (e = deadline is met); missed: it has one and did not, but for a job that its
                     owner cancelled before it
    makespan         from the first arrival to the last end of a job that finished; none, where none did
    capacity         what nodes have that are there and ready, cordoned ones as well
    allocated        what pods hold, from when they are placed until they leave
                     (more than the capacity only while a node has shrunk under its pods)
    utilized         what pods of jobs that run hold: less than allocated by what gangs hold while they wait for the rest
    good             utilized less what was wasted: work that is run again, and what cancelled jobs do not keep, times what a
                     job asks
    percent          of capacity * time (goodput: good of allocated), from the first arrival to the last thing that happens to a
                     job; where that takes no time, as it is in the end. The peak is the greatest percent once an instant is over
    jain(x)          (sum x)^2 / (n * sum x^2): 1 all equal, 1/n one has all; 1 where there is nothing to share
    percentile q     linear: between the two values around rank q * (n - 1), counted from 0, in proportion; of no values: none
Why        jobs that never started have no wait: a policy that starves some looks quick to the rest. So `never_started` stands
           beside every mean, and their time is in `queued`.
Units      int64 ms and base units; areas are exact Python ints (bytes * ms do not fit 64 bits); percents and ratios are floats.
Cost       O(n log n) of the logs.
Source     Feitelson: bounded slowdown with 10 s. Jain, Chiu, Hawe 1984: the index. Rank as NumPy's default (Hyndman and Fan, 7).
Not here   shares of tenants: shares.py; the summary's keys: summary.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kumi.evaluator.facts import ENDS, NONE, OVER, Facts, Ints
from kumi.evaluator.model import What
from kumi.evaluator.timeline import Floats, Steps, held, instants, steps

SHORT_MS = 10_000
"""jobs are at least so long in the bounded slowdown"""
HUNDRED = 100.0


@dataclass(frozen=True, slots=True)
class Spread:
    """How values are spread, in the unit that they come in. All None: there are none."""

    count: int
    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


def spread(values: NDArray[Any]) -> Spread:
    """Of these values."""
    if not len(values):
        return Spread(0, None, None, None, None, None)
    p50, p95, p99 = (float(p) for p in np.percentile(values, (50, 95, 99)))
    total = int(values.sum()) if values.dtype.kind == "i" else float(values.sum())
    return Spread(len(values), total / len(values), p50, p95, p99, float(values.max()))


def jain(values: Sequence[float] | Floats) -> float:
    """How equal they are."""
    x = np.asarray(values, dtype=np.float64)
    squares = float((x * x).sum())
    return float(x.sum()) ** 2 / (len(x) * squares) if squares else 1.0


# of jobs, a value a job; NONE or NaN where a job has none


def wait_ms(facts: Facts) -> Ints:
    """Until the first start."""
    jobs = facts.jobs
    return np.where(jobs.started, jobs.first_start - jobs.arrival, NONE)


def jct_ms(facts: Facts) -> Ints:
    """From arrival to end."""
    jobs = facts.jobs
    return np.where(jobs.finished, jobs.end - jobs.arrival, NONE)


def ran_ms(facts: Facts) -> Ints:
    """All the time that it ran, also in vain."""
    runs = facts.runs
    total = np.zeros(len(facts.jobs), dtype=np.int64)
    np.add.at(total, runs.job, np.where(runs.to != NONE, runs.to, facts.end_ms) - runs.at)
    return total


def queued_ms(facts: Facts) -> Ints:
    """All the time that it waits."""
    jobs = facts.jobs
    until = np.where(jobs.end != NONE, jobs.end, facts.end_ms)
    return until - jobs.arrival - ran_ms(facts)


def slowdown(facts: Facts) -> Floats:
    """Time in the system over work."""
    jobs = facts.jobs
    known = jobs.finished & (jobs.work > 0)
    return np.where(known, jct_ms(facts) / np.where(known, jobs.work, 1), np.nan)


def bounded_slowdown(facts: Facts) -> Floats:
    """The same where short jobs count as ten seconds, at least 1."""
    jobs = facts.jobs
    known = jobs.finished & (jobs.work >= 0)
    return np.where(known, np.maximum(1.0, jct_ms(facts) / np.maximum(jobs.work, SHORT_MS)), np.nan)


def tardiness_ms(facts: Facts) -> Ints:
    """How far past its deadline it finished."""
    jobs = facts.jobs
    return np.where(jobs.finished & (jobs.deadline != NONE), np.maximum(0, jobs.end - jobs.deadline), NONE)


def deadline_met(facts: Facts) -> NDArray[np.bool_]:
    """It had one and kept it."""
    jobs = facts.jobs
    met: NDArray[np.bool_] = (jobs.deadline != NONE) & jobs.finished & (jobs.end <= jobs.deadline)
    return met


def deadline_missed(facts: Facts) -> NDArray[np.bool_]:
    """It had one and didn't."""
    jobs = facts.jobs
    given_up = (jobs.over == OVER[What.CANCELLED]) & (jobs.end <= jobs.deadline)
    missed: NDArray[np.bool_] = (jobs.deadline != NONE) & ~deadline_met(facts) & ~given_up
    return missed


def outcomes(facts: Facts) -> dict[str, int]:
    """How many jobs ended how; `running` and `waiting`: those that have not."""
    jobs = facts.jobs
    found = {what.value: int((jobs.over == number).sum()) for what, number in zip(ENDS, OVER.values(), strict=True)}
    runs = np.zeros(len(jobs), dtype=np.bool_)
    runs[facts.runs.job[facts.runs.to == NONE]] = True
    still = jobs.over == 0
    return {**found, "running": int((still & runs).sum()), "waiting": int((still & ~runs).sum())}


def makespan_ms(facts: Facts) -> int | None:
    """From the first arrival to the last end; None: none finished."""
    ends = facts.jobs.end[facts.jobs.finished]
    return int(ends.max()) - facts.begin_ms if len(ends) else None


# over time


def queue_length(facts: Facts) -> Steps:
    """How many jobs wait."""
    at, change, _ = _waiting(facts)
    return steps(at, change)


def queue_lengths(facts: Facts, of: NDArray[Any], many: int) -> list[Steps]:
    """How many jobs of each group wait. `of`: a group each job, a number below `many`."""
    at, change, job = _waiting(facts)
    order = np.argsort(of[job], kind="stable")
    parts = np.split(order, np.searchsorted(of[job][order], np.arange(1, many)))
    return [steps(at[part], change[part]) for part in parts]


def _waiting(facts: Facts) -> tuple[Ints, Ints, Ints]:
    """When a job begins to wait (1) or waits no longer (-1), and which."""
    jobs, runs = facts.jobs, facts.runs
    stopped, gone = np.flatnonzero(runs.to != NONE), np.flatnonzero(jobs.end != NONE)
    parts = (
        (jobs.arrival, 1, np.arange(len(jobs))),
        (runs.at, -1, runs.job),
        (runs.to[stopped], 1, runs.job[stopped]),
        (jobs.end[gone], -1, gone),
    )
    return (
        np.concatenate([at for at, _, _ in parts]),
        np.concatenate([np.full(len(at), change, dtype=np.int64) for at, change, _ in parts]),
        np.concatenate([job for _, _, job in parts]).astype(np.int64),
    )


def running(facts: Facts) -> Steps:
    """How many jobs run."""
    runs = facts.runs
    return held(runs.at, runs.to, np.ones(len(runs.at), dtype=np.int64))


def allocated(facts: Facts, resource: str) -> Steps:
    """What pods hold."""
    spans = facts.spans
    return held(spans.at, spans.to, facts.of_shapes(resource)[spans.shape])


def capacity(facts: Facts, resource: str) -> Steps:
    """What ready nodes have."""
    had: dict[int, int] = {}
    at, change = [], []
    for one in facts.node_changes:
        has = dict(one.node.allocatable).get(resource, 0) if one.node is not None and one.node.ready else 0
        at.append(one.at_ms)
        change.append(has - had.get(one.number, 0))
        had[one.number] = has
    return steps(np.array(at, dtype=np.int64), np.array(change, dtype=np.int64))


# areas


@dataclass(frozen=True, slots=True)
class Use:
    """Of one resource, areas in base units * ms, exact, from the first arrival to the last thing that happens to a job."""

    capacity: int
    allocated: int
    utilized: int
    wasted: int
    mean_percent: float
    peak_percent: float

    @property
    def goodput_percent(self) -> float | None:
        """What of that which was allocated did good; None: nothing was."""
        return HUNDRED * max(0, self.utilized - self.wasted) / self.allocated if self.allocated else None

    @property
    def utilized_percent(self) -> float | None:
        """Of the capacity; None: there was none, or no time."""
        return HUNDRED * self.utilized / self.capacity if self.capacity else None


def use(facts: Facts, resource: str) -> Use:
    """How a resource was used."""
    pod, jobs, spans = facts.of_shapes(resource), facts.jobs, facts.spans
    has, gets = capacity(facts, resource), allocated(facts, resource)
    room = _area(has, facts.begin_ms, facts.end_ms)
    took = _weighted(pod, spans.shape, span_ms(facts))
    peak, last = _percents(gets, has, facts)
    return Use(
        capacity=room,
        allocated=took,
        utilized=_weighted(pod, spans.shape, span_run_ms(facts)),
        wasted=_weighted(facts.of_kinds(resource), jobs.kind, jobs.wasted),
        mean_percent=HUNDRED * took / room if room else last,
        peak_percent=peak,
    )


def span_ms(facts: Facts) -> Ints:
    """Of each span, how long the pod held its node."""
    spans = facts.spans
    return np.where(spans.to != NONE, spans.to, facts.end_ms) - spans.at


def span_run_ms(facts: Facts) -> Ints:
    """Of each span, how long its job ran: the job's first run that ends after the span begins is the one it is held for."""
    spans, runs, end = facts.spans, facts.runs, facts.end_ms
    if not len(runs.job) or not len(spans.job):
        return np.zeros(len(spans.job), dtype=np.int64)
    wide = end - facts.begin_ms + 2
    to = np.where(runs.to != NONE, runs.to, end)
    # one number for (job, time): rows times the length of the run stays far below 2^63 (a million jobs: 292,000 years)
    ends = runs.job * wide + (to - facts.begin_ms)
    order = np.argsort(ends, kind="stable")
    index = np.searchsorted(ends[order], spans.job * wide + (spans.at - facts.begin_ms), side="right")
    run = order[np.minimum(index, len(order) - 1)]
    mine = (index < len(order)) & (runs.job[run] == spans.job)
    until = np.minimum(np.where(spans.to != NONE, spans.to, end), to[run])
    return np.where(mine, np.maximum(0, until - np.maximum(spans.at, runs.at[run])), 0)


def _weighted(amounts: Ints, kind: NDArray[np.int32], ms: Ints) -> int:
    """The sum of amount * ms, exact."""
    total = np.zeros(len(amounts), dtype=np.int64)
    np.add.at(total, kind, ms)
    return sum(int(amount) * int(time) for amount, time in zip(amounts, total, strict=True))


def _area(of: Steps, begin: int, end: int) -> int:
    """Exact, of few steps."""
    inside = of.at[(of.at > begin) & (of.at < end)]
    edges = np.concatenate(([begin], inside, [end])).astype(np.int64)
    return sum(int(v) * int(t) for v, t in zip(of.on(edges[:-1]), np.diff(edges), strict=True))


def _percents(gets: Steps, has: Steps, facts: Facts) -> tuple[float, float]:
    """The greatest percent once an instant is over, and the one in the end."""
    edges = np.array([facts.begin_ms, facts.end_ms], dtype=np.int64)
    times = instants(gets.at, has.at[has.at <= facts.end_ms], edges)
    times = times[times >= facts.begin_ms]
    room = has.on(times)
    percent = HUNDRED * gets.on(times) / np.maximum(room, 1)
    percent[room == 0] = 0.0
    return float(percent.max()), float(percent[-1])
