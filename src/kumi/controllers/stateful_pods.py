"""What a StatefulSet makes: pods with a name, a number and claims of their own.

Source     Kubernetes: StatefulSet (pod identity, stable storage).
Not here   the revisions of its template: controller_revisions.py.
"""

from __future__ import annotations

from copy import deepcopy

from kumi.api.apps import StatefulSet
from kumi.api.meta import owner_reference
from kumi.api.wire import JsonObject
from kumi.controllers.controller_revisions import HASH
from kumi.jobs.templates import pod_of

POD_NAME, POD_INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"
KIND = ("apps/v1", "StatefulSet")


def pod_for(found: StatefulSet, ordinal: int, template: JsonObject, revision: str) -> JsonObject:
    """The pod of a number."""
    name = f"{found.metadata.name}-{ordinal}"
    pod = pod_of(found, KIND, template, name, {HASH: revision, POD_NAME: name, POD_INDEX: str(ordinal)})
    pod["metadata"]["generateName"] = f"{found.metadata.name}-"
    spec = pod["spec"]
    spec["hostname"] = name
    if found.spec.service_name:
        spec["subdomain"] = found.spec.service_name
    own = {
        claim["metadata"]["name"]: f"{claim['metadata']['name']}-{name}" for claim in found.spec.volume_claim_templates
    }
    if own:
        others = [volume for volume in spec.get("volumes") or () if volume.get("name") not in own]
        volumes = [{"name": each, "persistentVolumeClaim": {"claimName": claim}} for each, claim in own.items()]
        spec["volumes"] = [*others, *volumes]
    return pod


def claims_of(found: StatefulSet, ordinal: int) -> list[JsonObject]:
    """The claims of the pod of a number."""
    made = []
    labels = dict(found.spec.selector.match_labels)
    for template in found.spec.volume_claim_templates:
        meta = template.get("metadata") or {}
        metadata: JsonObject = {
            "name": f"{meta['name']}-{found.metadata.name}-{ordinal}",
            "namespace": found.metadata.namespace,
            "labels": {**(meta.get("labels") or {}), **labels},
        }
        if meta.get("annotations"):
            metadata["annotations"] = dict(meta["annotations"])
        if found.spec.persistent_volume_claim_retention_policy.when_deleted == "Delete":
            owner = owner_reference(found, *KIND)
            metadata["ownerReferences"] = [{**owner, "controller": False, "blockOwnerDeletion": False}]
        spec = deepcopy(template.get("spec") or {})
        made.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})
    return made
