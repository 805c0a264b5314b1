"""Who manages what: an owner takes those that it selects and nobody manages, and lets go of those that it selects no more.

The rule   candidates are objects of the owner's namespace that are managed by it or by nobody
           ours      managed by it and selected
           adopt     managed by nobody, selected, not being deleted: it becomes their controller
           release   managed by it and selected no more: it is taken off their owners
Safety     both are conditional on what was read; an owner that is being deleted adopts nothing.
Source     Kubernetes: ReplicaSet (non-template pod acquisitions), labels and selectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec

from kumi.api.meta import LabelSelector, Object, owner_reference
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.runtime.reconcile import Patch

T = TypeVar("T", bound=Object)


class Claimed(NamedTuple, Generic[T]):
    """What an owner has, and the writes that change it."""

    ours: list[T]
    writes: list[Patch]


def claim(owner: Object, selector: LabelSelector, candidates: Iterable[T]) -> Claimed[T]:
    """See the module; a selector that is empty selects nothing."""
    ours, writes = [], []
    uid, lives = owner.metadata.uid, owner.metadata.deletion_timestamp is None
    for obj in candidates:
        manager = obj.metadata.controller
        selected = is_selected(selector, obj.metadata.labels)
        if manager is not None and manager.uid == uid:
            if selected:
                ours.append(obj)
            elif lives:
                writes.append(_owners(obj, [o for o in _references(obj) if o["uid"] != uid]))
        elif manager is None and selected and lives and obj.metadata.deletion_timestamp is None:
            kind = SCHEME.of(type(owner))
            mine = owner_reference(owner, kind.api_version, kind.kind)
            writes.append(_owners(obj, [*(o for o in _references(obj) if o["uid"] != uid), mine]))
    return Claimed(ours, writes)


def is_selected(selector: LabelSelector, labels: dict[str, str]) -> bool:
    """Whether a selector that is not empty selects these labels."""
    if not selector.match_labels and not selector.match_expressions:
        return False
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    for term in selector.match_expressions:
        has = term.key in labels
        holds = {
            "In": has and labels[term.key] in term.values,
            "NotIn": not has or labels[term.key] not in term.values,
            "Exists": has,
            "DoesNotExist": not has,
        }
        if not holds.get(term.operator, False):
            return False
    return True


def _references(obj: Object) -> Sequence[JsonObject]:
    return [
        {key: value for key, value in msgspec.to_builtins(owner).items() if value is not None}
        for owner in obj.metadata.owner_references
    ]


def _owners(obj: Object, owners: list[JsonObject]) -> Patch:
    meta = obj.metadata
    body = {"metadata": {"resourceVersion": meta.resource_version, "ownerReferences": owners or None}}
    return Patch(SCHEME.of(type(obj)), meta.namespace, meta.name, body)
