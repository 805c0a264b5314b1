"""kubeflow.org/v1 PyTorchJob: how its ranks find each other, and when it runs and succeeds.

Defaults   restartPolicy OnFailure, 1 replica, port 23456; nprocPerNode `auto` unless elasticPolicy.nProcPerNode is given;
           of elasticPolicy's minReplicas and maxReplicas one takes the other's value, neither both the workers'.
Variables  added to every container after the user's own, in this order:
             PYTHONUNBUFFERED
             with a Master: MASTER_PORT PET_MASTER_PORT (its port) MASTER_ADDR PET_MASTER_ADDR (its service, on the master too)
                 WORLD_SIZE = all replicas x nproc (nprocPerNode where that is a number, else 1)
                 RANK = PET_NODE_RANK: Master 0, worker i: i+1; per node, not multiplied by nproc
             PET_NPROC_PER_NODE where nprocPerNode is set
             without elasticPolicy: PET_NNODES = all replicas
             with it: PET_RDZV_ENDPOINT (rdzvHost or worker 0 : rdzvPort or the workers' port) PET_RDZV_BACKEND (c10d)
                 PET_NNODES = min:max, then what is given of PET_MAX_RESTARTS PET_NPROC_PER_NODE PET_RDZV_ID PET_RDZV_CONF
                 (k=v,k=v) PET_STANDALONE ("" where standalone is true)
Waiting    with a Master, workers have an init container `init-pytorch` that waits until its name resolves: a rank that
           starts before that would use up its connection's timeout.
Role       the Master's pod, or worker 0 where there is none, is labelled as master.
Status     with a Master: runs when it does, succeeds when it has (workers may still run).
           Without: succeeds when all workers have, or, elastic, any; runs when any does.
Scaling    elasticPolicy.metrics: a HorizontalPodAutoscaler of the job's name on its scale subresource (workers).
Source     Kubeflow training operator 1.9; torchrun's options.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import msgspec

from kumi.api.autoscaling import HorizontalPodAutoscaler
from kumi.api.core import Pod, Service
from kumi.api.kubeflow import ElasticPolicy, PyTorchJob, ReplicaStatus
from kumi.api.meta import Object, owner_reference
from kumi.api.wire import JsonObject
from kumi.jobs import gang, kubeflow
from kumi.jobs.base import Children, Settings, Sync
from kumi.jobs.injected import ANNOTATION, Injected, encode
from kumi.jobs.kubeflow_queue import QueuedTraining
from kumi.jobs.training import CLEAN_POD_POLICY, JOB_NAME, Effect, Names, Replica, Training, port_of, replicas_of

MASTER, WORKER = "Master", "Worker"
NAMES = Names("PyTorchJob", "pytorch", "pytorchjob-port", 23456, "OnFailure")
WAIT_SECONDS = 2
_NAMED = ("MASTER_ADDR", "PET_MASTER_ADDR")
_PORTED = ("MASTER_PORT", "PET_MASTER_PORT")
_ENDPOINT = "PET_RDZV_ENDPOINT"


class PyTorch:
    """The TrainingKind."""

    names = NAMES

    def read(self, job: PyTorchJob) -> Training[PyTorchJob]:
        """The job with its defaults."""
        replicas = replicas_of(job.spec.pytorch_replica_specs, (MASTER, WORKER), NAMES)
        return Training(job, NAMES, job.spec.run_policy, replicas, job.status)

    def is_master(self, training: Training[PyTorchJob], type_: str, index: int) -> bool:
        """The Master's pod, or worker 0 where there is none."""
        return type_ == MASTER or (training.find(MASTER) is None and index == 0)

    def dress(
        self, training: Training[PyTorchJob], replica: Replica, index: int, pod: JsonObject, settings: Settings
    ) -> None:
        """Variables, the waiting init container, the note for nodes whose pods share the host's network."""
        env = environment(training, replica, index)
        for container in pod["spec"].get("containers") or ():
            own = container.get("env") or []
            container["env"] = [*own, *({"name": name, "value": value} for name, value in env.items())]
        if replica.type == WORKER and training.find(MASTER) is not None:
            waiting = init_container(training.pod_name(MASTER, 0), settings)
            pod["spec"]["initContainers"] = [*(pod["spec"].get("initContainers") or ()), waiting]
        if settings.init_command:
            note = _note(training, env)
            pod["metadata"].setdefault("annotations", {})[ANNOTATION] = encode(note)

    def extras(self, training: Training[PyTorchJob]) -> Sequence[JsonObject]:
        """The autoscaler."""
        elastic = elastic_policy(training)
        if elastic is None or not elastic.metrics:
            return ()
        api_version, kind = NAMES.reference
        meta = training.meta
        return (
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {
                    "name": meta.name,
                    "namespace": meta.namespace,
                    "ownerReferences": [owner_reference(training.job, api_version, kind)],
                },
                "spec": {
                    "scaleTargetRef": {"apiVersion": api_version, "kind": kind, "name": meta.name},
                    "minReplicas": elastic.min_replicas,
                    "maxReplicas": elastic.max_replicas,
                    "metrics": elastic.metrics,
                },
            },
        )

    def effect(self, training: Training[PyTorchJob], replica: Replica, status: ReplicaStatus) -> Effect:
        """See the module."""
        decides = MASTER if training.find(MASTER) is not None else WORKER
        if replica.type != decides:
            return ""
        elastic = decides == WORKER and training.job.spec.elastic_policy is not None
        if status.succeeded >= replica.count or (elastic and status.succeeded):
            return "Succeeded"
        return "Running" if status.active else ""


