"""Binpack: fill nodes that are used already, so that whole nodes stay free for what needs them.

The rule       score(n) = 100 * weight * sum of w(r) * (used(n, r) + s(r)) / allocatable(n, r) over the sum of w(r), for the
               resources that the pod asks for and that have a weight; 0 where one of them would not fit
Weights        binpack.cpu, binpack.memory and binpack.resources.<name> of those that binpack.resources lists, each 1;
               binpack.weight of all. Without arguments of a scheduler's file every resource asked for weighs 1.
Why            a gang of eight GPUs needs a node on which nobody left one pod behind.
Order and ties equal scores go by the nodes' names.
Units          0 to 100 times the weight; `pods` doesn't count, nor does a resource that nobody asked for.
Cost           O(resources asked x nodes).
Source         Volcano: binpack plug-in; Kubernetes: the MostAllocated strategy.
Not here       the opposite: nodeorder.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.nodes import NOWHERE, PODS, Ints, Nodes, Scores
from kumi.engine.placement.plugins.loads import Seen
from kumi.engine.placement.plugins.ordering import Ordering

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework

LISTED = "binpack.resources"


@dataclass(frozen=True, slots=True)
class Binpack:
    """The fullest node that fits is best. `weights` None: of everything that is asked for, 1."""

    weight: int = 1
    weights: tuple[tuple[str, int], ...] | None = None

    @classmethod
    def configured(cls, option: Option) -> Binpack:
        """See hooks.Configured."""
        arguments = option.arguments
        weights = {
            "cpu": _weight(arguments.whole("binpack.cpu", 1)),
            "memory": _weight(arguments.whole("binpack.memory", 1)),
        }
        for name in (n.strip() for n in arguments.text(LISTED).split(",")):
            if name:
                weights[name] = _weight(arguments.whole(f"{LISTED}.{name}", 1))
        return cls(arguments.whole("binpack.weight", 1), tuple(weights.items()))

    def open(self, session: Framework) -> Ordering:
        """See hooks.Plugin."""
        return Ordering(self, session)

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """See the module, were placed[i] more such pods on row i. `seen`: what is used, of a column of lines."""
        key = (Binpack, self.weights, pod.shape.requests, nodes.table_stamp)
        lines, starts, amounts, weights, known = nodes.cached(key, lambda: self._counted(nodes, pod))
        if not lines.size:
            return np.zeros(rows.size, dtype=np.float64)
        have = nodes.allocatable.take(starts + rows)  # of few rows this is quicker than to ask for lines and rows
        used = seen(lines, rows) + (placed + 1) * amounts
        over = used > have
        if weights is not None:
            used *= weights
        if np.count_nonzero(have) == have.size:
            parts = used / have
        else:
            there = have > 0
            over &= there
            parts = used / np.maximum(have, 1) * there
        scores: Scores = np.add.reduce(parts) / known
        if np.count_nonzero(over):
            scores[np.logical_or.reduce(over)] = 0.0
        scores *= 100 * self.weight
        return scores

    def _counted(self, nodes: Nodes, pod: Pod) -> tuple[Ints, Ints, Ints, Ints | None, int]:
        """Columns of the line, its place in the table were it flat, amount and weight (None: 1 each) of what counts and is
        somewhere; the sum of the weights of all that counts."""
        weights = dict(self.weights) if self.weights is not None else None
        counted, known = [], 0
        for resource, amount in pod.shape.requests:
            weight = weights.get(resource, 0) if weights is not None else 1
            if amount and resource != PODS:
                known += weight
                line = nodes.line_by_resource.get(resource, NOWHERE)
                if line != NOWHERE and weight:
                    counted.append((line, amount, weight))
        lines, amounts, factors = np.array(counted, dtype=np.int64).reshape(-1, 3).T[:, :, None]
        starts = lines * nodes.used.shape[1]
        return lines, starts, amounts, factors if (factors != 1).any() else None, known


def _weight(written: int) -> int:
    """A weight below nothing counts as 1."""
    return written if written >= 0 else 1
