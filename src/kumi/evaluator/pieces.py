"""Pieces: how free the nodes and their GPUs are at a time, and how much of that is of no use.

The rule       fragmentation.py has it.
Devices        n of a node: allocatable // 1000, AT_MOST of them; each has 1000. They are looked at where any pod of the load
               shares one; else they are whole or free, and the node's sum says all.
Unknown        what pods hold of which nobody says on which devices it is, is taken to be on the freest ones.
Time           goes forward only; a step looks again at the nodes of which something changed.
Cost           O(nodes that changed * shapes * (resources + devices)) a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kumi.engine.model import Node, PodShape
from kumi.engine.placement.devices import AT_MOST, GPU, WHOLE
from kumi.engine.selectors import affinity_holds
from kumi.evaluator.facts import NONE, Facts, Ints
from kumi.evaluator.timeline import Floats

ROWS = 1024
"""nodes that are looked at together"""


@dataclass(frozen=True, slots=True)
class Moves:
    """What pods take and give back, in the order of time. `amount`: (moves, resources), what is held more from then on;
    `devices`: the numbers of sets of devices, NONE unknown."""

    at: Ints
    node: NDArray[np.int32]
    amount: Ints
    devices: NDArray[np.int32]


def moves(facts: Facts) -> Moves:
    """Of a run."""
    spans = facts.spans
    pod = np.stack([facts.of_shapes(resource) for resource in facts.asked], axis=1)
    over = spans.to != NONE
    at = np.concatenate((spans.at, spans.to[over]))
    order = np.argsort(at, kind="stable")
    sign = np.concatenate((np.ones(len(over), dtype=np.int64), -np.ones(int(over.sum()), dtype=np.int64)))
    node, shape, devices = (
        np.concatenate((column, column[over]))[order] for column in (spans.node, spans.shape, spans.devices)
    )
    return Moves(at[order], node, pod[shape] * sign[order, None], devices)


class Cluster:
    """The nodes at a time. `free`, `lost`: of each, thousandths of GPU; `weight`: how much each shape counts."""

    def __init__(self, facts: Facts, shapes: Sequence[PodShape], weight: Floats) -> None:
        resources, nodes = facts.asked, len(facts.nodes)
        self._resources, self._gpu = resources, resources.index(GPU)
        self._shapes, self._weight = shapes, weight
        self._wants = np.array([[dict(s.requests).get(r, 0) for r in resources] for s in shapes], dtype=np.int64)
        gpus = self._wants[:, self._gpu].tolist()
        demands = [(s.share, 1) if s.share else (WHOLE, gpu // WHOLE) for s, gpu in zip(shapes, gpus, strict=True)]
        distinct = sorted(set(demands))
        self._demand = np.array([distinct.index(one) for one in demands], dtype=np.int64)
        """of each shape, its row of `_need` (so much of a device) and `_many` (so many devices)"""
        self._need, self._many = np.array(distinct, dtype=np.int64).T
        self._may = _Allowed(shapes)
        self._allowed = np.zeros((nodes, len(shapes)), dtype=np.bool_)
        self._has, self._held = (np.zeros((nodes, len(resources)), dtype=np.int64) for _ in range(2))
        shared = any(shape.share for shape in facts.shapes)
        self._devices = np.zeros((nodes, _most_devices(facts) if shared else 0), dtype=np.int64)
        """thousandths of each that known pods have"""
        self._device_sets = facts.device_sets
        self._moves, self._moved = moves(facts), 0
        self._changes, self._changed = facts.node_changes, 0
        self._dirty = np.zeros(nodes, dtype=np.bool_)
        self.free = np.zeros(nodes, dtype=np.int64)
        self.lost = np.zeros(nodes)

    def forward(self, now_ms: int) -> None:
        """What happened up to then."""
        until = int(np.searchsorted(self._moves.at, now_ms, side="right"))
        while self._changed < len(self._changes) and self._changes[self._changed].at_ms <= now_ms:
            change = self._changes[self._changed]
            self._changed += 1
            self._dirty[change.number] = True
            self._change(change.number, change.node)
        self._move(slice(self._moved, until))
        self._moved = until
        self._look(np.flatnonzero(self._dirty))
        self._dirty[:] = False

    def _move(self, some: slice) -> None:
        node, amount = self._moves.node[some], self._moves.amount[some]
        np.add.at(self._held, node, amount)
        self._dirty[node] = True
        if not self._devices.shape[1]:
            return
        named = self._moves.devices[some]
        for i in np.flatnonzero(named != NONE).tolist():
            devices = self._device_sets[named[i]]
            each = int(amount[i, self._gpu]) // len(devices)
            for device in devices:
                if device < self._devices.shape[1]:
                    self._devices[node[i], device] += each

    def _change(self, number: int, node: Node | None) -> None:
        if node is None or not node.ready or node.unschedulable:
            self._has[number] = 0
            return
        has = dict(node.allocatable)
        self._has[number] = [has.get(resource, 0) for resource in self._resources]
        self._allowed[number] = self._may.on(node)

    def _look(self, nodes: Ints) -> None:
        for start in range(0, len(nodes), ROWS):
            self._look_at(nodes[start : start + ROWS])

    def _look_at(self, nodes: Ints) -> None:
        room = np.maximum(0, self._has[nodes] - self._held[nodes])
        fits = self._allowed[nodes]
        for resource in range(room.shape[1]):
            fits &= room[:, resource, None] >= self._wants[:, resource]
        gpu = room[:, self._gpu]
        useful = gpu[:, None]
        if self._devices.shape[1]:
            left = self._left(nodes)[:, None, :]
            usable = left >= self._need[:, None]
            enough = usable.sum(axis=2) >= self._many
            useful = np.where(enough, np.where(usable, left, 0).sum(axis=2), 0)[:, self._demand]
        self.free[nodes] = gpu
        self.lost[nodes] = gpu * self._weight.sum() - (fits * useful) @ self._weight

    def _left(self, nodes: Ints) -> Ints:
        """What is free of each device; what nobody knows the device of is on the freest ones."""
        has = self._has[nodes, self._gpu] // WHOLE
        there = np.arange(self._devices.shape[1]) < has[:, None]
        left = np.where(there, np.maximum(0, WHOLE - self._devices[nodes]), 0)
        unknown = self._held[nodes, self._gpu] - self._devices[nodes].sum(axis=1)
        if not unknown.any():
            return left
        order = np.argsort(-left, axis=1, kind="stable")
        freest = np.take_along_axis(left, order, axis=1)
        before = np.cumsum(freest, axis=1) - freest
        taken = np.clip(unknown[:, None] - before, 0, freest)
        np.put_along_axis(left, order, freest - taken, axis=1)
        return left


class _Allowed:
    """Which shapes may go to a node by its labels; asked once for each set of values that matter."""

    def __init__(self, shapes: Sequence[PodShape]) -> None:
        self._shapes = shapes
        keys = {key for s in shapes for key, _ in s.node_selector}
        self._read = sorted(keys | {one.key for s in shapes for term in s.affinity or () for one in term})
        self._found: dict[tuple[str | None, ...], NDArray[np.bool_]] = {}

    def on(self, node: Node) -> NDArray[np.bool_]:
        """Of each shape, whether it may go there."""
        labels = dict(node.labels)
        key = tuple(labels.get(name) for name in self._read)
        if key not in self._found:
            may = [
                all(labels.get(k) == v for k, v in shape.node_selector) and affinity_holds(shape.affinity, labels)
                for shape in self._shapes
            ]
            self._found[key] = np.array(may, dtype=np.bool_)
        return self._found[key]


def _most_devices(facts: Facts) -> int:
    has = (
        dict(change.node.allocatable).get(GPU, 0) // WHOLE for change in facts.node_changes if change.node is not None
    )
    return min(AT_MOST, max(has, default=0))
