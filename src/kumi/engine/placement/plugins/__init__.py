"""The hooks that a placement policy is made of, and the policy that a profile names.

    Filter.mask(nodes, pod)                 -> which nodes take such pods, room aside
    Filter.standing(nodes, pod)             -> the same whatever pods are on the nodes
    Filter.is_steady(nodes, pod)            -> whether placing one leaves what the other nodes say to the next
    Filter.most(nodes, pod)                 -> how many of them a node takes, room aside
    Filter.refusals(nodes, pod)             -> why the others don't, a reason a cause
    Score.score(nodes, pod, rows, placed)   -> how good each of the rows is for taking placed + 1 of these pods; higher is better
    Gate.waits(workload, pods)              -> why a gang may not be bound yet; None: it may

One frozen dataclass a file, its fields are its arguments; no client, no clock; nothing that it is given is changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from kumi.engine.model import Pod, Profile, Workload
from kumi.engine.placement.nodes import Ints, Mask, Nodes, Scores
from kumi.engine.placement.plugins.binpack import Binpack
from kumi.engine.placement.plugins.loads import Seen
from kumi.engine.placement.plugins.nodeorder import NodeOrder
from kumi.engine.placement.plugins.predicates import Predicates
from kumi.engine.placement.plugins.resource_strategy_fit import ResourceStrategyFit, Wish
from kumi.engine.placement.readiness import Readiness
from kumi.engine.reasons import Reason


class Filter(Protocol):
    """Says which nodes take a pod."""

    def mask(self, nodes: Nodes, pod: Pod) -> Mask:
        """One a row."""
        ...

    def standing(self, nodes: Nodes, pod: Pod) -> Mask:
        """The same whatever pods are on the nodes."""
        ...

    def is_steady(self, nodes: Nodes, pod: Pod) -> bool:
        """May equal pods be placed without asking again after each?"""
        ...

    def most(self, nodes: Nodes, pod: Pod) -> Ints | None:
        """How many of them each row takes, of those that take one, room aside; None: any number."""
        ...

    def refusals(self, nodes: Nodes, pod: Pod) -> tuple[Reason, ...]:
        """Every cause for which a node takes no such pod now, with the number of nodes that say so."""
        ...


class Score(Protocol):
    """Says how good a node is."""

    def score(self, nodes: Nodes, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """One for each of `rows`, which are all in question, for one more of these pods after placed[i] of them."""
        ...

    def is_steady(self, nodes: Nodes, pod: Pod) -> bool:
        """Does placing one leave the scores of the other nodes as they are?"""
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
    score: Score = field(default_factory=lambda: Scoring((Binpack(),)))
    gate: Gate = field(default_factory=Readiness)


class Load(Protocol):
    """Says how good nodes are by what is on them."""

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """As Score.score; `seen`: what is used of a line."""
        ...


@dataclass(frozen=True, slots=True)
class Scoring:
    """By what is on the nodes (`loads`), and by what pods would like of them."""

    loads: tuple[Load, ...]
    wishes: NodeOrder = field(default_factory=NodeOrder)

    def score(self, nodes: Nodes, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """See Score."""
        scores = self.wishes.by_image(nodes, pod, rows)
        for load in self.loads:
            scores = scores + load.by_load(nodes, nodes.seen, pod, rows, placed)
        wished = self.wishes.by_wish(nodes, pod, rows)
        return scores if wished is None else scores + wished

    def is_steady(self, nodes: Nodes, pod: Pod) -> bool:
        """See Score."""
        return self.wishes.is_steady(nodes, pod)


SCORES: dict[str, tuple[Load, ...]] = {
    "binpack": (Binpack(),),
    "nodeorder": (NodeOrder(), ResourceStrategyFit(weight=1, wishes=(("*", Wish(full=False)),))),
}
"""the profile's words; node order looks at cpu and memory alone, so what is asked for of devices is spread besides"""


def of(profile: Profile) -> Plugins:
    """The plug-ins that the profile's arguments name; see engine.policy, which checks them."""
    return Plugins(score=Scoring(SCORES[profile.arguments.get("scoring", "binpack")]))
