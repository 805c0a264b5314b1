"""NUMA aware: guaranteed pods to machines that can give them cpus of one NUMA node.

The rule, for a pod whose containers all ask for just what they are limited to (others: every node will do), by the policy
that it
names for itself (annotation volcano.sh/numa-topology-policy):
    names one       a node pins cpus, has that policy, and has cpus left to give; else nobody knows (error)
    names none      a node that doesn't pin cpus, or has no policy, takes it as it is
    then            container by container: the best hint (numa_hints.py) by the node's policy, and cpus for it
                    (numa_cpus.py); where the policy admits none, the node is out for good
    score           of those that name one: 100 * weight for the fewest NUMA nodes, cut in proportion for more; a node where
                    nothing was given counts 0 of them; nobody scores where no node gives anything
Kept              the cpus that were given are gone for the next pod, in this session.
Arguments         weight 1.
Cost              O(nodes with such facts x sets of NUMA nodes x cpus), for guaranteed pods alone.
Source            Volcano: numa-aware plug-in; Kubernetes: topology manager.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.model import NumaTopology, Pod
from kumi.engine.placement.hooks import Fit, Fits
from kumi.engine.placement.nodes import Ints, Scores
from kumi.engine.placement.plugins.numa_cpus import NO_CPUS, Cpus, cpu_hints, give, numa_nodes, reserved
from kumi.engine.placement.plugins.numa_hints import NONE, best_hint, mask_of

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework

TOP = 100


@dataclass(frozen=True, slots=True)
class NumaAware:
    """See the module."""

    weight: int = 1

    @classmethod
    def configured(cls, option: Option) -> NumaAware:
        """See hooks.Configured."""
        return cls(option.arguments.whole("weight", 1))

    def open(self, session: Framework) -> _NumaAware:
        """See hooks.Plugin."""
        return _NumaAware(self, session)


@dataclass(slots=True)
class _NumaAware:
    rule: NumaAware
    session: Framework
    given: dict[int, Cpus] = field(default_factory=dict)
    """row -> cpus that the session gave away there"""
    offers: dict[str, dict[int, Cpus]] = field(default_factory=dict)
    """task -> row -> the cpus that it would get, as it was last asked"""
    taken: dict[tuple[str, int], Cpus] = field(default_factory=dict)

    def predicate(self, task: Pod) -> Fits:
        """See hooks.Predicate."""
        nodes = self.session.nodes
        fits = np.zeros(nodes.used.shape[1], dtype=np.int8)
        if not task.shape.whole_cpus:
            return fits
        named = _named(task)
        if named:
            fits[nodes.by_name()] = Fit.ERROR
        offers: dict[int, Cpus] = {}
        for name, topology in sorted(nodes.numa.items()):
            row = nodes.row_by_name.get(name)
            if row is not None:
                fits[row] = self._ask(task, row, topology, named, offers)
        self.offers[task.uid] = offers
        return fits

    def steady(self, task: Pod) -> bool:
        """See hooks.Predicate."""
        return not task.shape.whole_cpus or not self.session.nodes.numa

    def batch_order(self, task: Pod, rows: Ints) -> Scores | None:
        """See hooks.BatchOrder."""
        offers = self.offers.get(task.uid)
        if not offers or not _named(task):
            return None
        names, numa = self.session.nodes.name_by_row(), self.session.nodes.numa
        counts = np.array(
            [_spread(numa[names[row]], offers[row]) if row in offers else 0 for row in rows.tolist()], dtype=np.int64
        )
        most = int(counts.max(initial=0))
        scores = TOP - TOP * counts // most if most else np.full(rows.size, TOP)
        return (scores * self.rule.weight).astype(np.float64)

    def seated(self, task: Pod, row: int, times: int) -> None:
        """See hooks.Seated."""
        journal = self.session.journal
        given = self.given.get(row, NO_CPUS)
        topology = self.session.nodes.numa.get(self.session.nodes.name_by_row()[row])
        if times > 0 and task.shape.whole_cpus and topology is not None:
            offer: dict[int, Cpus] = {}
            self._ask(task, row, topology, _named(task), offer)
            if cpus := offer.get(row, NO_CPUS):
                journal.put(self.given, row, given | cpus)
                journal.put(self.taken, (task.uid, row), cpus)
        elif (task.uid, row) in self.taken:
            journal.put(self.given, row, given - self.taken[task.uid, row])
            journal.drop(self.taken, (task.uid, row))

    def _ask(self, task: Pod, row: int, topology: NumaTopology, named: str, offers: dict[int, Cpus]) -> Fit:
        """What one node says; what it offers is noted."""
        free = frozenset(topology.free) - self.given.get(row, NO_CPUS)
        if named and not (topology.static and topology.policy == named and free):
            return Fit.ERROR
        if not topology.static or topology.policy in ("", NONE):
            return Fit.OK
        everything, kept = numa_nodes(topology.cpus), reserved(topology)
        offer = NO_CPUS
        for count in task.shape.whole_cpus:
            left = free - offer - kept
            hints = cpu_hints(topology.cpus, left, count) if count else None
            hint, admitted = best_hint(topology.policy, everything, [hints])
            if not admitted:
                return Fit.UNRESOLVABLE
            offer |= give(topology.cpus, left, count, hint)
        offers[row] = offer
        return Fit.OK


def _named(task: Pod) -> str:
    policy = task.member.numa_policy
    return "" if policy == NONE else policy


def _spread(topology: NumaTopology, cpus: Cpus) -> int:
    """On how many NUMA nodes they are."""
    return mask_of(cpu.numa for cpu in topology.cpus if cpu.number in cpus).bit_count()
