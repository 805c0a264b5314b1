"""One step of replacing a DaemonSet's pods: on which nodes the old pod goes, and on which a new one comes beside it.

The rule, without surge (an old pod goes, then its successor comes), M nodes may be without an available pod:
    an old pod that is not available goes at once: nothing is lost
    of the others as many go, in order of node, as keep the nodes without an available pod at or under M
The rule, with surge S (the successor comes first):
    a node whose old pod is not available gets the new one at once
    of the others as many get one, in order of node, as keep the nodes whose new pod is not available yet at or under S
    the old pod goes as soon as the new one is available
Laws       nodes without an available pod never become more than max(M, what they were); with surge none becomes one.
Source     Kubernetes: DaemonSet rolling update (maxUnavailable, maxSurge).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A node that is to have a pod: whether it has one of the old and of the new revision, and whether that is available
    (None: it has none). A pod that is being deleted is none."""

    node: str
    old: bool | None = None
    new: bool | None = None

    @property
    def served(self) -> bool:
        """Whether an available pod is there."""
        return bool(self.old or self.new)


@dataclass(frozen=True)
class Turn:
    """What a step does: nodes, in order."""

    removed: tuple[str, ...] = ()
    """whose old pod goes"""
    added: tuple[str, ...] = ()
    """that get a new pod beside the old one"""


def replaced(places: Sequence[Place], missing: int) -> Turn:
    """A step without surge."""
    old = sorted((place for place in places if place.old is not None and place.new is None), key=lambda p: p.node)
    lame = [place.node for place in old if not place.old]
    room = max(0, missing - sum(not place.served for place in places))
    return Turn(removed=(*lame, *[place.node for place in old if place.old][:room]))


def surged(places: Sequence[Place], surge: int) -> Turn:
    """A step with surge."""
    old = sorted((place for place in places if place.old is not None), key=lambda p: p.node)
    lame = [place.node for place in old if place.new is None and not place.old]
    room = max(0, surge - sum(place.new is False for place in old))
    more = [place.node for place in old if place.new is None and place.old][:room]
    return Turn(removed=tuple(place.node for place in old if place.new), added=(*lame, *more))
