"""Subresources of pods that clients know and that this server's nodes have no answer to: discovery names them, as Kubernetes'
does, and who uses one is told in a sentence (501) instead of finding nothing.

    attach, portforward, proxy       a way into a running container that is not its log or a new command
    resize, ephemeralcontainers      changes of a pod that runs; reading them is reading the pod
"""

from __future__ import annotations

from kumi.api.errors import ApiError
from kumi.apiserver.routes.paths import Call

SENTENCES = {
    "attach": "nodes of this server do not attach to containers: follow the log (kubectl logs -f), or kubectl exec",
    "portforward": "nodes of this server do not forward ports: what a pod listens on is on its node's own network",
    "proxy": "this server is no proxy: what a pod listens on is on its node's own network",
    "resize": "nodes of this server do not resize pods that run: make a new pod",
    "ephemeralcontainers": "nodes of this server add no containers to pods that run: kubectl exec",
}
READ = ("resize", "ephemeralcontainers")


def refuse(call: Call) -> None:
    """ApiError 501 for a call that nobody can answer."""
    subresource = call.target.subresource
    if subresource in SENTENCES and not (subresource in READ and call.verb == "get"):
        raise ApiError(501, "NotImplemented", SENTENCES[subresource])
