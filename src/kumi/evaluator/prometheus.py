"""Prometheus' exposition of runs, `metrics.prom`: every figure with the time of the virtual clock at which it held.

Over time    the series of series.py as gauges, one sample a bucket: its mean, at the start of the bucket (fragmentation: a
             sample)
At the end   the figures of summary.json as gauges, one sample each, when the last thing happened to a job
Labels       policy and seed on all; resource, tenant, model, quantile, outcome, kind where they say something
Ratios       run from 0 to 1, where the summary has percents; amounts are in the resource's own unit; times in seconds
Format       Prometheus' text format with timestamps in milliseconds, by the format's own library. A figure has many lines
             here, one a time: what reads it takes history (VictoriaMetrics: /api/v1/import/prometheus), not a scrape. The same
             goes to any receiver of remote write: remote_write.py.
Board        dashboards/kumi-evaluate.json shows these with Grafana; a test holds its queries to the names that are here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kumi.evaluator.result import Result
from kumi.evaluator.series import MEANS

PREFIX = "kumi_evaluate_"
Labels: TypeAlias = tuple[tuple[str, str], ...]
"""sorted by name"""

SERIES = {
    "queue_length": ("queue_length", "", 1.0),
    "running": ("running", "", 1.0),
    "allocated": ("allocated", "resource", 1.0),
    "capacity": ("capacity", "resource", 1.0),
    "allocation_percent": ("allocation_ratio", "resource", 0.01),
    "dominant_share": ("dominant_share_ratio", "tenant", 1.0),
    "fairness": ("fairness_ratio", "", 1.0),
    "gpu_fragmentation": ("gpu_fragmentation_ratio", "model", 0.01),
}
"""series -> its name here, what its label is called, factor"""

FIGURES = {
    "jobs": "Jobs by what became of them",
    "wait_seconds": "Waiting until the first start, by quantile; of the jobs that started",
    "jct_seconds": "From arrival to end, by quantile; of the jobs that finished",
    "makespan_seconds": "From the first arrival to the last end",
    "mean_allocation_ratio": "What pods held over the whole run, of what nodes had",
    "peak_allocation_ratio": "The most that pods held at a time, of what nodes had",
    "deadlines_met": "Jobs that kept their deadline",
    "deadlines_missed": "Jobs that did not",
    "preemptions": "Runs cut short for another job",
    "lost_work_seconds": "Work that had to be run again",
    "jain_fairness_ratio": "Jain's index of what tenants were served of what they wanted",
    "decisions": "What the engine decided, by kind",
    "run_seconds": "How long the run took on the machine that played it",
}
"""figures of a run: name -> what it is"""
QUANTILES = (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99"), ("max", "1"))


class Line(NamedTuple):
    """All samples of one name and one set of labels: (ms, value), times rise."""

    name: str
    labels: Labels
    samples: Sequence[tuple[int, float]]


def names() -> dict[str, str]:
    """Every metric, and what it is."""
    over_time = {PREFIX + name: MEANS[series] for series, (name, _, _) in SERIES.items()}
    return {**over_time, **{PREFIX + name: meaning for name, meaning in FIGURES.items()}}


def lines(results: Sequence[Result]) -> Iterator[Line]:
    """All that is told of these runs, names together, in the order of `names`."""
    told = [[*_over_time(result), *_figures(result)] for result in results]
    for name in names():
        for run in told:
            yield from (line for line in run if line.name == name and line.samples)


def exposition(results: Sequence[Result]) -> bytes:
    """`metrics.prom`."""
    from prometheus_client import exposition as library
    from prometheus_client.metrics_core import Metric

    meanings = names()
    found: dict[str, Any] = {}
    for line in lines(results):
        metric = found.get(line.name)
        if metric is None:
            metric = found[line.name] = Metric(line.name, meanings[line.name], "gauge")
        labels = dict(line.labels)
        for at_ms, value in line.samples:
            # the library cuts seconds off after three digits: half a millisecond more, or floats lose one
            metric.add_sample(line.name, labels, value, timestamp=(at_ms + 0.5) / 1000)
    return library.generate_latest(_Collected(list(found.values())))


def board() -> bytes:
    """Grafana's board of these metrics, as JSON."""
    return files("kumi.evaluator").joinpath("dashboards/kumi-evaluate.json").read_bytes()


class _Collected:
    """What the library asks for its metrics."""

    def __init__(self, metrics: list[Any]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Any]:
        return self._metrics


def _over_time(result: Result) -> Iterator[Line]:
    for line in result.all_series:
        name, label, factor = SERIES[line.name]
        # a label without a value is none
        more = {label: line.label} if label and line.label else {}
        known = np.flatnonzero(~np.isnan(line.mean))
        values = (line.mean[known] * factor).tolist()
        yield Line(PREFIX + name, _labels(result, more), list(zip(line.at[known].tolist(), values, strict=True)))


def _figures(result: Result) -> Iterator[Line]:
    summary, at_ms = result.summary, result.facts.end_ms

    def one(name: str, value: float | None, **more: str) -> Line:
        return Line(PREFIX + name, _labels(result, more), [] if value is None else [(at_ms, float(value))])

    for outcome, many in summary["more"]["outcomes"].items():
        yield one("jobs", many, outcome=outcome)
    for of, name in (("wait_s", "wait_seconds"), ("jct_s", "jct_seconds")):
        for key, quantile in QUANTILES:
            yield one(name, summary[of][key], quantile=quantile)
    for resource, percent in summary["allocation_percent"].items():
        yield one("mean_allocation_ratio", percent["mean"] / 100, resource=resource)
        yield one("peak_allocation_ratio", percent["peak"] / 100, resource=resource)
    for kind, many in summary["more"]["decisions"].items():
        yield one("decisions", many, kind=kind)
    for name, key in (
        ("makespan_seconds", "makespan_s"),
        ("deadlines_met", "deadlines_met"),
        ("deadlines_missed", "deadlines_missed"),
        ("preemptions", "preemptions"),
        ("lost_work_seconds", "lost_work_s"),
        ("jain_fairness_ratio", "jain_fairness"),
        ("run_seconds", "run_s"),
    ):
        yield one(name, summary[key])


def _labels(result: Result, more: dict[str, str]) -> Labels:
    return tuple(sorted({"policy": result.label, "seed": str(result.seed), **more}.items()))
