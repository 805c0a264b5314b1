from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.core import Pod
from kumi.bridge.into.pod import pod
from kumi.bridge.into.shape import Shapes
from kumi.engine import model


def read(*, meta: dict[str, Any] | None = None, phase: str = "Pending", **spec: Any) -> model.Pod:
    view = {
        "metadata": {
            "name": "p",
            "namespace": "n",
            "uid": "u",
            "creationTimestamp": "1970-01-01T00:00:05Z",
            **(meta or {}),
        },
        "spec": {"containers": [{"name": "c"}], **spec},
        "status": {"phase": phase},
    }
    return pod(msgspec.convert(view, Pod), Shapes())


def test_a_pod_of_a_workload_knows_its_place() -> None:
    made = read(
        meta={
            "annotations": {"kueue.x-k8s.io/workload": "w"},
            "labels": {"kueue.x-k8s.io/podset": "worker", "training.kubeflow.org/replica-index": "3"},
        }
    )
    assert (made.workload, made.pod_set, made.index) == ("n/w", "worker", 3)


@pytest.mark.parametrize("where", ["labels", "annotations"])
def test_an_indexed_job_gives_its_own_index(where: str) -> None:
    assert read(meta={where: {"batch.kubernetes.io/job-completion-index": "0"}}).index == 0


@pytest.mark.parametrize("text", ["", "x", "-1", "²"])
def test_an_index_that_is_no_number_is_none(text: str) -> None:
    assert read(meta={"labels": {"training.kubeflow.org/replica-index": text}}).index is None


def test_a_pod_on_its_own() -> None:
    made = read(nodeName="node", priority=7)
    assert (made.uid, made.key, made.workload, made.node, made.priority, made.created_ms) == (
        "u",
        "n/p",
        "",
        "node",
        7,
        5000,
    )


def test_finished_and_terminating() -> None:
    assert read(phase="Succeeded").finished
    assert read(phase="Failed").finished
    assert not read(phase="Running").finished
    assert read(meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}).terminating


def test_gates_and_other_schedulers_keep_it_from_being_bound() -> None:
    assert read(schedulingGates=[{"name": "g"}]).gated
    assert read(schedulerName="somebody-else").gated
    assert not read(schedulerName="default-scheduler").gated
