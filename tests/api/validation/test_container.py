from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.container import containers


def wrong(*given: dict[str, Any], init: tuple[dict[str, Any], ...] = ()) -> list[str]:
    spec = {"containers": list(given), "initContainers": list(init)}
    return [error.path for error in containers(spec, "spec", {"data"})]


def one(**more: Any) -> list[str]:
    return [path.removeprefix("spec.containers[0].") for path in wrong({"name": "c", "image": "i", **more})]


def test_there_is_a_container_with_a_name_and_an_image() -> None:
    assert wrong() == ["spec.containers"]
    assert wrong({}) == ["spec.containers[0].name", "spec.containers[0].image"]
    assert wrong({"name": "A", "image": " i"}) == ["spec.containers[0].name", "spec.containers[0].image"]
    assert wrong({"name": "c", "image": "i"}) == []


def test_names_are_unique_among_all_containers() -> None:
    c = {"name": "c", "image": "i"}
    assert wrong(c, c) == ["spec.containers[1].name"]
    assert wrong(c, init=(c,)) == ["spec.containers[0].name"]


def test_an_init_container_restarts_always_or_says_nothing() -> None:
    c = {"name": "c", "image": "i"}
    assert wrong(c, init=({"name": "a", "image": "i", "restartPolicy": "Always"},)) == []
    assert wrong(c, init=({"name": "a", "image": "i", "restartPolicy": "Never"},)) == [
        "spec.initContainers[0].restartPolicy"
    ]


@pytest.mark.parametrize(
    ("more", "paths"),
    [
        ({"imagePullPolicy": "Sometimes"}, ["imagePullPolicy"]),
        ({"terminationMessagePolicy": "x"}, ["terminationMessagePolicy"]),
        ({"ports": [{"containerPort": 80, "name": "http", "protocol": "TCP"}]}, []),
        ({"ports": [{"containerPort": 70000}]}, ["ports[0].containerPort"]),
        ({"ports": [{}]}, ["ports[0].containerPort"]),
        ({"ports": [{"containerPort": 1, "hostPort": 70000}]}, ["ports[0].hostPort"]),
        ({"ports": [{"containerPort": 1, "protocol": "tcp"}]}, ["ports[0].protocol"]),
        ({"ports": [{"containerPort": 1, "name": "HTTP"}]}, ["ports[0].name"]),
        ({"ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]}, ["ports[1].name"]),
        ({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}, []),
        ({"env": [{"value": "1"}, {"name": "A=B"}]}, ["env[0].name", "env[1].name"]),
        ({"env": [{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]}, ["env[0].valueFrom"]),
        ({"env": [{"name": "A", "valueFrom": {}}]}, ["env[0].valueFrom"]),
        ({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m"}}}]}, ["env[0].valueFrom.configMapKeyRef.key"]),
        ({"env": [{"name": "A", "valueFrom": {"fieldRef": {}, "secretKeyRef": {"name": "s", "key": "k"}}}]},
         ["env[0].valueFrom", "env[0].valueFrom.fieldRef.fieldPath"]),
        ({"envFrom": [{"configMapRef": {"name": "m"}}]}, []),
        ({"envFrom": [{}]}, ["envFrom[0]"]),
        ({"envFrom": [{"secretRef": {}}]}, ["envFrom[0].secretRef.name"]),
        ({"volumeMounts": [{"name": "data", "mountPath": "/a"}]}, []),
        ({"volumeMounts": [{"name": "other", "mountPath": "/a"}]}, ["volumeMounts[0].name"]),
        ({"volumeMounts": [{"name": "data"}]}, ["volumeMounts[0].mountPath"]),
        ({"volumeMounts": [{}]}, ["volumeMounts[0].name", "volumeMounts[0].mountPath"]),
        ({"volumeMounts": [{"name": "data", "mountPath": "/a"}] * 2}, ["volumeMounts[1].mountPath"]),
        ({"volumeMounts": [{"name": "data", "mountPath": "/a", "subPath": "../x"}]}, ["volumeMounts[0].subPath"]),
        ({"resources": {"requests": {"cpu": "-1"}}}, ["resources.requests[cpu]"]),
    ],
)  # fmt: skip
def test_what_a_container_may_say(more: dict[str, Any], paths: list[str]) -> None:
    assert one(**more) == paths
