"""Which owner a change concerns, and how an object is named where others speak of it.

    owner_keys(group, kind)   the key of the owner of that kind that manages an object, none if another does
    takers(type)              the owners that select an object which nobody manages: they may adopt it (adoption.py)
    reference(object)         apiVersion, kind, namespace, name, uid and the version that was seen, as events have them
A loop that makes objects watches them by the first and, where it adopts, by the second.
"""

from __future__ import annotations

from typing import Any, TypeVar

from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.bridge.out import reference as of_object
from kumi.controllers.adoption import is_selected
from kumi.runtime.reconcile import Keys, Related
from kumi.runtime.view import View

T = TypeVar("T", bound=Object)


def owner_keys(group: str, kind: str) -> Keys:
    """See the module; any version of the group will do."""

    def keys(obj: Object) -> tuple[str, ...]:
        owner = obj.metadata.controller
        if owner is None or owner.kind != kind or owner.api_version.rpartition("/")[0] != group:
            return ()
        return (f"{obj.metadata.namespace}/{owner.name}",)

    return keys


def takers(type_: type[Any]) -> Related:
    """See the module; `type_` has a label selector in its spec."""

    def keys(obj: Object, view: View) -> list[str]:
        if obj.metadata.controller is not None:
            return []
        owners = view.list(type_, obj.metadata.namespace)
        return [each.key for each in owners if is_selected(each.spec.selector, obj.metadata.labels)]

    return keys


def reference(obj: Object) -> JsonObject:
    """See the module."""
    return {**of_object.reference(obj), "resourceVersion": obj.metadata.resource_version}
