"""PersistentVolumeClaims get a volume: one that is there, or one that is made.

The rule, for a claim that has none:
    1 class       none named: that of the default class, as soon as there is one
    2 named       spec.volumeName: that volume and no other, if it is nobody's and fits
    3 found       the best volume that is there (kumi.api.volumes): its claimRef is written first, then the claim
    4 made        the class's provisioner is LOCAL: a volume `pvc-<uid>`, meant for the claim from the start. Others make theirs
                  by themselves and are told so by annotation.
    When          a class with WaitForFirstConsumer: not before a pod that names the claim has a node, and only a volume that can
                  be reached from there; any other class: at once
For one that has a volume:
    bound         both sides say so: status Bound with the volume's modes and capacity
    lost          the volume is gone, or another claim's: status Lost
    grows         LOCAL, and more is asked for than the volume has: the volume has that much from now on
Safety     Both writes are conditional on what was read, and the volume is written first: of two claims that want one volume, one
           is refused, and looks again. What is bound stays so.
Size       of a LOCAL volume is what the claim asks for; it is no limit: the machine's disk is.
Source     Kubernetes: persistent volumes (binding, reserving, expansion), volume binding mode, claim phases and annotations.
Not here   what becomes of volumes: persistent_volumes.py; claims that are deleted: claim_protection.py.
"""

from __future__ import annotations

import msgspec

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus, StorageClass
from kumi.api.core import Node, Pod
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.api.volumes import (
    DIRECTORY,
    LOCAL,
    PROTECTED,
    STORAGE,
    asked_of,
    candidates,
    capacity_of,
    default_class,
    is_local,
    is_meant,
    misfit,
)
from kumi.api.wire import JsonObject
from kumi.bridge.into.node import labels_of
from kumi.bridge.into.volumeclaim import NO_PROVISIONER, WAITS, reachable
from kumi.controllers.consumers import consumers, named_by
from kumi.controllers.own_status import written
from kumi.controllers.owners import reference
from kumi.runtime.reconcile import NOTHING, Create, Note, Outcome, Patch, Watches, Write, no_keys, own_key
from kumi.runtime.view import View

BOUND_BY, BIND_COMPLETED = "pv.kubernetes.io/bound-by-controller", "pv.kubernetes.io/bind-completed"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
PROVISIONER = "volume.kubernetes.io/storage-provisioner"


class ClaimController:
    """See the module."""

    name = "persistentvolume-binder"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {
                PersistentVolumeClaim: own_key,
                PersistentVolume: _claim_of,
                Pod: named_by,
                StorageClass: no_keys,
                Node: no_keys,
            },
            related={PersistentVolume: _unbound, StorageClass: _unbound, Node: _unbound},
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        claim = view.get(PersistentVolumeClaim, namespace, name)
        if claim is None:
            return NOTHING
        if claim.spec.volume_name:
            return _with_volume(view, claim)
        if claim.metadata.deletion_timestamp is not None:
            return NOTHING
        return _without(view, claim)


def _without(view: View, claim: PersistentVolumeClaim) -> Outcome:
    """See the module: a claim that has no volume."""
    classes = view.list(StorageClass)
    name = claim.spec.storage_class_name
    if name is None and (default := default_class(classes)) is not None:
        return Outcome((_patch(claim, {"spec": {"storageClassName": default.metadata.name}}),))
    class_ = next((c for c in classes if c.metadata.name == name), None)
    volumes = list(candidates(claim, view.list(PersistentVolume)))
    if class_ is not None and class_.volume_binding_mode == WAITS and not any(is_meant(claim, v) for v in volumes):
        nodes = _nodes_of_consumers(view, claim)
        if not nodes:
            waits = "it gets a volume when a pod that uses it has a node"
            return _told(claim, WAITS, waits, "Normal")
        volumes = [v for v in volumes if all(reachable(v, labels_of(node)) for node in nodes)]
    if volumes:
        return Outcome(_bound(volumes[0], claim))
    if not name:
        return _told(
            claim, "FailedBinding", "no volume that is there fits, and it has no storage class to make one", "Normal"
        )
    if class_ is None:
        return _told(claim, "ProvisioningFailed", f'storageclass.storage.k8s.io "{name}" not found')
    return _made(claim, class_)


def _made(claim: PersistentVolumeClaim, class_: StorageClass) -> Outcome:
    """A new volume, or the wait for those who make it."""
    if class_.provisioner == NO_PROVISIONER:
        return _told(claim, "FailedBinding", "no volume that is there fits, and its storage class makes none", "Normal")
    if class_.provisioner != LOCAL:
        if claim.metadata.annotations.get(PROVISIONER) != class_.provisioner:
            return Outcome((_patch(claim, {"metadata": {"annotations": {PROVISIONER: class_.provisioner}}}),))
        waits = f"a volume is to be made by the provisioner {class_.provisioner}, or by an administrator"
        return _told(claim, "ExternalProvisioning", waits, "Normal")
    for trouble, there in (
        ("a directory is no block device (volumeMode Block)", claim.spec.volume_mode == "Block"),
        ("a selector chooses among volumes that are there, and none fits", claim.spec.selector is not None),
        ("it can't begin as a copy (dataSource)", claim.spec.data_source or claim.spec.data_source_ref),
    ):
        if there:
            return _told(claim, "ProvisioningFailed", trouble)
    volume = volume_for(claim, class_)
    text = f"volume {volume['metadata']['name']} is made"
    return Outcome((Create(volume),), (Note(reference(claim), "ProvisioningSucceeded", text),))


