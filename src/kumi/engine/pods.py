"""Pods: which are known, where they sit, and which wait for a node.

The rule       a pod sits on the node that its object names, or that a Bind names which is assumed. One that has finished
               sits nowhere. One that is gated or on its way out waits for nothing.
Why            pods are charged once: on their node, and against the places that their workload was promised.
Cost           O(log n) a pod on its own, else O(1).
Not here       what a node is charged: state.py; the gang: placement/session.py; the line of those on their own: waiting.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.engine.ends import Ends
from kumi.engine.journal import Journal
from kumi.engine.model import Pod, Profile
from kumi.engine.placement.nodes import Nodes
from kumi.engine.settings import Discipline, QueueOrder
from kumi.engine.shares import Shares
from kumi.engine.waiting import Turn, Waiting

KEEPS = (Discipline.EASY, Discipline.CONSERVATIVE)
"""the lines that keep reservations"""


class Pods:
    """All pods by uid. `waiting`: the line of those without a workload or a pod group that wait for a node. `shares`: what
    namespaces hold, `ends`: when pods are expected to end; None where no rule asks."""

    def __init__(
        self, journal: Journal, waiting: Waiting | None = None, shares: Shares | None = None, ends: Ends | None = None
    ) -> None:
        self._journal = journal
        self.waiting = waiting or Waiting(journal)
        self.shares, self.ends = shares, ends
        self.by_uid: dict[str, Pod] = {}
        self.node_of: dict[str, str] = {}
        """of unfinished pods that sit somewhere"""
        self.on_node: dict[str, dict[str, None]] = {}
        self.of_workload: dict[str, dict[str, None]] = {}

    @property
    def alone(self) -> list[Turn]:
        """The line of those on their own."""
        return self.waiting.line

    def put(self, pod: Pod, node: str) -> None:
        """The pod is so now, and sits on that node ("": nowhere), whatever was known of it before."""
        uid = pod.uid
        old, was = self.by_uid.get(uid), self.node_of.get(uid, "")
        self._journal.put(self.by_uid, uid, pod)
        if old is not None and old.workload != pod.workload:
            self._leave(self.of_workload, old.workload, uid)
        if pod.workload and (old is None or old.workload != pod.workload):
            self._member(self.of_workload, pod.workload, uid)
        if was:
            self._seat(old or pod, -1)
        if was != node:
            self._move(uid, was, node)
        if node:
            self._seat(pod, 1)
        if old is not None and _in_line(old, was):
            self.waiting.leave(old)
        if _in_line(pod, node):
            self.waiting.enter(pod)

    def seat_run(self, pods: Sequence[Pod], nodes: Sequence[str]) -> None:
        """Known pods of gangs that sat nowhere sit there now, each on its node."""
        seats = {pod.uid: node for pod, node in zip(pods, nodes, strict=True)}
        self._journal.put_many(self.node_of, seats)
        for uid, node in seats.items():
            self._member(self.on_node, node, uid)
        if self.shares is not None or self.ends is not None:
            for pod in pods:
                self._seat(pod, 1)

    def drop(self, uid: str) -> None:
        """The pod is not known any more."""
        pod = self.by_uid[uid]
        if uid in self.node_of:
            self._seat(pod, -1)
        was = self.node_of.get(uid, "")
        self._journal.drop(self.by_uid, uid)
        self._leave(self.of_workload, pod.workload, uid)
        self._move(uid, was, "")
        if _in_line(pod, was):
            self.waiting.leave(pod)

    def of(self, workload: str) -> list[Pod]:
        """The workload's pods, by uid."""
        return [self.by_uid[uid] for uid in sorted(self.of_workload.get(workload, ()))]

    def _seat(self, pod: Pod, times: int) -> None:
        """The pod holds a node now; -1: not any more."""
        if self.shares is not None:
            self.shares.seat(pod.namespace, pod.shape.requests, times)
        if self.ends is not None:
            self.ends.seat(pod, times)

    def _move(self, uid: str, was: str, node: str) -> None:
        self._leave(self.on_node, was, uid)
        if node:
            self._journal.put(self.node_of, uid, node)
            self._member(self.on_node, node, uid)
        else:
            self._journal.drop(self.node_of, uid)

    def _member(self, table: dict[str, dict[str, None]], key: str, member: str) -> None:
        if key not in table:
            self._journal.put(table, key, {})
        self._journal.put(table[key], member, None)

    def _leave(self, table: dict[str, dict[str, None]], key: str, member: str) -> None:
        if key in table and member in table[key]:
            self._journal.drop(table[key], member)
            if not table[key]:
                self._journal.drop(table, key)


def pods_for(journal: Journal, nodes: Nodes, profile: Profile) -> Pods:
    """No pods, and what the profile's rules ask of them."""
    order = profile.settings.order
    keeps = profile.settings.line in KEEPS or any(line.value in profile.conf.actions for line in KEEPS)
    shares = Shares(journal, nodes) if order is QueueOrder.FAIR else None
    return Pods(journal, Waiting(journal, order, shares), shares, Ends(journal) if keeps else None)


def waits(pod: Pod) -> bool:
    """Does it want a node, if it has none?"""
    return not (pod.finished or pod.gated or pod.terminating)


def _in_line(pod: Pod, node: str) -> bool:
    """Does a pod that sits on that node ("": nowhere) wait in the line?"""
    return not (node or pod.workload or pod.member.group) and waits(pod)


def charged(pod: Pod) -> tuple[object, ...]:
    """All of a pod, where it sits aside, by which nodes, promises and holders are charged."""
    taken = (pod.shape.requests, pod.shape.share, pod.devices, pod.workload, pod.pod_set)
    return (*taken, pod.priority, pod.terminating, pod.node if pod.finished else "")
