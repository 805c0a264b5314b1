"""Topology -> Topology: the node labels that tell its domains apart, the widest level first."""

from __future__ import annotations

from kumi.api import kueue
from kumi.engine import model


def topology(view: kueue.Topology) -> model.Topology:
    """See the module."""
    return model.Topology(view.metadata.name, tuple(level.node_label for level in view.spec.levels))
