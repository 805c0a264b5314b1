"""The common form of kubeflow.org/v1 jobs."""

from __future__ import annotations

import copy

import msgspec

from kumi.api.kubeflow import PyTorchJob, ReplicaSpec
from kumi.api.wire import JsonObject
from kumi.jobs.pytorchjob import NAMES, PYTORCH
from kumi.jobs.training import main_container, port_of, replicas_of
from tests.jobs.world import pytorch_job


def template(*containers: JsonObject) -> JsonObject:
    return {"spec": {"containers": list(containers)}}


def test_defaults_of_a_replica_type() -> None:
    specs = {"Worker": ReplicaSpec(template=template({"name": "pytorch"}))}
    (worker,) = replicas_of(specs, ("Master", "Worker"), NAMES)
    assert (worker.count, worker.restart_policy, port_of(worker, NAMES)) == (1, "OnFailure", 23456)


def test_the_default_port_is_appended_without_touching_what_was_written() -> None:
    written = template({"name": "other"}, {"name": "pytorch", "ports": [{"name": "x", "containerPort": 1}]})
    before = copy.deepcopy(written)
    (worker,) = replicas_of({"Worker": ReplicaSpec(template=written)}, ("Worker",), NAMES)
    assert written == before == worker.written
    assert worker.template["spec"]["containers"][1]["ports"] == [
        {"name": "x", "containerPort": 1},
        {"name": "pytorchjob-port", "containerPort": 23456},
    ]
    assert "ports" not in worker.template["spec"]["containers"][0]


def test_a_port_of_the_users_own_is_kept() -> None:
    written = template({"name": "pytorch", "ports": [{"name": "pytorchjob-port", "containerPort": 5}]})
    (worker,) = replicas_of({"Worker": ReplicaSpec(template=written)}, ("Worker",), NAMES)
    assert port_of(worker, NAMES) == 5
    assert worker.template is written


def test_the_main_container_is_the_named_one_or_else_the_first() -> None:
    assert main_container(template({"name": "a"}, {"name": "pytorch"}), NAMES) == {"name": "pytorch"}
    assert main_container(template({"name": "a"}), NAMES) == {"name": "a"}
    assert main_container({}, NAMES) is None


def test_names_and_labels_of_children() -> None:
    training = PYTORCH.read(msgspec.convert(pytorch_job(), PyTorchJob))
    assert training.pod_name("Worker", 1) == "p-worker-1"
    assert training.labels("Worker", 1) == {
        "training.kubeflow.org/job-name": "p",
        "training.kubeflow.org/operator-name": "pytorchjob-controller",
        "training.kubeflow.org/replica-type": "worker",
        "training.kubeflow.org/replica-index": "1",
    }
    assert training.total == 3
    assert training.find("PS") is None
