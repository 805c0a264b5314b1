"""Namespaces that are being deleted: emptied of every namespaced kind of the scheme, then let go.

The rule   while anything is in it, what is not being deleted yet is deleted, AT_ONCE objects a look; when nothing is left
           its own finalizer (spec.finalizers) goes, through the subresource `finalize`
Pace       It looks again every LOOK_MS until then: pods take their grace, others their finalizers.
Why        The API refuses to make anything in it from the moment it is being deleted, so the emptying ends.
Source     Kubernetes: namespaces, finalizers.
"""

from __future__ import annotations

from kumi.api.core import Namespace
from kumi.api.meta import Object
from kumi.api.scheme import Scheme
from kumi.runtime.reconcile import NOTHING, Delete, Keys, Outcome, Patch, Watches, Write
from kumi.runtime.view import View

FINALIZER = "kubernetes"
LOOK_MS = 300
AT_ONCE = 200


class NamespaceController:
    """See the module."""

    name = "kumi-namespaces"

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._inside = tuple(kind for kind in scheme if kind.namespaced)

    @property
    def watches(self) -> Watches:
        """See Controller."""
        keys: dict[type[Object], Keys] = {Namespace: lambda namespace: (namespace.metadata.name,)}
        for kind in self._inside:
            keys[kind.type] = _no_keys
        return Watches(keys)

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace = view.get(Namespace, "", key)
        if namespace is None or namespace.metadata.deletion_timestamp is None:
            return NOTHING
        deletes: list[Write] = []
        empty = True
        for kind in self._inside:
            for obj in view.list(kind.type, key):
                empty = False
                if obj.metadata.deletion_timestamp is None and len(deletes) < AT_ONCE:
                    deletes.append(Delete(kind, key, obj.metadata.name, obj.metadata.uid))
        if not empty:
            return Outcome(tuple(deletes), wake_at_ms=now_ms + LOOK_MS)
        if FINALIZER not in namespace.spec.finalizers:
            return NOTHING
        left = [f for f in namespace.spec.finalizers if f != FINALIZER]
        body = {"metadata": {"resourceVersion": namespace.metadata.resource_version}, "spec": {"finalizers": left}}
        return Outcome((Patch(self._scheme.of(Namespace), "", key, body, subresource="finalize"),))


def _no_keys(_: Object) -> tuple[str, ...]:
    return ()
