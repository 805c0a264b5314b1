"""Ordering: a score of the policy's word `scoring` as a plug-in of gangs, by the same rule as for pods on their own.

The rule   node_order   the rule's by_load, on what pods use of the nodes
           devices      the rule's own, where it chooses devices as well (Choosing)
Cost       the rule's.
Not here   the rules: best_fit.py, utilization.py, fewest_free.py, at_random.py, fragmentation.py; pods on their own: __init__.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kumi.engine.model import Pod
from kumi.engine.placement.nodes import Ints, Nodes, Scores
from kumi.engine.placement.plugins.loads import Seen

if TYPE_CHECKING:
    from kumi.engine.placement.framework import Framework


class Rule(Protocol):
    """Says how good nodes are by what is on them."""

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """One for each of `rows`, were placed[i] more such pods on row i; `seen`: what is used of a line."""
        ...


class ChoosingRule(Rule, Protocol):
    """And which devices."""

    def devices(self, nodes: Nodes, pod: Pod, row: int) -> tuple[int, ...]:
        """The numbers of the pod's GPUs on the row's node, which has room for it; (): no opinion."""
        ...


@dataclass(frozen=True, slots=True)
class Ordering:
    """For one session."""

    rule: Rule
    session: Framework

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """See hooks.NodeOrder."""
        nodes = self.session.nodes
        return self.rule.by_load(nodes, lambda line, some: nodes.used[line, some], task, rows, placed)


@dataclass(frozen=True, slots=True)
class Choosing:
    """For one session, of a rule that chooses devices as well."""

    rule: ChoosingRule
    session: Framework

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """See hooks.NodeOrder."""
        return Ordering(self.rule, self.session).node_order(task, rows, placed)

    def devices(self, task: Pod, row: int) -> tuple[int, ...]:
        """See hooks.Devices."""
        return self.rule.devices(self.session.nodes, task, row)
