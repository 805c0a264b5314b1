from __future__ import annotations

import msgspec
import pytest

from kumi.api.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from kumi.api.scheme import SCHEME


@pytest.mark.parametrize(
    ("type_", "plural", "namespaced"),
    [
        (Role, "roles", True),
        (RoleBinding, "rolebindings", True),
        (ClusterRole, "clusterroles", False),
        (ClusterRoleBinding, "clusterrolebindings", False),
    ],
)
def test_the_four_kinds(type_: type[Role], plural: str, namespaced: bool) -> None:
    kind = SCHEME.of(type_)
    assert (kind.api_version, kind.plural, kind.namespaced) == ("rbac.authorization.k8s.io/v1", plural, namespaced)


def test_null_lists_are_read() -> None:
    assert msgspec.convert({"metadata": {"name": "r"}, "rules": None}, Role).rules is None


def test_paths_keep_their_own_spelling() -> None:
    role = msgspec.convert({"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]}, ClusterRole)
    assert role.rules is not None
    assert role.rules[0].non_resource_urls == ["/x"]
