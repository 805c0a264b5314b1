from __future__ import annotations

from typing import Any

import pytest

from kumi.api.core import Pod, Service
from kumi.api.scheme import Kind, load
from kumi.api.usage import ONE, amount_text, concerns, in_scope, unsaid, used_by
from kumi.api.wire import JsonObject


def kind(name: str, group: str = "") -> Kind:
    found = load().find(group, name)
    assert found is not None
    return found


POD = load().of(Pod)


def pod(requests: JsonObject | None = None, limits: JsonObject | None = None, **spec: Any) -> JsonObject:
    resources = {"requests": requests or {}, "limits": limits or {}}
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": resources}], **spec}}


def test_a_pod_uses_what_it_asks_for_under_both_names() -> None:
    used = used_by(POD, pod({"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": 2}, {"nvidia.com/gpu": 2}))
    assert used["pods"] == used["count/pods"] == ONE
    assert used["cpu"] == used["requests.cpu"] == ONE // 2
    assert used["memory"] == 2**30 * ONE
    assert used["requests.nvidia.com/gpu"] == used["limits.nvidia.com/gpu"] == 2 * ONE
    assert "nvidia.com/gpu" not in used


def test_a_pod_that_has_ended_is_counted_as_an_object_only() -> None:
    ended = {**pod({"cpu": 1}), "status": {"phase": "Succeeded"}}
    assert used_by(POD, ended) == {"count/pods": ONE}


def test_services_count_what_they_open() -> None:
    spec = {"type": "NodePort", "ports": [{"port": 1}, {"port": 2}]}
    used = used_by(load().of(Service), {"metadata": {}, "spec": spec})
    assert (used["services"], used["services.nodeports"], used["services.loadbalancers"]) == (ONE, 2 * ONE, 0)
    balanced = {"type": "LoadBalancer", "ports": [{"port": 1}], "allocateLoadBalancerNodePorts": False}
    used = used_by(load().of(Service), {"metadata": {}, "spec": balanced})
    assert (used["services.nodeports"], used["services.loadbalancers"]) == (0, ONE)


def test_claims_count_in_all_and_by_class() -> None:
    spec = {"resources": {"requests": {"storage": "2Gi"}}, "storageClassName": "fast"}
    used = used_by(kind("PersistentVolumeClaim"), {"metadata": {}, "spec": spec})
    assert used["requests.storage"] == used["fast.storageclass.storage.k8s.io/requests.storage"] == 2**31 * ONE
    assert used["fast.storageclass.storage.k8s.io/persistentvolumeclaims"] == ONE


def test_any_kind_can_be_counted() -> None:
    deployments = kind("Deployment", "apps")
    assert used_by(deployments, {"metadata": {}}) == {"count/deployments.apps": ONE}
    assert concerns(deployments, "count/deployments.apps")
    assert not concerns(deployments, "pods")


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("cpu", "Pod"),
        ("requests.nvidia.com/gpu", "Pod"),
        ("hugepages-2Mi", "Pod"),
        ("requests.storage", "PersistentVolumeClaim"),
        ("services.nodeports", "Service"),
        ("secrets", "Secret"),
        ("count/configmaps", "ConfigMap"),
    ],
)
def test_every_resource_is_of_one_kind(name: str, of: str) -> None:
    core = [each for each in load() if not each.group]
    assert [each.kind for each in core if concerns(each, name)] == [of]


def test_only_what_a_container_leaves_out_is_missed() -> None:
    said = pod({"cpu": 1}, {"memory": 1})
    assert unsaid(said, {"cpu", "requests.cpu", "limits.cpu", "limits.memory", "pods", "requests.nvidia.com/gpu"}) == {
        "limits.cpu": ["c"]
    }


@pytest.mark.parametrize(
    ("spec", "made", "counts"),
    [
        ({}, pod(), True),
        ({"scopes": ["BestEffort"]}, pod(), True),
        ({"scopes": ["BestEffort"]}, pod({"cpu": 1}), False),
        ({"scopes": ["NotBestEffort"]}, pod({}, {"memory": 1}), True),
        ({"scopes": ["Terminating"]}, pod(activeDeadlineSeconds=5), True),
        ({"scopes": ["NotTerminating", "BestEffort"]}, pod(), True),
        ({"scopes": ["PriorityClass"]}, pod(), False),
        ({"scopes": ["CrossNamespacePodAffinity"]}, pod(), False),
    ],
)
def test_scopes_say_which_pods_count(spec: JsonObject, made: JsonObject, counts: bool) -> None:
    assert in_scope(spec, POD, made) is counts


@pytest.mark.parametrize(
    ("operator", "values", "counts"),
    [("In", ["high"], True), ("NotIn", ["high"], False), ("Exists", [], True), ("DoesNotExist", [], False)],
)
def test_a_scope_selector_asks_for_the_priority_class(operator: str, values: list[str], counts: bool) -> None:
    term = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    spec = {"scopeSelector": {"matchExpressions": [term]}}
    assert in_scope(spec, POD, pod(priorityClassName="high")) is counts


def test_affinity_across_namespaces_is_a_scope() -> None:
    rule = {"topologyKey": "k", "namespaces": ["other"]}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}
    assert in_scope({"scopes": ["CrossNamespacePodAffinity"]}, POD, pod(affinity=affinity))


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("pods", 1024 * ONE, "1024"),
        ("requests.memory", 2**30 * ONE, "1Gi"),
        ("limits.memory", 1000 * ONE, "1k"),
        ("cpu", ONE // 2, "500m"),
        ("services", 0, "0"),
    ],
)
def test_amounts_are_told_as_people_write_them(name: str, amount: int, text: str) -> None:
    assert amount_text(name, amount) == text.replace("1024", "1024")
