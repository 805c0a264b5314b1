"""Nominations: places for which others are leaving, kept for the pods on their own that they were cleared for.

The rule   a nominated place counts as promised (nodes.pipelined) to everybody else, whatever their priority, until its pod is
           bound, goes, or finds out that the place is no longer good (preempting.py), or the node goes
           a pod that says on its own object for which node it was nominated is so, unless it was decided otherwise since
Why        somebody was evicted for it: that would be in vain were the place taken before the pod gets it.
Cost       O(resources) a change.
Source     Kubernetes: status.nominatedNodeName. There only pods of no higher priority heed it.
"""

from __future__ import annotations

import numpy as np

from kumi.engine.journal import Journal
from kumi.engine.model import Pod
from kumi.engine.placement.nodes import NOWHERE, Mask, Nodes
from kumi.engine.pods import waits


class Nominations:
    """Pod uid -> node."""

    def __init__(self, journal: Journal, nodes: Nodes) -> None:
        self._journal, self._nodes = journal, nodes
        self.node_of: dict[str, str] = {}
        self._pods: dict[str, Pod] = {}
        """as they are charged"""
        self._seen = 0
        """the nodes' `changed` when they were last looked at"""

    def put(self, pod: Pod, node: str) -> None:
        """The place is kept for the pod, and no other one. A node that can't have it is passed over."""
        self.drop(pod.uid)
        if node not in self._nodes.row_by_name:
            return
        asked = self._nodes.asked(pod.shape.requests)
        if any(line == NOWHERE for line, _ in asked):
            return
        self._nodes.pipeline(node, pod.shape.requests, 1)
        self._nodes.devices.seat(pod.uid, pod.shape, self._nodes.row_by_name[node], promised=True)
        self._journal.put(self.node_of, pod.uid, node)
        self._journal.put(self._pods, pod.uid, pod)

    def drop(self, uid: str) -> None:
        """No place is kept for the pod any more."""
        if uid in self.node_of:
            self._nodes.pipeline(self.node_of[uid], self._pods[uid].shape.requests, -1)
            self._nodes.devices.unseat(uid)
            self._journal.drop_all(uid, self.node_of, self._pods)

    def stirred(self) -> list[str]:
        """Those on whose node something happened since this was last asked, in the order of their uids: it gained room, or is
        something else, or has less than was promised."""
        nodes = self._nodes
        over: Mask | None = None
        if self.node_of:
            over = np.any(nodes.used - nodes.releasing + nodes.pipelined > nodes.allocatable, axis=0)
        found = []
        for uid, name in sorted(self.node_of.items()):
            row = nodes.row_by_name[name]
            if nodes.gained[row] > self._seen or (over is not None and over[row]):
                found.append(uid)
        self._journal.swap(self, "_seen", nodes.changed)
        return found

    def meet(self, pod: Pod, node: str, known: Pod | None) -> None:
        """The pod is so now, on that node ("": none)."""
        if node or not waits(pod) or pod.workload or pod.member.group:
            self.drop(pod.uid)
        elif known is None or known.shape != pod.shape:
            self.put(pod, self.node_of.get(pod.uid, pod.member.nominated))

    def clear(self, node: str) -> None:
        """The node goes."""
        for uid in [uid for uid, name in self.node_of.items() if name == node]:
            self.drop(uid)