PYTORCH = PyTorch()
QUEUED_PYTORCH: QueuedTraining[PyTorchJob] = QueuedTraining(PYTORCH, PyTorchJob, "pytorchReplicaSpecs")


class PyTorchReplicas:
    """Makes a PyTorchJob's pods."""

    view_type = PyTorchJob
    name_label = JOB_NAME
    finalizer = ""

    def child_types(self, settings: Settings) -> tuple[type[Object], ...]:
        """Pods with their services, the autoscaler, and a PodGroup where gangs are used."""
        return (Pod, Service, HorizontalPodAutoscaler, *gang.pod_group_types(settings.gang_scheduler))

    def sync(self, job: PyTorchJob, children: Children, settings: Settings, now_ms: int) -> Sync:
        """See kumi.jobs.kubeflow."""
        return kubeflow.sync(PYTORCH, job, children, settings, now_ms)


def nproc_per_node(training: Training[PyTorchJob]) -> str:
    """nprocPerNode with its default; "" where the older field of elasticPolicy is given instead."""
    spec = training.job.spec
    if spec.nproc_per_node is not None:
        return spec.nproc_per_node
    older = spec.elastic_policy is not None and spec.elastic_policy.n_proc_per_node is not None
    return "" if older else "auto"


def elastic_policy(training: Training[PyTorchJob]) -> ElasticPolicy | None:
    """elasticPolicy with its defaults."""
    policy = training.job.spec.elastic_policy
    if policy is None:
        return None
    worker = training.find(WORKER)
    workers = worker.count if worker else 1
    least, most = policy.min_replicas, policy.max_replicas
    return msgspec.structs.replace(
        policy,
        min_replicas=least if least is not None else most if most is not None else workers,
        max_replicas=most if most is not None else least if least is not None else workers,
    )


def environment(training: Training[PyTorchJob], replica: Replica, index: int) -> dict[str, str]:
    """What is injected in one pod, in order; a later variable of a name replaces the earlier one."""
    env = {"PYTHONUNBUFFERED": "1"}
    nproc = nproc_per_node(training)
    master = training.find(MASTER)
    if master is not None:
        rank = 0 if replica.type == MASTER else index + 1
        port, name = str(port_of(master, NAMES)), training.pod_name(MASTER, 0)
        env |= dict.fromkeys(_PORTED, port) | dict.fromkeys(_NAMED, name)
        env["WORLD_SIZE"] = str(training.total * (int(nproc) if nproc.isdecimal() else 1))
        env["RANK"] = env["PET_NODE_RANK"] = str(rank)
    if nproc:
        env["PET_NPROC_PER_NODE"] = nproc
    elastic = elastic_policy(training)
    if elastic is None:
        env["PET_NNODES"] = str(training.total)
    else:
        env |= _rendezvous(training, elastic)
    return env


