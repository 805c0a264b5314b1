"""Who uses a claim: the pods that name it, have a node, and have not ended.

Why        A pod without a node has nothing in its hands yet, one that has ended has nothing any more.
Source     Kubernetes: storage object in use protection.
"""

from __future__ import annotations

from kumi.api.claims import PersistentVolumeClaim
from kumi.api.core import Pod
from kumi.api.meta import Object
from kumi.api.volumes import claims_of
from kumi.runtime.view import View


def named_by(pod: Object) -> tuple[str, ...]:
    """The keys of the claims that a pod names."""
    assert isinstance(pod, Pod)
    meta = pod.metadata
    return tuple(f"{meta.namespace}/{name}" for name in claims_of(meta.name, pod.spec.volumes).values())


def consumers(view: View, claim: PersistentVolumeClaim) -> list[Pod]:
    """See the module, by key."""
    pods = view.list(Pod, claim.metadata.namespace)
    return [pod for pod in pods if pod.spec.node_name and not has_ended(pod) and claim.key in named_by(pod)]


def has_ended(pod: Pod) -> bool:
    """Succeeded or failed."""
    return pod.status.phase in ("Succeeded", "Failed")
