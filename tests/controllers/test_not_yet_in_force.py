from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.kueue import ClusterQueue
from kumi.api.scheme import load
from kumi.controllers.not_yet_in_force import NotYetInForce, of_cluster_queue


def paths(spec: dict[str, Any]) -> list[str]:
    return of_cluster_queue(msgspec.convert({"spec": spec}, ClusterQueue))


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"concurrentAdmissionPolicy": {"migration": {"mode": "x"}}}, "spec.concurrentAdmissionPolicy"),
        ({"excludeResourcePrefixes": ["x/"]}, "spec.excludeResourcePrefixes"),
    ],
)
def test_a_field_whose_rule_comes_later_is_named(spec: dict[str, Any], path: str) -> None:
    assert paths(spec) == [path]


def test_what_is_in_force_is_not_named() -> None:
    quota = {"name": "cpu", "nominalQuota": 1, "borrowingLimit": 0, "lendingLimit": "1"}
    spec = {
        "cohortName": "all",
        "resourceGroups": [{"flavors": [{"name": "b", "resources": [quota]}]}],
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "fairSharing": {"weight": 2},
        "admissionChecksStrategy": {"admissionChecks": [{"name": "c"}]},
    }
    assert paths(spec) == []


def test_who_writes_such_a_field_is_warned() -> None:
    hook, kinds = NotYetInForce(), {k.kind: k for k in load()}
    queue = {"metadata": {"name": "q"}, "spec": {"excludeResourcePrefixes": ["x/"]}}
    assert hook.warnings("CREATE", kinds["ClusterQueue"], queue) == [
        "spec.excludeResourcePrefixes is stored, and its rule is not in force yet"
    ]
    assert hook.warnings("CREATE", kinds["Pod"], {"metadata": {"name": "p"}}) == []
    assert hook.validate("CREATE", kinds["ClusterQueue"], queue, None) == []
