"""The roles and bindings that a cluster has from the start.

    cluster-admin          everything; the group system:masters has it
    admin, edit, view      within a namespace, made of the system:aggregate-to-* roles and of whatever carries their label
    system:basic-user      asking about oneself               all who are known
    system:discovery       what is served                     all who are known
    system:public-info-viewer   whether the server is up      everybody, the unknown too
    system:monitoring      health and metrics                 the group system:monitoring
    system:auth-delegator  asking about others                nobody yet
    system:service-account-issuer-discovery   the public keys of tokens     all service accounts
    system:aggregated-metrics-reader          what nodes and pods use; part of view, edit and admin

Each is brought up to date at every start: what it lacks is added, unless its annotation says `autoupdate: "false"`.
`edit` does not show what `view` hides but one needs to run things: secrets are part of it.
Source     Kubernetes: using RBAC authorization (default roles and role bindings).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kumi.api.metrics import GROUP as METRICS
from kumi.api.rbac import GROUP
from kumi.api.user import AUTHENTICATED, MASTERS, SERVICE_ACCOUNTS, UNAUTHENTICATED
from kumi.api.wire import JsonObject
from kumi.registry.authorization import kueue
from kumi.registry.authorization.aggregation import filled
from kumi.registry.authorization.rules import EVERYTHING, Rule

AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
BOOTSTRAPPING = {"kubernetes.io/bootstrapping": "rbac-defaults"}
TO = "rbac.authorization.k8s.io/aggregate-to-"
READ = ("get", "list", "watch")
WRITE = ("create", "delete", "deletecollection", "patch", "update")


def _rule(verbs: tuple[str, ...], group: str, resources: str) -> Rule:
    return Rule(verbs, (group,), tuple(resources.split()))


def _paths(*paths: str) -> Rule:
    return Rule(("get",), urls=paths)


_VIEW = (
    _rule(
        READ,
        "",
        "bindings configmaps endpoints events limitranges namespaces namespaces/status persistentvolumeclaims "
        "persistentvolumeclaims/status pods pods/log pods/status resourcequotas resourcequotas/status serviceaccounts "
        "services services/status",
    ),
    _rule(READ, "discovery.k8s.io", "endpointslices"),
    _rule(READ, "events.k8s.io", "events"),
    _rule(
        READ,
        "apps",
        "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets "
        "replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
    ),
    _rule(READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
    _rule(READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
    _rule(READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
    _rule(READ, "networking.k8s.io", "ingresses ingresses/status networkpolicies"),
)
_EDIT = (
    _rule(READ, "", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
    _rule(("impersonate",), "", "serviceaccounts"),
    _rule(WRITE, "", "pods pods/attach pods/exec pods/portforward pods/proxy"),
    _rule(("create",), "", "pods/eviction serviceaccounts/token"),
    _rule(WRITE, "", "configmaps events persistentvolumeclaims secrets serviceaccounts services services/proxy"),
    _rule(
        WRITE,
        "apps",
        "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets "
        "statefulsets/scale",
    ),
    _rule(WRITE, "autoscaling", "horizontalpodautoscalers"),
    _rule(WRITE, "batch", "cronjobs jobs"),
    _rule(WRITE, "policy", "poddisruptionbudgets"),
    _rule(WRITE, "networking.k8s.io", "ingresses networkpolicies"),
    _rule((*READ, *WRITE), "coordination.k8s.io", "leases"),
)
_ADMIN = (
    _rule(("create",), "authorization.k8s.io", "localsubjectaccessreviews"),
    _rule((*READ, *WRITE), GROUP, "rolebindings roles"),
)
_MEASURED = _rule(READ, METRICS, "nodes pods")
_UP = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_ROLES: dict[str, tuple[Rule, ...]] = {
    "cluster-admin": EVERYTHING,
    "system:auth-delegator": (
        _rule(("create",), "authentication.k8s.io", "tokenreviews"),
        _rule(("create",), "authorization.k8s.io", "subjectaccessreviews"),
    ),
    "system:basic-user": (
        _rule(("create",), "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
        _rule(("create",), "authentication.k8s.io", "selfsubjectreviews"),
    ),
    "system:discovery": (_paths("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", *_UP),),
    "system:monitoring": (
        _paths("/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis", "/readyz", "/readyz/*"),
    ),
    "system:public-info-viewer": (_paths(*_UP),),
    "system:service-account-issuer-discovery": (_paths("/.well-known/openid-configuration", "/openid/v1/jwks"),),
}
_MADE_OF = {"view": ("view", ("edit",)), "edit": ("edit", ("admin",)), "admin": ("admin", ())}
"""role -> the label that it is made of, and whose part it is"""
_BOUND = {
    "cluster-admin": (MASTERS,),
    "system:basic-user": (AUTHENTICATED,),
    "system:discovery": (AUTHENTICATED,),
    "system:monitoring": ("system:monitoring",),
    "system:public-info-viewer": (AUTHENTICATED, UNAUTHENTICATED),
    "system:service-account-issuer-discovery": (SERVICE_ACCOUNTS,),
}
"""role -> groups that have it everywhere"""


def cluster_roles() -> list[JsonObject]:
    """All of them, Kumi's own included; those that are made of others have their rules already."""
    return filled([*_kubernetes(), *kueue.cluster_roles()])


def cluster_role_bindings() -> list[JsonObject]:
    """All of them, each named like its role."""
    return [
        {
            "kind": "ClusterRoleBinding",
            "metadata": _metadata(name, BOOTSTRAPPING),
            "subjects": [{"kind": "Group", "apiGroup": GROUP, "name": group} for group in groups],
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
        }
        for name, groups in _BOUND.items()
    ]


def _kubernetes() -> Iterator[JsonObject]:
    for name, rules in _ROLES.items():
        yield _role(name, BOOTSTRAPPING, rules)
    for part, rules in (("view", _VIEW), ("edit", _EDIT), ("admin", _ADMIN)):
        yield _role(f"system:aggregate-to-{part}", {**BOOTSTRAPPING, TO + part: "true"}, rules)
    for name, (label, part_of) in _MADE_OF.items():
        role = _role(name, {**BOOTSTRAPPING, **{TO + whole: "true" for whole in part_of}}, ())
        selector = {"matchLabels": {TO + label: "true"}}
        yield {**role, "aggregationRule": {"clusterRoleSelectors": [selector]}}
    yield _role("system:aggregated-metrics-reader", {TO + whole: "true" for whole in _MADE_OF}, (_MEASURED,))


def _role(name: str, labels: dict[str, str], rules: Iterable[Rule]) -> JsonObject:
    return {"kind": "ClusterRole", "metadata": _metadata(name, labels), "rules": [rule.wire() for rule in rules]}


def _metadata(name: str, labels: dict[str, str]) -> JsonObject:
    return {"name": name, "labels": dict(labels), "annotations": {AUTOUPDATE: "true"}}
