"""Namespaces that are being deleted: emptied of every namespaced kind of the scheme and of others' kinds, then let go.

The rule   while anything is in it, what is not being deleted yet is deleted, AT_ONCE objects a look; when nothing is left
           its own finalizer (spec.finalizers) goes, through the subresource `finalize`
Status     conditions say what is left, and what holds it, from the time on that something is.
Pace       It looks again every LOOK_MS until then: pods take their grace, others their finalizers.
           The API refuses that last step while anything is left that this view doesn't show yet.
Why        The API refuses to make anything in it from the moment it is being deleted, so the emptying ends.
Source     Kubernetes: namespaces, finalizers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kumi.api.apiextensions import CustomObject, custom_kind_of
from kumi.api.core import Namespace
from kumi.api.meta import Object
from kumi.api.scheme import Kind, Scheme
from kumi.bridge.conditions import Wanted, set_all, status_patch, to_json
from kumi.runtime.reconcile import NOTHING, Delete, Keys, Outcome, Patch, Watches, Write
from kumi.runtime.view import View

FINALIZER = "kubernetes"
LOOK_MS = 300
AT_ONCE = 200
CLEAR = (
    Wanted(
        "NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"
    ),
    Wanted(
        "NamespaceDeletionGroupVersionParsingFailure",
        "False",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    Wanted(
        "NamespaceDeletionContentFailure",
        "False",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
)
"""conditions of trouble that this loop never has: it knows all kinds, and what is refused is tried again"""


class NamespaceController:
    """See the module."""

    name = "kumi-namespaces"

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._inside = tuple(kind for kind in scheme if kind.namespaced and kind.twin is None)

    @property
    def watches(self) -> Watches:
        """See Controller."""
        keys: dict[type[Object], Keys] = {
            Namespace: lambda namespace: (namespace.metadata.name,),
            CustomObject: _no_keys,
        }
        for kind in self._inside:
            keys[kind.type] = _no_keys
        return Watches(keys)

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace = view.get(Namespace, "", key)
        if namespace is None or namespace.metadata.deletion_timestamp is None:
            return NOTHING
        inside: list[tuple[Kind, Object]] = [(kind, obj) for kind in self._inside for obj in view.list(kind.type, key)]
        inside += [(custom_kind_of(other), other) for other in view.list(CustomObject, key)]
        if inside:
            going = [obj for _, obj in inside if obj.metadata.deletion_timestamp is not None]
            stay = [(kind, obj) for kind, obj in inside if obj.metadata.deletion_timestamp is None][:AT_ONCE]
            writes: list[Write] = [Delete(kind, key, obj.metadata.name, obj.metadata.uid) for kind, obj in stay]
            if going and not stay:
                writes += self._told(namespace, inside, now_ms)
            return Outcome(tuple(writes), wake_at_ms=now_ms + LOOK_MS)
        if FINALIZER not in namespace.spec.finalizers:
            return NOTHING
        left = [f for f in namespace.spec.finalizers if f != FINALIZER]
        body = {"metadata": {"resourceVersion": namespace.metadata.resource_version}, "spec": {"finalizers": left}}
        return Outcome((Patch(self._scheme.of(Namespace), "", key, body, subresource="finalize"),))

    def _told(self, namespace: Namespace, inside: Sequence[tuple[Kind, Object]], now_ms: int) -> list[Patch]:
        conditions = set_all(namespace.status.conditions, left_over(inside), now_ms)
        if conditions == namespace.status.conditions:
            return []
        return [status_patch(self._scheme.of(Namespace), namespace, {"conditions": to_json(conditions)})]


def left_over(inside: Sequence[tuple[Kind, Object]]) -> list[Wanted]:
    """The conditions of a namespace in which that is left."""
    kinds = Counter(kind.resource if kind.group else f"{kind.resource}." for kind, _ in inside)
    holders = Counter(finalizer for _, obj in inside for finalizer in obj.metadata.finalizers)
    remain = ", ".join(f"{kind} has {count} resource instances" for kind, count in sorted(kinds.items()))
    held = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(holders.items()))
    text = f"Some content in the namespace has finalizers remaining: {held}"
    return [
        *CLEAR,
        Wanted("NamespaceContentRemaining", "True", "SomeResourcesRemain", f"Some resources are remaining: {remain}"),
        Wanted("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", text)
        if held
        else Wanted(
            "NamespaceFinalizersRemaining",
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    ]


def _no_keys(_: Object) -> tuple[str, ...]:
    return ()
