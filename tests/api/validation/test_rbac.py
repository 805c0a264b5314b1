from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation import rbac
from kumi.api.wire import JsonObject

GROUP = "rbac.authorization.k8s.io"
GOOD = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
URLS = {"verbs": ["get"], "nonResourceURLs": ["/x"]}


def paths(errors: list[Any]) -> list[str]:
    return [error.path for error in errors]


def role(*rules: JsonObject, **more: Any) -> JsonObject:
    return {"metadata": {"name": "system:r"}, "rules": list(rules), **more}


def binding(*subjects: JsonObject, kind: str = "Role", name: str = "r", group: str = GROUP) -> JsonObject:
    ref = {"kind": kind, "name": name, "apiGroup": group}
    return {"metadata": {"name": "b"}, "subjects": list(subjects), "roleRef": ref}


def user(**more: Any) -> JsonObject:
    return {"kind": "User", "name": "ann", "apiGroup": GROUP, **more}


@pytest.mark.parametrize(
    ("rule", "role_paths", "cluster_paths"),
    [
        (GOOD, [], []),
        ({**GOOD, "verbs": []}, ["rules[0].verbs"], ["rules[0].verbs"]),
        ({"verbs": ["get"], "resources": ["pods"]}, ["rules[0].apiGroups"], ["rules[0].apiGroups"]),
        ({"verbs": ["get"], "apiGroups": [""]}, ["rules[0].resources"], ["rules[0].resources"]),
        (URLS, ["rules[0].nonResourceURLs"], []),
        ({**URLS, "resources": ["pods"]}, ["rules[0].nonResourceURLs"] * 2, ["rules[0].nonResourceURLs"]),
    ],
)
def test_the_rules_of_a_role_and_of_a_cluster_role(
    rule: JsonObject, role_paths: list[str], cluster_paths: list[str]
) -> None:
    assert paths(rbac.validate_role(role(rule), None)) == role_paths
    assert paths(rbac.validate_cluster_role(role(rule), None)) == cluster_paths


def test_a_role_may_have_no_rules() -> None:
    assert rbac.validate_role({"metadata": {"name": "r"}, "rules": None}, None) == []


def test_what_aggregates_selects_something_by_a_good_selector() -> None:
    path = "aggregationRule.clusterRoleSelectors"
    assert paths(rbac.validate_cluster_role(role(aggregationRule={}), None)) == [path]
    bad = {"clusterRoleSelectors": [{"matchExpressions": [{"key": "a", "operator": "Is"}]}]}
    assert paths(rbac.validate_cluster_role(role(aggregationRule=bad), None)) == [
        f"{path}[0].matchExpressions[0].operator"
    ]


@pytest.mark.parametrize(
    ("subject", "wrong", "cluster_wrong"),
    [
        (user(), [], []),
        (user(name=""), ["name"], ["name"]),
        (user(apiGroup=""), ["apiGroup"], ["apiGroup"]),
        (user(kind="Robot"), ["kind"], ["kind"]),
        ({"kind": "ServiceAccount", "name": "robot"}, [], ["namespace"]),
        ({"kind": "ServiceAccount", "name": "Robot!", "namespace": "team"}, ["name"], ["name"]),
        (
            {"kind": "ServiceAccount", "name": "robot", "namespace": "team", "apiGroup": GROUP},
            ["apiGroup"],
            ["apiGroup"],
        ),
    ],
)
def test_the_subjects_of_a_binding(subject: JsonObject, wrong: list[str], cluster_wrong: list[str]) -> None:
    found = paths(rbac.validate_role_binding(binding(subject), None))
    assert found == [f"subjects[0].{field}" for field in wrong]
    found = paths(rbac.validate_cluster_role_binding(binding(subject, kind="ClusterRole"), None))
    assert found == [f"subjects[0].{field}" for field in cluster_wrong]


@pytest.mark.parametrize(
    ("ref", "field"),
    [({"kind": "User"}, "kind"), ({"name": ""}, "name"), ({"name": "a/b"}, "name"), ({"group": "apps"}, "apiGroup")],
)
def test_the_role_of_a_binding(ref: dict[str, str], field: str) -> None:
    assert paths(rbac.validate_role_binding(binding(**ref), None)) == [f"roleRef.{field}"]


def test_a_clusters_binding_names_a_cluster_role() -> None:
    assert paths(rbac.validate_cluster_role_binding(binding(), None)) == ["roleRef.kind"]


def test_the_role_of_a_binding_never_changes() -> None:
    assert paths(rbac.validate_role_binding(binding(name="other"), binding())) == ["roleRef"]
    assert rbac.validate_role_binding(binding(user()), binding()) == []
