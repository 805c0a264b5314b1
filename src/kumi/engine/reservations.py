"""Reservations: what an admission has promised, until its pods are bound.

The rule, for a pod set of a workload that holds an admission, n promised places and b bound pods on a node:
    open(node)    = max(0, n - b), less the surplus where there is any
    surplus       = sum over all nodes of max(0, b - n): pods that somebody bound past what was promised there; each takes one
                    open place of its pod set, the earliest promised first
    a node is charged with its bound pods, and with the pod set's shape for every open place: max(n, b) pods, each once
A pod that ends gives its place back; it stays promised until the workload finishes, is removed or loses its admission.
Lost          a promised place on a node that is gone or not ready is lost when a pod sits on it, or when it is open and
              nobody has used it yet (more open places than ended pods). A place that a pod has ended on is lost when
              another pod asks for it (placement/session.py).
Why           a function of counts, not of the order in which pods were seen: a restart finds the same.
Order and ties  places in the order in which they were promised: the order of pod indices.
Units         pods; requests in base units.
Cost          O(1) a pod that comes or goes, O(nodes of the pod set) while there is a surplus.
Source        Kumi's own; Kueue writes the same promise as a topology assignment down to the host name (KEP-2724).
Not here      who decides the places: placement/gang.py; quota: holdings.py.
"""

from __future__ import annotations

from typing import TypeAlias

from kumi.engine.journal import Journal
from kumi.engine.model import Admission, Pod, Workload
from kumi.engine.placement.devices import place_holder
from kumi.engine.placement.nodes import Nodes, Requests
from kumi.engine.placement.one_of import one_of

Slots: TypeAlias = tuple[str, str]
"""(workload, pod set)"""


