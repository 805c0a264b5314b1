"""Pods: quality of service, grace, what a new one has."""

from __future__ import annotations

import pytest

from kumi.registry.kinds import pods

FULL = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("containers", "quality"),
    [
        ([{}], "BestEffort"),
        ([{"resources": {"requests": {"nvidia.com/gpu": "1"}}}], "BestEffort"),
        ([{"resources": {"requests": {"cpu": "0"}}}], "BestEffort"),
        ([{"resources": {"requests": {"cpu": "1"}}}], "Burstable"),
        ([{"resources": {"limits": {"cpu": "1"}}}], "Burstable"),
        ([{"resources": {"requests": FULL, "limits": FULL}}], "Guaranteed"),
        ([{"resources": {"limits": FULL}}], "Guaranteed"),
        ([{"resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": FULL}}], "Guaranteed"),
        ([{"resources": {"requests": {"cpu": "500m"}, "limits": FULL}}], "Burstable"),
        ([{"resources": {"requests": FULL, "limits": FULL}}, {}], "Burstable"),
    ],
)
def test_the_quality_of_service(containers: list, quality: str) -> None:
    assert pods.quality({"containers": containers}) == quality


def test_init_containers_count_too() -> None:
    spec = {"containers": [{"resources": {"limits": FULL}}], "initContainers": [{}]}
    assert pods.quality(spec) == "Burstable"


@pytest.mark.parametrize(
    ("pod", "asked", "seconds"),
    [
        ({"spec": {"nodeName": "n", "terminationGracePeriodSeconds": 30}}, None, 30),
        ({"spec": {"nodeName": "n", "terminationGracePeriodSeconds": 30}}, 5, 5),
        ({"spec": {"nodeName": "n", "terminationGracePeriodSeconds": 30}}, 0, 0),
        ({"spec": {"nodeName": "n", "terminationGracePeriodSeconds": -3}}, None, 1),
        ({"spec": {"nodeName": "n"}}, None, 0),
        ({"spec": {"terminationGracePeriodSeconds": 30}}, 60, 0),
        ({"spec": {"nodeName": "n"}, "status": {"phase": "Failed"}}, 60, 0),
    ],
)
def test_grace(pod: dict, asked: int | None, seconds: int) -> None:
    assert pods.grace(pod, asked) == seconds


def test_a_new_pod_is_pending_and_endures_lost_nodes_for_a_while() -> None:
    pod = {"spec": {"containers": [{}]}}
    pods.on_create(pod)
    assert pod["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert [(t["key"], t["tolerationSeconds"]) for t in pod["spec"]["tolerations"]] == [
        ("node.kubernetes.io/not-ready", 300),
        ("node.kubernetes.io/unreachable", 300),
    ]


@pytest.mark.parametrize(
    ("toleration", "added"),
    [
        ({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}, 1),
        ({"operator": "Exists"}, 0),
        ({"key": "other", "operator": "Exists"}, 2),
        ({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}, 2),
    ],
)
def test_a_pod_that_says_what_it_endures_is_left_alone(toleration: dict, added: int) -> None:
    pod = {"spec": {"containers": [{}], "tolerations": [toleration]}}
    pods.on_create(pod)
    assert len(pod["spec"]["tolerations"]) == 1 + added


def test_a_gated_pod_says_so() -> None:
    pod = {"spec": {"containers": [{}], "schedulingGates": [{"name": "g"}]}}
    pods.on_create(pod)
    (condition,) = pod["status"]["conditions"]  # type: ignore[misc]
    assert (condition["type"], condition["status"], condition["reason"]) == ("PodScheduled", "False", "SchedulingGated")
