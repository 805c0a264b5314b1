from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation import networking


def wrong(kind: str, spec: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    new = {"metadata": {"name": "n"}, "spec": spec}
    before = {"metadata": {"name": "n"}, "spec": old} if old is not None else None
    return [error.path for error in getattr(networking, f"validate_{kind}")(new, before)]


def rule(**path: Any) -> dict[str, Any]:
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    return {
        "rules": [{"host": "a.b", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend, **path}]}}]
    }


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        (rule(), []),
        ({}, ["spec"]),
        (rule(pathType=None), ["spec.rules[0].http.paths[0].pathType"]),
        (rule(pathType="Odd"), ["spec.rules[0].http.paths[0].pathType"]),
        (rule(path="x"), ["spec.rules[0].http.paths[0].path"]),
        (rule(backend={}), ["spec.rules[0].http.paths[0].backend"]),
        ({"defaultBackend": {"service": {"name": "s"}}}, ["spec.defaultBackend.service.port"]),
        ({"rules": [{"host": "A B"}]}, ["spec.rules[0].host"]),
        ({"rules": [{"http": {"paths": []}}]}, ["spec.rules[0].http.paths"]),
    ],
)
def test_ingresses(spec: dict[str, Any], paths: list[str]) -> None:
    assert wrong("ingress", spec) == paths


def test_an_ingress_class_keeps_its_controller() -> None:
    assert wrong("ingress_class", {"controller": "a.b/c"}) == []
    assert wrong("ingress_class", {}) == ["spec.controller"]
    assert wrong("ingress_class", {"controller": "c"}) == ["spec.controller"]
    assert wrong("ingress_class", {"controller": "a.b/d"}, {"controller": "a.b/c"}) == ["spec.controller"]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"podSelector": {}, "policyTypes": ["Ingress"]}, []),
        ({"policyTypes": ["Sideways"]}, ["spec.policyTypes"]),
        (
            {"ingress": [{"ports": [{"protocol": "X", "port": 0}]}]},
            ["spec.ingress[0].ports[0].protocol", "spec.ingress[0].ports[0].port"],
        ),
        ({"egress": [{"to": [{}]}]}, ["spec.egress[0].to[0]"]),
        ({"egress": [{"to": [{"ipBlock": {"cidr": "x"}}]}]}, ["spec.egress[0].to[0].ipBlock.cidr"]),
        ({"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}]}]}, ["spec.egress[0].to[0]"]),
    ],
)
def test_network_policies(spec: dict[str, Any], paths: list[str]) -> None:
    assert wrong("network_policy", spec) == paths


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]}, []),
        ({"addressType": "IPv4", "endpoints": [{"addresses": ["::1"]}]}, ["endpoints[0].addresses[0]"]),
        ({"addressType": "FQDN", "endpoints": [{"addresses": ["a.b"]}]}, []),
        ({"addressType": "IPv4", "endpoints": [{}]}, ["endpoints[0].addresses"]),
        ({"addressType": ""}, ["addressType"]),
        ({"addressType": "Mail"}, ["addressType"]),
        ({"addressType": "IPv4", "ports": [{"protocol": "X", "name": "A"}]}, ["ports[0].protocol", "ports[0].name"]),
        ({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}] * 1001}, ["endpoints"]),
    ],
)
def test_endpoint_slices(fields: dict[str, Any], paths: list[str]) -> None:
    found = networking.validate_endpoint_slice({"metadata": {"name": "n"}, **fields}, None)
    assert [error.path for error in found] == paths


def test_a_runtime_class_keeps_its_handler() -> None:
    old = {"metadata": {"name": "r"}, "handler": "runc"}
    assert networking.validate_runtime_class(old, None) == []
    changed = networking.validate_runtime_class({**old, "handler": "x"}, old)
    assert [error.path for error in changed] == ["handler"]
