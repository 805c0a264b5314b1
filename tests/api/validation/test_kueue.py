from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation import kueue
from kumi.api.wire import JsonObject

FIRST = "spec.resourceGroups[0].flavors[0].resources[0]"


def quota(name: str = "cpu", nominal: str | int = "4", **limits: Any) -> JsonObject:
    return {"name": name, "nominalQuota": nominal, **limits}


def group(*quotas: JsonObject, flavor: str = "spot", covered: list[str] | None = None) -> JsonObject:
    names = [q["name"] for q in quotas] if covered is None else covered
    return {"coveredResources": names, "flavors": [{"name": flavor, "resources": list(quotas)}]}


def queue(*groups: JsonObject, **spec: Any) -> JsonObject:
    return {"metadata": {"name": "q"}, "spec": {"namespaceSelector": {}, "resourceGroups": list(groups), **spec}}


def wrong(new: JsonObject, old: JsonObject | None = None) -> list[str]:
    return [error.path for error in kueue.validate_cluster_queue(new, old)]


@pytest.mark.parametrize(
    ("new", "paths"),
    [
        (queue(group(quota())), []),
        (queue(group(quota(nominal="-1"))), [f"{FIRST}.nominalQuota"]),
        (queue(group(quota(borrowingLimit="1"))), [f"{FIRST}.borrowingLimit"]),
        (queue(group(quota(borrowingLimit="1")), cohortName="c"), []),
        (queue(group(quota(borrowingLimit="-1")), cohortName="c"), [f"{FIRST}.borrowingLimit"]),
        (queue(group(quota(lendingLimit="5")), cohortName="c"), [f"{FIRST}.lendingLimit"]),
        (queue(group(quota(lendingLimit="4000m")), cohortName="c"), []),
        (queue(group(quota("a b"))), ["spec.resourceGroups[0].coveredResources[0]"]),
        (queue(group(quota(), covered=["memory"])), [f"{FIRST}.name"]),
        (queue(group(quota(), covered=["cpu", "memory"])), ["spec.resourceGroups[0].flavors[0].resources"]),
        (queue(group(quota()), group(quota(), flavor="other")), ["spec.resourceGroups[1].coveredResources[0]"]),
        (queue(group(quota()), group(quota("memory"))), ["spec.resourceGroups[1].flavors[0].name"]),
    ],
)
def test_quotas(new: JsonObject, paths: list[str]) -> None:
    assert wrong(new) == paths


def test_a_queue_has_an_end() -> None:
    flavors = [{"name": f"f{i}", "resources": [quota()]} for i in range(257)]
    many = {"coveredResources": ["cpu"], "flavors": flavors}
    assert wrong(queue(many)) == ["spec.resourceGroups"]
    names = [f"r{i}" for i in range(9)]
    wide = {
        "coveredResources": names,
        "flavors": [{"name": f"f{i}", "resources": [quota(n) for n in names]} for i in range(57)],
    }
    assert wrong(queue(wide)) == ["spec.resourceGroups[0]"]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"namespaceSelector": {"matchLabels": {"a": "b c"}}}, ["spec.namespaceSelector.matchLabels"]),
        ({"flavorFungibility": {"preference": "BorrowingOverPreemption"}}, ["spec.flavorFungibility.preference"]),
        (
            {
                "flavorFungibility": {
                    "preference": "BorrowingOverPreemption",
                    "whenCanBorrow": "TryNextFlavor",
                    "whenCanPreempt": "TryNextFlavor",
                }
            },
            [],
        ),
        (
            {"preemption": {"reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "LowerPriority"}}},
            ["spec.preemption"],
        ),
        ({"preemption": {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}}}, []),
        ({"fairSharing": {"weight": 0}}, []),
        ({"fairSharing": {"weight": "1n"}}, ["spec.fairSharing"]),
        ({"fairSharing": {"weight": "2n"}}, []),
        ({"fairSharing": {"weight": -1}}, ["spec.fairSharing"]),
        (
            {"admissionChecksStrategy": {"admissionChecks": [{"name": "a", "onFlavors": ["spot", "ghost"]}]}},
            ["spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]"],
        ),
        ({"concurrentAdmissionPolicy": {"migration": {"mode": "TryPreferredFlavors"}}}, []),
        (
            {"concurrentAdmissionPolicy": {"migration": {"mode": "RetainFirstAdmission", "constraints": {}}}},
            ["spec.concurrentAdmissionPolicy.migration.constraints"],
        ),
        (
            {"concurrentAdmissionPolicy": {"migration": {"constraints": {"lastAcceptableFlavorName": "ghost"}}}},
            ["spec.concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName"],
        ),
    ],
)
def test_policies_of_a_queue(spec: dict[str, Any], paths: list[str]) -> None:
    assert wrong(queue(group(quota()), **spec)) == paths


