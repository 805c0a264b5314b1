"""The keeper of LOCAL volumes' directories: removes the one of a volume that goes, if its reclaim policy says so.

The rule   a volume that is being deleted, that its controllers have let go (no finalizer PROTECTED) and that no pod here uses
               reclaim policy Delete      its directory is removed, then the finalizer DIRECTORY
               any other                  only the finalizer: what is in the directory stays, for whoever wants it
Safety     Before it removes anything it asks the API: for the volume, as it is now, and for its claim; while there is a claim
           of that uid nothing is removed. Only a directory that has the volume's own name is ever touched.
Trouble    (a disk that refuses) is told as an event of the volume, and tried again.
Source     Kubernetes: persistent volumes (reclaiming, finalizers of external provisioners).
Not here   that the volume is deleted at all: controllers/persistent_volumes.py.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from pathlib import Path

import msgspec

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim
from kumi.api.errors import ApiError, KumiError
from kumi.api.scheme import Scheme
from kumi.api.volumes import DIRECTORY, PROTECTED, is_local
from kumi.kubelet.claims import Attachments, directory_of
from kumi.kubelet.feed import follow
from kumi.runtime.client import Client
from kumi.runtime.clock import Clock
from kumi.runtime.events import EventSink
from kumi.runtime.reconcile import Note

LOG = logging.getLogger(__name__)
RETRY_MS, RETRY_MOST_MS = 200, 30_000


class VolumeKeeper:
    """See the module."""

    def __init__(self, client: Client, kinds: Scheme, clock: Clock, events: EventSink) -> None:
        self._client, self._kinds, self._clock, self._events = client, kinds, clock, events
        self._busy: set[str] = set()
        """uids of volumes that are being seen to"""

    async def run(self, data_dir: Path, attachments: Attachments) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            async for change in follow(self._client, self._kinds.of(PersistentVolume), self._clock):
                if change is None or change.gone:
                    continue
                volume = msgspec.convert(change.object, PersistentVolume)
                uid = volume.metadata.uid
                if _is_going(volume) and uid not in self._busy:
                    self._busy.add(uid)
                    group.create_task(self._see_to(volume, data_dir, attachments))

    async def _see_to(self, volume: PersistentVolume, data_dir: Path, attachments: Attachments) -> None:
        pause_ms = RETRY_MS
        try:
            while not await self._tried(volume, data_dir, attachments):
                await self._clock.sleep_ms(pause_ms)
                pause_ms = min(pause_ms * 2, RETRY_MOST_MS)
        finally:
            self._busy.discard(volume.metadata.uid)

    async def _tried(self, volume: PersistentVolume, data_dir: Path, attachments: Attachments) -> bool:
        """One attempt; True where nothing is left to do."""
        try:
            now = await self._as_it_is(volume)
            if now is None:
                return True
            claim = str((now.spec.claim_ref or {}).get("uid") or "")
            if attachments.in_use(claim) or await self._has_claim(now):
                return False
            if now.spec.persistent_volume_reclaim_policy == "Delete":
                await asyncio.to_thread(_remove, directory_of(now, data_dir))
            await self._let_go(now)
        except (KumiError, OSError) as error:
            if not isinstance(error, ApiError):
                self._warn(volume, f"its directory can't be removed: {error}")
            LOG.warning("volume %s: %s", volume.metadata.name, error)
            return False
        return True

    async def _as_it_is(self, volume: PersistentVolume) -> PersistentVolume | None:
        """None: it is gone, or is not going any more."""
        try:
            found = await self._client.get(self._kinds.of(PersistentVolume), "", volume.metadata.name)
        except ApiError as error:
            if error.code == 404:
                return None
            raise
        now = msgspec.convert(found, PersistentVolume)
        return now if now.metadata.uid == volume.metadata.uid and _is_going(now) else None

    async def _has_claim(self, volume: PersistentVolume) -> bool:
        claimed = volume.spec.claim_ref or {}
        if not claimed.get("uid"):
            return False
        kind = self._kinds.of(PersistentVolumeClaim)
        try:
            found = await self._client.get(kind, str(claimed.get("namespace", "")), str(claimed.get("name", "")))
        except ApiError as error:
            if error.code == 404:
                return False
            raise
        return bool(found["metadata"]["uid"] == claimed["uid"])

    async def _let_go(self, volume: PersistentVolume) -> None:
        meta = volume.metadata
        left = [finalizer for finalizer in meta.finalizers if finalizer != DIRECTORY]
        body = {"metadata": {"resourceVersion": meta.resource_version, "finalizers": left}}
        await self._client.patch(self._kinds.of(PersistentVolume), "", meta.name, body)

    def _warn(self, volume: PersistentVolume, message: str) -> None:
        meta = volume.metadata
        about = {"apiVersion": "v1", "kind": "PersistentVolume", "name": meta.name, "uid": meta.uid}
        self._events.tell(Note(about, "VolumeFailedDelete", message, "Warning"), "kubelet")


def _is_going(volume: PersistentVolume) -> bool:
    """Whether the keeper has the last word on it."""
    meta = volume.metadata
    going = meta.deletion_timestamp is not None and is_local(volume)
    return going and DIRECTORY in meta.finalizers and PROTECTED not in meta.finalizers


def _remove(directory: Path) -> None:
    """The directory and what is in it; one that is not there is as good as removed. OSError."""
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        if directory.exists():
            raise
