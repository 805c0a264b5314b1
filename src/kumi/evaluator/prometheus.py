"""Prometheus' exposition of runs, `metrics.prom`: every figure with the time of the virtual clock at which it held.

Over time    the series of series.py as gauges, one sample a bucket: its mean, at the start of the bucket (fragmentation: a
             sample)
At the end   the figures of summary.json as gauges, one sample each, when the last thing happened to a job; those of tenants and
             queues have names of their own (tenant_..., queue_...), so that no sum counts a job twice
Labels       policy and seed on all; resource, tenant, queue, model, quantile, outcome, kind where they say something
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
    "queue_waiting": ("queue_waiting", "queue", 1.0),
    "tenant_waiting": ("tenant_waiting", "tenant", 1.0),
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
    "bounded_slowdown": "Completion over work, which counts as ten seconds at least, by quantile; of the jobs that finished",
    "tardiness_seconds": "How far past their deadline jobs finished, by quantile; of finished jobs that have one",
    "makespan_seconds": "From the first arrival to the last end",
    "mean_allocation_ratio": "What pods held over the whole run, of what nodes had",
    "peak_allocation_ratio": "The most that pods held at a time, of what nodes had",
    "utilization_ratio": "What pods of jobs that run held over the whole run, of what nodes had",
    "goodput_ratio": "What did good of what was allocated",
    "deadlines_met": "Jobs that kept their deadline",
    "deadlines_missed": "Jobs that did not",
    "preemptions": "Runs cut short for another job",
    "lost_work_seconds": "Work that had to be run again",
    "jain_fairness_ratio": "Jain's index of what tenants were served of what they wanted",
    "decisions": "What the engine decided, by kind",
    "run_seconds": "How long the run took on the machine that played it",
}
"""figures of a run: name -> what it is"""
GROUPS = ("tenant", "queue")
OF_GROUPS = {
    "jobs": "Jobs of a {}",
    "finished_jobs": "Jobs of a {} that finished",
    "never_started_jobs": "Jobs of a {} that ran at no time",
    "wait_seconds": "Waiting until the first start, by quantile; of the jobs of a {} that started",
    "jct_seconds": "From arrival to end, by quantile; of the jobs of a {} that finished",
    "bounded_slowdown": "Completion over work, which counts as ten seconds at least, by quantile; of the finished jobs of a {}",
    "tardiness_seconds": "How far past their deadline jobs of a {} finished, by quantile",
    "makespan_seconds": "From the first arrival to the last end of the jobs of a {}",
    "deadlines_met": "Jobs of a {} that kept their deadline",
    "deadlines_missed": "Jobs of a {} that did not",
    "preemptions": "Runs of jobs of a {} that were cut short for another job",
    "lost_work_seconds": "Work of a {} that had to be run again",
    "allocation_ratio": "What pods of a {} held over the whole run, of what nodes had",
    "utilization_ratio": "What pods of running jobs of a {} held over the whole run, of what nodes had",
    "goodput_ratio": "What did good of what a {} was allocated",
}
"""figures of each tenant and of each queue, by the same name after `tenant_` and `queue_`"""
OF_TENANTS = {
    "tenant_served_ratio": "What a tenant was served of what it wanted",
    "tenant_mean_dominant_share_ratio": "Dominant share of a tenant over the whole run",
}
QUANTILES = (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99"), ("max", "1"))


class Line(NamedTuple):
    """All samples of one name and one set of labels: (ms, value), times rise."""

    name: str
    labels: Labels
    samples: Sequence[tuple[int, float]]


def names() -> dict[str, str]:
    """Every metric, and what it is."""
    over_time = {PREFIX + name: MEANS[series] for series, (name, _, _) in SERIES.items()}
    of_groups = {f"{group}_{name}": text.format(group) for group in GROUPS for name, text in OF_GROUPS.items()}
    figures = {**FIGURES, **of_groups, **OF_TENANTS}
    return {**over_time, **{PREFIX + name: meaning for name, meaning in figures.items()}}


def lines(results: Sequence[Result]) -> Iterator[Line]:
    """All that is told of these runs, names together, in the order of `names`."""
    told: list[dict[str, list[Line]]] = []
    for result in results:
        by_name: dict[str, list[Line]] = {}
        for line in (*_over_time(result), *_figures(result), *_of_groups(result)):
            if line.samples:
                by_name.setdefault(line.name, []).append(line)
        told.append(by_name)
    for name in names():
        for run in told:
            yield from run.get(name, ())


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
    summary, one = result.summary, _At(result)
    more = summary["more"]
    for outcome, many in more["outcomes"].items():
        yield one("jobs", many, outcome=outcome)
    for of, name in (("wait_s", "wait_seconds"), ("jct_s", "jct_seconds")):
        yield from one.quantiles(name, summary[of])
    yield from one.quantiles("bounded_slowdown", more["bounded_slowdown"])
    yield from one.quantiles("tardiness_seconds", more["tardiness_s"])
    for resource, percent in summary["allocation_percent"].items():
        yield one("mean_allocation_ratio", percent["mean"] / 100, resource=resource)
        yield one("peak_allocation_ratio", percent["peak"] / 100, resource=resource)
    yield from one.ratios("utilization_ratio", more["utilization_percent"])
    yield from one.ratios("goodput_ratio", more["goodput_percent"])
    for kind, many in more["decisions"].items():
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


def _of_groups(result: Result) -> Iterator[Line]:
    one, more = _At(result), result.summary["more"]
    for group in GROUPS:
        for named, of in more[f"{group}s"].items():
            whose = {group: named} if named else {}
            for name, key in (
                ("jobs", "jobs"),
                ("finished_jobs", "finished"),
                ("never_started_jobs", "never_started"),
                ("makespan_seconds", "makespan_s"),
                ("deadlines_met", "deadlines_met"),
                ("deadlines_missed", "deadlines_missed"),
                ("preemptions", "preemptions"),
                ("lost_work_seconds", "lost_work_s"),
            ):
                yield one(f"{group}_{name}", of[key], **whose)
            for name, key in (
                ("wait_seconds", "wait_s"),
                ("jct_seconds", "jct_s"),
                ("bounded_slowdown", "bounded_slowdown"),
                ("tardiness_seconds", "tardiness_s"),
            ):
                yield from one.quantiles(f"{group}_{name}", of[key], **whose)
            for name in ("allocation", "utilization", "goodput"):
                yield from one.ratios(f"{group}_{name}_ratio", of[f"{name}_percent"], **whose)
    for named, of in more["tenants"].items():
        yield one("tenant_served_ratio", of["served"], tenant=named)
        yield one("tenant_mean_dominant_share_ratio", of["mean_dominant_share"], tenant=named)


class _At:
    """Lines of one sample, in the end of the run; of a figure that nobody has, of none."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __call__(self, name: str, value: float | None, **more: str) -> Line:
        """One figure."""
        samples = [] if value is None else [(self._result.facts.end_ms, float(value))]
        return Line(PREFIX + name, _labels(self._result, more), samples)

    def quantiles(self, name: str, spread: dict[str, float | None], **more: str) -> Iterator[Line]:
        """Of a spread."""
        for key, quantile in QUANTILES:
            yield self(name, spread[key], quantile=quantile, **more)

    def ratios(self, name: str, percents: dict[str, float | None], **more: str) -> Iterator[Line]:
        """Of percents by resource."""
        for resource, percent in percents.items():
            yield self(name, None if percent is None else percent / 100, resource=resource, **more)


def _labels(result: Result, more: dict[str, str]) -> Labels:
    return tuple(sorted({"policy": result.label, "seed": str(result.seed), **more}.items()))