def test_trying_flavors_at_once_is_decided_when_the_queue_is_made() -> None:
    policy = {"concurrentAdmissionPolicy": {"migration": {"mode": "TryPreferredFlavors"}}}
    assert wrong(queue(group(quota())), queue(group(quota()), **policy)) == ["spec.concurrentAdmissionPolicy"]
    assert wrong(queue(**policy)) == ["spec.resourceGroups"]


def test_a_cohort_s_limits_need_a_parent() -> None:
    limited = {"metadata": {"name": "c"}, "spec": {"resourceGroups": [group(quota(lendingLimit="9"))]}}
    assert [error.path for error in kueue.validate_cohort(limited, None)] == [f"{FIRST}.lendingLimit"]
    limited["spec"]["parentName"] = "p"  # type: ignore[index]
    assert kueue.validate_cohort(limited, None) == []


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"nodeLabels": {"a": "b"}, "nodeTaints": [{"key": "a", "effect": "NoSchedule"}]}, []),
        ({"nodeLabels": {"a": "b c"}}, ["spec.nodeLabels"]),
        ({"nodeTaints": [{"key": "a", "effect": "x"}]}, ["spec.nodeTaints[0].effect"]),
        ({"tolerations": [{"key": "a", "operator": "x"}]}, ["spec.tolerations[0].operator"]),
        ({"topologyName": "t"}, ["spec"]),
        ({"resourceWeights": {"cpu": "0"}}, ["spec.resourceWeights[cpu]"]),
    ],
)
def test_flavors(spec: JsonObject, paths: list[str]) -> None:
    assert [
        error.path for error in kueue.validate_resource_flavor({"metadata": {"name": "f"}, "spec": spec}, None)
    ] == paths


def test_a_flavor_with_a_topology_stays_as_it_is() -> None:
    old = {"metadata": {"name": "f"}, "spec": {"topologyName": "t", "nodeLabels": {"a": "b"}}}
    new = {"metadata": {"name": "f"}, "spec": {"topologyName": "t", "nodeLabels": {"a": "c"}}}
    assert [error.path for error in kueue.validate_resource_flavor(new, old)] == ["spec"]
    assert kueue.validate_resource_flavor(old, old) == []


def test_topologies() -> None:
    def told(levels: list[str], old: list[str] | None = None) -> list[str]:
        new, before = (
            {"metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": name} for name in names]}}
            for names in (levels, old or [])
        )
        return [error.path for error in kueue.validate_topology(new, None if old is None else before)]

    assert told(["x.y/block", "kubernetes.io/hostname"]) == []
    assert told(["kubernetes.io/hostname", "x.y/block"]) == ["spec.levels[0].nodeLabel"]
    assert told(["a", "a"]) == ["spec.levels[1].nodeLabel"]
    assert told(["a b"]) == ["spec.levels[0].nodeLabel"]
    assert told(["a"], ["b"]) == ["spec.levels"]


def test_what_is_fixed_in_the_other_kinds() -> None:
    def of(**spec: str) -> JsonObject:
        return {"metadata": {"name": "a"}, "spec": spec}

    def paths(errors: list[Any]) -> list[str]:
        return [error.path for error in errors]

    assert paths(kueue.validate_local_queue(of(clusterQueue="b"), of(clusterQueue="a"))) == ["spec.clusterQueue"]
    assert paths(kueue.validate_admission_check(of(controllerName="b"), of(controllerName="a"))) == [
        "spec.controllerName"
    ]
    assert kueue.validate_local_queue(of(clusterQueue="b"), None) == kueue.validate_admission_check(of(), None) == []


def test_a_priority_class_may_be_worth_something_else_later() -> None:
    one, two = {"metadata": {"name": "a"}, "value": 1}, {"metadata": {"name": "a"}, "value": 2}
    assert kueue.validate_workload_priority_class(two, one) == []
    assert kueue.validate_workload_priority_class({"metadata": {"name": "A"}, "value": 2}, None) != []
