"""The two roles of those who share a cluster's queues, and the small ones that they are made of.

    kueue-batch-admin-role   manages cluster queues, local queues, workloads, flavors, cohorts, topologies, priorities and jobs
    kueue-batch-user-role    manages jobs in a namespace; sees its queues and workloads, and who waits in its local queues

Both are made of roles by label, so that whoever adds a kind of job adds a role beside. Some of these are also part of
Kubernetes' own view, edit and admin.
Source     Kueue: documentation (Setup RBAC), the roles of its release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kumi.api.visibility import GROUP as VISIBILITY
from kumi.api.visibility import PENDING
from kumi.api.wire import JsonObject

PREFIX = "kueue-"
ADMIN, USER = "rbac.kueue.x-k8s.io/batch-admin", "rbac.kueue.x-k8s.io/batch-user"
EDIT = ("create", "delete", "get", "list", "patch", "update", "watch")
VIEW = ("get", "list", "watch")
_TO = "rbac.authorization.k8s.io/aggregate-to-"
_ADMINS, _BOTH = (ADMIN,), (ADMIN, USER)
_TO_ADMIN, _TO_ALL = (f"{_TO}admin",), (f"{_TO}admin", f"{_TO}edit", f"{_TO}view")
_QUEUES, _JOBS = "kueue.x-k8s.io", "kubeflow.org"


class _Resource(NamedTuple):
    """What may be done with one resource: labels of its editor role and of its viewer role."""

    group: str
    plural: str
    singular: str
    editor: tuple[str, ...]
    viewer: tuple[str, ...]
    has_status: bool = True


_RESOURCES = (
    _Resource(_QUEUES, "admissionchecks", "admissioncheck", _ADMINS, (ADMIN, *_TO_ADMIN)),
    _Resource(_QUEUES, "clusterqueues", "clusterqueue", _ADMINS, (ADMIN, *_TO_ADMIN)),
    _Resource(_QUEUES, "cohorts", "cohort", _ADMINS, (ADMIN, *_TO_ADMIN)),
    _Resource(_QUEUES, "localqueues", "localqueue", _ADMINS, (*_BOTH, *_TO_ALL)),
    _Resource(
        _QUEUES,
        "provisioningrequestconfigs",
        "provisioningrequestconfig",
        _ADMINS,
        (ADMIN, *_TO_ADMIN),
        has_status=False,
    ),
    _Resource(_QUEUES, "resourceflavors", "resourceflavor", _ADMINS, (ADMIN, *_TO_ADMIN), has_status=False),
    _Resource(_QUEUES, "topologies", "topology", _ADMINS, (ADMIN, *_TO_ADMIN), has_status=False),
    _Resource(_QUEUES, "workloads", "workload", _ADMINS, (*_BOTH, *_TO_ALL)),
    _Resource(
        _QUEUES, "workloadpriorityclasses", "workloadpriorityclass", _ADMINS, (ADMIN, *_TO_ADMIN), has_status=False
    ),
    _Resource("batch", "jobs", "job", _BOTH, (*_BOTH, *_TO_ALL)),
    _Resource(_JOBS, "pytorchjobs", "pytorchjob", (*_BOTH, f"{_TO}admin", f"{_TO}edit"), (*_BOTH, *_TO_ALL)),
)


def cluster_roles() -> Iterator[JsonObject]:
    """All of them."""
    for resource in _RESOURCES:
        yield _role(f"{resource.singular}-editor-role", resource.editor, resource, EDIT)
        yield _role(f"{resource.singular}-viewer-role", resource.viewer, resource, VIEW)
    for short, queues, labels in (("cq", "clusterqueues", _ADMINS), ("lq", "localqueues", (*_BOTH, *_TO_ALL))):
        resources = [f"{queues}/{PENDING}"]
        lines = [{"verbs": list(VIEW), "apiGroups": [VISIBILITY], "resources": resources}]
        marks = dict.fromkeys(sorted(labels), "true")
        metadata = {"name": f"{PREFIX}pending-workloads-{short}-viewer-role", "labels": marks}
        yield {"kind": "ClusterRole", "metadata": metadata, "rules": lines}
    for name, label in (("batch-admin-role", ADMIN), ("batch-user-role", USER)):
        selectors = [{"matchLabels": {label: "true"}}]
        metadata = {"name": PREFIX + name, "labels": {"app.kubernetes.io/name": "kueue"}}
        aggregation = {"clusterRoleSelectors": selectors}
        yield {"kind": "ClusterRole", "metadata": metadata, "aggregationRule": aggregation, "rules": []}


def _role(name: str, labels: tuple[str, ...], resource: _Resource, verbs: tuple[str, ...]) -> JsonObject:
    rules = [{"verbs": list(verbs), "apiGroups": [resource.group], "resources": [resource.plural]}]
    if resource.has_status:
        status = f"{resource.plural}/status"
        rules.append({"verbs": ["get"], "apiGroups": [resource.group], "resources": [status]})
    metadata = {"name": PREFIX + name, "labels": dict.fromkeys(sorted(labels), "true")}
    return {"kind": "ClusterRole", "metadata": metadata, "rules": rules}
