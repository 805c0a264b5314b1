"""Fragmentation: how much of the free GPUs is of no use to the jobs that come to this cluster.

The rule, at a time, for the shapes s of pods that ask for GPUs, each with the part p(s) of all such pods of the load:
    free(n)           thousandths of GPU on node n that nobody holds; nodes that are gone, not ready or cordoned have none
    fits(s, n)        n has enough free of every resource, for a share one device that has so much of it, for whole devices so
                      many of which nothing is used; and s may go there: node selector, node affinity (by which it says the models
                      of GPUs that it takes)
    lost(s, n)        all of free(n) where s does not fit; else what is free on devices that s can't use: those that have less
                      than its share, or, if it wants whole ones, those of which something is used
    lost(n)           the sum of p(s) * lost(s, n)
    fragmentation     100 * the sum of lost(n) / the sum of free(n); 0 where nothing is free. By model: over nodes of that value
                      of the label kumi.dev/gpu-model
Why        a cluster may have free GPUs and no place for anybody; a policy that keeps this low packs more before it is full.
Shapes     those of all pods of the load, the most frequent SHAPES of them.
Over time  at the edges of POINTS equal buckets, how things stand once the instant is over (not a mean: a sample); mean: over
           these.
Units      percent.
Cost       O(spans log spans) once, and O(nodes that changed * shapes * (resources + devices)) a point.
Source     Weng et al. 2023 (fragmentation gradient descent): the part of the free GPUs that a task drawn from the load is
           expected not to be able to use.
Not here   which device a pod has: pieces.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kumi.engine.model import PodShape
from kumi.engine.placement.devices import GPU
from kumi.evaluator.facts import Facts, Ints
from kumi.evaluator.pieces import Cluster
from kumi.evaluator.timeline import Floats, grid, instants

MODEL = "kumi.dev/gpu-model"
POINTS = 200
SHAPES = 100
"""of which one is drawn; the rest counts for nothing"""


@dataclass(frozen=True, slots=True)
class Fragmentation:
    """Percent at these times: of all, and by model of GPU (nodes that say none: "")."""

    at: Ints
    percent: Floats
    by_model: dict[str, Floats]

    def summary(self) -> dict[str, float] | None:
        """Its mean, peak and end; None: the cluster has no GPUs, or no job wants one."""
        if not len(self.percent):
            return None
        return {"mean": float(self.percent.mean()), "peak": float(self.percent.max()), "end": float(self.percent[-1])}


NOTHING = Fragmentation(np.empty(0, dtype=np.int64), np.empty(0), {})


def fragmentation(facts: Facts, window: tuple[int, int] | None = None, points: int = POINTS) -> Fragmentation:
    """Over this time; None: from the first arrival to the last thing that happens to a job."""
    if GPU not in facts.asked:
        return NOTHING
    shapes, weight = _load(facts)
    begin, end = window or (facts.begin_ms, facts.end_ms)
    at = instants(grid(begin, end, points))
    cluster = Cluster(facts, shapes, weight)
    model = np.array(_models(facts))
    rows = {name: np.flatnonzero(model == name) for name in sorted(set(model.tolist()))}
    total = np.zeros(len(at))
    by_model = {name: np.zeros(len(at)) for name in rows}
    for i, now in enumerate(at):
        cluster.forward(int(now))
        total[i] = _percent(cluster.lost, cluster.free)
        for name, of in rows.items():
            by_model[name][i] = _percent(cluster.lost[of], cluster.free[of])
    return Fragmentation(at, total, by_model)


def _models(facts: Facts) -> list[str]:
    """Of each node, as it was at last."""
    found = [""] * len(facts.nodes)
    for change in facts.node_changes:
        if change.node is not None:
            found[change.number] = dict(change.node.labels).get(MODEL, "")
    return found


def _percent(lost: Floats, free: Ints) -> float:
    room = float(free.sum())
    return 100.0 * max(0.0, float(lost.sum())) / room if room else 0.0


def _load(facts: Facts) -> tuple[list[PodShape], Floats]:
    """The shapes that ask for GPUs, and which part of all such pods each has."""
    many = np.zeros(len(facts.shapes), dtype=np.int64)
    for kind, jobs in zip(facts.kinds, np.bincount(facts.jobs.kind, minlength=len(facts.kinds)), strict=True):
        for shape, count in zip(kind.shapes, kind.counts, strict=True):
            many[shape] += count * int(jobs)
    many[facts.of_shapes(GPU) == 0] = 0
    chosen = [int(s) for s in np.argsort(-many, kind="stable")[:SHAPES] if many[s]]
    return [facts.shapes[s] for s in chosen], many[chosen] / many.sum()
