"""Random: any of the nodes that have room, each as likely as another.

The rule       score(n) = 100 * hash(seed, uid of the pod, name of the node) as a number from 0 to below 1; a shared GPU is the
               one with the largest hash of seed, uid and its number, of those that fit
Why            what a rule is worth shows beside one that doesn't look. A hash has no state: a pod meets the same draw whatever
               was drawn before, in any order, in any process.
Seed           argument `seed` (scoringArguments), `random.seed` in a scheduler's file; 0.
Order and ties equal scores go by the nodes' names; two of a million nodes are equal once in 10,000 pods.
Units          0 to 100.
Cost           O(nodes) a pod; the names are hashed once.
Source         Kumi's own; the mixing function is SplitMix64's.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kumi.engine.model import Pod
from kumi.engine.placement.devices import WHOLE
from kumi.engine.placement.nodes import Ints, Nodes, Scores
from kumi.engine.placement.plugins.loads import Seen
from kumi.engine.placement.plugins.ordering import Choosing

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework

_Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class AtRandom:
    """See the module."""

    seed: int = 0

    @classmethod
    def configured(cls, option: Option) -> AtRandom:
        """See hooks.Configured."""
        return cls(option.arguments.whole("random.seed", 0))

    def open(self, session: Framework) -> Choosing:
        """See hooks.Plugin."""
        return Choosing(self, session)

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """See the module; whatever is on the nodes."""
        answer: Scores = 100.0 * _drawn(self._names(nodes)[rows] ^ np.uint64(_word(f"{self.seed}/{pod.uid}")))
        return answer

    def devices(self, nodes: Nodes, pod: Pod, row: int) -> tuple[int, ...]:
        """The device for a pod that shares one; () for others."""
        if not pod.shape.share:
            return ()
        free, unknown = nodes.devices.free(np.array([row]))
        whole = free[:, 0] == WHOLE
        fits = (free[:, 0] >= pod.shape.share) & (~whole | (int(whole.sum()) > int(unknown[0])))
        numbers = np.flatnonzero(fits)
        words = np.array([_word(f"{self.seed}/{pod.uid}/{number}") for number in numbers.tolist()], dtype=np.uint64)
        return (int(numbers[int(np.argmax(words))]),) if numbers.size else ()

    def is_local(self, nodes: Nodes, pod: Pod) -> bool:
        """See plugins.Score: pods of one shape get different scores."""
        return False

    def _names(self, nodes: Nodes) -> _Words:
        return nodes.cached("hashed names", lambda: _hashed(nodes))  # type: ignore[no-any-return]


def _hashed(nodes: Nodes) -> _Words:
    words = np.zeros(nodes.used.shape[1], dtype=np.uint64)
    words[nodes.by_name()] = [_word(name) for name in nodes.names()]
    return words


def _word(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def _drawn(words: _Words) -> Scores:
    """Numbers from 0 to below 1."""
    mixed = words + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
