from __future__ import annotations

from kumi.api import scheme
from kumi.api.wire import JsonObject

SCHEME = scheme.load()


def kind_of(name: str) -> scheme.Kind:
    found = SCHEME.find("kueue.x-k8s.io", name)
    assert found is not None
    return found


def columns(name: str) -> list[tuple[str, int]]:
    return [(column.name.upper(), column.priority) for column in kind_of(name).columns]


def test_columns_are_those_that_users_know() -> None:
    assert columns("ClusterQueue") == [
        ("COHORT", 0),
        ("STRATEGY", 1),
        ("PENDING WORKLOADS", 0),
        ("ADMITTED WORKLOADS", 1),
    ]
    assert columns("LocalQueue") == [("CLUSTERQUEUE", 0), ("PENDING WORKLOADS", 0), ("ADMITTED WORKLOADS", 0)]
    assert columns("Workload") == [("QUEUE", 0), ("RESERVED IN", 0), ("ADMITTED", 0), ("FINISHED", 0), ("AGE", 0)]
    assert columns("ResourceFlavor") == [("AGE", 0)]


def test_scopes_and_categories() -> None:
    assert [kind.kind for kind in SCHEME if kind.group == "kueue.x-k8s.io" and kind.namespaced] == [
        "LocalQueue",
        "Workload",
    ]
    assert all("kueue" in kind.categories for kind in SCHEME if kind.group == "kueue.x-k8s.io")


def test_a_queue_s_policies_are_filled_in() -> None:
    queue: JsonObject = {"spec": {"namespaceSelector": {}}}
    default = kind_of("ClusterQueue").default
    assert default is not None
    default(queue)
    assert queue["spec"] == {
        "namespaceSelector": {},
        "queueingStrategy": "BestEffortFIFO",
        "stopPolicy": "None",
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {
            "reclaimWithinCohort": "Never",
            "withinClusterQueue": "Never",
            "borrowWithinCohort": {"policy": "Never"},
        },
    }


def test_a_workload_is_active_and_its_pod_sets_have_a_name_and_a_pod() -> None:
    workload: JsonObject = {"spec": {"podSets": [{"template": {}}]}}
    default = kind_of("Workload").default
    assert default is not None
    default(workload)
    assert workload["spec"] == {"active": True, "podSets": [{"template": {}, "name": "main", "count": 1}]}
