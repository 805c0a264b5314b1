"""The rbac.authorization.k8s.io group (v1): roles, which hold rules, and bindings, which say for whom they hold and where.

A null list is how Kubernetes writes one that is empty: views take both.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.columns import rbac as columns
from kumi.api.defaulting import rbac as defaults
from kumi.api.meta import LabelSelector, Object, View
from kumi.api.scheme import SCHEME, Column, Kind
from kumi.api.validation import rbac as rules

GROUP = "rbac.authorization.k8s.io"


class PolicyRule(View):
    """What may be done (verbs) to which resources, or at which paths."""

    verbs: list[str] | None = None
    api_groups: list[str] | None = None
    resources: list[str] | None = None
    resource_names: list[str] | None = None
    non_resource_urls: list[str] | None = field(default=None, name="nonResourceURLs")


class AggregationRule(View):
    """Of which other cluster roles a cluster role is made."""

    cluster_role_selectors: list[LabelSelector] | None = None


class Role(Object):
    """Rules within a namespace."""

    rules: list[PolicyRule] | None = None


class ClusterRole(Object):
    """Rules for the cluster, or for any namespace that a RoleBinding takes them to."""

    rules: list[PolicyRule] | None = None
    aggregation_rule: AggregationRule | None = None


class Subject(View):
    """A User, a Group or a ServiceAccount."""

    kind: str = ""
    name: str = ""
    namespace: str = ""
    api_group: str = ""


class RoleRef(View):
    """Which role."""

    kind: str = ""
    name: str = ""
    api_group: str = ""


class RoleBinding(Object):
    """A role's rules hold for these subjects in this namespace."""

    subjects: list[Subject] | None = None
    role_ref: RoleRef = field(default_factory=RoleRef)


class ClusterRoleBinding(Object):
    """A cluster role's rules hold for these subjects everywhere."""

    subjects: list[Subject] | None = None
    role_ref: RoleRef = field(default_factory=RoleRef)


def _register(type_: type[Object], plural: str, shown: tuple[Column, ...], **more: Any) -> None:
    name = type_.__name__
    SCHEME.register(Kind(GROUP, "v1", name, plural, type_, columns=shown, schema=f"io.k8s.api.rbac.v1.{name}", **more))


_register(Role, "roles", columns.ROLE, default=defaults.default_role, validate=rules.validate_role)
_register(
    RoleBinding,
    "rolebindings",
    columns.BINDING,
    default=defaults.default_binding,
    validate=rules.validate_role_binding,
)
_register(
    ClusterRole,
    "clusterroles",
    columns.ROLE,
    namespaced=False,
    default=defaults.default_role,
    validate=rules.validate_cluster_role,
)
_register(
    ClusterRoleBinding,
    "clusterrolebindings",
    columns.BINDING,
    namespaced=False,
    default=defaults.default_binding,
    validate=rules.validate_cluster_role_binding,
)
