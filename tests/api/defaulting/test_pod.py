from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from kumi.api.defaulting.pod import default_pod, default_spec, default_template, pull_policy
from kumi.api.wire import JsonObject


def defaulted(**spec: Any) -> JsonObject:
    found: JsonObject = deepcopy(spec)
    default_spec(found)
    return found


def container(**more: Any) -> JsonObject:
    (found,) = defaulted(containers=[{"name": "c", "image": "i:1", **more}])["containers"]
    return dict(found)


def test_a_pod_without_a_spec_is_one_with_an_empty_one() -> None:
    bare: JsonObject = {}
    empty: JsonObject = {"spec": {}}
    default_pod(bare)
    default_pod(empty)
    assert bare == empty
    assert bare["spec"]["restartPolicy"] == "Always"


def test_a_minimal_pod_says_all_that_kubernetes_would() -> None:
    pod: JsonObject = {"spec": {"containers": [{"name": "c", "image": "img:1"}]}}
    default_pod(pod)
    assert pod["spec"] == {
        "containers": [
            {
                "name": "c",
                "image": "img:1",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            }
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
    }


def test_defaulting_twice_changes_nothing() -> None:
    probe = {"httpGet": {"port": 80}}
    pod: JsonObject = {
        "spec": {
            "containers": [{"name": "c", "livenessProbe": probe, "resources": {"limits": {"cpu": "1"}}}],
            "volumes": [{"name": "v"}, {"name": "w", "configMap": {"name": "x"}}],
        }
    }
    default_pod(pod)
    once = deepcopy(pod)
    default_pod(pod)
    assert pod == once


def test_limits_stand_for_requests_in_pods_only() -> None:
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    spec = {"containers": [{"resources": resources}]}
    pod, template = {"spec": deepcopy(spec)}, {"spec": deepcopy(spec)}
    default_pod(pod)
    default_template(template)
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}
    assert template["spec"]["containers"][0]["resources"] == resources
    assert "enableServiceLinks" not in template["spec"]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("train", "Always"),
        ("train:latest", "Always"),
        ("train:1", "IfNotPresent"),
        ("host:5000/train", "Always"),
        ("host:5000/train:1", "IfNotPresent"),
        ("train@sha256:abc", "IfNotPresent"),
        ("", "Always"),
    ],
)
def test_an_image_is_pulled_again_when_its_tag_may_move(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_ports_probes_and_hooks() -> None:
    found = container(
        ports=[{"containerPort": 80}],
        livenessProbe={"httpGet": {"port": 80}, "periodSeconds": 5},
        startupProbe={"grpc": {"port": 1}},
        lifecycle={"preStop": {"httpGet": {"port": 80}}},
    )
    assert found["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert found["livenessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "periodSeconds": 5,
        "timeoutSeconds": 1,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert found["startupProbe"]["grpc"] == {"port": 1, "service": ""}
    assert found["lifecycle"]["preStop"]["httpGet"]["scheme"] == "HTTP"


def test_on_the_host_s_network_ports_are_the_host_s() -> None:
    spec = defaulted(hostNetwork=True, containers=[{"ports": [{"containerPort": 80}]}])
    assert spec["containers"][0]["ports"][0]["hostPort"] == 80


def test_fields_of_the_pod_are_of_version_v1() -> None:
    found = container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, {"name": "B"}])
    assert found["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"


def test_volumes() -> None:
    sources = [{"serviceAccountToken": {"path": "t"}}, {"downwardAPI": {"items": [{"fieldRef": {"fieldPath": "x"}}]}}]
    volumes = [
        {"name": "a"},
        {"name": "b", "secret": {"secretName": "s"}},
        {"name": "c", "hostPath": {"path": "/x"}},
        {"name": "d", "projected": {"sources": sources}},
    ]
    found = {volume["name"]: volume for volume in defaulted(volumes=volumes)["volumes"]}
    assert found["a"] == {"name": "a", "emptyDir": {}}
    assert found["b"]["secret"]["defaultMode"] == 420
    assert found["c"]["hostPath"]["type"] == ""
    assert found["d"]["projected"]["sources"][0]["serviceAccountToken"]["expirationSeconds"] == 3600
    assert found["d"]["projected"]["sources"][1]["downwardAPI"]["items"][0]["fieldRef"]["apiVersion"] == "v1"


def test_spread_constraints() -> None:
    spec = defaulted(topologySpreadConstraints=[{"maxSkew": 1}])
    assert spec["topologySpreadConstraints"] == [
        {"maxSkew": 1, "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"}
    ]


def test_what_is_no_spec_is_left_to_the_schema() -> None:
    pod: JsonObject = {"spec": []}
    default_pod(pod)
    assert pod == {"spec": []}
