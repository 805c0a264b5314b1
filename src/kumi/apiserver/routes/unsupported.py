"""Subresources of pods that clients know and that this server's nodes have no answer to: discovery names them, as Kubernetes'
does, and who uses one is told in a sentence (501) instead of finding nothing.

    proxy                            a way into a running container over this server's own address
    resize, ephemeralcontainers      changes of a pod that runs; reading them is reading the pod
"""

from __future__ import annotations

from kumi.api.errors import ApiError
from kumi.apiserver.routes.paths import Call

SENTENCES = {
    "proxy": "this server is no proxy: kubectl port-forward, or the address of the pod on its node's own network",
    "resize": "nodes of this server do not resize pods that run: make a new pod",
    "ephemeralcontainers": "nodes of this server add no containers to pods that run: kubectl exec",
}
READ = ("resize", "ephemeralcontainers")


def refuse(call: Call) -> None:
    """ApiError 501 for a call that nobody can answer."""
    subresource = call.target.subresource
    if subresource in SENTENCES and not (subresource in READ and call.verb == "get"):
        raise ApiError(501, "NotImplemented", SENTENCES[subresource])
