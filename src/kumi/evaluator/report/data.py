"""The data of the report: what the page draws, thinned so that it stays small.

    runs       of every run: policy, seed, summary (as in summary.json)
    drawn      of the runs that have charts: `run` (its number), series, spreads, Gantt, jobs that never ran to their end
    begin, end the time that charts have, ms: from the first arrival to the last thing that happens in any of these
Which      the first RUNS policies, each with its first seed.
Thinning   series: timeline.POINTS buckets (600), five digits; spreads: the value at QUANTILES equal steps of all jobs; the
           Gantt: gantt.py; jobs that never ran: NEVER of them, the first to arrive, while the counts are of all.
Spread     the part of ALL jobs that had waited (finished) within a time: a curve that ends below 100 % leaves out those that
           never started (finished).
Size       some 250 KB a run that is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kumi.evaluator import metrics
from kumi.evaluator.facts import Facts
from kumi.evaluator.fragmentation import MODEL
from kumi.evaluator.report.gantt import gantt
from kumi.evaluator.result import Result
from kumi.evaluator.series import all_series, unit

Json: TypeAlias = dict[str, Any]
RUNS = 10
QUANTILES = 200
NEVER = 500
DIGITS = 5


def page_data(results: Sequence[Result]) -> Json:
    """All of it."""
    chosen: dict[str, int] = {}
    for number, result in enumerate(results):
        chosen.setdefault(result.label, number)
    drawn = sorted(chosen.values())[:RUNS]
    facts = [results[number].facts for number in drawn]
    window = (min((one.begin_ms for one in facts), default=0), max((one.end_ms for one in facts), default=0))
    return {
        "runs": [{"policy": one.label, "seed": one.seed, "summary": one.summary} for one in results],
        "begin": window[0],
        "end": window[1],
        "drawn": [{"run": number, **_drawn(results[number], window, len(drawn))} for number in drawn],
        "policies": len(chosen),
        "cluster": _cluster(facts[0]) if facts else {},
    }


def _drawn(result: Result, window: tuple[int, int], many: int) -> Json:
    facts = result.facts
    return {
        "series": _series(facts, window),
        "wait": spread_curve(metrics.wait_ms(facts)[facts.jobs.started], len(facts.jobs)),
        "jct": spread_curve(metrics.jct_ms(facts)[facts.jobs.finished], len(facts.jobs)),
        "gantt": gantt(facts, window, many),
        "never": _never(facts),
    }


def _series(facts: Facts, window: tuple[int, int]) -> Json:
    """Name -> its times in seconds after the begin, the same for all runs, and its lines."""
    found: Json = {}
    for line in all_series(facts, window):
        one = found.setdefault(line.name, {"at": ((line.at - window[0]) / 1000).tolist(), "lines": []})
        peak = None if line.peak is None else rounded(line.peak)
        one["lines"].append({"label": line.label, "mean": rounded(line.mean), "peak": peak})
    return found


def rounded(values: NDArray[np.float64]) -> list[float | None]:
    """To five digits; NaN and infinity are no figures."""
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in values.tolist()]


def spread_curve(values: NDArray[np.int64], jobs: int) -> Json:
    """Seconds, and which part of all jobs (percent) has as much or less."""
    if not len(values):
        return {"seconds": [], "percent": []}
    at = np.linspace(0.0, 1.0, QUANTILES + 1)
    # the value below which a part lies is one that a job had: nothing is made up between two jobs
    found = np.quantile(values, at, method="inverted_cdf") / 1000
    return {"seconds": rounded(found), "percent": rounded(100.0 * at * len(values) / jobs)}


def _never(facts: Facts) -> Json:
    rows = sorted(facts.why)
    pods = [kind.pods for kind in facts.kinds]
    asked = {resource: facts.of_kinds(resource) / unit(resource) for resource in facts.asked}
    jobs = facts.jobs
    return {
        "count": len(rows),
        "jobs": [
            {
                "job": jobs.key(row),
                "arrival": int(jobs.arrival[row]),
                "started": bool(jobs.started[row]),
                "pods": pods[jobs.kind[row]],
                "asks": {resource: float(of[jobs.kind[row]]) for resource, of in asked.items() if of[jobs.kind[row]]},
                "why": facts.why[row],
            }
            for row in rows[:NEVER]
        ],
    }


def _cluster(facts: Facts) -> Json:
    """What there was at the start."""
    first = {c.number: c.node for c in reversed(facts.node_changes) if c.at_ms <= facts.begin_ms}
    models: dict[str, int] = {}
    for number in sorted(first):
        node = first[number]
        model = "" if node is None else dict(node.labels).get(MODEL, "")
        if model:
            models[model] = models.get(model, 0) + 1
    return {
        "nodes": sum(node is not None for node in first.values()),
        "capacity": {
            resource: int(metrics.capacity(facts, resource).on(np.array([facts.begin_ms]))[0]) / unit(resource)
            for resource in facts.asked
        },
        "models": dict(sorted(models.items())),
    }
