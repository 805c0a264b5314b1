"""What a StatefulSet makes: pods with a name, a number and claims of their own; a revision for each template.

Source     Kubernetes: StatefulSet (pod identity, stable storage), ControllerRevision.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

from kumi.api.apps import ControllerRevision, StatefulSet
from kumi.api.meta import owner_reference
from kumi.api.wire import JsonObject
from kumi.jobs.pod_names import letters
from kumi.jobs.templates import pod_of

HASH = "controller-revision-hash"
POD_NAME, POD_INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"
KIND = ("apps/v1", "StatefulSet")


@dataclass(frozen=True)
class Revision:
    """A template under a name; `is_new`: no object holds it yet."""

    name: str
    number: int
    template: JsonObject
    is_new: bool = False

    @classmethod
    def of(cls, stored: ControllerRevision) -> Revision:
        """As an object holds it."""
        data = stored.data if isinstance(stored.data, dict) else {}
        template = dict((data.get("spec") or {}).get("template") or {})
        template.pop("$patch", None)
        return cls(stored.metadata.name, stored.revision, template)

    def made(self, found: StatefulSet) -> JsonObject:
        """The object that will hold it; its data is a patch of the set."""
        labels = (self.template.get("metadata") or {}).get("labels") or {}
        return {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": self.name,
                "namespace": found.metadata.namespace,
                "labels": {**labels, "controller.kubernetes.io/hash": self.name.rpartition("-")[2]},
                "ownerReferences": [owner_reference(found, *KIND)],
            },
            "revision": self.number,
            "data": {"spec": {"template": {**self.template, "$patch": "replace"}}},
        }


def revision_for(found: StatefulSet, stored: Sequence[ControllerRevision]) -> Revision:
    """The revision of the present template: the newest object that holds it, else a new one."""
    newest = max((each.revision for each in stored), default=0)
    text = json.dumps(found.spec.template, sort_keys=True)
    same = [Revision.of(each) for each in stored]
    held = [each for each in same if json.dumps(each.template, sort_keys=True) == text]
    if held:
        return max(held, key=lambda each: (each.number, each.name))
    taken = {each.metadata.name for each in stored}
    for number in range(len(taken) + 1):
        name = f"{found.metadata.name}-{letters(text + (str(number) if number else ''), 10)}"
        if name not in taken:
            return Revision(name, newest + 1, found.spec.template, is_new=True)
    raise AssertionError("one name more than there are revisions is free")


def template_of(revision: Revision) -> JsonObject:
    """Its pod template."""
    return revision.template


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
