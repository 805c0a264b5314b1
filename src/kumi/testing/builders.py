"""Builders: the engine's nouns in a line each, amounts as people write them.

shape(gpu=1, cpu="500m")                    a pod shape; `gpu` stands for nvidia.com/gpu, `memory="1Gi"` and so on
flavor("spot", zone="a")                    a ResourceFlavor with these labels
queue("cq", {"spot": {"gpu": 8}})           a ClusterQueue with one resource group
door("team-a/lq", "cq")                     a LocalQueue
workload("team-a/bert", 4, gpu=1)           a Workload of one pod set of 4 pods
node("n1", gpu=8)                           a Node that takes 110 pods
pods_of(workload)                           the pods that its job makes
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kumi.api.quantity import parse
from kumi.engine.model import (
    ClusterQueue,
    Flavor,
    FlavorQuotas,
    LocalQueue,
    Node,
    Pod,
    PodSet,
    PodShape,
    Quota,
    ResourceGroup,
    Taint,
    Toleration,
    Workload,
)

GPU = "nvidia.com/gpu"
Written = str | int | float


def amounts(**written: Written) -> tuple[tuple[str, int], ...]:
    """Base units by resource name, in the order given."""
    return tuple((_name(key), parse(value, _name(key))) for key, value in written.items())


def shape(
    selector: Mapping[str, str] | None = None, tolerations: tuple[Toleration, ...] = (), **requests: Written
) -> PodShape:
    """A pod shape."""
    return PodShape(amounts(**requests), tuple((selector or {}).items()), tolerations)


def flavor(
    name: str = "default",
    taints: tuple[Taint, ...] = (),
    tolerations: tuple[Toleration, ...] = (),
    **labels: str,
) -> Flavor:
    """A flavor; its labels by keyword."""
    return Flavor(name, tuple(labels.items()), taints, tolerations)


def group(quotas: Mapping[str, Mapping[str, Written]]) -> ResourceGroup:
    """A resource group: flavor -> resource -> nominal quota, flavors in order."""
    flavors = []
    for name, by_resource in quotas.items():
        nominal = amounts(**dict(by_resource))
        flavors.append(FlavorQuotas(name, tuple((resource, Quota(amount)) for resource, amount in nominal)))
    resources = [resource for resource, _ in flavors[0].quotas] if flavors else []
    return ResourceGroup(tuple(resources), tuple(flavors))


def queue(name: str, *quotas: Mapping[str, Mapping[str, Written]], **fields: Any) -> ClusterQueue:
    """A ClusterQueue, a resource group for each mapping; `fields` are its other fields."""
    return ClusterQueue(name, tuple(group(q) for q in quotas), **fields)


def door(key: str, cluster_queue: str, **fields: Any) -> LocalQueue:
    """A LocalQueue."""
    return LocalQueue(key, cluster_queue, **fields)


def workload(key: str, count: int = 1, *, pod_shape: PodShape | None = None, **fields: Any) -> Workload:
    """A Workload of one pod set, `main`; of more with `pod_sets`. Amounts and other fields by keyword; its LocalQueue is
    `lq` of its namespace, its uid its key."""
    requests = {key: fields.pop(key) for key in list(fields) if key not in Workload.__dataclass_fields__}
    namespace = key.partition("/")[0]
    made = Workload(
        key=key,
        uid=key,
        namespace=namespace,
        queue=f"{namespace}/lq",
        priority=0,
        created_ms=0,
        pod_sets=(PodSet("main", count, pod_shape or shape(**requests)),),
        job=f"Job {key}",
    )
    return replace(made, **fields)


def node(name: str, labels: Mapping[str, str] | None = None, **fields: Any) -> Node:
    """A Node; amounts and other fields by keyword."""
    written = {key: fields.pop(key) for key in list(fields) if key not in Node.__dataclass_fields__}
    has = {"pods": 110, **written}
    return Node(name, tuple((labels or {}).items()), amounts(**has), **fields)


def pod(key: str, **fields: Any) -> Pod:
    """A pod on its own; amounts and other fields by keyword, its uid is its key."""
    requests = {key: fields.pop(key) for key in list(fields) if key not in Pod.__dataclass_fields__}
    return replace(Pod(uid=key, key=key, shape=shape(**requests), created_ms=0), **fields)


def pods_of(job: Workload, run: int = 0) -> list[Pod]:
    """The pods that a job makes when it is started for the run-th time, without nodes."""
    return [
        Pod(
            uid=f"{job.key}-{pods.name}-{index}-{run}",
            key=f"{job.key}-{pods.name}-{index}",
            shape=pods.shape,
            created_ms=job.created_ms,
            workload=job.key,
            pod_set=pods.name,
            index=index,
        )
        for pods in job.pod_sets
        for index in range(pods.count)
    ]


def _name(key: str) -> str:
    return GPU if key == "gpu" else key
