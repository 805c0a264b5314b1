"""Kinds of these tests' own: the runtime works with any."""

from __future__ import annotations

from msgspec import field

from kumi.api.meta import Object, View
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject


class ThingSpec(View):
    size: int = 0
    node_name: str = ""


class ThingStatus(View):
    ready: bool = False


class Thing(Object):
    spec: ThingSpec = field(default_factory=ThingSpec)
    status: ThingStatus = field(default_factory=ThingStatus)


class Pod(Object):
    spec: ThingSpec = field(default_factory=ThingSpec)


class Zone(Object):
    spec: ThingSpec = field(default_factory=ThingSpec)


class Event(Object):
    count: int = 0


class Lease(Object):
    pass


THINGS = Kind("example.com", "v1", "Thing", "things", Thing, subresources=("status",))
PODS = Kind("", "v1", "Pod", "pods", Pod)
ZONES = Kind("example.com", "v1", "Zone", "zones", Zone, namespaced=False)
EVENTS = Kind("", "v1", "Event", "events", Event)
LEASES = Kind("coordination.k8s.io", "v1", "Lease", "leases", Lease)
KINDS = (THINGS, PODS, ZONES, EVENTS, LEASES)


def kind_of(type_: type[Object]) -> Kind:
    return next(kind for kind in KINDS if kind.type is type_)


def thing(name: str, size: int = 0, namespace: str = "default", labels: dict[str, str] | None = None) -> JsonObject:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "spec": {"size": size},
    }


def pod(name: str, owner: JsonObject | None = None, namespace: str = "default") -> JsonObject:
    obj: JsonObject = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {},
    }
    if owner is not None:
        obj["metadata"]["ownerReferences"] = [
            {
                "apiVersion": owner["apiVersion"],
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "controller": True,
            }
        ]
    return obj
