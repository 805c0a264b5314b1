"""Best fit: the node that has the least left once the pod is there.

The rule       score(n) = 100 * (1 - mean of (free(n, r) - s(r)) / most(r)), r in cpu and GPU, those of which some node has any;
               most(r): what the node with the most of it has
Why            what is left of a node that is nearly full is of little use to others, what is left of an empty one of much.
               Other than binpack.py, which looks at how full a node is in percent, it compares amounts: a small empty node
               goes before a large half-empty one.
Order and ties equal scores go by the nodes' names; a shared GPU is the fullest that fits (../devices.py).
Units          0 to 100; amounts in base units; memory doesn't count.
Cost           O(nodes).
Source         "Beware of Fragmentation" (USENIX ATC 2023): the best-fit policy, each of the two with half the weight.
Not here       the opposite: nodeorder.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.devices import GPU
from kumi.engine.placement.nodes import Ints, Nodes, Scores
from kumi.engine.placement.plugins.loads import Seen
from kumi.engine.placement.plugins.ordering import Ordering

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework

COUNTED = ("cpu", GPU)


@dataclass(frozen=True, slots=True)
class BestFit:
    """See the module."""

    @classmethod
    def configured(cls, option: Option) -> BestFit:
        """See hooks.Configured: it has no arguments."""
        return cls()

    def open(self, session: Framework) -> Ordering:
        """See hooks.Plugin."""
        return Ordering(self, session)

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """See the module, were placed[i] more such pods on row i. `seen`: what is used of a line."""
        asked, parts = dict(pod.shape.requests), list[Scores]()
        for resource in COUNTED:
            line = nodes.line_by_resource.get(resource)
            most = nodes.largest(line) if line is not None else 0
            if line is None or not most:
                continue
            left = nodes.allocatable[line, rows] - seen(line, rows) - (placed + 1) * asked.get(resource, 0)
            parts.append(left / most)
        if not parts:
            return np.zeros(rows.size, dtype=np.float64)
        answer: Scores = 100.0 * (1.0 - sum(parts[1:], parts[0]) / len(parts))
        return answer