def volume_for(claim: PersistentVolumeClaim, class_: StorageClass) -> JsonObject:
    """The volume that is made for a claim: a directory of this machine, which every node on it reaches."""
    meta = claim.metadata
    name = f"pvc-{meta.uid}"
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": name,
            "annotations": {PROVISIONED_BY: LOCAL},
            "finalizers": [PROTECTED, DIRECTORY],
        },
        "spec": {
            "capacity": {STORAGE: claim.spec.resources.requests[STORAGE]},
            "accessModes": claim.spec.access_modes,
            "persistentVolumeReclaimPolicy": class_.reclaim_policy,
            "storageClassName": class_.metadata.name,
            "volumeMode": "Filesystem",
            "csi": {"driver": LOCAL, "volumeHandle": f"{meta.namespace}_{meta.name}_{name}"},
            "claimRef": _reference(claim),
        },
    }


def _with_volume(view: View, claim: PersistentVolumeClaim) -> Outcome:
    """See the module: a claim that has a volume, or names one."""
    volume = view.get(PersistentVolume, "", claim.spec.volume_name)
    complete = BIND_COMPLETED in claim.metadata.annotations
    if volume is None:
        if complete:
            return _told(claim, "ClaimLost", "its volume is gone, and with it what was in it", phase="Lost")
        return Outcome(_phase(claim, "Pending"))
    if not is_meant(claim, volume):
        if complete:
            return _told(claim, "ClaimMisbound", "its volume belongs to another claim", phase="Lost")
        wrong = "it belongs to another claim" if volume.spec.claim_ref is not None else misfit(claim, volume)
        if wrong:
            return _told(claim, "VolumeMismatch", f"volume {volume.metadata.name} can't be its own: {wrong}")
    if is_local(volume) and complete and capacity_of(volume) < asked_of(claim):
        larger = {"spec": {"capacity": {STORAGE: claim.spec.resources.requests[STORAGE]}}}
        return Outcome((_patch(volume, larger),))
    return Outcome(_bound(volume, claim))


def _bound(volume: PersistentVolume, claim: PersistentVolumeClaim) -> tuple[Write, ...]:
    """What is still to be written of a claim and its volume: the volume's side, the claim's, the claim's status."""
    writes: list[Write] = []
    name = volume.metadata.name
    if (volume.spec.claim_ref or {}).get("uid") != claim.metadata.uid:
        reference_of = {"spec": {"claimRef": _reference(claim)}}
        writes.append(_patch(volume, {"metadata": {"annotations": {BOUND_BY: "yes"}}, **reference_of}))
    if claim.spec.volume_name != name or BIND_COMPLETED not in claim.metadata.annotations:
        said = {BIND_COMPLETED: "yes"} if claim.spec.volume_name else {BIND_COMPLETED: "yes", BOUND_BY: "yes"}
        writes.append(_patch(claim, {"metadata": {"annotations": said}, "spec": {"volumeName": name}}))
    if writes:
        return tuple(writes)
    modes, has = volume.spec.access_modes, volume.spec.capacity
    return _status(claim, msgspec.structs.replace(claim.status, phase="Bound", access_modes=modes, capacity=has))


def _told(claim: PersistentVolumeClaim, why: str, text: str, kind: str = "Warning", phase: str = "Pending") -> Outcome:
    return Outcome(_phase(claim, phase), (Note(reference(claim), why, text, kind),))


def _phase(claim: PersistentVolumeClaim, phase: str) -> tuple[Write, ...]:
    return _status(claim, msgspec.structs.replace(claim.status, phase=phase))


def _status(claim: PersistentVolumeClaim, status: PersistentVolumeClaimStatus) -> tuple[Write, ...]:
    return tuple(written(claim, claim.status, status))


def _patch(obj: Object, body: JsonObject) -> Patch:
    meta = obj.metadata
    stated = {"resourceVersion": meta.resource_version, **body.get("metadata", {})}
    return Patch(SCHEME.of(type(obj)), meta.namespace, meta.name, {**body, "metadata": stated})


def _reference(claim: PersistentVolumeClaim) -> JsonObject:
    meta = claim.metadata
    of = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta.namespace, "name": meta.name}
    return {**of, "uid": meta.uid, "resourceVersion": meta.resource_version}


def _nodes_of_consumers(view: View, claim: PersistentVolumeClaim) -> list[Node]:
    """The nodes of the pods that use it."""
    names = sorted({pod.spec.node_name for pod in consumers(view, claim)})
    return [node for node in (view.get(Node, "", name) for name in names) if node is not None]


def _claim_of(volume: Object) -> tuple[str, ...]:
    assert isinstance(volume, PersistentVolume)
    found = volume.spec.claim_ref
    return (f"{found.get('namespace', '')}/{found.get('name', '')}",) if found else ()


def _unbound(_: Object, view: View) -> list[str]:
    """Every claim that may be waiting for such a change."""
    return [claim.key for claim in view.list(PersistentVolumeClaim) if claim.status.phase != "Bound"]
