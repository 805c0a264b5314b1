"""Ports: no two pods on a node listen on the same port of the host.

The rule       a port is taken on a node where a pod listens on the same number and protocol, at the same address or where one
               of the two listens at every address; a pod doesn't go where one of its ports is taken, and no second one like
               it where it is
Cost           O(ports asked x ports known x nodes).
Source         Kubernetes scheduler: NodePorts.
"""

from __future__ import annotations

import numpy as np

from kumi.engine.model import PodShape
from kumi.engine.placement.nodes import Mask, Nodes


def taken(nodes: Nodes, shape: PodShape) -> Mask:
    """The rows where one of the shape's ports is."""
    mask = np.zeros(nodes.used.shape[1], dtype=np.bool_)
    for port in shape.ports:
        mask |= nodes.residents.listening(port) > 0
    return mask
