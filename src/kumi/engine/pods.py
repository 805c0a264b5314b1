"""Pods: which are known, where they sit, and which wait for a node.

The rule       a pod sits on the node that its object names, or that a Bind names which is assumed. One that has finished
               sits nowhere. One that is gated or on its way out waits for nothing.
Why            pods are charged once: on their node, and against the places that their workload was promised.
Order and ties pods on their own: higher priority, earlier, smaller key, smaller uid.
Cost           O(log n) a pod on its own, else O(1).
Not here       what a node is charged: state.py; the gang: placement/session.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from kumi.engine.journal import Journal
from kumi.engine.model import Pod

Turn: TypeAlias = tuple[int, int, str, str]
"""(-priority, created_ms, key, uid)"""


class Pods:
    """All pods by uid."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.by_uid: dict[str, Pod] = {}
        self.node_of: dict[str, str] = {}
        """of unfinished pods that sit somewhere"""
        self.on_node: dict[str, dict[str, None]] = {}
        self.of_workload: dict[str, dict[str, None]] = {}
        self.alone: list[Turn] = []
        """pods without a workload or a pod group that wait for a node"""

    def put(self, pod: Pod, node: str) -> None:
        """The pod is known, and sits on that node ("": nowhere)."""
        self._journal.put(self.by_uid, pod.uid, pod)
        if pod.workload:
            self._member(self.of_workload, pod.workload, pod.uid)
        elif not node and waits(pod) and not pod.member.group:
            self._journal.insert(self.alone, turn(pod))
        if node:
            self._journal.put(self.node_of, pod.uid, node)
            self._member(self.on_node, node, pod.uid)

    def seat_run(self, pods: Sequence[Pod], nodes: Sequence[str]) -> None:
        """Known pods of gangs that sat nowhere sit there now, each on its node."""
        seats = {pod.uid: node for pod, node in zip(pods, nodes, strict=True)}
        self._journal.put_many(self.node_of, seats)
        for uid, node in seats.items():
            self._member(self.on_node, node, uid)

    def drop(self, uid: str) -> None:
        """The pod is not known any more."""
        pod = self.by_uid[uid]
        self._journal.drop(self.by_uid, uid)
        self._leave(self.of_workload, pod.workload, uid)
        self._leave(self.on_node, self.node_of.get(uid, ""), uid)
        self._journal.drop(self.node_of, uid)
        self._journal.discard(self.alone, turn(pod))

    def of(self, workload: str) -> list[Pod]:
        """The workload's pods, by uid."""
        return [self.by_uid[uid] for uid in sorted(self.of_workload.get(workload, ()))]

    def _member(self, table: dict[str, dict[str, None]], key: str, member: str) -> None:
        if key not in table:
            self._journal.put(table, key, {})
        self._journal.put(table[key], member, None)

    def _leave(self, table: dict[str, dict[str, None]], key: str, member: str) -> None:
        if key in table and member in table[key]:
            self._journal.drop(table[key], member)
            if not table[key]:
                self._journal.drop(table, key)


def waits(pod: Pod) -> bool:
    """Does it want a node, if it has none?"""
    return not (pod.finished or pod.gated or pod.terminating)


def turn(pod: Pod) -> Turn:
    """Its place among pods on their own."""
    return (-pod.priority, pod.created_ms, pod.key, pod.uid)


def charged(pod: Pod, node: str) -> tuple[object, ...]:
    """All of a pod that sits on that node ("": nowhere) by which nodes, promises and holders are charged."""
    taken = (node, pod.shape.requests, pod.workload, pod.pod_set)
    return (*taken, pod.priority, pod.terminating, pod.node if pod.finished else "")
