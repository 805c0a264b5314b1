"""Fewest free: the node with the fewest free GPUs that still has enough, then the one with the least free cpu.

The rule       the node with the smallest free(n, GPU); of these the one with the smallest free(n, cpu), both before the pod comes
               score(n) = 100 * (1 - (free(n, GPU) + free(n, cpu) / (most cpu + 1)) / (most GPU + 1)), most: of any node
Why            GPUs are what runs out. A pod of one GPU goes to the node with just one, and the nodes of eight stay whole for pods
               of three and five.
Order and ties equal scores go by the nodes' names.
Units          0 to 100; thousandths of a GPU and of a core, so that cpu never outweighs a thousandth of a GPU.
Cost           O(nodes).
Source         The bin-packing story of kube-scheduler-evaluator.
Not here       amounts of both weighed against each other: best_fit.py.
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


@dataclass(frozen=True, slots=True)
class FewestFree:
    """See the module."""

    @classmethod
    def configured(cls, option: Option) -> FewestFree:
        """See hooks.Configured: it has no arguments."""
        return cls()

    def open(self, session: Framework) -> Ordering:
        """See hooks.Plugin."""
        return Ordering(self, session)

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """See the module, were placed[i] more such pods on row i. `seen`: what is used of a line."""
        gpus, most_gpus = _free(nodes, seen, pod, GPU, rows, placed)
        cpu, most_cpu = _free(nodes, seen, pod, "cpu", rows, placed)
        answer: Scores = 100.0 * (1.0 - (gpus + cpu / (most_cpu + 1)) / (most_gpus + 1))
        return answer


def _free(nodes: Nodes, seen: Seen, pod: Pod, resource: str, rows: Ints, placed: Ints) -> tuple[Ints, int]:
    """What is free of it, and the most that a node has."""
    line = nodes.line_by_resource.get(resource)
    if line is None:
        return np.zeros(rows.size, dtype=np.int64), 0
    asked = dict(pod.shape.requests).get(resource, 0)
    free: Ints = nodes.allocatable[line, rows] - seen(line, rows) - placed * asked
    return np.maximum(free, 0), int(nodes.allocatable[line].max(initial=0))
