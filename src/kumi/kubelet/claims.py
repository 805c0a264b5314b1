"""What is behind a pod's claims: the directory of each, whether it may be written, and who else may use it.

The rule   a claim that is there, not being deleted, and bound to a volume that is bound to it gives the volume's place:
               LOCAL      volumes/<handle> of the data directory, made when it is first used
               hostPath   the machine's own path, with the checks and creations of its type; local: one that must be there
               others     CannotConfigure
           read-only  the pod says so, or ReadOnlyMany is all that the claim asks for
           exclusive  ReadWriteOncePod: while a pod uses it, no other one may; ReadWriteOnce: pods of one node alone
Waits      whatever is missing: CannotConfigure; the pod stays in ContainerCreating with that message, and goes on when it is
           there.
Holds      from the pod's preparation until its processes are gone, also across a restart (pod_record.py).
Source     Kubernetes: persistent volumes, access modes.
Not here   who gets which volume: controllers/claims.py. Removing directories: volume_keeper.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim
from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.volumes import LOCAL, ONE_NODE, ONE_POD, READ_ONLY, claims_of, exclusive
from kumi.api.wire import JsonObject
from kumi.kubelet.environment import CannotConfigure
from kumi.runtime.client import Client

_HANDLE = re.compile(r"[a-z0-9][-a-z0-9._]*")


class Claimed(NamedTuple):
    """What is behind one volume of a pod. `source`: a hostPath to be provided; else `place` is the directory."""

    claim: str
    """its uid"""
    name: str
    exclusive: str
    read_only: bool
    place: Path | None
    source: JsonObject | None = None


class Held(NamedTuple):
    """That a pod uses a claim."""

    pod: str
    node: str
    exclusive: str


class Attachments:
    """Who uses which claim on this machine."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, Held]] = {}
        """claim's uid -> pod's uid -> how"""

    def take(self, pod: str, node: str, claimed: Mapping[str, Claimed]) -> None:
        """The pod (its uid) uses these from now on, all of them or none. CannotConfigure: another one does."""
        for one in claimed.values():
            others = [held for held in self._held.get(one.claim, {}).values() if held.pod != pod]
            if others and ONE_POD in (one.exclusive, *(held.exclusive for held in others)):
                raise CannotConfigure(
                    f'persistentvolumeclaim "{one.name}" is ReadWriteOncePod, and another pod uses it'
                )
            elsewhere = sorted({held.node for held in others} - {node})
            if elsewhere and one.exclusive == ONE_NODE:
                raise CannotConfigure(
                    f'persistentvolumeclaim "{one.name}" is ReadWriteOnce, and pods of node {elsewhere[0]} use it'
                )
        for one in claimed.values():
            self.restore(pod, node, {one.claim: one.exclusive})

    def restore(self, pod: str, node: str, claims: Mapping[str, str]) -> None:
        """What a record says: claim's uid -> exclusive."""
        for claim, how in claims.items():
            self._held.setdefault(claim, {})[pod] = Held(pod, node, how)

    def release(self, pod: str) -> None:
        """The pod uses nothing any more."""
        for claim in [claim for claim, users in self._held.items() if pod in users]:
            del self._held[claim][pod]
            if not self._held[claim]:
                del self._held[claim]

    def in_use(self, claim: str) -> bool:
        """Whether any pod uses it."""
        return claim in self._held


async def find(client: Client, kinds: Scheme, pod: JsonObject, data_dir: Path) -> dict[str, Claimed]:
    """volume -> what is behind it, of the volumes that have a claim. CannotConfigure."""
    meta = pod["metadata"]
    volumes = pod["spec"].get("volumes") or ()
    named = claims_of(meta["name"], volumes)
    found = {}
    for volume in volumes:
        if volume["name"] not in named:
            continue
        claim = await _claim(client, kinds, pod, named[volume["name"]], made_with_pod=bool(volume.get("ephemeral")))
        behind = await _volume(client, kinds, claim)
        asks_read_only = bool((volume.get("persistentVolumeClaim") or {}).get("readOnly"))
        found[volume["name"]] = _claimed(claim, behind, data_dir, read_only=asks_read_only)
    return found


async def _claim(
    client: Client, kinds: Scheme, pod: JsonObject, name: str, *, made_with_pod: bool
) -> PersistentVolumeClaim:
    noun = f'persistentvolumeclaim "{name}"'
    try:
        found = await client.get(kinds.of(PersistentVolumeClaim), pod["metadata"]["namespace"], name)
    except ApiError as error:
        if error.code == 404:
            raise CannotConfigure(f"{noun} not found") from error
        raise
    claim = msgspec.convert(found, PersistentVolumeClaim)
    if claim.metadata.deletion_timestamp is not None:
        raise CannotConfigure(f"{noun} is being deleted")
    owners = [owner.uid for owner in claim.metadata.owner_references]
    if made_with_pod and pod["metadata"]["uid"] not in owners:
        raise CannotConfigure(f"{noun} was not made for this pod")
    if claim.status.phase != "Bound" or not claim.spec.volume_name:
        raise CannotConfigure(f"{noun} has no volume yet")
    return claim


async def _volume(client: Client, kinds: Scheme, claim: PersistentVolumeClaim) -> PersistentVolume:
    name = claim.spec.volume_name
    try:
        volume = msgspec.convert(await client.get(kinds.of(PersistentVolume), "", name), PersistentVolume)
    except ApiError as error:
        if error.code == 404:
            raise CannotConfigure(f'persistentvolume "{name}" not found') from error
        raise
    if (volume.spec.claim_ref or {}).get("uid") != claim.metadata.uid:
        raise CannotConfigure(f'persistentvolume "{name}" is not that of persistentvolumeclaim "{claim.metadata.name}"')
    return volume


def _claimed(claim: PersistentVolumeClaim, volume: PersistentVolume, data_dir: Path, *, read_only: bool) -> Claimed:
    spec, name = volume.spec, volume.metadata.name
    only = claim.spec.access_modes == [READ_ONLY]
    made = Claimed(
        claim.metadata.uid, claim.metadata.name, exclusive(spec.access_modes), read_only or only, None, spec.host_path
    )
    if spec.host_path is not None:
        return made
    if spec.local is not None:
        place = Path(str(spec.local.get("path") or "/"))
        if not place.exists():
            raise CannotConfigure(f'persistentvolume "{name}": there is no {place} on this machine')
        return made._replace(place=place)
    if spec.csi is not None and spec.csi.get("driver") == LOCAL:
        return made._replace(place=directory_of(volume, data_dir))
    raise CannotConfigure(f'persistentvolume "{name}": nothing on this node knows its kind of volume')


def directory_of(volume: PersistentVolume, data_dir: Path) -> Path:
    """Where a LOCAL volume is: it has its own name in it, so that no two are at one place. CannotConfigure."""
    handle = str((volume.spec.csi or {}).get("volumeHandle") or "")
    name = volume.metadata.name
    if not _HANDLE.fullmatch(handle) or not handle.endswith(f"_{name}"):
        raise CannotConfigure(f'persistentvolume "{name}": "{handle}" is no directory of its own')
    return data_dir / "volumes" / handle