def _rendezvous(training: Training[PyTorchJob], elastic: ElasticPolicy) -> dict[str, str]:
    worker = training.find(WORKER)
    port = elastic.rdzv_port or (port_of(worker, NAMES) if worker else NAMES.port)
    env = {
        _ENDPOINT: f"{elastic.rdzv_host or training.pod_name(WORKER, 0)}:{port}",
        "PET_RDZV_BACKEND": elastic.rdzv_backend or "c10d",
        "PET_NNODES": f"{elastic.min_replicas}:{elastic.max_replicas}",
    }
    if elastic.max_restarts is not None:
        env["PET_MAX_RESTARTS"] = str(elastic.max_restarts)
    if elastic.n_proc_per_node is not None:
        env["PET_NPROC_PER_NODE"] = str(elastic.n_proc_per_node)
    if elastic.rdzv_id:
        env["PET_RDZV_ID"] = elastic.rdzv_id
    if elastic.rdzv_conf:
        env["PET_RDZV_CONF"] = ",".join(f"{c.key}={c.value}" for c in elastic.rdzv_conf)
    if elastic.standalone:
        env["PET_STANDALONE"] = ""
    return env


def init_container(master: str, settings: Settings) -> JsonObject:
    """The container that waits until `master` resolves."""
    if settings.init_container is not None:
        stands_for = {"{{.MasterAddr}}": master, "{{.InitContainerImage}}": settings.init_image}
        filled = _filled(settings.init_container, stands_for)
        assert isinstance(filled, dict)
        return filled
    tries, pause = settings.init_tries, WAIT_SECONDS
    loop = (
        f"for i in $(seq {tries}); do getent hosts {master} || nslookup {master} && exit 0; "
        f"echo waiting for {master}; sleep {pause}; done >&2; exit 1"
    )
    return {
        "name": "init-pytorch",
        "image": settings.init_image,
        "imagePullPolicy": "IfNotPresent",
        "command": [*settings.init_command, master] if settings.init_command else ["sh", "-c", loop],
        "resources": {"limits": {"cpu": "100m", "memory": "20Mi"}, "requests": {"cpu": "50m", "memory": "10Mi"}},
    }


def defaulted(obj: JsonObject) -> JsonObject:
    """A PyTorchJob's manifest with every default in place, as its controller works with it."""
    training = PYTORCH.read(msgspec.convert(obj, PyTorchJob))
    out = copy.deepcopy(obj)
    spec = out.setdefault("spec", {})
    spec["runPolicy"] = {"cleanPodPolicy": CLEAN_POD_POLICY, "suspend": False, **(spec.get("runPolicy") or {})}
    if nproc_per_node(training):
        spec["nprocPerNode"] = nproc_per_node(training)
    elastic = elastic_policy(training)
    if elastic is not None:
        spec["elasticPolicy"].update(minReplicas=elastic.min_replicas, maxReplicas=elastic.max_replicas)
    for replica in training.replicas:
        filled = {"replicas": replica.count, "restartPolicy": replica.restart_policy, "template": replica.template}
        spec["pytorchReplicaSpecs"][replica.type].update(copy.deepcopy(filled))
    return out


def _filled(value: object, stands_for: dict[str, str]) -> object:
    if isinstance(value, str):
        for mark, text in stands_for.items():
            value = value.replace(mark, text)
        return value
    if isinstance(value, dict):
        return {k: _filled(v, stands_for) for k, v in value.items()}
    return [_filled(v, stands_for) for v in value] if isinstance(value, list) else value


def _note(training: Training[PyTorchJob], env: dict[str, str]) -> Injected:
    """Which of the variables name our own pods and ports; a rendezvous host of the user's is not ours."""
    elastic = training.job.spec.elastic_policy
    master = training.find(MASTER) or training.find(WORKER)
    ours = _ENDPOINT in env and elastic is not None and not elastic.rdzv_host
    return Injected(
        names=tuple(n for n in _NAMED if n in env),
        ports=tuple(n for n in _PORTED if n in env),
        endpoints=(_ENDPOINT,) if ours else (),
        group=training.meta.uid,
        port=port_of(master, NAMES) if master else NAMES.port,
    )
