"""One of: a pod set's pods before they exist, as one pod that stands for each of them.

Why        what nodes say is said to a pod: its shape, its namespace, its labels.
"""

from __future__ import annotations

from kumi.engine.model import Pod, PodSet


def one_of(pods: PodSet) -> Pod:
    """A pod like those of the pod set."""
    return Pod("", f"{pods.namespace}/{pods.name}", pods.shape, 0, pod_set=pods.name, labels=pods.labels)
