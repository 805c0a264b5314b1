"""Claims that are made with a pod, for its volumes with a claim template, and go with it.

The rule   each volume `ephemeral` of a pod has the claim `<pod>-<volume>`, of the template's labels, annotations and spec, owned
           by the pod: the garbage collector takes it when the pod is gone.
Never      a claim of that name that is not the pod's is used or changed: the pod waits, and an event says why.
Source     Kubernetes: generic ephemeral volumes.
Not here   what becomes of the claim: claims.py.
"""

from __future__ import annotations

from kumi.api.claims import PersistentVolumeClaim
from kumi.api.core import Pod
from kumi.api.meta import owner_reference
from kumi.api.volumes import claims_of
from kumi.api.wire import JsonObject
from kumi.controllers.consumers import has_ended
from kumi.controllers.owners import owner_keys, reference
from kumi.runtime.reconcile import NOTHING, Create, Note, Outcome, Watches
from kumi.runtime.view import View


class EphemeralClaims:
    """See the module."""

    name = "ephemeral-volume-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {
                Pod: lambda pod: (pod.key,) if isinstance(pod, Pod) and _templates(pod) else (),
                PersistentVolumeClaim: owner_keys("", "Pod"),
            }
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        pod = view.get(Pod, namespace, name)
        if pod is None or pod.metadata.deletion_timestamp is not None or has_ended(pod):
            return NOTHING
        writes, notes = [], []
        for claim, template in _templates(pod).items():
            there = view.get(PersistentVolumeClaim, namespace, claim)
            if there is None:
                writes.append(Create(_claim(pod, claim, template)))
            elif there.metadata.controller is None or there.metadata.controller.uid != pod.metadata.uid:
                text = f"PersistentVolumeClaim {claim} is there and was not made for this pod"
                notes.append(Note(reference(pod), "FailedBinding", text, "Warning"))
        return Outcome(tuple(writes), tuple(notes))


def _templates(pod: Pod) -> dict[str, JsonObject]:
    """The claim templates of a pod, by the name of their claim."""
    made = [volume for volume in pod.spec.volumes if volume.get("ephemeral")]
    names = claims_of(pod.metadata.name, made)
    return {names[str(v["name"])]: v["ephemeral"].get("volumeClaimTemplate") or {} for v in made}


def _claim(pod: Pod, name: str, template: JsonObject) -> JsonObject:
    given = template.get("metadata") or {}
    metadata = {
        "name": name,
        "namespace": pod.metadata.namespace,
        "ownerReferences": [owner_reference(pod, "v1", "Pod")],
        **{key: given[key] for key in ("labels", "annotations") if given.get(key)},
    }
    spec = template.get("spec") or {}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
