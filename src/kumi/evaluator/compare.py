"""Compare: which policy is better at what, and which differences are no more than chance.

The rule, for one metric, policies p and the seeds s that all of them ran with whole:
    best         the policy with the best mean over the seeds
    d(p)         the differences best - p, seed by seed: both had the same jobs, so that what the seed does to both cancels out
    the winner   best, if for every other p the interval of d(p) (student.py) leaves zero out; else nobody is
    confidence   of each interval: 1 - 0.05 / (policies - 1), so that a wrong winner is named once in twenty times at most,
                 however many policies are compared (Bonferroni)

Why          the mean of ten seeds always has a smallest one; it says something only if it would be the smallest again.
No noise     one seed tells nothing of how much chance there is, nor do seeds that change nothing: the values are shown, and
             nobody wins. Values that are the same for all policies and seeds are the same, whatever the seeds.
Order        metrics as in METRICS, policies as they were asked for; runs of different parameters are compared apart.
Not here     what a metric means: metrics.py; how it is shown: kumi.cli.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kumi.evaluator.budget import VIRTUAL_TIME_SPENT
from kumi.evaluator.student import CONFIDENCE, Interval, interval


class Better(Enum):
    """Which of two values one would rather have."""

    LESS = -1
    MORE = 1


METRICS: tuple[tuple[str, Better], ...] = (
    ("wait_s.mean", Better.LESS),
    ("wait_s.p50", Better.LESS),
    ("wait_s.p95", Better.LESS),
    ("wait_s.p99", Better.LESS),
    ("wait_s.max", Better.LESS),
    ("jct_s.mean", Better.LESS),
    ("jct_s.p95", Better.LESS),
    ("makespan_s", Better.LESS),
    ("finished", Better.MORE),
    ("never_started", Better.LESS),
    ("allocation_percent.*.mean", Better.MORE),
    ("allocation_percent.*.peak", Better.MORE),
    ("deadlines_met", Better.MORE),
    ("deadlines_missed", Better.LESS),
    ("preemptions", Better.LESS),
    ("lost_work_s", Better.LESS),
    ("jain_fairness", Better.MORE),
)
"""fields of summary.json that can be compared (`*`: each resource)"""


class Verdict(Enum):
    """What comes out for one metric."""

    WINNER = "winner"
    NO_DIFFERENCE = "no difference beyond the noise"
    SAME = "the same for all"
    NO_NOISE_KNOWN = "no noise known"


@dataclass(frozen=True, slots=True)
class Compared:
    """One metric. `values`: policy -> its mean over the seeds and how sure that is (at 95 %). `best`: the policy with the best
    mean; `leads`: every other policy -> how much more (or less: negative) the best one has, seed by seed."""

    metric: str
    better: Better
    values: dict[str, Interval]
    best: str
    leads: dict[str, Interval]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of runs with equal parameters. `seeds`: those that every policy ran with whole."""

    parameters: dict[str, Any]
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    metrics: tuple[Compared, ...]


def compare(summaries: Sequence[Mapping[str, Any]]) -> tuple[Comparison, ...]:
    """Of objects of summary.json. One comparison for each set of parameters; none of runs that were cut short, but for those that
    were played for the same virtual time."""
    by_parameters: dict[str, list[Mapping[str, Any]]] = {}
    for one in summaries:
        if not one.get("partial") or one.get("stopped") == VIRTUAL_TIME_SPENT:
            by_parameters.setdefault(repr(sorted((one.get("parameters") or {}).items())), []).append(one)
    return tuple(_compared(runs) for runs in by_parameters.values())


def _compared(runs: list[Mapping[str, Any]]) -> Comparison:
    by_run = {(str(run["policy"]), int(run["seed"])): run for run in runs}
    policies = tuple(dict.fromkeys(policy for policy, _ in by_run))
    met = dict.fromkeys(seed for _, seed in by_run)
    seeds = tuple(seed for seed in met if all((policy, seed) in by_run for policy in policies))
    found = []
    better_of = dict(METRICS)
    for pattern, metric in expanded([pattern for pattern, _ in METRICS], runs):
        values = {p: [value_of(by_run[p, seed], metric) for seed in seeds] for p in policies}
        known = {p: [v for v in listed if v is not None] for p, listed in values.items()}
        if seeds and all(len(listed) == len(seeds) for listed in known.values()):
            found.append(_judged(metric, better_of[pattern], known))
    return Comparison(dict(runs[0].get("parameters") or {}), policies, seeds, tuple(found))


def _judged(metric: str, better: Better, values: dict[str, list[float]]) -> Compared:
    """`values`: policy -> its values, seed by seed."""
    shown = {policy: interval(listed) for policy, listed in values.items()}
    best = max(shown, key=lambda policy: better.value * shown[policy].mean)  # equals: the first that was asked for
    others = [policy for policy in values if policy != best]
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(others))
    leads = {
        other: interval([mine - theirs for mine, theirs in zip(values[best], values[other], strict=True)], confidence)
        for other in others
    }
    return Compared(metric, better, shown, best, leads, _verdict(values, leads))


def _verdict(values: dict[str, list[float]], leads: dict[str, Interval]) -> Verdict:
    if len({value for listed in values.values() for value in listed}) == 1:
        return Verdict.SAME
    if all(len(set(listed)) == 1 for listed in values.values()):
        return Verdict.NO_NOISE_KNOWN
    if leads and all(lead.without_zero() for lead in leads.values()):
        return Verdict.WINNER
    return Verdict.NO_DIFFERENCE


def expanded(patterns: Sequence[str], runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each pattern and the fields that it means: with a resource where it has a star, those that a run has, by name."""
    for pattern in patterns:
        head, star, tail = pattern.partition("*")
        if not star:
            yield pattern, pattern
            continue
        met = {resource for run in runs for resource in run.get(head.rstrip(".")) or {}}
        for resource in sorted(met):
            yield pattern, f"{head}{resource}{tail}"


def value_of(run: Mapping[str, Any], path: str) -> float | None:
    """What stands there; None: nothing. A resource's name has dots of its own, so that the first and the last dot part a path."""
    head, _, rest = path.partition(".")
    value: Any = run.get(head)
    if rest and "." in rest:
        resource, _, rest = rest.rpartition(".")
        value = (value or {}).get(resource)
    if rest:
        value = (value or {}).get(rest)
    return None if value is None else float(value)


def to_json(comparison: Comparison) -> dict[str, Any]:
    """The object of comparison.json."""
    return {
        "parameters": comparison.parameters,
        "policies": list(comparison.policies),
        "seeds": list(comparison.seeds),
        "metrics": [
            {
                "metric": one.metric,
                "better": one.better.name.lower(),
                "verdict": one.verdict.value,
                "winner": one.best if one.verdict is Verdict.WINNER else None,
                "best": one.best,
                "values": {policy: _interval_json(value) for policy, value in one.values.items()},
                "leads": {policy: _interval_json(lead) for policy, lead in one.leads.items()},
            }
            for one in comparison.metrics
        ],
    }


def _interval_json(found: Interval) -> dict[str, Any]:
    return {"mean": found.mean, "half_width": found.half}
