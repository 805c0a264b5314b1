"""Best: the node for one pod on its own: of those that take it and have room the one with the best score, the first by name.

The rule     `plain`: the filter's mask, the room, the scores of what is left, the largest.
Kept         for pods of one shape what the mask and the scores said, row by row; asked again is only of rows that changed since
             (nodes.versions). Where nodes become others, come or go, all of it is made anew.
Plain        where that may not be kept: the mask or the scores are not local (plugins/__init__.py), as with neighbours, ports,
             volumes, or preferences that compare nodes; or a term of another pod means this one.
Trials       what is taken back changes a version as well, so nothing that is kept can be of a state that is no more. What is
             kept is no part of the state: without it the answers are the same.
Cost         O(rows that changed since such a pod was last asked for), and one look for the largest over all nodes, some ns
             each; the plain way O(resources x nodes).
Memory       16 bytes a node and shape, shapes that were not asked for longest are forgotten.
Source       Kumi's own.
Not here     who is asked for, and when: alone.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.nodes import Ints, Mask, Nodes, Scores
from kumi.engine.placement.plugins import Plugins

Room: TypeAlias = Callable[[Nodes, PodShape, Mask, Ints], Ints]
_NEVER = -np.inf
_CELLS_AT_MOST = 4_000_000
_SHAPES_AT_LEAST = 16


class _Kept:
    """What is known for one shape."""

    __slots__ = ("asked", "at", "is_picky", "of", "scores", "version")

    def __init__(
        self, of: tuple[object, ...], at: Ints | None, scores: Scores | None, *, is_picky: bool = True
    ) -> None:
        self.of = of
        """what it holds for: when that is another, it is of no use"""
        self.at = at
        """of each row whose node takes the pod, room aside, its place in the order of names; of others the one after the last;
        None: what the filter says may not be kept"""
        self.is_picky = is_picky
        """are there nodes that don't take the pod, room aside?"""
        self.scores = scores
        """by that place; of a node that doesn't take the pod, or has no room: minus infinity; what is last stands for nobody.
        None: what the score says may not be kept"""
        self.version = -1
        """the nodes' version that the scores are as of"""
        self.asked = 0
        """when it was asked for last"""


class Best:
    """See the module."""

    def __init__(self, nodes: Nodes, plugins: Plugins) -> None:
        self._nodes, self._plugins = nodes, plugins
        self._kept: dict[PodShape, _Kept] = {}
        self._asked = 0
        """how often any shape was asked for"""

    def node(self, pod: Pod) -> str | None:
        """The name of the best node for the pod; None: it fits nowhere now."""
        nodes = self._nodes
        kept = None if nodes.residents.heeds(pod) else self._known(pod)
        if kept is None or kept.at is None or kept.scores is None:
            return plain(nodes, self._plugins, pod)
        if kept.version != nodes.version:
            self._refresh(kept, kept.at, kept.scores, pod)
            kept.version = nodes.version
        best = int(kept.scores.argmax())
        return nodes.names()[best] if kept.scores[best] != _NEVER else None

    def stands_for(self) -> tuple[object, ...]:
        """What nodes are like, room aside: while this is the same, only rows that change give another answer."""
        nodes = self._nodes
        return (nodes.stamp, nodes.size_stamp, nodes.table_stamp, nodes.image_stamp, nodes.devices.shared)

    def follows(self, pod: Pod) -> bool:
        """Does it follow from each row alone whether it takes such a pod?"""
        return not self._nodes.residents.heeds(pod) and self._known(pod).at is not None

    def takes(self, shape: PodShape, row: int) -> bool:
        """May the row's node take a pod of that shape, of which this follows from the row?"""
        return self.welcomes(shape, row) and bool(self._nodes.takes(shape, np.array([row]))[0])

    def welcomes(self, shape: PodShape, row: int) -> bool:
        """The same, room aside."""
        kept = self._kept.get(shape)
        if kept is None or kept.at is None or kept.of != self.stands_for():
            return True
        return int(kept.at[row]) < self._nodes.by_name().size

    def _known(self, pod: Pod) -> _Kept:
        of = self.stands_for()
        kept = self._kept.get(pod.shape)
        if kept is None or kept.of != of:
            kept = self._begin(pod, of)
            self._kept[pod.shape] = kept
        self._asked += 1
        kept.asked = self._asked
        return kept

    def _begin(self, pod: Pod, of: tuple[object, ...]) -> _Kept:
        nodes, plugins = self._nodes, self._plugins
        rows = nodes.by_name()
        most = max(_SHAPES_AT_LEAST, _CELLS_AT_MOST // max(rows.size, 1))
        self._kept.pop(pod.shape, None)
        while len(self._kept) >= most:
            del self._kept[min(self._kept, key=lambda shape: self._kept[shape].asked)]
        if not plugins.filter.is_local(nodes, pod):
            return _Kept(of, None, None)
        taken = plugins.filter.mask(nodes, pod)[rows].nonzero()[0]
        at = np.full(nodes.used.shape[1], rows.size, dtype=np.int64)
        at[rows[taken]] = taken
        scores = np.full(rows.size + 1, _NEVER) if plugins.score.is_local(nodes, pod) else None
        return _Kept(of, at, scores, is_picky=taken.size < rows.size)

    def _refresh(self, kept: _Kept, at: Ints, scores: Scores, pod: Pod) -> None:
        """The scores of the rows that changed after what is kept was made, as they are now."""
        nodes = self._nodes
        rows = nodes.stirred_since(kept.version)
        places = at[rows]
        if kept.is_picky:
            taken = places < scores.size - 1
            rows, places = rows[taken], places[taken]
        fits = nodes.takes(pod.shape, rows)
        if np.count_nonzero(fits) < fits.size:
            scores[places] = _NEVER
            rows, places = rows[fits], places[fits]
        if rows.size:
            none = np.zeros(rows.size, dtype=np.int64)
            scores[places] = self._plugins.score.score(nodes, pod, rows, none)


def plain(nodes: Nodes, plugins: Plugins, pod: Pod, room: Room = Nodes.places) -> str | None:
    """The same, with nothing kept: the rule. `room`: for how many such pods there is any on each of the rows."""
    rows = nodes.by_name()
    fits = room(nodes, pod.shape, plugins.filter.mask(nodes, pod), rows)
    rows = rows[fits > 0]
    if not rows.size:
        return None
    scores = plugins.score.score(nodes, pod, rows, np.zeros(rows.size, dtype=np.int64))
    return nodes.name_by_row()[int(rows[np.argmax(scores)])]
