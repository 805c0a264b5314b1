"""The storage class of a cluster on one machine: `local`, the default one, directories below `volumes` of the data directory.

The rule   made at each start where it is missing; one that is there stays as its users made it (not the default any more, say).
Binding    Immediate. Waiting for the first consumer is for volumes that only some nodes reach: the volume is then made where
           the pod goes. Here all nodes are on one machine and reach every directory, so there is nothing to wait for, a claim
           is Bound as soon as it is made, and a queued job can be checked against it before it has pods. Volumes have no node
           affinity, so a pod whose node is gone finds its data on another.
Reclaim    Delete, as people expect of a default class: with the claim goes the directory. Who wants to keep it makes a class of
           their own with Retain, or changes the volume.
Growth     allowed: a size is what was asked for, and no limit.
Source     Kubernetes: storage classes, volume binding mode.
Not here   the volumes: kumi.controllers.claims.
"""

from __future__ import annotations

from kumi.api.errors import ApiError
from kumi.api.volumes import IS_DEFAULT, LOCAL
from kumi.api.wire import JsonObject
from kumi.runtime.client import Client

CLASS: JsonObject = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "local", "annotations": {IS_DEFAULT: "true"}},
    "provisioner": LOCAL,
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
    "allowVolumeExpansion": True,
}


async def provide_class(client: Client) -> None:
    """Makes the class unless there is one of its name."""
    try:
        await client.create(CLASS)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise
