from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.kueue import ClusterQueue, LocalQueue
from kumi.api.scheme import load
from kumi.controllers.not_yet_in_force import NotYetInForce, of_cluster_queue, of_local_queue


def paths(spec: dict[str, Any]) -> list[str]:
    return of_cluster_queue(msgspec.convert({"spec": spec}, ClusterQueue))


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"cohortName": "all"}, "spec.cohortName"),
        ({"preemption": {"withinClusterQueue": "LowerPriority"}}, "spec.preemption.withinClusterQueue"),
        ({"preemption": {"reclaimWithinCohort": "Any"}}, "spec.preemption.reclaimWithinCohort"),
        ({"preemption": {"borrowWithinCohort": {"policy": "LowerPriority"}}}, "spec.preemption.borrowWithinCohort"),
        ({"flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}}, "spec.flavorFungibility.whenCanBorrow"),
        ({"flavorFungibility": {"whenCanPreempt": "MayStopSearch"}}, "spec.flavorFungibility.whenCanPreempt"),
        ({"flavorFungibility": {"preference": "BorrowingOverPreemption"}}, "spec.flavorFungibility.preference"),
        ({"fairSharing": {"weight": "2"}}, "spec.fairSharing.weight"),
        ({"admissionChecksStrategy": {"admissionChecks": [{"name": "c"}]}}, "spec.admissionChecksStrategy"),
        ({"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}, "spec.admissionScope"),
        ({"excludeResourcePrefixes": ["x/"]}, "spec.excludeResourcePrefixes"),
    ],
)
def test_a_field_whose_rule_comes_later_is_named(spec: dict[str, Any], path: str) -> None:
    assert paths(spec) == [path]


def test_limits_are_named_by_their_place() -> None:
    quota = {"name": "cpu", "nominalQuota": 1, "borrowingLimit": 0, "lendingLimit": "1"}
    groups = [
        {"flavors": [{"name": "a", "resources": [{"name": "cpu", "nominalQuota": 1}]}]},
        {"flavors": [{"name": "b", "resources": [quota]}]},
    ]
    where = "spec.resourceGroups[1].flavors[0].resources[0]"
    assert paths({"resourceGroups": groups}) == [f"{where}.borrowingLimit", f"{where}.lendingLimit"]


def test_what_is_as_without_the_field_is_not_named() -> None:
    spec = {
        "preemption": {
            "withinClusterQueue": "Never",
            "reclaimWithinCohort": "Never",
            "borrowWithinCohort": {"policy": "Never"},
        },
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "fairSharing": {"weight": 1},
        "cohortName": "",
    }
    assert paths(spec) == []
    assert paths({}) == []


def test_a_door_has_a_share_too() -> None:
    assert of_local_queue(msgspec.convert({"spec": {"fairSharing": {"weight": "500m"}}}, LocalQueue)) == [
        "spec.fairSharing.weight"
    ]
    assert of_local_queue(LocalQueue()) == []


def test_who_writes_such_a_field_is_warned() -> None:
    hook, kinds = NotYetInForce(), {k.kind: k for k in load()}
    queue = {"metadata": {"name": "q"}, "spec": {"cohortName": "c"}}
    assert hook.warnings("CREATE", kinds["ClusterQueue"], queue) == [
        "spec.cohortName is stored, and its rule is not in force yet"
    ]
    door = {"metadata": {"name": "q"}, "spec": {"clusterQueue": "q", "fairSharing": {"weight": "2"}}}
    assert len(hook.warnings("UPDATE", kinds["LocalQueue"], door)) == 1
    assert hook.warnings("CREATE", kinds["Pod"], {"metadata": {"name": "p"}}) == []
    assert hook.validate("CREATE", kinds["ClusterQueue"], queue, None) == []
