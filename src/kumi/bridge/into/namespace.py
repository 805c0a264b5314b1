"""Namespace -> Namespace: its labels, which a ClusterQueue's selector reads; every one has its own name as a label."""

from __future__ import annotations

from kumi.api import core
from kumi.engine import model

NAME_LABEL = "kubernetes.io/metadata.name"


def namespace(view: core.Namespace) -> model.Namespace:
    """See the module."""
    labels = {**view.metadata.labels, NAME_LABEL: view.metadata.name}
    return model.Namespace(view.metadata.name, tuple(sorted(labels.items())))
