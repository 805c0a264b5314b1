"""Pods and services of kubeflow.org/v1 jobs: which are there, which are not, how they count."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.core import Pod, Service
from kumi.api.kubeflow import PyTorchJob
from kumi.jobs.base import Children, Settings
from kumi.jobs.pytorchjob import PYTORCH
from kumi.jobs.training_replicas import Roll, call_roll, replica_of
from tests.jobs.world import pytorch_job

TRAINING = PYTORCH.read(msgspec.convert(pytorch_job(), PyTorchJob))


def pod(type_: str = "worker", index: str = "0", phase: str = "Pending", going: bool = False, **status: Any) -> Pod:
    meta = {"name": f"p-{type_}-{index}", "labels": TRAINING.labels(type_)}
    meta["labels"]["training.kubeflow.org/replica-index"] = index
    if going:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return msgspec.convert({"metadata": meta, "status": {"phase": phase, **status}}, Pod)


def service(name: str) -> Service:
    _, type_, index = name.split("-")
    return msgspec.convert({"metadata": {"name": name, "labels": TRAINING.labels(type_, int(index))}}, Service)


def roll(*pods: Pod, services: tuple[Service, ...] = ()) -> Roll:
    return call_roll(PYTORCH, TRAINING, Children(pods, services), Settings())


def made(found: Roll, kind: str) -> list[str]:
    return [o["metadata"]["name"] for o in found.create if o["kind"] == kind]


def test_every_missing_index_is_made() -> None:
    found = roll(pod(index="1"))
    assert made(found, "Pod") == ["p-master-0", "p-worker-0"]
    assert made(found, "Service") == ["p-master-0", "p-worker-0", "p-worker-1"]


def test_what_has_no_place_goes_pods_and_services_alike() -> None:
    found = roll(pod(index="2"), pod(index="x"), pod("ps", "0"), services=(service("p-worker-7"),))
    assert [o.metadata.name for o in found.remove] == ["p-worker-2", "p-worker-x", "p-ps-0", "p-worker-7"]
    assert found.counts["Worker"].failed == 0


@pytest.mark.parametrize(
    ("phase", "going", "counts"),
    [
        ("Pending", False, (0, 0, 0)),
        ("Unknown", False, (0, 0, 0)),
        ("Running", False, (1, 0, 0)),
        ("Running", True, (0, 0, 1)),
        ("Succeeded", False, (0, 1, 0)),
        ("Succeeded", True, (0, 1, 0)),
        ("Failed", False, (0, 0, 1)),
        ("Pending", True, (0, 0, 0)),
    ],
)
def test_how_a_phase_counts(phase: str, going: bool, counts: tuple[int, int, int]) -> None:
    found = roll(pod(phase=phase, going=going)).counts["Worker"]
    assert (found.active, found.succeeded, found.failed) == counts


def test_a_pod_that_failed_by_no_doing_of_its_own_counts_nowhere() -> None:
    stopped = pod(phase="Failed", conditions=[{"type": "DisruptionTarget", "status": "True"}])
    assert roll(stopped).counts["Worker"].failed == 0
    assert [p.metadata.name for p, _ in roll(stopped).failed["Worker"]] == ["p-worker-0"]


def test_a_failed_pod_comes_with_its_main_containers_exit_code() -> None:
    ended = {"state": {"terminated": {"exitCode": 3}}}
    known = pod(phase="Failed", containerStatuses=[{"name": "other", **ended}, {"name": "pytorch", **ended}])
    assert [(p.metadata.name, code) for p, code in roll(known).failed["Worker"]] == [("p-worker-0", 3)]
    assert [code for _, code in roll(pod(phase="Failed")).failed["Worker"]] == [None]


def test_a_failed_pod_on_its_way_out_is_not_failed_again() -> None:
    assert roll(pod(phase="Failed", going=True)).failed == {}


def test_the_selector_is_the_labels_of_the_type_sorted() -> None:
    assert roll().counts["Master"].selector == (
        "training.kubeflow.org/job-name=p,training.kubeflow.org/operator-name=pytorchjob-controller,"
        "training.kubeflow.org/replica-type=master"
    )


def test_a_service_selects_its_pod_and_shows_its_ports() -> None:
    found = next(o for o in roll().create if o["kind"] == "Service")
    assert found["spec"] == {
        "clusterIP": "None",
        "selector": TRAINING.labels("Master", 0),
        "ports": [{"name": "pytorchjob-port", "port": 23456}],
    }


def test_a_child_belongs_to_a_type_that_the_job_has_or_to_none() -> None:
    assert replica_of(pod("worker"), TRAINING) == "Worker"
    assert replica_of(pod("ps"), TRAINING) == ""
