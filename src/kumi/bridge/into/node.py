"""Node -> Node: labels, allocatable in base units, taints, and whether it takes pods.

The rule   ready: the condition Ready is True (a node that has no conditions yet is not ready). A node that is being
           deleted is unschedulable. allocatable falls back to capacity; without `pods` in it, POD_LIMIT of them.
           The host's name is a label even where nobody wrote it, and so is its own name, for affinity by metadata.name.
Source     Kubernetes: Node status, kubelet defaults (110 pods).
"""

from __future__ import annotations

from kumi.api import core
from kumi.api.kueue import HOST_LEVEL
from kumi.api.meta import is_true
from kumi.api.quantity import parse_amount
from kumi.bridge.into.shape import NAME_FIELD
from kumi.engine import model

POD_LIMIT = 110_000
"""110 pods in base units"""


def node(view: core.Node) -> model.Node:
    """See the module. KumiError for a quantity that can't be read."""
    meta, status = view.metadata, view.status
    offered = status.allocatable or status.capacity
    allocatable = {name: parse_amount(name, quantity) for name, quantity in offered.items()}
    allocatable.setdefault("pods", POD_LIMIT)
    return model.Node(
        name=meta.name,
        labels=tuple(sorted(labels_of(view).items())),
        allocatable=tuple(sorted(allocatable.items())),
        taints=tuple(model.Taint(t.key, t.value, t.effect) for t in view.spec.taints),
        unschedulable=view.spec.unschedulable or meta.deletion_timestamp is not None,
        ready=is_true(status.conditions, "Ready"),
        images=tuple(sorted((name, image.size_bytes) for image in status.images for name in image.names)),
    )


def labels_of(view: core.Node) -> dict[str, str]:
    """What pods may select it by."""
    name = view.metadata.name
    return {HOST_LEVEL: name, **view.metadata.labels, NAME_FIELD: name}
