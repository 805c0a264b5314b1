"""NodeLoad -> NodeUsage: how busy a node is."""

from __future__ import annotations

from kumi.api.metrics import NodeLoad
from kumi.engine import model


def nodeload(view: NodeLoad) -> model.NodeUsage:
    """See the module."""
    return model.NodeUsage(view.metadata.name, view.cpu, view.memory, view.measured_ms)
