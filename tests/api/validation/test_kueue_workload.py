from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from kumi.api.validation.kueue_workload import FIXED_POD_SETS, GATED, validate_workload, workload_rules
from kumi.api.wire import JsonObject

GATES = "metadata.annotations[kueue.x-k8s.io/admission-gated-by]"


def pod_set(name: str = "main", count: int = 3, requests: JsonObject | None = None, **more: Any) -> JsonObject:
    container = {"name": "c", "resources": {"requests": requests or {}}}
    return {"name": name, "count": count, "template": {"spec": {"containers": [container]}}, **more}


def workload(*pod_sets: JsonObject, annotations: JsonObject | None = None, **status: Any) -> JsonObject:
    metadata = {"name": "w", "annotations": annotations or {}}
    return {
        "metadata": metadata,
        "spec": {"podSets": list(pod_sets) or [pod_set()], "queueName": "q"},
        "status": status,
    }


def holding(*pod_sets: JsonObject, **status: Any) -> JsonObject:
    sets = pod_sets or (pod_set(),)
    admission = {"clusterQueue": "cq", "podSetAssignments": [{"name": s["name"], "count": s["count"]} for s in sets]}
    conditions = [{"type": "QuotaReserved", "status": "True"}]
    return workload(*sets, **{"conditions": conditions, "admission": admission, **status})


def wrong(new: JsonObject, old: JsonObject | None = None) -> list[str]:
    return [error.path for error in validate_workload(new, old)]


@pytest.mark.parametrize(
    ("asked", "paths"),
    [
        (pod_set(requests={"cpu": "1"}), []),
        (pod_set(requests={"cpu": "-1"}), ["spec.podSets[0].template.spec.containers[0].resources.requests[cpu]"]),
        (pod_set(requests={"pods": "1"}), ["spec.podSets[0].template.spec.containers[0].resources.requests[pods]"]),
        (pod_set(topologyRequest={"podSetSliceSize": 0}), ["spec.podSets[0].topologyRequest.podSetSliceSize"]),
        (
            pod_set(topologyRequest={"podsetSliceRequiredTopologyConstraints": [{"topology": "a"}]}),
            ["spec.podSets[0].topologyRequest.podsetSliceRequiredTopologyConstraints[0].size"],
        ),
        (pod_set(minCount=1), []),
    ],
)
def test_what_a_pod_set_may_ask_for(asked: JsonObject, paths: list[str]) -> None:
    assert wrong(workload(asked)) == paths


def test_labels_of_a_template_are_told_at_their_map() -> None:
    asked = pod_set()
    asked["template"]["metadata"] = {"labels": {"a": "b c"}, "annotations": {"a b": ""}}
    here = "spec.podSets[0].template.metadata"
    assert wrong(workload(asked)) == [f"{here}.labels", f"{here}.annotations"]


def test_one_pod_set_can_do_with_fewer_and_none_of_an_elastic_job() -> None:
    two = [pod_set("a", minCount=1), pod_set("b", minCount=1)]
    assert wrong(workload(*two)) == ["spec.podSets"]
    elastic = {"kueue.x-k8s.io/elastic-job": "true"}
    assert wrong(workload(pod_set(minCount=1), annotations=elastic)) == ["spec.podSets"]


@pytest.mark.parametrize(
    ("text", "count"),
    [("x.y/a", 0), (" x.y/a, x.y/b ", 0), ("x.y/a,x.y/a", 1), ("plain", 1), ("x y/a", 1), ("", 0)],
)
def test_gates_are_different_names_with_a_domain(text: str, count: int) -> None:
    assert wrong(workload(annotations={"kueue.x-k8s.io/admission-gated-by": text})) == [GATES] * count


def test_gates_go_and_none_comes() -> None:
    one, two = ({"kueue.x-k8s.io/admission-gated-by": text} for text in ("x.y/a", "x.y/a,x.y/b"))
    assert wrong(workload(annotations=one), workload(annotations=two)) == []
    assert wrong(workload(annotations=two), workload(annotations=one)) == [GATES]


@pytest.mark.parametrize(
    ("text", "good"), [("5", True), ("-5", True), ("", False), ("many", False), ("1_0", False), (str(2**31), False)]
)
def test_a_boost_is_a_number(text: str, good: bool) -> None:
    found = wrong(workload(annotations={"kueue.x-k8s.io/priority-boost": text}))
    assert found == ([] if good else ["metadata.annotations[kueue.x-k8s.io/priority-boost]"])


def test_quota_is_taken_with_an_admission_of_the_workload_s_pod_sets() -> None:
    bare = holding(admission=None)
    assert wrong(bare) == wrong(bare, workload()) == ["status.admission"]
    assert wrong(bare, bare) == []
    other = holding()
    other["status"]["admission"]["podSetAssignments"] = [{"name": "ghost", "count": 3, "resourceUsage": {"cpu": "4"}}]
    here = "status.admission.podSetAssignments[0]"
    assert wrong(other) == [f"{here}.name", f"{here}.resourceUsage[cpu]"]


