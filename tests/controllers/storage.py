"""A cluster on a table with the loops and the hook of storage, and short words for what they are about."""

from __future__ import annotations

from typing import Any

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim, StorageClass
from kumi.api.core import Node, Pod
from kumi.api.volumes import DIRECTORY, IS_DEFAULT, LOCAL
from kumi.api.wire import JsonObject
from kumi.controllers.claim_protection import ClaimProtection
from kumi.controllers.claims import ClaimController
from kumi.controllers.persistent_volumes import PersistentVolumeController
from kumi.registry.claim_defaults import ClaimDefaults
from kumi.registry.local import LocalClient
from kumi.registry.objects import Objects
from kumi.registry.registry import Registry
from kumi.testing.stage import Stage


class Storage(Stage):
    """Namespace `ns` and the default class `local` are there."""

    def __init__(self) -> None:
        super().__init__([ClaimController(), ClaimProtection(), PersistentVolumeController()])
        hook = ClaimDefaults(Objects(self.store), self.scheme)
        self.registry = Registry(self.store, self.scheme, lambda: self.now_ms, self._new_uid, [hook])
        self.client = LocalClient(self.registry)

    @classmethod
    async def opened(cls, *, default: bool = True) -> Storage:
        """As most tests begin."""
        made = cls()
        await made.open("ns")
        if default:
            await made.make(storage_class(default=True))
        return made

    async def claim(self, name: str = "data") -> JsonObject:
        """After everybody has had their say."""
        await self.settle()
        found = await self.one(PersistentVolumeClaim, f"ns/{name}")
        assert found is not None, f"claim {name} is gone"
        return found

    async def volume(self, name: str) -> JsonObject:
        """After everybody has had their say."""
        await self.settle()
        found = await self.one(PersistentVolume, name)
        assert found is not None, f"volume {name} is gone"
        return found

    async def volume_of(self, name: str = "data") -> JsonObject:
        """That of a claim."""
        return await self.volume((await self.claim(name))["spec"]["volumeName"])

    async def phases_of_volumes(self) -> dict[str, str]:
        """By name."""
        await self.settle()
        return {o["metadata"]["name"]: o["status"]["phase"] for o in await self.all(PersistentVolume)}

    async def keep(self) -> list[str]:
        """What the keeper of directories would do: the names of the volumes whose directory goes."""
        await self.settle()
        gone = []
        for volume in await self.all(PersistentVolume):
            meta = volume["metadata"]
            if meta.get("deletionTimestamp") and meta.get("finalizers") == [DIRECTORY]:
                if volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete":
                    gone.append(meta["name"])
                await self.patch(PersistentVolume, meta["name"], {"metadata": {"finalizers": []}})
        await self.settle()
        return gone

    def told(self, reason: str) -> list[str]:
        """The messages of the events of that reason."""
        return [note.message for note in self.notes if note.reason == reason]


def storage_class(name: str = "local", *, default: bool = False, **fields: Any) -> JsonObject:
    annotations = {IS_DEFAULT: "true"} if default else {}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": annotations},
        "provisioner": LOCAL,
        "allowVolumeExpansion": True,
        **fields,
    }


def claim(
    name: str = "data", size: str = "1Gi", modes: tuple[str, ...] = ("ReadWriteOnce",), **spec: Any
) -> JsonObject:
    asked = {"accessModes": list(modes), "resources": {"requests": {"storage": size}}, **spec}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": asked,
    }


def volume(name: str = "pv", size: str = "1Gi", modes: tuple[str, ...] = ("ReadWriteOnce",), **spec: Any) -> JsonObject:
    labels = spec.pop("labels", {})
    made = {"capacity": {"storage": size}, "accessModes": list(modes), "hostPath": {"path": f"/data/{name}"}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "labels": labels}, "spec": made}


def pod(name: str = "p", claims: tuple[str, ...] = ("data",), node: str = "n1") -> JsonObject:
    volumes = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": volumes}
    if node:
        spec["nodeName"] = node
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns"}, "spec": spec}


def node(name: str = "n1", **labels: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def only_on(*names: str) -> JsonObject:
    """The node affinity of a volume."""
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(names)}]}
    return {"required": {"nodeSelectorTerms": [term]}}


__all__ = [
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "Storage",
    "StorageClass",
    "claim",
    "node",
    "only_on",
    "pod",
    "storage_class",
    "volume",
]
