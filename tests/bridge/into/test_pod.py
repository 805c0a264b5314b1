from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api import volcano
from kumi.api.core import Pod
from kumi.bridge.into.pod import pod
from kumi.bridge.into.shape import Shapes
from kumi.engine import gangs, model


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


def test_a_pod_of_no_gang_that_says_nothing_is_alone() -> None:
    assert read().member is gangs.ALONE


def test_a_pod_says_what_its_part_in_a_gang_is() -> None:
    made = read(
        meta={
            "annotations": {
                volcano.GROUP_NAME_ANNOTATION: "g",
                volcano.TASK_SPEC_ANNOTATION: "driver",
                volcano.TASK_PRIORITY_ANNOTATION: "9",
                volcano.NUMA_POLICY_ANNOTATION: "best-effort",
            },
            "labels": {volcano.TASK_SPEC_ANNOTATION: "worker"},
        },
        priority=5,
        priorityClassName="high",
        preemptionPolicy="Never",
    )
    assert made.member == gangs.Member(
        group="n/g",
        role="driver",
        annotated_role="driver",
        priority=9,
        never_preempts=True,
        numa_policy="best-effort",
        priority_class="high",
    )


def test_a_role_may_be_a_label_and_a_priority_the_pods_own() -> None:
    meta = {
        "annotations": {volcano.GROUP_NAME_ANNOTATION: "g", volcano.TASK_PRIORITY_ANNOTATION: "much"},
        "labels": {volcano.TASK_SPEC_ANNOTATION: "worker"},
    }
    assert read(meta=meta, priority=5).member == gangs.Member("n/g", role="worker", priority=5)
    assert read(meta=meta).member.priority is None


@pytest.mark.parametrize(
    ("annotations", "labels", "gives_way", "zone"),
    [
        ({}, {}, None, ""),
        ({volcano.PREEMPTABLE: "true"}, {}, True, "*"),
        ({}, {volcano.PREEMPTABLE: "true"}, True, ""),
        ({volcano.PREEMPTABLE: "false"}, {volcano.PREEMPTABLE: "true"}, False, ""),
        ({volcano.REVOCABLE_ZONE_ANNOTATION: "*"}, {}, None, "*"),
        ({volcano.REVOCABLE_ZONE_ANNOTATION: "rz1", volcano.PREEMPTABLE: "true"}, {}, True, ""),
    ],
)
def test_a_pod_says_whether_it_gives_way_and_uses_nodes_that_are_lent(
    annotations: dict[str, str], labels: dict[str, str], gives_way: bool | None, zone: str
) -> None:
    made = read(meta={"annotations": {volcano.GROUP_NAME_ANNOTATION: "g", **annotations}, "labels": labels})
    assert (made.member.preemptable, made.member.zone) == (gives_way, zone)


def test_a_pod_says_which_share_of_a_gpu_it_wants_and_which_gpus_it_has() -> None:
    made = read(meta={"annotations": {"kumi.dev/gpu-share": "460", "kumi.dev/gpu-index": "3"}}, nodeName="node")
    assert (made.shape.share, made.shape.requests, made.devices) == (460, (("nvidia.com/gpu", 460),), (3,))


def test_one_that_another_scheduler_places_is_in_no_gang_of_kumis() -> None:
    meta = {"annotations": {"scheduling.k8s.io/group-name": "g"}}
    assert read(meta=meta, schedulerName="volcano").member.group == "n/g"
    assert read(meta=meta, schedulerName="other").member == gangs.ALONE
