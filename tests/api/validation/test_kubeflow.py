from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from kumi.api.validation.kubeflow import validate_pytorchjob
from kumi.api.wire import JsonObject

HERE = "spec.pytorchReplicaSpecs"


def replica(count: int | None = 1, **container: Any) -> JsonObject:
    spec = {"containers": [{"name": "pytorch", "image": "i", **container}]}
    return {"template": {"spec": spec}, **({} if count is None else {"replicas": count})}


def job(name: str = "bert", **spec: Any) -> JsonObject:
    return {
        "metadata": {"name": name},
        "spec": {"pytorchReplicaSpecs": {"Master": replica(), "Worker": replica(2)}, **spec},
    }


def wrong(new: JsonObject, old: JsonObject | None = None) -> list[str]:
    return [error.path for error in validate_pytorchjob(new, old)]


def test_a_job_as_its_users_write_it_is_right() -> None:
    assert wrong(job()) == []
    assert wrong({"metadata": {"name": "a"}, "spec": {"pytorchReplicaSpecs": {}}}) == []


@pytest.mark.parametrize("name", ["1bert", "a.b", "Bert"])
def test_its_name_is_a_label_that_starts_with_a_letter(name: str) -> None:
    assert wrong(job(name)) == ["metadata.name"]


@pytest.mark.parametrize(
    ("replicas", "paths"),
    [
        (None, [HERE]),
        ({"Master": replica(None)}, [f"{HERE}[Master].replicas"]),
        ({"Master": replica(2)}, [f"{HERE}[Master].replicas"]),
        ({"Worker": replica(-1)}, [f"{HERE}[Worker].replicas"]),
        ({"Worker": replica(0)}, [f"{HERE}[Worker].replicas"]),
        ({"Worker": replica(None)}, []),
        ({"worker": replica()}, [f"{HERE}[worker]"]),
        ({"Worker": {"template": {"spec": {"containers": []}}}}, [f"{HERE}[Worker].template.spec.containers"]),
        ({"Worker": {}}, [f"{HERE}[Worker].template.spec.containers"]),
        ({"Worker": replica(image="")}, [f"{HERE}[Worker].template.spec.containers[0].image"]),
        ({"Worker": replica(name="other")}, [f"{HERE}[Worker].template.spec.containers"]),
        (
            {"Worker": replica(resources={"limits": {"cpu": "-1"}})},
            [f"{HERE}[Worker].template.spec.containers[0].resources.limits[cpu]"],
        ),
    ],
)
def test_replica_types_counts_and_templates(replicas: JsonObject | None, paths: list[str]) -> None:
    assert wrong(job(pytorchReplicaSpecs=replicas)) == paths


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"elasticPolicy": {"minReplicas": 1, "maxReplicas": 3}}, []),
        ({"elasticPolicy": {}, "pytorchReplicaSpecs": {"Master": replica()}}, [f"{HERE}[Worker]"]),
        ({"elasticPolicy": {"nProcPerNode": 1}, "nprocPerNode": "2"}, ["spec.elasticPolicy.nProcPerNode"]),
        ({"elasticPolicy": {"nProcPerNode": 1}}, []),
        ({"elasticPolicy": {"minReplicas": 4, "maxReplicas": 3}}, ["spec.elasticPolicy.minReplicas"]),
        ({"elasticPolicy": {"maxRestarts": -1}}, ["spec.elasticPolicy.maxRestarts"]),
        ({"runPolicy": {"managedBy": "kubeflow.org/training-operator"}}, []),
        ({"runPolicy": {"managedBy": "me"}}, ["spec.runPolicy.managedBy"]),
        ({"runPolicy": {"backoffLimit": -1}}, ["spec.runPolicy.backoffLimit"]),
    ],
)
def test_policies(spec: dict[str, Any], paths: list[str]) -> None:
    assert wrong(job(**spec)) == paths


def test_what_is_fixed() -> None:
    old = job(runPolicy={"schedulingPolicy": {"queue": "a"}, "suspend": True})
    resumed = deepcopy(old)
    resumed["spec"]["runPolicy"]["suspend"] = False
    assert wrong(resumed, old) == []
    moved = deepcopy(old)
    moved["spec"]["runPolicy"]["schedulingPolicy"]["queue"] = "b"
    assert wrong(moved, old) == ["spec.runPolicy.schedulingPolicy.queue"]
    handed = deepcopy(old)
    handed["spec"]["runPolicy"]["managedBy"] = "kueue.x-k8s.io/multikueue"
    assert wrong(handed, old) == ["spec.runPolicy.managedBy"]


def test_the_object_is_not_changed_by_looking_at_it() -> None:
    new = job()
    before = deepcopy(new)
    wrong(new)
    assert new == before
