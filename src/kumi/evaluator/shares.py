"""Shares: how the cluster is divided among tenants, and how fair that is.

The rule, for a tenant t at a time:
    had(t)            its dominant share: of all resources the greatest of what its pods hold / capacity
    wanted(t)         the same of what its jobs ask for that are there, running or waiting, at most 1
    served(t)         over a time: the area of had(t) / the area of wanted(t), at most 1; tenants that want nothing have none
    jain_fairness     Jain's index of served(t), over the tenants that want anything, over the whole run; none, where nobody does
    jain of shares    Jain's index of the mean of had(t), the same tenants
Why        who asks for little gets little, and that is fair; so what counts is which part of its wishes each was served while it
           had them. All wait alike or nobody waits: 1. One is served and n - 1 are not: 1/n. A tenant that floods the queue wants
           at most the whole cluster, so that being refused the rest does not make it poor.
Tenant     as the load says; else the namespace.
Over time  on the buckets of timeline.grid: each resource's mean in the bucket, and of these the greatest; areas are sums over
           the buckets. Tenants beyond MOST by what they had in all are one, "others", which is
           the sum of theirs, and is in no index (all of them are).
Units      shares as fractions of 1.
Source     Ghodsi et al. 2011: dominant resource fairness. Jain, Chiu, Hawe 1984.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kumi.evaluator.facts import Facts, Ints
from kumi.evaluator.metrics import capacity, jain
from kumi.evaluator.timeline import Floats, held

MOST = 12
"""tenants that have a line of their own"""


@dataclass(frozen=True, slots=True)
class Shares:
    """Tables (tenants, buckets) of means, tenants in the order of Facts.tenants; `edges` of the buckets."""

    edges: Ints
    had: Floats
    wanted: Floats

    @property
    def served(self) -> Floats:
        """Over the whole time, a tenant; NaN: it wanted nothing."""
        return _ratio(self._area(self.had), self._area(self.wanted))

    @property
    def mean(self) -> Floats:
        """Of the dominant share, a tenant."""
        width = float(np.diff(self.edges).sum())
        return self._area(self.had) / width if width else self.had[:, -1]

    @property
    def fairness(self) -> float | None:
        """Jain's index of what each was served; None: nobody wanted anything."""
        return self._index(self.served)

    @property
    def share_fairness(self) -> float | None:
        """Jain's index of what each had; None: nobody wanted anything."""
        return self._index(self.mean)

    def fairness_over_time(self) -> Floats:
        """Jain's index in each bucket; NaN where nobody wants anything."""
        served = _ratio(self.had, self.wanted)
        return np.array([jain(b[~np.isnan(b)]) if (~np.isnan(b)).any() else np.nan for b in served.T])

    def _index(self, values: Floats) -> float | None:
        wants = ~np.isnan(self.served)
        return jain(values[wants]) if wants.any() else None

    def _area(self, table: Floats) -> Floats:
        width = np.diff(self.edges).astype(np.float64)
        return table @ width if width.any() else table[:, -1].copy()


def _ratio(had: Floats, wanted: Floats) -> Floats:
    return np.minimum(1.0, np.divide(had, wanted, out=np.full_like(had, np.nan), where=wanted > 0))


def shares(facts: Facts, edges: Ints) -> Shares:
    """How the tenants stand in each bucket."""
    jobs, spans, tenants = facts.jobs, facts.spans, len(facts.tenants)
    had, wanted = (np.zeros((tenants, len(edges) - 1)) for _ in range(2))
    span_rows, job_rows = rows_of(jobs.tenant[spans.job], tenants), rows_of(jobs.tenant, tenants)
    for resource in facts.asked:
        room = capacity(facts, resource).means(edges)
        pod, whole = facts.of_shapes(resource)[spans.shape], facts.of_kinds(resource)[jobs.kind]
        for tenant in range(tenants):
            of, by = span_rows[tenant], job_rows[tenant]
            for table, found in (
                (had, held(spans.at[of], spans.to[of], pod[of])),
                (wanted, held(jobs.arrival[by], jobs.end[by], whole[by])),
            ):
                part = np.divide(found.means(edges), room, out=np.zeros(len(edges) - 1), where=room > 0)
                np.maximum(table[tenant], part, out=table[tenant])
    return Shares(edges, had, np.minimum(wanted, 1.0))


def rows_of(group: NDArray[np.int32], groups: int) -> list[Ints]:
    """Of each group, in order. `group`: a number each row."""
    order = np.argsort(group, kind="stable")
    return [np.sort(rows) for rows in np.split(order, np.searchsorted(group[order], np.arange(1, groups)))]


def leading(table: Shares, names: tuple[str, ...]) -> list[tuple[str, Floats]]:
    """The dominant shares over time that are drawn: the tenants that had most, and the others together."""
    order = np.argsort(-table.mean, kind="stable")
    found = [(names[t], table.had[t]) for t in order[:MOST]]
    rest = order[MOST:]
    return [*found, ("others", table.had[rest].sum(axis=0))] if len(rest) else found
