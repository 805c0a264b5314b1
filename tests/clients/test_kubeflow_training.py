"""The training SDK, unmodified: a PyTorchJob is created, waited for, read and deleted on a node that runs processes."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import Cluster

pytestmark = [pytest.mark.needs("kubeflow", "kubernetes", "kubectl"), pytest.mark.process]

WAIT_S = 60
SAY = """
import os, socket, time
rank, place = int(os.environ["RANK"]), (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    with socket.create_server(place) as server:
        server.accept()
else:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            socket.create_connection(place)
            break
        except OSError:
            time.sleep(0.1)
print("rank", rank, "of", os.environ["WORLD_SIZE"])
"""


def test_a_job_is_created_waited_for_read_and_deleted(cluster: Cluster) -> None:
    from kubeflow import training
    from kubernetes import client

    cluster.up("--nodes", "1")
    sdk = training.TrainingClient(
        config_file=str(cluster.data_dir / "kubeconfig"), namespace="default", job_kind="PyTorchJob"
    )
    container = client.V1Container(name="pytorch", image="none", command=[sys.executable, "-c", SAY])
    template = client.V1PodTemplateSpec(spec=client.V1PodSpec(containers=[container]))
    replica = {"template": template, "restart_policy": "Never"}
    sdk.create_job(
        training.KubeflowOrgV1PyTorchJob(
            api_version="kubeflow.org/v1",
            kind="PyTorchJob",
            metadata=client.V1ObjectMeta(name="train", namespace="default"),
            spec=training.KubeflowOrgV1PyTorchJobSpec(
                run_policy=training.KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
                pytorch_replica_specs={
                    "Master": training.KubeflowOrgV1ReplicaSpec(replicas=1, **replica),
                    "Worker": training.KubeflowOrgV1ReplicaSpec(replicas=1, **replica),
                },
            ),
        )
    )
    done = sdk.wait_for_job_conditions("train", wait_timeout=WAIT_S, polling_interval=1)
    assert done.status.completion_time
    assert sdk.is_job_succeeded("train")
    assert sorted(sdk.get_job_pod_names("train")) == ["train-master-0", "train-worker-0"]
    phases = ("get", "pods", "-o", "jsonpath={.items[*].status.phase}")
    cluster.until(WAIT_S, lambda: cluster.kubectl(*phases).stdout == "Succeeded Succeeded")
    logs, events = sdk.get_job_logs("train", is_master=False, verbose=True)
    assert logs == {"train-master-0": "rank 0 of 2\n", "train-worker-0": "rank 1 of 2\n"}
    assert events["pytorchjob/train"]
    sdk.delete_job("train")
    assert sdk.list_jobs() == []


def test_a_job_that_failed_is_told(cluster: Cluster) -> None:
    from kubeflow import training
    from kubernetes import client

    cluster.up("--nodes", "1")
    sdk = training.TrainingClient(
        config_file=str(cluster.data_dir / "kubeconfig"), namespace="default", job_kind="PyTorchJob"
    )
    container = client.V1Container(name="pytorch", image="none", command=["sh", "-c", "exit 3"])
    template = client.V1PodTemplateSpec(spec=client.V1PodSpec(containers=[container]))
    sdk.create_job(
        training.KubeflowOrgV1PyTorchJob(
            api_version="kubeflow.org/v1",
            kind="PyTorchJob",
            metadata=client.V1ObjectMeta(name="train", namespace="default"),
            spec=training.KubeflowOrgV1PyTorchJobSpec(
                run_policy=training.KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
                pytorch_replica_specs={
                    "Master": training.KubeflowOrgV1ReplicaSpec(replicas=1, template=template, restart_policy="Never"),
                },
            ),
        )
    )
    with pytest.raises(RuntimeError, match="Failed"):
        sdk.wait_for_job_conditions("train", wait_timeout=WAIT_S, polling_interval=1)
    assert sdk.is_job_failed("train")
