"""The summary of a run: one object of `summary.json`.

Keys         in this order: policy, seed, jobs, finished, never_started, makespan_s, wait_s, jct_s, allocation_percent,
             deadlines_met, deadlines_missed, preemptions, lost_work_s, jain_fairness, decisions, run_s, more
    wait_s, jct_s         mean, p50, p95, p99, max; null where no job has one
    allocation_percent    resource -> mean, peak
    never_started         jobs that ran at no time: refused, waiting in the end, or cancelled before
    preemptions           runs cut short for another job; runs lost with their node are `more.node_losses`
    lost_work_s           seconds of work that jobs had run, did not keep, and had to run again; a gang's count once
    decisions             all that the engine decided; `more.decisions` has them by kind
    more                  what else there is, for people and scripts: outcomes, queued, slowdown, tardiness, use and goodput by
                          resource, queue length, fragmentation, tenants and queues with figures of their own, the first reasons
Meaning      of each figure: metrics.py, groups.py, shares.py, fragmentation.py.
Bytes        equal runs give equal bytes, whatever the hash seed and the number of workers, but for `run_s`, the seconds that
             the run took, which is the only figure of this machine: who compares files leaves it out. Floats are written as
             the shortest text that reads back the same.
Units        `_s` seconds; percents 0 to 100; amounts of resources in their own unit (cores, bytes, devices) where `more` has any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import orjson

from kumi.evaluator import metrics
from kumi.evaluator.facts import Facts
from kumi.evaluator.fragmentation import fragmentation
from kumi.evaluator.groups import Groups, known, plain, seconds
from kumi.evaluator.metrics import Use, spread
from kumi.evaluator.shares import Shares, shares
from kumi.evaluator.timeline import grid

Json: TypeAlias = dict[str, Any]
SECOND = 1000
WHYS_AT_MOST = 20
"""jobs that are named in the summary because they never ran to their end; the table of jobs has all"""


def summary(facts: Facts, *, policy: str, seed: int, run_s: float) -> Json:
    """Of one run."""
    jobs = facts.jobs
    use = {resource: metrics.use(facts, resource) for resource in facts.asked}
    fair = shares(facts, grid(facts.begin_ms, facts.end_ms))
    makespan = metrics.makespan_ms(facts)
    return {
        "policy": policy,
        "seed": seed,
        "jobs": len(jobs),
        "finished": int(jobs.finished.sum()),
        "never_started": int((~jobs.started).sum()),
        "makespan_s": None if makespan is None else makespan / SECOND,
        "wait_s": seconds(spread(metrics.wait_ms(facts)[jobs.started])),
        "jct_s": seconds(spread(metrics.jct_ms(facts)[jobs.finished])),
        "allocation_percent": {name: {"mean": one.mean_percent, "peak": one.peak_percent} for name, one in use.items()},
        "deadlines_met": int(metrics.deadline_met(facts).sum()),
        "deadlines_missed": int(metrics.deadline_missed(facts).sum()),
        "preemptions": int(jobs.preempted.sum()),
        "lost_work_s": int(jobs.lost.sum()) / SECOND,
        "jain_fairness": fair.fairness,
        "decisions": sum(facts.decisions.values()),
        "run_s": run_s,
        "more": _more(facts, use, fair),
    }


def to_bytes(summaries: Sequence[Json]) -> bytes:
    """`summary.json`: a list, indented, in the order given."""
    return orjson.dumps(summaries, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _more(facts: Facts, use: dict[str, Use], fair: Shares) -> Json:
    jobs = facts.jobs
    late = metrics.tardiness_ms(facts)
    waits = metrics.queue_length(facts)
    groups = Groups(facts, use)
    return {
        "outcomes": metrics.outcomes(facts),
        "queued_s": seconds(spread(metrics.queued_ms(facts))),
        "slowdown": plain(spread(known(metrics.slowdown(facts)))),
        "bounded_slowdown": plain(spread(known(metrics.bounded_slowdown(facts)))),
        "tardiness_s": seconds(spread(late[late >= 0])),
        "node_losses": int(jobs.evicted.sum()),
        "wasted_work_s": int(jobs.wasted.sum()) / SECOND,
        "utilization_percent": {name: one.utilized_percent for name, one in use.items()},
        "goodput_percent": {name: one.goodput_percent for name, one in use.items()},
        "queue_length": {"mean": waits.mean(facts.begin_ms, facts.end_ms), "peak": waits.peak()},
        "jain_of_shares": fair.share_fairness,
        "gpu_fragmentation_percent": fragmentation(facts).summary(),
        "tenants": _tenants(facts, fair, groups),
        "queues": groups.figures(facts.queues, jobs.queue) if facts.queues != ("",) else {},
        "decisions": facts.decisions,
        "why": {jobs.key(row): facts.why[row] for row in sorted(facts.why)[:WHYS_AT_MOST]},
        "closed_ms": facts.closed_ms,
    }


def _tenants(facts: Facts, fair: Shares, groups: Groups) -> Json:
    found = groups.figures(facts.tenants, facts.jobs.tenant)
    for number, name in enumerate(facts.tenants):
        if name in found:
            served = float(fair.served[number])
            found[name]["mean_dominant_share"] = float(fair.mean[number])
            found[name]["served"] = None if np.isnan(served) else served
    return found