class Reservations:
    """Promised places and how many of them are open; charges the nodes with the open ones."""

    def __init__(self, journal: Journal, nodes: Nodes) -> None:
        self._journal, self._nodes = journal, nodes
        self.promised: dict[Slots, dict[str, int]] = {}
        """node -> places, in the order of pod indices; the inner table is never changed"""
        self.requests: dict[Slots, Requests] = {}
        self._stand_ins: dict[Slots, Pod] = {}
        """what sits in an open place, to those who look at pods"""
        self.open: dict[Slots, dict[str, int]] = {}
        self.surplus: dict[Slots, int] = {}
        self.bound: dict[Slots, dict[str, int]] = {}
        """unfinished pods on nodes, whether anything is promised or not"""
        self.ended: dict[Slots, dict[str, int]] = {}
        """finished pods that are still known, on the nodes where they ran"""
        self.on_node: dict[str, dict[Slots, None]] = {}
        """which pod sets have something promised on a node"""

    def promise(self, workload: Workload, admission: Admission) -> None:
        """From now on these places are kept. Pods that sit on nodes already take theirs."""
        shapes = {s.name: s.shape.requests for s in workload.pod_sets}
        stand_ins = {s.name: one_of(s) for s in workload.pod_sets}
        for given in admission.pod_sets:
            if not given.nodes:
                continue
            slots = (workload.key, given.name)
            each = tuple((r, amount // max(1, given.count)) for r, amount in given.usage)
            self._journal.put(self.promised, slots, _merged(given.nodes))
            self._journal.put(self.requests, slots, shapes.get(given.name, each))
            self._journal.put(self.open, slots, {})
            if given.name in stand_ins:
                self._journal.put(self._stand_ins, slots, stand_ins[given.name])
                self._nodes.residents.meet(stand_ins[given.name])
            for node in self.promised[slots]:
                if node not in self.on_node:
                    self._journal.put(self.on_node, node, {})
                self._journal.put(self.on_node[node], slots, None)
            self._respread(slots)

    def release(self, workload: str, admission: Admission) -> None:
        """Nothing is promised any more; pods that run keep their room until they end."""
        for given in admission.pod_sets:
            slots = (workload, given.name)
            for node in self.promised.get(slots, ()):
                self._set_open(slots, node, 0)
                self._journal.drop(self.on_node[node], slots)
                if not self.on_node[node]:
                    self._journal.drop(self.on_node, node)
            if slots in self._stand_ins:
                self._nodes.residents.meet(self._stand_ins[slots], -1)
            self._journal.drop_all(slots, self.promised, self.requests, self.open, self.surplus, self._stand_ins)

    def seat(self, slots: Slots, node: str, pods: int) -> None:
        """So many more unfinished pods of the pod set sit on the node (negative: fewer)."""
        before = self.bound.get(slots, {}).get(node, 0)
        self._count(self.bound, slots, node, before + pods)
        if slots not in self.promised:
            return
        n = self.promised[slots].get(node, 0)
        if self.surplus.get(slots) or max(before, before + pods) > n:
            self._respread(slots)
        else:
            self._set_open(slots, node, n - before - pods)

    def end(self, slots: Slots, node: str, pods: int) -> None:
        """So many more finished pods of the pod set are known on the node (negative: fewer)."""
        self._count(self.ended, slots, node, self.ended.get(slots, {}).get(node, 0) + pods)

    def charge(self, node: str) -> None:
        """Charges a row that is new with the places that are open there."""
        for slots in self.on_node.get(node, ()):
            self._use(slots, node, 0, self.open[slots].get(node, 0))

    def open_places(self, slots: Slots) -> list[tuple[str, int]]:
        """The open places, in the order in which they were promised."""
        table = self.open.get(slots, {})
        return [(node, table[node]) for node in self.promised.get(slots, ()) if table.get(node)]

    def place_of(self, slots: Slots, index: int) -> str:
        """The node that was promised to the pod with that number; "" where none was."""
        for node, n in self.promised.get(slots, {}).items():
            if index < n:
                return node
            index -= n
        return ""

    def lost_node(self, workload: Workload, admission: Admission) -> str:
        """The first node on which something that was promised is lost; "" where nothing is."""
        for given in admission.pod_sets:
            slots = (workload.key, given.name)
            bound, ended = self.bound.get(slots, {}), self.ended.get(slots, {})
            nodes = dict.fromkeys(self.promised.get(slots, ()))
            nodes.update(dict.fromkeys(sorted(bound)) if given.nodes else {})
            for node in nodes:
                fresh = self.open.get(slots, {}).get(node, 0) - ended.get(node, 0)
                if (bound.get(node, 0) > 0 or fresh > 0) and not self._nodes.taking(node):
                    return node
        return ""

    def _respread(self, slots: Slots) -> None:
        bound = self.bound.get(slots, {})
        promised = self.promised[slots]
        surplus = sum(max(0, b - promised.get(node, 0)) for node, b in bound.items())
        if surplus:
            self._journal.put(self.surplus, slots, surplus)
        else:
            self._journal.drop(self.surplus, slots)
        for node, n in promised.items():
            free = max(0, n - bound.get(node, 0))
            taken = min(free, surplus)
            surplus -= taken
            self._set_open(slots, node, free - taken)

    def _set_open(self, slots: Slots, node: str, places: int) -> None:
        table = self.open[slots]
        before = table.get(node, 0)
        if places == before:
            return
        self._use(slots, node, before, places)
        if places:
            self._journal.put(table, node, places)
        else:
            self._journal.drop(table, node)

    def devices_for(self, pod: Pod, node: str) -> tuple[int, ...]:
        """Of a pod that takes an open place there, and shares no more of a device than was promised: the device that was thought
        of for it; () for others."""
        slots = (pod.workload, pod.pod_set)
        stand_in = self._stand_ins.get(slots)
        if stand_in is None or not 0 < pod.shape.share <= stand_in.shape.share:
            return ()
        number = self.open.get(slots, {}).get(node, 0) - 1
        return self._nodes.devices.of(place_holder(slots, node, number))

    def _use(self, slots: Slots, node: str, before: int, places: int) -> None:
        self._nodes.use(node, self.requests[slots], places - before)
        stand_in = self._stand_ins.get(slots)
        if stand_in is None or places == before:
            return
        self._nodes.residents.seat(stand_in, node, places - before)
        row, devices = self._nodes.row_by_name.get(node), self._nodes.devices
        if stand_in.shape.share and row is not None:
            for number in range(before, places):
                devices.seat(place_holder(slots, node, number), stand_in.shape, row)
            for number in range(places, before):
                devices.unseat(place_holder(slots, node, number))

    def clear(self, node: str) -> None:
        """The row goes: nobody sits in the places that are open there."""
        for slots in self.on_node.get(node, ()):
            places = self.open[slots].get(node, 0)
            if places and slots in self._stand_ins:
                self._nodes.residents.seat(self._stand_ins[slots], node, -places)

    def _count(self, tables: dict[Slots, dict[str, int]], slots: Slots, node: str, pods: int) -> None:
        if slots not in tables:
            self._journal.put(tables, slots, {})
        if pods:
            self._journal.put(tables[slots], node, pods)
        else:
            self._journal.drop(tables[slots], node)
            if not tables[slots]:
                self._journal.drop(tables, slots)


def _merged(nodes: tuple[tuple[str, int], ...]) -> dict[str, int]:
    """Each node once, where it came first."""
    merged: dict[str, int] = {}
    for node, n in nodes:
        merged[node] = merged.get(node, 0) + n
    return merged
