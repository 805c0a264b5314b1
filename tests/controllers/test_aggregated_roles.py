from __future__ import annotations

from typing import Any

from kumi.api.rbac import ClusterRole
from kumi.api.wire import JsonObject
from kumi.controllers.aggregated_roles import ALL, AggregatedRoles
from kumi.runtime.reconcile import Patch
from kumi.testing.view import FakeView

from .made import NOW_MS, meta

PODS = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}
URLS = {"verbs": ["get"], "nonResourceURLs": ["/x"]}


def role(name: str, rules: list[JsonObject] | None, label: str = "", of: str = "") -> JsonObject:
    made: JsonObject = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": meta(name, labels={"part": label} if label else {}),
        "rules": rules,
    }
    if of:
        expression = {"key": "part", "operator": "In", "values": [of]}
        made["aggregationRule"] = {"clusterRoleSelectors": [{"matchExpressions": [expression]}]}
    return made


def writes(*roles: JsonObject) -> dict[str, Any]:
    found = {}
    for write in AggregatedRoles().reconcile(FakeView(*roles), ALL, NOW_MS).writes:
        assert isinstance(write, Patch)
        found[write.name] = write.body
    return found


def test_a_role_made_of_others_gets_their_rules() -> None:
    found = writes(role("whole", None, of="a"), role("one", [PODS], "a"), role("two", [URLS], "a"), role("x", [PODS]))
    assert found == {"whole": {"metadata": {"resourceVersion": "1"}, "rules": [PODS, URLS]}}


def test_what_is_written_by_hand_goes() -> None:
    assert writes(role("whole", [PODS], of="a"))["whole"]["rules"] == []


def test_one_that_is_right_is_left_alone() -> None:
    assert writes(role("whole", [PODS], of="a"), role("one", [PODS], "a")) == {}
    assert writes(role("whole", None, of="a")) == {}


def test_there_is_one_key_for_all() -> None:
    (seen,) = FakeView(role("one", [PODS])).list(ClusterRole)
    assert AggregatedRoles().watches.keys[ClusterRole](seen) == (ALL,)
