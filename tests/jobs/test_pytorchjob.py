"""PyTorchJob: environment, waiting, elasticity, what makes it run and succeed."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.autoscaling import HorizontalPodAutoscaler
from kumi.api.kubeflow import PyTorchJob
from kumi.api.wire import JsonObject
from kumi.jobs.base import Settings
from kumi.jobs.injected import ANNOTATION
from kumi.jobs.pytorchjob import PYTORCH, PyTorchReplicas, defaulted, environment, init_container
from tests.jobs.world import World, pytorch_job


def world(settings: Settings | None = None, **job: Any) -> World:
    made = World(PyTorchReplicas(), pytorch_job(**job), settings)
    made.settle()
    return made


def env_of(pod: JsonObject, container: int = 0) -> dict[str, str]:
    return {e["name"]: e["value"] for e in pod["spec"]["containers"][container]["env"]}


def environments(job: JsonObject) -> list[dict[str, str]]:
    training = PYTORCH.read(msgspec.convert(job, PyTorchJob))
    return [environment(training, r, i) for r in training.replicas for i in range(r.count)]


# laws


@given(st.integers(0, 6), st.sampled_from([None, "auto", "cpu", "gpu", "1", "4"]))
def test_with_a_master_ranks_are_a_permutation_and_the_world_is_as_big_as_all_processes(
    workers: int, nproc: str | None
) -> None:
    spec = {} if nproc is None else {"nprocPerNode": nproc}
    found = environments(pytorch_job(master=1, workers=workers, **spec))
    assert [e["RANK"] for e in found] == [str(i) for i in range(workers + 1)]
    processes = int(nproc) if nproc and nproc.isdecimal() else 1
    assert {e["WORLD_SIZE"] for e in found} == {str((workers + 1) * processes)}
    assert all(e["RANK"] == e["PET_NODE_RANK"] for e in found)


@given(st.integers(1, 4), st.booleans())
def test_everybody_is_told_the_same_but_its_rank(workers: int, master: bool) -> None:
    found = environments(pytorch_job(master=int(master), workers=workers))
    own = ("RANK", "PET_NODE_RANK")
    assert len({json.dumps({k: v for k, v in e.items() if k not in own}) for e in found}) == 1


# the environment


def test_the_order_of_the_variables() -> None:
    assert list(environments(pytorch_job())[0]) == [
        "PYTHONUNBUFFERED",
        "MASTER_PORT",
        "PET_MASTER_PORT",
        "MASTER_ADDR",
        "PET_MASTER_ADDR",
        "WORLD_SIZE",
        "RANK",
        "PET_NODE_RANK",
        "PET_NPROC_PER_NODE",
        "PET_NNODES",
    ]


def test_without_a_master_nothing_is_said_of_one() -> None:
    (env, _) = environments(pytorch_job(master=0))
    assert env == {"PYTHONUNBUFFERED": "1", "PET_NPROC_PER_NODE": "auto", "PET_NNODES": "2"}


def test_the_masters_own_port_and_the_users_own_variables() -> None:
    job = pytorch_job(workers=1)
    container = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    container["ports"] = [{"name": "pytorchjob-port", "containerPort": 7777}, {"name": "x", "containerPort": 1}]
    container["env"] = [{"name": "MINE", "value": "1"}]
    w = World(PyTorchReplicas(), job)
    w.settle()
    master, worker = w.pods()
    assert env_of(worker)["MASTER_PORT"] == "7777"
    assert master["spec"]["containers"][0]["env"][0] == {"name": "MINE", "value": "1"}
    assert [p["containerPort"] for p in master["spec"]["containers"][0]["ports"]] == [7777, 1]


def test_every_container_gets_the_variables_and_init_containers_do_not() -> None:
    job = pytorch_job(workers=0)
    spec = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    spec["containers"].append({"name": "sidecar", "image": "i"})
    spec["initContainers"] = [{"name": "prepare", "image": "i"}]
    w = World(PyTorchReplicas(), job)
    w.settle()
    (pod,) = w.pods()
    assert env_of(pod, 0) == env_of(pod, 1)
    assert pod["spec"]["initContainers"] == [{"name": "prepare", "image": "i"}]


def test_elastic_workers_meet_at_worker_zero() -> None:
    policy = {
        "minReplicas": 1,
        "maxReplicas": 4,
        "maxRestarts": 3,
        "nProcPerNode": 2,
        "rdzvId": "x",
        "standalone": True,
    }
    policy["rdzvConf"] = [{"key": "timeout", "value": "60"}, {"key": "b", "value": "c"}]
    (env, _) = environments(pytorch_job(master=0, elasticPolicy=policy))
    assert env == {
        "PYTHONUNBUFFERED": "1",
        "PET_RDZV_ENDPOINT": "p-worker-0:23456",
        "PET_RDZV_BACKEND": "c10d",
        "PET_NNODES": "1:4",
        "PET_MAX_RESTARTS": "3",
        "PET_NPROC_PER_NODE": "2",
        "PET_RDZV_ID": "x",
        "PET_RDZV_CONF": "timeout=60,b=c",
        "PET_STANDALONE": "",
    }


def test_a_rendezvous_of_the_users_own() -> None:
    policy = {"rdzvHost": "etcd", "rdzvPort": 2379, "rdzvBackend": "etcd-v2"}
    (env, _) = environments(pytorch_job(master=0, elasticPolicy=policy))
    assert (env["PET_RDZV_ENDPOINT"], env["PET_RDZV_BACKEND"]) == ("etcd:2379", "etcd-v2")


@pytest.mark.parametrize(("policy", "nodes"), [({}, "2:2"), ({"maxReplicas": 4}, "4:4"), ({"minReplicas": 1}, "1:1")])
def test_of_the_least_and_the_most_one_is_taken_from_the_other(policy: dict[str, int], nodes: str) -> None:
    assert environments(pytorch_job(master=0, elasticPolicy=policy))[0]["PET_NNODES"] == nodes


# waiting for the master


def test_workers_wait_for_a_master_and_the_master_does_not() -> None:
    master, *workers = world().pods()
    assert "initContainers" not in master["spec"]
    assert [[c["name"] for c in w["spec"]["initContainers"]] for w in workers] == [["init-pytorch"]] * 2


def test_without_a_master_nobody_waits() -> None:
    assert all("initContainers" not in p["spec"] for p in world(master=0).pods())


def test_the_image_of_the_wait_and_its_loop() -> None:
    made = init_container("p-master-0", Settings(init_image="busybox", init_tries=7))
    assert (made["image"], made["imagePullPolicy"]) == ("busybox", "IfNotPresent")
    assert made["command"][:2] == ["sh", "-c"]
    assert "seq 7" in made["command"][2]
    assert "p-master-0" in made["command"][2]


def test_nodes_without_images_wait_by_their_own_command() -> None:
    made = init_container("p-master-0", Settings(init_command=("kumi", "wait-for")))
    assert made["command"] == ["kumi", "wait-for", "p-master-0"]


def test_an_installation_may_replace_the_whole_container() -> None:
    template = {"name": "wait", "image": "{{.InitContainerImage}}", "args": ["{{.MasterAddr}}", 3]}
    made = init_container("m", Settings(init_image="i", init_container=template))
    assert made == {"name": "wait", "image": "i", "args": ["m", 3]}


# the note for nodes whose pods share the host's network


def note(**job: Any) -> dict[str, Any]:
    w = world(Settings(init_command=("wait",)), **job)
    found: dict[str, Any] = json.loads(w.pods()[0]["metadata"]["annotations"][ANNOTATION])
    return found


def test_the_note_names_what_was_injected() -> None:
    assert note() == {
        "names": ["MASTER_ADDR", "PET_MASTER_ADDR"],
        "ports": ["MASTER_PORT", "PET_MASTER_PORT"],
        "endpoints": [],
        "group": "uid-1",
        "port": 23456,
    }


def test_the_note_of_an_elastic_job_names_its_rendezvous_unless_it_is_the_users() -> None:
    assert note(master=0, elasticPolicy={})["endpoints"] == ["PET_RDZV_ENDPOINT"]
    assert note(master=0, elasticPolicy={"rdzvHost": "etcd"})["endpoints"] == []


def test_elsewhere_there_is_no_note() -> None:
    assert "annotations" not in world().pods()[0]["metadata"]


# roles, success, scaling


def test_the_masters_role_is_worker_zeros_where_there_is_none() -> None:
    role = "training.kubeflow.org/job-role"
    assert [p["metadata"]["labels"].get(role) for p in world().pods()] == ["master", None, None]
    assert [p["metadata"]["labels"].get(role) for p in world(master=0).pods()] == ["master", None]


def test_without_a_master_all_workers_must_succeed() -> None:
    w = world(master=0)
    w.end("p-worker-0")
    w.settle()
    assert not w.is_true("Succeeded")
    w.end("p-worker-1")
    w.settle()
    assert w.is_true("Succeeded")


def test_one_elastic_worker_is_enough() -> None:
    w = world(master=0, elasticPolicy={})
    w.end("p-worker-1")
    w.settle()
    assert w.is_true("Succeeded")


METRICS = [
    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
]


def test_metrics_make_an_autoscaler_that_follows_the_policy_and_goes_with_a_suspension() -> None:
    w = world(master=0, elasticPolicy={"minReplicas": 1, "maxReplicas": 4, "metrics": METRICS})
    spec = w.objects[HorizontalPodAutoscaler, "p"]["spec"]
    assert spec["scaleTargetRef"] == {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "p"}
    assert (spec["minReplicas"], spec["maxReplicas"], spec["metrics"]) == (1, 4, METRICS)
    w.edit({"elasticPolicy": {"maxReplicas": 8}})
    w.settle()
    assert w.objects[HorizontalPodAutoscaler, "p"]["spec"]["maxReplicas"] == 8
    w.edit({"runPolicy": {"suspend": True}})
    w.settle()
    assert w.names(HorizontalPodAutoscaler) == []


def test_an_autoscaler_nobody_asks_for_any_more_goes() -> None:
    w = world(master=0, elasticPolicy={"metrics": METRICS})
    w.edit({"elasticPolicy": {"metrics": []}})
    w.settle()
    assert w.names(HorizontalPodAutoscaler) == []


# defaults


def test_every_default_is_in_place_and_what_was_written_stays() -> None:
    job = pytorch_job(master=0, workers=2, elasticPolicy={"maxReplicas": 4}, runPolicy={"backoffLimit": 3})
    del job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"]
    spec = defaulted(job)["spec"]
    assert spec["runPolicy"] == {"cleanPodPolicy": "None", "suspend": False, "backoffLimit": 3}
    assert spec["nprocPerNode"] == "auto"
    assert spec["elasticPolicy"] == {"minReplicas": 4, "maxReplicas": 4}
    worker = spec["pytorchReplicaSpecs"]["Worker"]
    assert (worker["replicas"], worker["restartPolicy"]) == (1, "OnFailure")
    (container,) = worker["template"]["spec"]["containers"]
    assert container["ports"] == [{"name": "pytorchjob-port", "containerPort": 23456}]
    assert "ports" not in job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]


def test_the_older_field_takes_the_place_of_the_default() -> None:
    assert "nprocPerNode" not in defaulted(pytorch_job(master=0, elasticPolicy={"nProcPerNode": 2}))["spec"]
