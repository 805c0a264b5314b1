from __future__ import annotations

from typing import Any

import pytest

from kumi.api.defaulting.core import default_service
from kumi.api.scheme import Validate
from kumi.api.validation import core
from kumi.api.wire import JsonObject


def wrong(validate: Validate, new: JsonObject, old: JsonObject | None = None) -> list[str]:
    return [error.path for error in validate({"metadata": {"name": "a"}, **new}, old)]


@pytest.mark.parametrize(
    ("new", "paths"),
    [
        ({"data": {"a.b": "1"}, "binaryData": {"c": "eA=="}}, []),
        ({"data": {"a/b": "1"}}, ["data[a/b]"]),
        ({"data": {"..": "1"}}, ["data[..]"]),
        ({"data": {"a": "1"}, "binaryData": {"a": "eA=="}}, ["binaryData[a]"]),
        ({"data": {"a": "x" * (core.LARGEST + 1)}}, [""]),
    ],
)
def test_config_maps(new: JsonObject, paths: list[str]) -> None:
    assert wrong(core.validate_config_map, new) == paths


def test_what_is_immutable_stays() -> None:
    old = {"immutable": True, "data": {"a": "1"}}
    assert wrong(core.validate_config_map, old, old) == []
    assert wrong(core.validate_config_map, {"immutable": True, "data": {"a": "2"}}, old) == ["data"]
    assert wrong(core.validate_config_map, {"data": {"a": "1"}}, old) == ["immutable"]
    assert wrong(core.validate_config_map, {"data": {"a": "2"}}, {"data": {"a": "1"}}) == []


def test_a_secret_keeps_its_type() -> None:
    assert wrong(core.validate_secret, {"type": "Opaque", "data": {"a": "eA=="}}) == []
    old = {"type": "kubernetes.io/basic-auth", "data": {"username": "eA=="}}
    assert wrong(core.validate_secret, {"type": "Opaque"}, old) == ["type"]


@pytest.mark.parametrize(
    ("type", "data", "paths"),
    [
        ("kubernetes.io/dockerconfigjson", {}, ["data[.dockerconfigjson]"]),
        ("kubernetes.io/dockerconfigjson", {".dockerconfigjson": "eA=="}, ["data[.dockerconfigjson]"]),
        ("kubernetes.io/dockerconfigjson", {".dockerconfigjson": "e30="}, []),
        ("kubernetes.io/dockercfg", {}, ["data[.dockercfg]"]),
        ("kubernetes.io/tls", {"tls.crt": ""}, ["data[tls.key]"]),
        ("kubernetes.io/ssh-auth", {"ssh-privatekey": ""}, ["data[ssh-privatekey]"]),
        ("kubernetes.io/basic-auth", {}, ["data[username]", "data[password]"]),
        ("kubernetes.io/basic-auth", {"password": ""}, []),
        ("kubernetes.io/service-account-token", {}, ["metadata.annotations[kubernetes.io/service-account.name]"]),
        ("example.com/own", {}, []),
    ],
)
def test_a_type_promises_its_keys(type: str, data: JsonObject, paths: list[str]) -> None:
    assert wrong(core.validate_secret, {"type": type, "data": data}) == paths


def test_the_value_of_a_secret_is_never_told() -> None:
    secret = {"metadata": {}, "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "aHVzaCE="}}
    (error,) = core.validate_secret(secret, None)
    assert "hush" not in error.text()
    assert "aHVzaCE" not in error.text()


def test_a_node_s_taints() -> None:
    assert wrong(core.validate_node, {"spec": {"taints": [{"key": "a", "effect": "x"}]}}) == ["spec.taints[0].effect"]
    assert wrong(core.validate_node, {}) == []


def test_names_by_kind() -> None:
    assert wrong(core.validate_namespace, {"metadata": {"name": "a.b"}}) == ["metadata.name"]
    assert wrong(core.validate_service_account, {"metadata": {"name": "a.b"}}) == []
    assert wrong(core.validate_event, {"metadata": {"name": "P.x_1"}}) == []
    assert wrong(core.validate_service, {"metadata": {"name": "1a"}, "spec": {"clusterIP": "None"}}) == [
        "metadata.name"
    ]


def service(**spec: Any) -> JsonObject:
    found: JsonObject = {"spec": spec}
    default_service(found)
    return found


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"ports": [{"port": 80}]}, []),
        ({"clusterIP": "None"}, []),
        ({}, ["spec.ports"]),
        ({"type": "Magic", "ports": [{"port": 80}]}, ["spec.type"]),
        ({"type": "ExternalName", "externalName": "a.b."}, []),
        ({"type": "ExternalName"}, ["spec.externalName"]),
        ({"type": "NodePort", "clusterIP": "None"}, ["spec.clusterIPs[0]"]),
        ({"ports": [{"port": 80}, {"port": 81}]}, ["spec.ports[0].name", "spec.ports[1].name"]),
        ({"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]}, ["spec.ports[1]"]),
        ({"ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]}, ["spec.ports[1].name"]),
        ({"ports": [{"port": 0, "targetPort": 1}]}, ["spec.ports[0].port"]),
        ({"ports": [{"port": 1, "protocol": "x"}]}, ["spec.ports[0].protocol"]),
        ({"ports": [{"port": 1, "targetPort": 70000}]}, ["spec.ports[0].targetPort"]),
        ({"ports": [{"port": 1, "targetPort": "Web"}]}, ["spec.ports[0].targetPort"]),
        ({"ports": [{"port": 1}], "selector": {"a": "b c"}}, ["spec.selector"]),
        ({"ports": [{"port": 1}], "sessionAffinity": "x"}, ["spec.sessionAffinity"]),
    ],
)
def test_services(spec: dict[str, Any], paths: list[str]) -> None:
    assert wrong(core.validate_service, service(**spec)) == paths


def test_a_service_keeps_its_address() -> None:
    old = service(clusterIP="10.0.0.1", ports=[{"port": 1}])
    assert wrong(core.validate_service, service(clusterIP="10.0.0.2", ports=[{"port": 1}]), old) == ["spec.clusterIP"]


def test_endpoints_have_addresses_and_ports() -> None:
    subsets = [{"addresses": [{}], "ports": [{"port": 0}]}]
    assert wrong(core.validate_endpoints, {"subsets": subsets}) == [
        "subsets[0].addresses[0].ip",
        "subsets[0].ports[0].port",
    ]


def test_an_event_is_in_the_namespace_of_what_it_is_about() -> None:
    event = {"metadata": {"name": "e", "namespace": "a"}, "involvedObject": {"namespace": "b"}}
    assert wrong(core.validate_event, event) == ["involvedObject.namespace"]
    of_a_node = {"metadata": {"name": "e", "namespace": "default"}, "involvedObject": {"kind": "Node"}}
    assert wrong(core.validate_event, of_a_node) == []
