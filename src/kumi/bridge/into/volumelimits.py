"""CSINode -> VolumeLimits: how many volumes of each driver a node takes.

The rule   of each driver that says allocatable.count, that; of the others any number. It has the name of its node
Source     Kubernetes: storage.k8s.io/v1 CSINode.
"""

from __future__ import annotations

from kumi.api.claims import CSINode
from kumi.engine import model


def volumelimits(view: CSINode) -> model.VolumeLimits:
    """See the module."""
    said = ((d.name, d.allocatable.count) for d in view.spec.drivers if d.allocatable is not None)
    return model.VolumeLimits(
        view.metadata.name, tuple(sorted((driver, count) for driver, count in said if count is not None))
    )