def test_a_check_changes_pod_sets_that_exist() -> None:
    update = {
        "name": "ghost",
        "labels": {"a": "b c"},
        "nodeSelector": {"@": "x"},
        "tolerations": [{"key": "a", "operator": "x"}],
    }
    here = "status.admissionChecks[0].podSetUpdates[0]"
    assert wrong(workload(admissionChecks=[{"name": "c", "podSetUpdates": [update]}])) == [
        f"{here}.name",
        f"{here}.labels",
        f"{here}.nodeSelector",
        f"{here}.tolerations[0].operator",
    ]


def test_pods_given_back_are_no_more_than_there_are_and_stay_so() -> None:
    def back(count: int, name: str = "main") -> JsonObject:
        return holding(reclaimablePods=[{"name": name, "count": count}])

    assert wrong(back(3)) == []
    assert wrong(back(4)) == ["status.reclaimablePods[main].count"]
    assert wrong(back(1, "ghost")) == ["status.reclaimablePods[ghost].name"]
    assert wrong(back(2), back(1)) == []
    assert wrong(back(1), back(2)) == ["status.reclaimablePods[main].count"]
    assert wrong(holding(), back(2)) == ["status.reclaimablePods[main]"]
    assert wrong(workload(), back(2)) == []


def test_while_quota_is_held_pod_sets_and_queue_stay() -> None:
    assert wrong(holding(pod_set(count=4)), workload()) == []
    assert wrong(holding(pod_set(count=4)), holding(pod_set(count=4))) == []
    assert wrong(workload(pod_set(count=4)), holding()) == ["spec.podSets.0"]
    assert wrong(workload(pod_set("a"), pod_set("b")), holding()) == ["spec.podSets"]
    moved = holding()
    moved["spec"]["queueName"] = "other"
    assert wrong(moved, holding()) == ["spec.queueName"]


@pytest.mark.parametrize(
    ("count", "more", "fine"), [(2, {}, True), (3, {}, True), (4, {}, False), (2, {"minCount": 1}, False)]
)
def test_an_elastic_job_may_shrink_while_it_runs_and_nothing_else(count: int, more: JsonObject, fine: bool) -> None:
    def elastic(made: JsonObject) -> JsonObject:
        made["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
        return made

    old, new = elastic(holding()), elastic(holding())
    new["spec"]["podSets"] = [pod_set(count=count, **more)]
    paths = [path for path in wrong(new, old) if path.startswith("spec.podSets.")]
    assert paths == ([] if fine else ["spec.podSets.0"])
    plain = [
        path
        for path in wrong({**new, "metadata": {"name": "w"}}, {**old, "metadata": {"name": "w"}})
        if "podSets." in path
    ]
    assert plain == ([] if (count, more) == (3, {}) else ["spec.podSets.0"])


def test_an_admission_stays_but_for_its_topology() -> None:
    placed, elsewhere = holding(), holding()
    placed["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] = {"levels": ["a"], "slices": []}
    elsewhere["status"]["admission"]["clusterQueue"] = "other"
    assert wrong(placed, holding()) == []
    assert wrong(elsewhere, holding()) == ["status.admission"]


def test_what_a_check_changed_stays_once_it_is_ready() -> None:
    def checked(state: str, label: str) -> JsonObject:
        return workload(
            admissionChecks=[{"name": "c", "state": state, "podSetUpdates": [{"name": "main", "labels": {"a": label}}]}]
        )

    assert wrong(checked("Ready", "2"), checked("Ready", "1")) == ["status.admissionChecks[0].podSetUpdates"]
    assert wrong(checked("Ready", "2"), checked("Pending", "1")) == []


def test_a_rule_with_a_gate_can_be_left_out() -> None:
    bad = workload(
        pod_set(requests={"cpu": "-1"}, topologyRequest={"podSetSliceSize": 0}),
        annotations={"kueue.x-k8s.io/priority-boost": "x", "kueue.x-k8s.io/admission-gated-by": "x"},
    )
    bad["spec"]["podSets"][0]["template"]["metadata"] = {"labels": {"a b": ""}}
    assert len(workload_rules(bad, None)) == len(GATED)
    for gate in GATED:
        assert len(workload_rules(bad, None, frozenset({gate}))) == len(GATED) - 1
    shrunk = deepcopy(holding(pod_set(count=2)))
    shrunk["status"]["admission"] = holding()["status"]["admission"]
    assert workload_rules(shrunk, holding(), frozenset({FIXED_POD_SETS})) == []
