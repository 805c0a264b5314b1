"""The pods and services of a kubeflow.org/v1 job: what is there, what is missing, what is too much, and the counts.

The rule   for each replica type, each index below its count: a pod `<job>-<type>-<index>` and a headless service of that
           name, which selects it by the four labels and shows the main container's ports.
           A pod or service at an index beyond the count, or of a type that the job no longer has, goes.
Counts     from zero at each look: Running is active, or failed when it is being deleted; Succeeded, Failed; Pending and
           Unknown count nowhere; pods that go count nowhere, nor do those that failed by no doing of their own (condition
           DisruptionTarget): an eviction uses up no retry.
Policy     a pod's restartPolicy is its type's, except ExitCode, which is Never to the kubelet; the template's own is
           overwritten with a warning.
Source     Kubeflow training operator 1.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kumi.api.core import Pod
from kumi.api.kubeflow import ReplicaStatus
from kumi.api.meta import Object, owner_reference
from kumi.api.wire import JsonObject
from kumi.jobs import gang
from kumi.jobs.base import Children, J, Said, Settings
from kumi.jobs.templates import is_disrupted, pod_of
from kumi.jobs.training import JOB_ROLE, REPLICA_INDEX, REPLICA_TYPE, Replica, Training, TrainingKind, main_container


@dataclass
class Roll:
    """Who is there. `failed`: by type, failed pods that are not on their way out, each with the exit code of its main
    container (None where none is known)."""

    create: list[JsonObject] = field(default_factory=list)
    remove: list[Object] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    failed: dict[str, list[tuple[Pod, int | None]]] = field(default_factory=dict)
    counts: dict[str, ReplicaStatus] = field(default_factory=dict)


def call_roll(kind: TrainingKind[J], training: Training[J], children: Children, settings: Settings) -> Roll:
    """See the module."""
    roll = Roll()
    pods = _by_place(children.pods, training, roll)
    services = _by_place(children.services, training, roll)
    for replica in training.replicas:
        labels = training.labels(replica.type)
        counts = ReplicaStatus(selector=",".join(f"{k}={v}" for k, v in sorted(labels.items())))
        for index in range(replica.count):
            pod = pods.get((replica.type, index))
            if isinstance(pod, Pod):
                _count(counts, pod)
                if pod.status.phase == "Failed" and pod.metadata.deletion_timestamp is None:
                    code = _exit_code(pod, training.names.container)
                    roll.failed.setdefault(replica.type, []).append((pod, code))
            else:
                roll.create.append(_new_pod(kind, training, replica, index, settings, roll))
            if (replica.type, index) not in services:
                roll.create.append(_new_service(training, replica, index))
        roll.counts[replica.type] = counts
    return roll


def replica_of(child: Object, training: Training[J]) -> str:
    """The replica type that a child belongs to; "" if the job has none of that name."""
    text = child.metadata.labels.get(REPLICA_TYPE, "")
    return next((r.type for r in training.replicas if r.type.lower() == text), "")


def _by_place(children: tuple[Object, ...], training: Training[J], roll: Roll) -> Mapping[tuple[str, int], Object]:
    places: dict[tuple[str, int], Object] = {}
    count = {r.type: r.count for r in training.replicas}
    for child in children:
        type_, text = replica_of(child, training), child.metadata.labels.get(REPLICA_INDEX, "")
        place = (type_, int(text) if text.isdecimal() else -1)
        if not type_ or not 0 <= place[1] < count[type_] or place in places:
            roll.remove.append(child)
        else:
            places[place] = child
    return places


def _count(counts: ReplicaStatus, pod: Pod) -> None:
    phase = pod.status.phase
    if phase == "Running" and pod.metadata.deletion_timestamp is None:
        counts.active += 1
    elif phase == "Succeeded":
        counts.succeeded += 1
    elif phase in ("Failed", "Running") and not is_disrupted(pod):
        counts.failed += 1


def _exit_code(pod: Pod, container: str) -> int | None:
    for status in pod.status.container_statuses:
        if status.name == container and status.state.terminated is not None:
            return status.state.terminated.exit_code
    return None


def _new_pod(
    kind: TrainingKind[J], training: Training[J], replica: Replica, index: int, settings: Settings, roll: Roll
) -> JsonObject:
    name = training.pod_name(replica.type, index)
    labels = training.labels(replica.type, index)
    if kind.is_master(training, replica.type, index):
        labels[JOB_ROLE] = "master"
    pod = pod_of(training.job, training.names.reference, replica.template, name, labels)
    policy = "Never" if replica.restart_policy == "ExitCode" else replica.restart_policy
    own = pod["spec"].get("restartPolicy")
    if own and own != policy:
        text = f"{name}: the template's restartPolicy {own} gives way to {policy}, the policy of the replica type"
        roll.said.append(Said("SetPodTemplateRestartPolicy", text, "Warning"))
    pod["spec"]["restartPolicy"] = policy
    kind.dress(training, replica, index, pod, settings)
    scheduler = settings.gang_scheduler
    if gang.uses_gang(scheduler) and not gang.join(pod, training, replica, scheduler):
        text = f"{name}: the template's schedulerName {pod['spec']['schedulerName']} is kept, gangs are for {scheduler}"
        roll.said.append(Said("SetPodTemplateSchedulerName", text, "Warning"))
    return pod


def _new_service(training: Training[J], replica: Replica, index: int) -> JsonObject:
    labels = training.labels(replica.type, index)
    container = main_container(replica.template, training.names) or {}
    ports = [{"name": p.get("name", ""), "port": p["containerPort"]} for p in container.get("ports") or ()]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": training.pod_name(replica.type, index),
            "namespace": training.meta.namespace,
            "labels": labels,
            "ownerReferences": [owner_reference(training.job, *training.names.reference)],
        },
        "spec": {"clusterIP": "None", "selector": labels, "ports": ports},
    }
