"""ResourceFlavor -> Flavor: labels that select its nodes, taints that its pods must endure, tolerations that it adds, and the
Topology of its nodes."""

from __future__ import annotations

from kumi.api import kueue
from kumi.bridge.into.shape import toleration
from kumi.engine import model


def flavor(view: kueue.ResourceFlavor) -> model.Flavor:
    """See the module."""
    spec = view.spec
    return model.Flavor(
        name=view.metadata.name,
        node_labels=tuple(sorted(spec.node_labels.items())),
        taints=tuple(model.Taint(t.key, t.value, t.effect) for t in spec.node_taints),
        tolerations=tuple(toleration(t) for t in spec.tolerations),
        topology=spec.topology_name or "",
    )
