"""The revisions of a Deployment: which of its sets is the new one, how sets are named, numbered and noted.

The rule   the new set is the oldest whose template is the Deployment's, but for the label pod-template-hash
           its name is `<deployment>-<hash>`, the hash a digest of the template and of how often a name was taken already
           its revision is one more than that of all others; one that becomes the new one again gets a new number, and
           remembers the old one in its history
           it carries the Deployment's annotations, but for those of _OWN
Source     Kubernetes: Deployments (pod-template-hash label, rolling back).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy

from kumi.api.apps import Deployment, ReplicaSet
from kumi.api.meta import owner_reference
from kumi.api.wire import JsonObject
from kumi.jobs.pod_names import letters

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
_OWN = (
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
    "deprecated.deployment.rollback.to",
)
"""annotations that a set does not take over"""


def template_hash(template: JsonObject, collisions: int) -> str:
    """Ten letters."""
    return letters(f"{_canonical(template)}{collisions or ''}", 10)


def new_set(deployment: Deployment, sets: Sequence[ReplicaSet]) -> ReplicaSet | None:
    """The set of the present template, the oldest if there are several."""
    wanted = _canonical(deployment.spec.template)
    same = [found for found in sets if _canonical(found.spec.template) == wanted]
    return min(same, key=lambda found: (found.metadata.creation_timestamp or "", found.metadata.name), default=None)


def revision_of(annotations: dict[str, str]) -> int:
    """The number of a set or a Deployment, 0 for none."""
    text = annotations.get(REVISION, "")
    return int(text) if text.isdecimal() else 0


def made(deployment: Deployment, replicas: int, most: int, revision: int) -> JsonObject:
    """A new set."""
    spec, meta = deployment.spec, deployment.metadata
    hash_ = template_hash(spec.template, deployment.status.collision_count or 0)
    template = deepcopy(spec.template)
    labels = {**((template.get("metadata") or {}).get("labels") or {}), HASH: hash_}
    template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
    selector: JsonObject = {"matchLabels": {**spec.selector.match_labels, HASH: hash_}}
    if spec.selector.match_expressions:
        selector["matchExpressions"] = [
            {"key": term.key, "operator": term.operator, **({"values": term.values} if term.values else {})}
            for term in spec.selector.match_expressions
        ]
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta.name}-{hash_}",
            "namespace": meta.namespace,
            "labels": labels,
            "annotations": {**inherited(deployment), **numbers(deployment, most), REVISION: str(revision)},
            "ownerReferences": [owner_reference(deployment, "apps/v1", "Deployment")],
        },
        "spec": {
            "replicas": replicas,
            **({"minReadySeconds": spec.min_ready_seconds} if spec.min_ready_seconds else {}),
            "selector": selector,
            "template": template,
        },
    }


def inherited(deployment: Deployment) -> dict[str, str]:
    """The annotations that a set takes over."""
    return {key: value for key, value in deployment.metadata.annotations.items() if key not in _OWN}


def numbers(deployment: Deployment, most: int) -> dict[str, str]:
    """What a set notes of the Deployment's size, so that a later look can tell that it was scaled."""
    wanted = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    return {DESIRED: str(wanted), MOST: str(most)}


def renumbered(deployment: Deployment, new: ReplicaSet, revision: int) -> dict[str, str]:
    """Annotations that the new set lacks: {} for none."""
    there = new.metadata.annotations
    wanted = inherited(deployment)
    was = revision_of(there)
    if was < revision:
        wanted[REVISION] = str(revision)
        if was:
            wanted[HISTORY] = ",".join(word for word in (there.get(HISTORY, ""), str(was)) if word)
    return {key: value for key, value in wanted.items() if there.get(key) != value}


def _canonical(template: JsonObject) -> str:
    plain = {**template, "metadata": dict(template.get("metadata") or {})}
    labels = {key: value for key, value in (plain["metadata"].get("labels") or {}).items() if key != HASH}
    plain["metadata"] = {key: value for key, value in {**plain["metadata"], "labels": labels}.items() if value}
    plain["metadata"].pop("creationTimestamp", None)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))
