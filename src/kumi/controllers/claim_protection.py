"""A claim that is deleted stays while pods use it, and goes when the last of them has ended or is gone.

The rule   its finalizer PROTECTED goes when it is being deleted and has no consumers (consumers.py).
Why        Else its volume, and what is in it, would go from under running pods. New pods are not placed on a claim that is
           being deleted, so the wait ends.
Source     Kubernetes: storage object in use protection.
Not here   who sets the finalizer: registry/claim_defaults.py. What becomes of the volume: persistent_volumes.py.
"""

from __future__ import annotations

from kumi.api.claims import PersistentVolumeClaim
from kumi.api.core import Pod
from kumi.api.scheme import SCHEME
from kumi.controllers.consumers import consumers, named_by
from kumi.runtime.reconcile import NOTHING, Outcome, Patch, Watches, own_key
from kumi.runtime.view import View

PROTECTED = "kubernetes.io/pvc-protection"


class ClaimProtection:
    """See the module."""

    name = "pvc-protection-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({PersistentVolumeClaim: own_key, Pod: named_by})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        claim = view.get(PersistentVolumeClaim, namespace, name)
        if claim is None or claim.metadata.deletion_timestamp is None or PROTECTED not in claim.metadata.finalizers:
            return NOTHING
        if consumers(view, claim):
            return NOTHING
        meta = claim.metadata
        left = [finalizer for finalizer in meta.finalizers if finalizer != PROTECTED]
        body = {"metadata": {"resourceVersion": meta.resource_version, "finalizers": left}}
        return Outcome((Patch(SCHEME.of(PersistentVolumeClaim), namespace, name, body),))
