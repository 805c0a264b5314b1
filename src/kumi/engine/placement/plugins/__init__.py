"""The hooks that a placement policy is made of, and the policy that a profile names.

    Filter.mask(nodes, shape)              -> which nodes take pods of this shape, room aside
    Filter.refusals(nodes, shape)          -> why the others don't, a reason a cause
    Score.score(nodes, requests, pods)     -> 0 to 100 a node for taking so many of these pods; higher is better
    Gate.waits(workload, pods)             -> why a gang may not be bound yet; None: it may

One frozen dataclass a file, its fields are its arguments; no client, no clock; nothing that it is given is changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from kumi.engine.model import Pod, PodShape, Profile, Workload
from kumi.engine.placement.nodes import Ints, Mask, Nodes, Requests, Scores
from kumi.engine.placement.plugins.binpack import Binpack
from kumi.engine.placement.plugins.gang import Gang
from kumi.engine.placement.plugins.nodeorder import NodeOrder
from kumi.engine.placement.plugins.predicates import Predicates
from kumi.engine.reasons import Reason


class Filter(Protocol):
    """Says which nodes take a shape."""

    def mask(self, nodes: Nodes, shape: PodShape) -> Mask:
        """One a row."""
        ...

    def refusals(self, nodes: Nodes, shape: PodShape) -> tuple[Reason, ...]:
        """Every cause for which a node takes no pod of the shape now, with the number of nodes that say so."""
        ...


class Score(Protocol):
    """Says how good a node is."""

    def score(self, nodes: Nodes, requests: Requests, pods: Ints) -> Scores:
        """One a row, for taking pods[row] of these pods, 0 to 100."""
        ...


class Gate(Protocol):
    """Says when a gang may be bound."""

    def waits(self, workload: Workload, pods: tuple[Pod, ...]) -> Reason | None:
        """`pods`: all that are known of the workload."""
        ...


@dataclass(frozen=True, slots=True)
class Plugins:
    """What places pods."""

    filter: Filter = field(default_factory=Predicates)
    score: Score = field(default_factory=Binpack)
    gate: Gate = field(default_factory=Gang)


SCORES: dict[str, type[Binpack] | type[NodeOrder]] = {"binpack": Binpack, "nodeorder": NodeOrder}


def of(profile: Profile) -> Plugins:
    """The plug-ins that the profile's arguments name; see engine.policy, which checks them."""
    return Plugins(score=SCORES[profile.arguments.get("scoring", "binpack")]())
