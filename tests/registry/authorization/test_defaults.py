from __future__ import annotations

import pytest

from kumi.api.rbac import ClusterRole, ClusterRoleBinding
from kumi.api.scheme import SCHEME, load
from kumi.api.user import ANONYMOUS, AUTHENTICATED, MASTERS, UNAUTHENTICATED, User
from kumi.registry.authorization.decisions import decide
from kumi.registry.authorization.defaults import cluster_role_bindings, cluster_roles
from kumi.registry.authorization.policies import Policies
from kumi.registry.authorization.rules import Asked
from tests.registry.authorization.made import binding, policies

load()
KNOWN, UNKNOWN = User("ann", (AUTHENTICATED,)), User(ANONYMOUS, (UNAUTHENTICATED,))


def with_default(role: str) -> Policies:
    """ann has a default role in the namespace team."""
    return policies(
        *cluster_roles(), *cluster_role_bindings(), binding("User ann", to=role, name="mine", namespace="team")
    )


@pytest.mark.parametrize(
    ("question", "roles"),
    [
        (Asked("list", "", "pods", "team"), "view edit admin"),
        (Asked("get", "", "pods/log", "team", "p"), "view edit admin"),
        (Asked("list", "batch", "jobs", "team"), "view edit admin"),
        (Asked("list", "kubeflow.org", "pytorchjobs", "team"), "view edit admin"),
        (Asked("list", "kueue.x-k8s.io", "localqueues", "team"), "view edit admin"),
        (Asked("list", "metrics.k8s.io", "pods", "team"), "view edit admin"),
        (Asked("list", "metrics.k8s.io", "pods"), ""),
        (Asked("get", "", "secrets", "team", "s"), "edit admin"),
        (Asked("create", "batch", "jobs", "team"), "edit admin"),
        (Asked("create", "kubeflow.org", "pytorchjobs", "team"), "edit admin"),
        (Asked("create", "", "pods/exec", "team", "p"), "edit admin"),
        (Asked("create", "", "serviceaccounts/token", "team", "robot"), "edit admin"),
        (Asked("create", "rbac.authorization.k8s.io", "rolebindings", "team"), "admin"),
        (Asked("create", "authorization.k8s.io", "localsubjectaccessreviews", "team"), "admin"),
        (Asked("create", "", "resourcequotas", "team"), ""),
        (Asked("create", "kueue.x-k8s.io", "localqueues", "team"), ""),
        (Asked("list", "", "pods", "other"), ""),
        (Asked("list", "", "pods"), ""),
        (Asked("list", "", "nodes"), ""),
        (Asked("escalate", "rbac.authorization.k8s.io", "roles", "team", "r"), ""),
    ],
)
def test_view_edit_and_admin_within_a_namespace(question: Asked, roles: str) -> None:
    allowed = [role for role in ("view", "edit", "admin") if decide(with_default(role), KNOWN, question).allowed]
    assert allowed == roles.split()


@pytest.mark.parametrize(
    ("question", "users"),
    [
        (Asked("get", path="/healthz"), "known unknown"),
        (Asked("get", path="/version"), "known unknown"),
        (Asked("get", path="/api"), "known"),
        (Asked("get", path="/apis/apps/v1"), "known"),
        (Asked("get", path="/openapi/v3"), "known"),
        (Asked("create", "authorization.k8s.io", "selfsubjectaccessreviews"), "known"),
        (Asked("create", "authentication.k8s.io", "selfsubjectreviews"), "known"),
        (Asked("create", "authorization.k8s.io", "subjectaccessreviews"), ""),
        (Asked("create", "authentication.k8s.io", "tokenreviews"), ""),
        (Asked("get", path="/metrics"), ""),
        (Asked("get", path="/openid/v1/jwks"), ""),
        (Asked("list", "", "namespaces"), ""),
    ],
)
def test_what_everybody_may_do(question: Asked, users: str) -> None:
    made = policies(*cluster_roles(), *cluster_role_bindings())
    asked = (("known", KNOWN), ("unknown", UNKNOWN))
    assert [name for name, user in asked if decide(made, user, question).allowed] == users.split()


def test_masters_have_a_role_too() -> None:
    bound = next(b for b in cluster_role_bindings() if b["metadata"]["name"] == "cluster-admin")
    assert [subject["name"] for subject in bound["subjects"]] == [MASTERS]


def test_every_default_is_valid_and_has_its_own_name() -> None:
    seen = set()
    for type_, made in ((ClusterRole, cluster_roles()), (ClusterRoleBinding, cluster_role_bindings())):
        validate = SCHEME.of(type_).validate
        assert validate is not None
        for obj in made:
            assert validate(obj, None) == [], obj["metadata"]["name"]
            key = (obj["kind"], obj["metadata"]["name"])
            assert key not in seen
            seen.add(key)
