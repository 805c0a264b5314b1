"""A view that a test fills by hand, with the same answers as the informers' one.

view = FakeView(manifest, ...)      JSON objects, in the stored version, decoded by the scheme
view.put(manifest); view.remove(type, namespace, name)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from kumi.api.meta import Object
from kumi.api.scheme import load
from kumi.api.wire import JsonObject

T = TypeVar("T", bound=Object)


def decoded(manifest: JsonObject) -> Object:
    """A JSON object as its kind's view."""
    kind = load().of_object(manifest)
    assert kind is not None, f"the scheme has no {manifest.get('apiVersion')} {manifest.get('kind')}"
    return msgspec.convert(manifest, kind.type)


class FakeView:
    """See the module and kumi.runtime.view.View. Cost O(objects) a question: it is for tests."""

    def __init__(self, *manifests: JsonObject) -> None:
        self._objects: dict[tuple[type[Object], str, str], Object] = {}
        for manifest in manifests:
            self.put(manifest)

    def put(self, manifest: JsonObject | Object) -> None:
        """There is such an object now."""
        obj = manifest if isinstance(manifest, Object) else decoded(manifest)
        self._objects[type(obj), obj.metadata.namespace, obj.metadata.name] = obj

    def remove(self, type_: type[Object], namespace: str, name: str) -> None:
        """It is gone."""
        del self._objects[type_, namespace, name]

    def get(self, type_: type[T], namespace: str, name: str) -> T | None:
        """See View."""
        found = self._objects.get((type_, namespace, name))
        return found if isinstance(found, type_) else None

    def list(self, type_: type[T], namespace: str = "") -> Sequence[T]:
        """See View."""
        found = [o for o in self._objects.values() if isinstance(o, type_)]
        return sorted((o for o in found if not namespace or o.metadata.namespace == namespace), key=lambda o: o.key)

    def owned(self, type_: type[T], owner_uid: str) -> Sequence[T]:
        """See View."""
        return [o for o in self.list(type_) if o.metadata.controller and o.metadata.controller.uid == owner_uid]

    def labelled(self, type_: type[T], label: str, value: str) -> Sequence[T]:
        """See View."""
        return [o for o in self.list(type_) if o.metadata.labels.get(label) == value]
