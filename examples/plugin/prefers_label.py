"""Prefers label: nodes with a label go before the others.

The rule   score(node) = weight where the node has the label, 0 else
Arguments  prefers-label.key (kumi.dev/preferred), prefers-label.weight (1000: more than the other plug-ins give together)
Why        a machine that is cheaper, cooler or nearer to its data is to be used first, without keeping pods from the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.nodes import Ints, Scores


@dataclass(frozen=True, slots=True)
class PrefersLabel:
    """The plug-in: its fields are its arguments."""

    key: str = "kumi.dev/preferred"
    weight: float = 1000.0

    @classmethod
    def configured(cls, option: Option) -> PrefersLabel:
        """With what the policy says."""
        said = option.arguments
        return cls(said.text("prefers-label.key", cls().key), said.number("prefers-label.weight", cls().weight))

    def open(self, session: Framework) -> _Opened:
        """For one session."""
        return _Opened(self, session)


@dataclass(frozen=True, slots=True)
class _Opened:
    rule: PrefersLabel
    session: Framework

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """A score for each of the rows, which are all in question."""
        codes, _ = self.session.nodes.column(self.rule.key)
        return np.where(codes[rows] > 0, self.rule.weight, 0.0)
