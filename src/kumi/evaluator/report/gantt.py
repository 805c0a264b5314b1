"""The Gantt: which job had which node from when to when.

The rule:
    bar        a job on a node: its pods there that come at one time and leave at one time are one bar, with how many they are
    chosen     BARS bars at most in a page, an equal part for each run that is drawn: those that take the most time times pods;
               then the nodes that they are on, at most NODES, those with the most of it. The page says how many it leaves out.
    lane       bars that overlap on a node lie below each other: by start, each in the first lane that is free
    order      nodes as the cluster was told of them; bars by node, lane, start
Why        a trace has more pods than a screen has pixels; what is long is what keeps others waiting.
Cost       O(spans log spans).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kumi.evaluator.facts import NONE, Facts, Ints

Json: TypeAlias = dict[str, Any]
BARS = 24_000
BARS_OF_A_RUN = 6_000
NODES = 300


def gantt(facts: Facts, window: tuple[int, int], runs: int = 1) -> Json:
    """Columns of bars: `node`, `lane`, `at`, `to` (NONE: it is there in the end), `job`, `pods`; the first, `at` and `to` in
    ms after the begin; names of `nodes`, `jobs`, and `tenants` of the jobs; `lanes` of each node; `bars` and `all_nodes` in
    all."""
    bars, pods = _bars(facts)
    at, to = bars["at"], np.where(bars["to"] == NONE, window[1], bars["to"])
    weight = (to - at + 1).astype(np.float64) * pods
    chosen = np.sort(np.argsort(-weight, kind="stable")[: min(BARS_OF_A_RUN, BARS // runs)])
    busy = np.bincount(bars["node"][chosen], weights=weight[chosen], minlength=len(facts.nodes))
    nodes = np.sort(np.argsort(-busy, kind="stable")[: min(NODES, int((busy > 0).sum()))])
    chosen = chosen[np.isin(bars["node"][chosen], nodes)]
    order = chosen[np.lexsort((bars["job"][chosen], at[chosen], bars["node"][chosen]))]
    row = np.searchsorted(nodes, bars["node"][order])
    lane = lanes(row, at[order], to[order])
    many = np.zeros(len(nodes), dtype=np.int64)
    np.maximum.at(many, row, lane + 1)
    jobs, number = np.unique(bars["job"][order], return_inverse=True)
    return {
        "node": row.tolist(),
        "lane": lane.tolist(),
        "at": (at[order] - window[0]).tolist(),
        "to": np.where(bars["to"][order] == NONE, NONE, bars["to"][order] - window[0]).tolist(),
        "job": number.tolist(),
        "pods": pods[order].tolist(),
        "nodes": [facts.nodes[n] for n in nodes],
        "lanes": many.tolist(),
        "jobs": [facts.jobs.key(int(job)) for job in jobs],
        "of": [int(facts.jobs.tenant[job]) for job in jobs],
        "tenants": list(facts.tenants),
        "bars": len(at),
        "all_nodes": int((np.bincount(bars["node"], minlength=1) > 0).sum()) if len(at) else 0,
    }


def lanes(node: Ints, at: Ints, to: Ints) -> Ints:
    """Of bars in the order of node and start, the first lane of the node that is free; a bar frees its lane as it ends."""
    found = np.zeros(len(node), dtype=np.int64)
    free: list[int] = []
    before = NONE
    for i, (mine, start, end) in enumerate(zip(node.tolist(), at.tolist(), to.tolist(), strict=True)):
        if mine != before:
            before, free = mine, []
        lane = next((number for number, until in enumerate(free) if until <= start), len(free))
        if lane == len(free):
            free.append(end)
        else:
            free[lane] = end
        found[i] = lane
    return found


def _bars(facts: Facts) -> tuple[dict[str, Ints], NDArray[np.int64]]:
    """Spans of one job on one node with the same times, once, and how many they are."""
    spans = facts.spans
    columns = {"job": spans.job, "node": spans.node.astype(np.int64), "at": spans.at, "to": spans.to}
    if not len(spans.job):
        return columns, np.empty(0, dtype=np.int64)
    order = np.lexsort((spans.to, spans.at, spans.node, spans.job))
    table = np.stack([column[order] for column in columns.values()])
    first = np.flatnonzero(np.append(True, (table[:, 1:] != table[:, :-1]).any(axis=0)))
    pods = np.diff(np.append(first, len(order)))
    return dict(zip(columns, table[:, first], strict=True)), pods
