from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.kueue import ResourceFlavor
from kumi.bridge.out.start import flavor_names, infos
from kumi.jobs.base import PodSetInfo, StartConflict

from .made import workload

POD_SETS = [{"name": "main", "count": 4, "template": {}}]


def flavor(name: str, **spec: Any) -> ResourceFlavor:
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, ResourceFlavor)


def got(flavors: dict[str, str], queue: str = "gpus", count: int = 4) -> dict[str, Any]:
    return {
        "admission": {
            "clusterQueue": queue,
            "podSetAssignments": [{"name": "main", "flavors": flavors, "count": count}],
        }
    }


def test_flavors_queues_and_the_workload_are_added() -> None:
    view = workload(got({"cpu": "spot", "memory": "spot", "nvidia.com/gpu": "a100"}, count=2), podSets=POD_SETS)
    spot = flavor("spot", nodeLabels={"pool": "spot"}, tolerations=[{"key": "spot", "operator": "Exists"}])
    a100 = flavor("a100", nodeLabels={"gpu": "a100"})
    assert flavor_names(view) == ["a100", "spot"]
    assert infos(view, {"spot": spot, "a100": a100}) == [
        PodSetInfo(
            name="main",
            count=2,
            node_selector={"pool": "spot", "gpu": "a100"},
            labels={
                "kueue.x-k8s.io/podset": "main",
                "kueue.x-k8s.io/local-queue-name": "lq",
                "kueue.x-k8s.io/cluster-queue-name": "gpus",
            },
            annotations={"kueue.x-k8s.io/workload": "w"},
            tolerations=({"key": "spot", "operator": "Exists"},),
        )
    ]


def test_a_queue_name_that_no_label_holds_is_left_out() -> None:
    (info,) = infos(workload(got({}, queue="a.b"), podSets=POD_SETS), {})
    assert "kueue.x-k8s.io/cluster-queue-name" not in info.labels


def test_flavors_that_contradict_each_other_are_a_conflict() -> None:
    view = workload(got({"cpu": "a", "memory": "b"}), podSets=POD_SETS)
    flavors = {name: flavor(name, nodeLabels={"zone": name}) for name in "ab"}
    with pytest.raises(StartConflict, match="zone"):
        infos(view, flavors)


def test_an_admission_of_other_pod_sets_is_a_conflict() -> None:
    with pytest.raises(StartConflict, match="pod sets"):
        infos(workload(got({}), podSets=[{"name": "other", "count": 1, "template": {}}]), {})


def test_what_checks_add_is_added_to_their_pod_set() -> None:
    updates = [
        {"name": "main", "labels": {"l": "1"}, "annotations": {"a": "1"}, "nodeSelector": {"pool": "p"}},
        {"name": "other", "labels": {"never": "1"}},
    ]
    tolerations = [{"name": "main", "tolerations": [{"key": "spot", "operator": "Exists"}]}]
    checks = [{"name": "a", "podSetUpdates": updates}, {"name": "b", "podSetUpdates": tolerations}, {"name": "c"}]
    (info,) = infos(workload({**got({}), "admissionChecks": checks}, podSets=POD_SETS), {})
    assert (info.labels["l"], info.annotations["a"], info.node_selector) == ("1", "1", {"pool": "p"})
    assert info.tolerations == ({"key": "spot", "operator": "Exists"},)
    assert "never" not in info.labels


def test_a_check_that_contradicts_a_flavor_is_a_conflict() -> None:
    checks = [{"name": "a", "podSetUpdates": [{"name": "main", "nodeSelector": {"zone": "y"}}]}]
    view = workload({**got({"cpu": "f"}), "admissionChecks": checks}, podSets=POD_SETS)
    with pytest.raises(StartConflict, match="check a"):
        infos(view, {"f": flavor("f", nodeLabels={"zone": "x"})})


def test_pods_of_an_elastic_job_know_its_first_slice() -> None:
    view = workload(got({}), podSets=POD_SETS)
    view.metadata.annotations = {"kueue.x-k8s.io/elastic-job": "true"}
    (first,) = infos(view, {})
    assert first.annotations["kueue.x-k8s.io/workload-slice-name"] == "w"
    view.metadata.annotations["kueue.x-k8s.io/workload-slice-name"] = "w0"
    (later,) = infos(view, {})
    assert later.annotations["kueue.x-k8s.io/workload-slice-name"] == "w0"
    assert later.annotations["kueue.x-k8s.io/workload"] == "w"
