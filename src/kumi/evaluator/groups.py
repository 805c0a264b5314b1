"""Groups: the figures of each tenant, and of each queue.

The rule, for the jobs of one group:
    jobs, waits, completions, slowdowns, tardiness, deadlines, what was cut short     as metrics.py has them, of these jobs
    makespan         from the first arrival of one of them to the last end of one that finished
    allocation       the area of what their pods hold, in percent of that of what nodes have: the percents of all tenants add up
                     to those of the run, and so do those of all queues
    utilization      the same while the job runs
    goodput          what did good of what they were allocated
    queue length     how many of them wait
Time       areas and means are over the whole run, from the first arrival of all to the last thing that happens to a job; where
           that takes no time, or no node has the resource, there is no percent.
Units      milliseconds become seconds; percents 0 to 100. Areas are floats here, which are added in the order of the logs.
Cost       O(n log n) once for tenants and once for queues, whatever their number.
Not here   shares and fairness: shares.py; the same over time: series.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kumi.evaluator import metrics
from kumi.evaluator.facts import NONE, Facts, Ints
from kumi.evaluator.metrics import HUNDRED, Spread, Use, spread
from kumi.evaluator.shares import rows_of
from kumi.evaluator.timeline import Floats

Json: TypeAlias = dict[str, Any]
SECOND = 1000
GROUPS_AT_MOST = 200
"""tenants and queues that the summary has figures of, those with the most jobs"""


class Groups:
    """Figures of the jobs of a run, by whatever they are grouped. `use`: resource -> how it was used in all."""

    def __init__(self, facts: Facts, use: dict[str, Use]) -> None:
        self._facts, self._use = facts, use
        self._wait, self._jct = metrics.wait_ms(facts), metrics.jct_ms(facts)
        self._slow, self._bounded = metrics.slowdown(facts), metrics.bounded_slowdown(facts)
        self._late = metrics.tardiness_ms(facts)
        self._met, self._missed = metrics.deadline_met(facts), metrics.deadline_missed(facts)
        self._held_ms, self._run_ms = metrics.span_ms(facts), metrics.span_run_ms(facts)

    def figures(self, names: Sequence[str], of: NDArray[np.int32]) -> Json:
        """By name, of those with the most jobs. `of`: each job's number in `names`."""
        many = np.bincount(of, minlength=len(names))
        chosen = sorted(np.argsort(-many, kind="stable")[:GROUPS_AT_MOST].tolist(), key=lambda number: names[number])
        rows = rows_of(of, len(names))
        waiting = metrics.queue_lengths(self._facts, of, len(names))
        parts = self._parts(of, len(names))
        begin, end = self._facts.begin_ms, self._facts.end_ms
        return {
            names[number]: {
                **self._of_jobs(rows[number]),
                **{name: {key: _known(of_all[number]) for key, of_all in one.items()} for name, one in parts.items()},
                "queue_length": {"mean": waiting[number].mean(begin, end), "peak": waiting[number].peak()},
            }
            for number in chosen
        }

    def _of_jobs(self, rows: Ints) -> Json:
        jobs, late = self._facts.jobs, self._late[rows]
        started, finished = jobs.started[rows], jobs.finished[rows]
        ends = jobs.end[rows][finished]
        makespan = int(ends.max() - jobs.arrival[rows].min()) / SECOND if len(ends) else None
        return {
            "jobs": len(rows),
            "finished": int(finished.sum()),
            "never_started": int((~started).sum()),
            "makespan_s": makespan,
            "wait_s": seconds(spread(self._wait[rows][started])),
            "jct_s": seconds(spread(self._jct[rows][finished])),
            "slowdown": plain(spread(known(self._slow[rows]))),
            "bounded_slowdown": plain(spread(known(self._bounded[rows]))),
            "deadlines_met": int(self._met[rows].sum()),
            "deadlines_missed": int(self._missed[rows].sum()),
            "tardiness_s": seconds(spread(late[late != NONE])),
            "preemptions": int(jobs.preempted[rows].sum()),
            "lost_work_s": int(jobs.lost[rows].sum()) / SECOND,
        }

    def _parts(self, of: NDArray[np.int32], many: int) -> dict[str, dict[str, Floats]]:
        """Figure -> resource -> a percent each group; NaN: none."""
        jobs, spans = self._facts.jobs, self._facts.spans
        whose = of[spans.job]
        found: dict[str, dict[str, Floats]] = {
            "allocation_percent": {},
            "utilization_percent": {},
            "goodput_percent": {},
        }
        for resource, used in self._use.items():
            pod = self._facts.of_shapes(resource)[spans.shape].astype(np.float64)
            held, ran = (_area(whose, pod * ms, many) for ms in (self._held_ms, self._run_ms))
            whole = self._facts.of_kinds(resource)[jobs.kind].astype(np.float64)
            good = np.maximum(0.0, ran - _area(of, whole * jobs.wasted, many))
            room = np.full(many, float(used.capacity))
            found["allocation_percent"][resource] = _percent(held, room)
            found["utilization_percent"][resource] = _percent(ran, room)
            found["goodput_percent"][resource] = _percent(good, held)
        return found


def _area(group: NDArray[np.int32], area: Floats, many: int) -> Floats:
    """Of each group."""
    return np.bincount(group, area, many).astype(np.float64)


def _percent(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.divide(HUNDRED * part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return found


def _known(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def known(values: Floats) -> Floats:
    """Without NaN."""
    return values[~np.isnan(values)]


def seconds(of: Spread) -> Json:
    """A spread of milliseconds, as the summary has it."""
    return {name: None if value is None else value / SECOND for name, value in plain(of).items()}


def plain(of: Spread) -> Json:
    """A spread, as the summary has it."""
    return {"mean": of.mean, "p50": of.p50, "p95": of.p95, "p99": of.p99, "max": of.max}
