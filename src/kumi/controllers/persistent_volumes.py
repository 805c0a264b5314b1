"""PersistentVolumes: whose they are, and what becomes of them when their claim is gone.

Phases     Available   nobody's, or kept for a claim that has not come yet (claimRef without a uid)
           Bound       its claim is there
           Released    its claim is gone; what is in it stays until somebody decides
           Failed      it is to be deleted and Kumi does not know how
The rule   Released and Retain     nothing: an administrator looks at it
           Released and Delete     LOCAL: the volume is deleted; its directory goes with it (the node's keeper does that, by the
                                   finalizer DIRECTORY). Any other source, and Recycle: Failed, and nothing is removed
           deleted                 the finalizer PROTECTED goes as soon as it is not Bound
Safety     Two looks: the first writes Released, a later one, that sees it written and the claim still gone, deletes, and only
           the version that was read. The keeper asks the API once more for the claim before it removes anything.
Source     Kubernetes: persistent volume life cycle, reclaiming, storage object in use protection.
Not here   who gets which volume: claims.py.
"""

from __future__ import annotations

import msgspec

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim, PersistentVolumeStatus
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.api.volumes import PROTECTED, is_local
from kumi.controllers.own_status import written
from kumi.controllers.owners import reference
from kumi.runtime.reconcile import NOTHING, Delete, Note, Outcome, Patch, Watches, own_key
from kumi.runtime.view import View

NO_DELETER = "its reclaim policy asks for more than Kumi does: it removes only directories that it made itself"


class PersistentVolumeController:
    """See the module."""

    name = "persistentvolume-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {PersistentVolume: own_key, PersistentVolumeClaim: _volume_of}, related={PersistentVolumeClaim: _kept_for}
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        volume = view.get(PersistentVolume, "", key)
        if volume is None:
            return NOTHING
        phase = _phase(view, volume)
        going = volume.metadata.deletion_timestamp is not None
        if phase == "Released" and volume.spec.persistent_volume_reclaim_policy != "Retain":
            return _reclaimed(volume, going=going)
        if volume.status.phase != phase:
            return Outcome(tuple(written(volume, volume.status, PersistentVolumeStatus(phase=phase))))
        return _let_go(volume) if going else NOTHING


def _phase(view: View, volume: PersistentVolume) -> str:
    """What it is, whatever it is said to be."""
    claimed = volume.spec.claim_ref
    if not claimed or not claimed.get("uid"):
        return "Available"
    claim = view.get(PersistentVolumeClaim, str(claimed.get("namespace", "")), str(claimed.get("name", "")))
    return "Bound" if claim is not None and claim.metadata.uid == claimed["uid"] else "Released"


def _reclaimed(volume: PersistentVolume, *, going: bool) -> Outcome:
    """Its claim is gone, and it is not to be kept."""
    if not is_local(volume) or volume.spec.persistent_volume_reclaim_policy != "Delete":
        failed = PersistentVolumeStatus(phase="Failed", reason="VolumeFailedDelete", message=NO_DELETER)
        writes = written(volume, volume.status, failed)
        if writes:
            return Outcome(tuple(writes), (Note(reference(volume), "VolumeFailedDelete", NO_DELETER, "Warning"),))
        return _let_go(volume) if going else NOTHING
    if volume.status.phase != "Released":
        return Outcome(tuple(written(volume, volume.status, msgspec.structs.replace(volume.status, phase="Released"))))
    if going:
        return _let_go(volume)
    meta = volume.metadata
    return Outcome((Delete(SCHEME.of(PersistentVolume), "", meta.name, meta.uid, revision=meta.resource_version),))


def _let_go(volume: PersistentVolume) -> Outcome:
    """It is being deleted, and is no claim's any more."""
    meta = volume.metadata
    if PROTECTED not in meta.finalizers or volume.status.phase == "Bound":
        return NOTHING
    left = [finalizer for finalizer in meta.finalizers if finalizer != PROTECTED]
    body = {"metadata": {"resourceVersion": meta.resource_version, "finalizers": left}}
    return Outcome((Patch(SCHEME.of(PersistentVolume), "", meta.name, body),))


def _volume_of(claim: Object) -> tuple[str, ...]:
    assert isinstance(claim, PersistentVolumeClaim)
    return (claim.spec.volume_name,) if claim.spec.volume_name else ()


def _kept_for(claim: Object, view: View) -> list[str]:
    """The volumes whose claimRef names it."""
    meta = claim.metadata
    wanted = (meta.namespace, meta.name)
    found = ((v.key, v.spec.claim_ref or {}) for v in view.list(PersistentVolume))
    return [key for key, named in found if (named.get("namespace"), named.get("name")) == wanted]
