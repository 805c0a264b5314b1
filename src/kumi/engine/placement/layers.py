"""Layers: how much of each node pods of each priority use that may be evicted, kept as pods come and go.

The rule   below(p)(n, r) = sum over pods on n with a priority below p that are neither leaving nor a Workload's of what they
           ask of r
Why        which nodes evicting could make fit at all, and down to which priority, is then a few array operations over all
           nodes, where looking at every pod is not.
Kept       from the first question on: where nobody ever looks for victims, pods that come and go cost nothing here.
Units      int64, base units, as in nodes.py.
Cost       O(pods) the first question; O(resources) a pod that comes or goes after it; O(priorities x resources asked x nodes) a
           question.
Source     Kumi's own.
Not here   who of them goes: preempting.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kumi.engine.journal import Journal
from kumi.engine.model import Pod
from kumi.engine.placement.nodes import NOWHERE, Ints, Mask, Nodes, Requests
from kumi.engine.pods import Pods


class Layer:
    """What pods of one priority use: amounts by line and row."""

    __slots__ = ("amounts",)

    def __init__(self) -> None:
        self.amounts: Ints = np.zeros((1, 1), dtype=np.int64)


class Layers:
    """By priority."""

    def __init__(self, journal: Journal, nodes: Nodes, pods: Pods) -> None:
        self._journal, self._nodes, self._pods = journal, nodes, pods
        self.by_priority: dict[int, Layer] = {}
        """amounts of nothing until they are kept"""
        self._is_kept = False

    @property
    def lowest(self) -> int | None:
        """The lowest priority of a pod that was ever seated and may be evicted; None: there was none."""
        return min(self.by_priority, default=None)

    def seat(self, pod: Pod, node: str, times: int) -> None:
        """The pod is on the node now; -1: not any more. A node that isn't there is passed over."""
        row = self._nodes.row_by_name.get(node)
        if row is None or pod.workload or pod.terminating:
            return
        if not self._is_kept:
            self._meet(pod.priority)
            return
        layer = self._layer(pod.priority)
        for line, amount in self._nodes.asked(pod.shape.requests):
            if line != NOWHERE:
                self._journal.add(layer.amounts, (line, row), amount * times)

    def seat_rows(self, pod: Pod, rows: list[int], times: list[int]) -> None:
        """So many more pods like this one, of no Workload, are on each of these different rows."""
        if not self._is_kept:
            self._meet(pod.priority)
            return
        layer = self._layer(pod.priority)
        for line, amount in self._nodes.asked(pod.shape.requests):
            if line != NOWHERE:
                self._journal.add(layer.amounts, (line, np.array(rows)), amount * np.array(times))

    def clear(self, node: str) -> None:
        """The node goes, and with it what is on it; to be told before its row is free."""
        row = self._nodes.row_by_name.get(node)
        for layer in self.by_priority.values():
            if row is not None and row < layer.amounts.shape[1]:
                self._journal.write(layer.amounts, (slice(None), row), 0)

    def mended(self, requests: Requests, mask: Mask, priority: int) -> Iterator[Ints]:
        """The rows of the mask on which there is room for such a pod once all pods of a priority up to a level are gone, level by
        level below `priority`: first those for which the lowest level is enough. Each once."""
        nodes = self._nodes
        asked = nodes.asked(requests)
        if any(line == NOWHERE for line, _ in asked):
            return
        self._keep()
        room = {line: nodes.allocatable[line] - nodes.seen_later(line) for line, _ in asked}
        left = mask
        for level in sorted(self.by_priority):
            if level >= priority:
                break
            layer = self.by_priority[level]
            self._grow(layer)
            fits = left.copy()
            for line, amount in asked:
                room[line] = room[line] + layer.amounts[line]
                fits &= room[line] >= amount
            if fits.any():
                yield np.flatnonzero(fits)
            left = left & ~fits

    def _keep(self) -> None:
        """What is on the nodes is kept from now on; where this is inside a trial that is taken back, from the next time on."""
        if self._is_kept:
            return
        self._journal.swap(self, "_is_kept", True)
        for layer in self.by_priority.values():
            self._journal.swap(layer, "amounts", np.zeros((1, 1), dtype=np.int64))
        for uid, node in self._pods.node_of.items():
            self.seat(self._pods.by_uid[uid], node, 1)

    def _meet(self, priority: int) -> Layer:
        layer = self.by_priority.get(priority)
        if layer is None:
            layer = Layer()
            self._journal.put(self.by_priority, priority, layer)
        return layer

    def _layer(self, priority: int) -> Layer:
        layer = self._meet(priority)
        self._grow(layer)
        return layer

    def _grow(self, layer: Layer) -> None:
        lines, rows = self._nodes.used.shape
        if layer.amounts.shape == (lines, rows):
            return
        grown = np.zeros((lines, rows), dtype=np.int64)
        grown[: layer.amounts.shape[0], : layer.amounts.shape[1]] = layer.amounts
        self._journal.swap(layer, "amounts", grown)
