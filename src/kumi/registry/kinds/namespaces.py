"""Namespaces: made Active with the finalizer `kubernetes` of their own, which keeps one that is deleted until it is empty.

    delete           marks it: phase Terminating; nothing new can be made in it
    its controller   empties it, then takes the finalizer away through the subresource `finalize`
    last of all      with neither its own nor metadata's finalizers it goes

Source     Kubernetes: namespaces, finalizers; its behaviour as recorded.
Not here   refusing what is made in a namespace: kumi.registry.admission.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject

FINALIZER = "kubernetes"
PROTECTED = ("default", "kube-public", "kube-system")


def on_create(namespace: JsonObject) -> None:
    """Active, with its finalizer."""
    namespace["status"] = {"phase": "Active"}
    finalizers = (namespace.get("spec") or {}).get("finalizers") or []
    namespace["spec"] = {"finalizers": [*finalizers, *([] if FINALIZER in finalizers else [FINALIZER])]}


def on_update(new: JsonObject, old: JsonObject) -> None:
    """Its own finalizers change through `finalize` only."""
    finalizers = (old.get("spec") or {}).get("finalizers")
    new["spec"] = {**(new.get("spec") or {}), "finalizers": list(finalizers or [])}
    if not finalizers:
        del new["spec"]["finalizers"]


def finalize(namespace: JsonObject, asked: JsonObject) -> None:
    """Takes the finalizers that `asked` has."""
    finalizers = (asked.get("spec") or {}).get("finalizers") or []
    namespace["spec"] = {"finalizers": finalizers} if finalizers else {}


def terminate(namespace: JsonObject) -> None:
    """What its deletion marks beside the time."""
    namespace.setdefault("status", {})["phase"] = "Terminating"


def held(namespace: JsonObject) -> bool:
    """Whether its own finalizers keep it."""
    return bool((namespace.get("spec") or {}).get("finalizers"))
