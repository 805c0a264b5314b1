"""Node order: the scores of the Kubernetes scheduler, each times a weight.

The rule       the sum of weight * score over
                   leastrequested 1, mostrequested 0, balancedresource 1     loads.py
                   nodeaffinity 2, tainttoleration 3, imagelocality 1        preferences.py
                   podaffinity 2                                             pod_affinity.py
                   podtopologyspread 2                                       spread.py
               argument `<name>.weight`, a whole number; 0 turns one off
Why            each says something else of a node: how full, how wanted, how near to whom.
Taints         that score is 100 less something: the 100 counts with the load, so where no node has such taints nodes need not be
               compared
Order and ties equal scores go by the nodes' names.
Units          every score is a whole number from 0 to 100.
Cost           O(nodes) a score.
Source         Volcano: nodeorder plug-in; Kubernetes: scoring plug-ins.
Not here       the opposite: binpack.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.nodes import Ints, Nodes, Scores
from kumi.engine.placement.plugins import loads, pod_affinity, preferences, spread

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework


@dataclass(frozen=True, slots=True)
class NodeOrder:
    """The weights; see the module."""

    least: int = 1
    most: int = 0
    balanced: int = 1
    affinity: int = 2
    taints: int = 3
    images: int = 1
    pods: int = 2
    spread: int = 2

    @classmethod
    def configured(cls, option: Option) -> NodeOrder:
        """See hooks.Configured."""
        weight = option.arguments.whole
        return cls(
            least=weight("leastrequested.weight", 1),
            most=weight("mostrequested.weight", 0),
            balanced=weight("balancedresource.weight", 1),
            affinity=weight("nodeaffinity.weight", 2),
            taints=weight("tainttoleration.weight", 3),
            images=weight("imagelocality.weight", 1),
            pods=weight("podaffinity.weight", 2),
            spread=weight("podtopologyspread.weight", 2),
        )

    def open(self, session: Framework) -> _NodeOrder:
        """See hooks.Plugin."""
        return _NodeOrder(self, session)

    def by_load(self, nodes: Nodes, seen: loads.Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """What nodes get by what is on them, were placed[i] more such pods on row i; with what all get for their taints."""
        total = np.full(rows.size, self.taints * preferences.TOP, dtype=np.float64)
        found: dict[int, Ints] = {}

        def once(line: int, rows: Ints) -> Ints:
            if line not in found:
                found[line] = seen(line, rows)
            return found[line]

        for weight, score in ((self.least, loads.least), (self.most, loads.most), (self.balanced, loads.balanced)):
            if weight:
                total += weight * score(nodes, once, pod.shape, rows, placed)
        return total

    def by_image(self, nodes: Nodes, pod: Pod, rows: Ints) -> Scores:
        """What they get for the images that they have."""
        total = np.zeros(rows.size, dtype=np.float64)
        found = preferences.images(nodes, pod.shape, rows) if self.images else None
        return total if found is None else total + self.images * found

    def by_wish(self, nodes: Nodes, pod: Pod, rows: Ints) -> Scores | None:
        """What the nodes of `rows` get, compared with each other, by what pods would like; None: they are alike."""
        if self.is_silent(nodes, pod) and not nodes.residents.heeds(pod):
            return None
        total: Scores | None = None
        for weight, score in (
            (self.affinity, preferences.node_affinity(nodes, pod.shape, rows)),
            (self.taints, preferences.taints(nodes, pod.shape, rows)),
            (self.pods, pod_affinity.scores(nodes, pod, rows)),
            (self.spread, spread.scores(nodes, pod, rows)),
        ):
            if weight and score is not None:
                total = np.zeros(rows.size, dtype=np.float64) if total is None else total
                total += weight * score
        return total

    def is_steady(self, nodes: Nodes, pod: Pod) -> bool:
        """Does placing one such pod leave what the other nodes get?"""
        pods = not self.pods or pod_affinity.is_score_steady(nodes, pod)
        return pods and (not self.spread or spread.is_steady(nodes, pod, hard=False))

    def is_silent(self, nodes: Nodes, pod: Pod) -> bool:
        """Is there nothing that a pod of this shape, which no term of others means, would like of nodes, images aside?"""
        shape = pod.shape
        if shape.preferred or shape.neighbours is not None:
            return False
        return not self.taints or not preferences.is_advised(nodes, shape)


@dataclass(frozen=True, slots=True)
class _NodeOrder:
    weights: NodeOrder
    session: Framework

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """See hooks.NodeOrder."""
        return self.weights.by_image(self.session.nodes, task, rows)

    def load_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """See hooks.LoadOrder."""
        counted = placed if self.session.follows else np.zeros_like(placed)
        return self.weights.by_load(self.session.nodes, self.session.seen, task, rows, counted)

    def batch_order(self, task: Pod, rows: Ints) -> Scores | None:
        """See hooks.BatchOrder."""
        return self.weights.by_wish(self.session.nodes, task, rows)

    def steady(self, task: Pod) -> bool:
        """See hooks.BatchOrder."""
        return self.weights.is_steady(self.session.nodes, task)
