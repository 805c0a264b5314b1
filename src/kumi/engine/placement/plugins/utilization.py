"""Utilization: the node of which the most is used already.

The rule       score(n) = 100 * mean of used(n, r) / allocatable(n, r) over the resources r that the pod asks for, before it
               comes; a resource of which n has none isn't counted
Why            it is what many look at first: full nodes stay full, empty ones stay empty. It looks at how much is used, not at
               what is left, so a small pod goes to a large node that is half full before a small one that it would fill;
               fewest_free.py is the answer.
Order and ties equal scores go by the nodes' names.
Units          0 to 100; `pods` doesn't count.
Cost           O(resources asked x nodes).
Source         The bin-packing story of kube-scheduler-evaluator.
Not here       with the pod counted in, and weights: binpack.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.nodes import PODS, Ints, Nodes, Scores
from kumi.engine.placement.plugins.loads import Seen
from kumi.engine.placement.plugins.ordering import Ordering

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework


@dataclass(frozen=True, slots=True)
class Utilization:
    """See the module."""

    @classmethod
    def configured(cls, option: Option) -> Utilization:
        """See hooks.Configured: it has no arguments."""
        return cls()

    def open(self, session: Framework) -> Ordering:
        """See hooks.Plugin."""
        return Ordering(self, session)

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """See the module, were placed[i] more such pods on row i. `seen`: what is used of a line."""
        total, counted = np.zeros(rows.size, dtype=np.float64), np.zeros(rows.size, dtype=np.int64)
        for resource, amount in pod.shape.requests:
            line = nodes.line_by_resource.get(resource)
            if not amount or resource == PODS or line is None:
                continue
            have = nodes.allocatable[line, rows]
            total += (seen(line, rows) + placed * amount) / np.maximum(have, 1) * (have > 0)
            counted += have > 0
        answer: Scores = 100.0 * total / np.maximum(counted, 1)
        return answer
