"""Pods of Workloads that no job's controller stands behind."""

from __future__ import annotations

from typing import Any

import msgspec

from kumi.api import kueue
from kumi.api.core import Pod
from kumi.api.wire import JsonObject
from kumi.evaluator.workload_owner import WorkloadOwner
from kumi.runtime.cache import Cache
from kumi.runtime.reconcile import Create, Delete, Patch, Write

NOW = 1_767_225_600_000
OWNER = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": "w", "uid": "u", "controller": True}
FLAVOR = {"metadata": {"name": "spot"}, "spec": {"nodeLabels": {"kind": "spot"}}}


def workload(*true: str, count: int = 2) -> kueue.Workload:
    """Pod sets `a`, of which `count` pods were admitted on spot nodes, and `b` of one; with these conditions."""
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    pod_sets = [{"name": name, "count": many, "template": template} for name, many in (("a", 2), ("b", 1))]
    assigned = [{"name": "a", "flavors": {"cpu": "spot"}, "count": count}, {"name": "b", "flavors": {}, "count": 1}]
    conditions = [{"type": type_, "status": "True"} for type_ in true]
    status = {"admission": {"clusterQueue": "cq", "podSetAssignments": assigned}, "conditions": conditions}
    meta = {"namespace": "ns", "name": "w", "uid": "u"}
    raw = {"metadata": meta, "spec": {"queueName": "lq", "podSets": pod_sets}, "status": status}
    return msgspec.convert(raw, kueue.Workload)


def pod(name: str, pod_set: str, index: int, phase: str = "Running") -> Pod:
    """One of its pods."""
    labels = {"kueue.x-k8s.io/podset": pod_set, "batch.kubernetes.io/job-completion-index": str(index)}
    meta = {"namespace": "ns", "name": name, "uid": name, "labels": labels, "ownerReferences": [OWNER]}
    conditions = [{"type": "Ready", "status": "True" if phase == "Running" else "False"}]
    return msgspec.convert({"metadata": meta, "status": {"phase": phase, "conditions": conditions}}, Pod)


def writes(of: kueue.Workload, *pods: Pod, owned: bool = True) -> tuple[Write, ...]:
    """What is done about it."""
    view = Cache((kueue.Workload, kueue.ResourceFlavor, Pod))
    for obj in (of, msgspec.convert(FLAVOR, kueue.ResourceFlavor), *pods):
        view.set(obj)
    return WorkloadOwner(lambda key: owned and key == "ns/w").reconcile(view, "ns/w", NOW).writes


def created(made: tuple[Write, ...]) -> list[JsonObject]:
    """The pods that are made."""
    return [write.object for write in made if isinstance(write, Create)]


def names(made: tuple[Write, ...]) -> list[str]:
    """Theirs."""
    return [body["metadata"]["name"] for body in created(made)]


def test_once_it_is_admitted_its_pods_are_made_with_what_admission_adds() -> None:
    made = writes(workload("Admitted"))
    assert names(made) == ["w-a-0", "w-a-1", "w-b-0"]
    first, _, last = created(made)
    meta: Any = first["metadata"]
    assert meta["labels"]["app"] == "x"
    assert meta["labels"]["kueue.x-k8s.io/podset"] == "a"
    assert meta["annotations"]["kueue.x-k8s.io/workload"] == "w"
    assert meta["ownerReferences"][0]["uid"] == "u"
    assert (first["spec"]["nodeSelector"], "nodeSelector" in last["spec"]) == ({"kind": "spot"}, False)


def test_only_so_many_as_were_admitted() -> None:
    assert names(writes(workload("Admitted", count=1))) == ["w-a-0", "w-b-0"]


def test_one_that_is_lost_is_made_anew_and_one_that_failed_is_deleted() -> None:
    made = writes(workload("Admitted"), pod("w-a-0", "a", 0), pod("w-a-1", "a", 1, "Failed"))
    assert [write.name for write in made if isinstance(write, Delete)] == ["w-a-1"]
    assert names(made) == ["w-a-1-2", "w-b-0"]


def test_it_is_ready_once_all_its_pods_are() -> None:
    pods = [pod("w-a-0", "a", 0), pod("w-a-1", "a", 1), pod("w-b-0", "b", 0, "Pending")]
    assert writes(workload("Admitted"), *pods) == ()
    (patch,) = writes(workload("Admitted"), *pods[:2], pod("w-b-0", "b", 0))
    assert isinstance(patch, Patch)
    assert "PodsReady" in str(patch.body)


def test_evicted_its_pods_go_and_then_its_quota() -> None:
    evicted = workload("Admitted", "Evicted")
    assert [type(write) for write in writes(evicted, pod("w-a-0", "a", 0))] == [Delete]
    (patch,) = writes(evicted)
    assert isinstance(patch, Patch)
    assert "QuotaReserved" in str(patch.body)


def test_nothing_is_done_about_others_nor_before_admission_nor_after_the_end() -> None:
    assert writes(workload("Admitted"), owned=False) == ()
    assert writes(workload("QuotaReserved")) == ()
    assert writes(workload("Admitted", "Finished")) == ()
