"""The hooks that a placement policy is made of, and the policy that a profile names.

    Filter.mask(nodes, pod)                 -> which nodes take such pods, room aside
    Filter.standing(nodes, pod)             -> the same whatever pods are on the nodes
    Filter.is_steady(nodes, pod)            -> whether placing one leaves what the other nodes say to the next
    Filter.is_local(nodes, pod)             -> whether the mask stays as long as no node becomes another (best.py keeps it)
    Filter.most(nodes, pod)                 -> how many of them a node takes, room aside
    Filter.refusals(nodes, pod)             -> why the others don't, a reason a cause
    Score.score(nodes, pod, rows, placed)   -> how good each of the rows is for taking placed + 1 of these pods; higher is better
    Score.is_local(nodes, pod)              -> whether a row's score follows from that row alone (best.py keeps it)
    Score.devices(nodes, pod, row)          -> which GPUs of the row's node the pod gets, where some are shared
    Gate.waits(workload, pods)              -> why a gang may not be bound yet; None: it may

Local          what best.py may keep for pods of one shape which no term of another pod means. A score is local where it is made
               of what nodes.py says of its own row (amounts; whatever else is kept by row and told to nodes.stir), and of what
               nodes are (nodes.stamp), have in all (nodes.size_stamp) and have of images; not where rows in question are compared
               with each other, and not of pods elsewhere, chance or time. It is made of +, -, *, /, floor and comparisons
               alone, so that a row gets the same bits whichever rows are asked with it, and it is finite.

One frozen dataclass a file, its fields are its arguments; no client, no clock; nothing that it is given is changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

from kumi.engine.model import Pod, Profile, Workload
from kumi.engine.placement.conf import Option
from kumi.engine.placement.nodes import Ints, Mask, Nodes, Scores
from kumi.engine.placement.plugins.binpack import Binpack
from kumi.engine.placement.plugins.loads import Seen
from kumi.engine.placement.plugins.nodeorder import NodeOrder
from kumi.engine.placement.plugins.predicates import Predicates
from kumi.engine.placement.plugins.registry import PLUGINS
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

    def is_local(self, nodes: Nodes, pod: Pod) -> bool:
        """Does the mask for pods of this shape, which no term of others means, change only with `nodes.stamp`?"""
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

    def is_local(self, nodes: Nodes, pod: Pod) -> bool:
        """Is the score of a row local, see the module, for pods of this shape, which no term of others means? The answer holds
        for one `nodes.stamp`."""
        ...

    def devices(self, nodes: Nodes, pod: Pod, row: int) -> tuple[int, ...]:
        """The numbers of the pod's GPUs on the row's node, which has room for it; (): no opinion."""
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

    def devices(self, nodes: Nodes, pod: Pod, row: int) -> tuple[int, ...]:
        """The numbers of the GPUs that the pod gets there; () where it doesn't matter which, or none will do."""
        if not nodes.devices.concern(pod.shape):
            return ()
        return self.score.devices(nodes, pod, row) or nodes.devices.choose(pod.shape, row)


class Load(Protocol):
    """Says how good nodes are by what is on them."""

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """As Score.score; `seen`: what is used of a line."""
        ...


class Chooser(Protocol):
    """A load that says which devices as well, or whose scores are not local."""

    def devices(self, nodes: Nodes, pod: Pod, row: int) -> tuple[int, ...]:
        """See Score."""
        ...

    def is_local(self, nodes: Nodes, pod: Pod) -> bool:
        """See Score."""
        ...


@dataclass(frozen=True, slots=True)
class Scoring:
    """By what is on the nodes (`loads`), and by what pods would like of them. `chooser`: the one of the loads that has more to
    say; None: none."""

    loads: tuple[Load, ...]
    wishes: NodeOrder = field(default_factory=NodeOrder)
    chooser: Chooser | None = None

    def score(self, nodes: Nodes, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """See Score."""
        parts = [load.by_load(nodes, nodes.seen, pod, rows, placed) for load in self.loads]
        if pod.shape.images:
            parts.insert(0, self.wishes.by_image(nodes, pod, rows))
        wished = self.wishes.by_wish(nodes, pod, rows)
        if wished is not None:
            parts.append(wished)
        return sum(parts[1:], parts[0])

    def is_steady(self, nodes: Nodes, pod: Pod) -> bool:
        """See Score."""
        return self.wishes.is_steady(nodes, pod)

    def is_local(self, nodes: Nodes, pod: Pod) -> bool:
        """See Score. Loads are, but for one that says otherwise; wishes compare nodes."""
        if self.chooser is not None and not self.chooser.is_local(nodes, pod):
            return False
        return self.wishes.is_silent(nodes, pod)

    def devices(self, nodes: Nodes, pod: Pod, row: int) -> tuple[int, ...]:
        """See Score."""
        return self.chooser.devices(nodes, pod, row) if self.chooser is not None else ()


def _loads(plugin: str) -> Callable[[Mapping[str, str]], Scoring]:
    return lambda arguments: Scoring((cast("Load", PLUGINS[plugin].configured(Option(plugin))),))


def _random(arguments: Mapping[str, str]) -> Scoring:
    from kumi.engine.placement.plugins.at_random import AtRandom  # as of all scores: when a policy says so

    rule = AtRandom(int(arguments.get("seed", "0")))
    return Scoring((rule,), chooser=rule)


def _fragmentation(arguments: Mapping[str, str]) -> Scoring:
    from kumi.engine.placement.plugins import typical
    from kumi.engine.placement.plugins.fragmentation import Fragmentation

    table = typical.parse(json.loads(arguments["typical"]), "typical", []) if "typical" in arguments else None
    rule = Fragmentation(table)
    return Scoring((rule,), chooser=rule)


def _spread(arguments: Mapping[str, str]) -> Scoring:
    from kumi.engine.placement.plugins.resource_strategy_fit import ResourceStrategyFit, Wish

    return Scoring((NodeOrder(), ResourceStrategyFit(weight=1, wishes=(("*", Wish(full=False)),))))


SCORES: dict[str, Callable[[Mapping[str, str]], Scoring]] = {
    "binpack": lambda arguments: Scoring((Binpack(),)),
    "nodeorder": _spread,
    "spread": _spread,
    "bestFit": _loads("bestFit"),
    "fragmentation": _fragmentation,
    "random": _random,
    "utilization": _loads("utilization"),
    "fewestFree": _loads("fewestFree"),
}
"""the profile's words, and what they make of its arguments; node order looks at cpu and memory alone, so what is asked for of
devices is spread besides; spread is another word for it"""


def of(profile: Profile) -> Plugins:
    """The plug-ins that the profile's arguments name; see engine.policy, which checks them."""
    return Plugins(score=SCORES[profile.arguments.get("scoring", "binpack")](profile.arguments))


def looks_at_mix(profile: Profile) -> bool:
    """Does a score look at what the pods that are known are like?"""
    said = profile.arguments
    options = [option for tier in profile.conf.tiers for option in tier if option.name == "fragmentation"]
    in_gangs = any("fragmentation.typical" not in option.arguments.raw for option in options)
    return in_gangs or (said.get("scoring") == "fragmentation" and "typical" not in said)
