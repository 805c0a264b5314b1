"""Variables and command lines, case by case."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.jobs.injected import Injected
from kumi.kubelet.environment import (
    CannotConfigure,
    Facts,
    Sources,
    Substitution,
    base_of,
    command_line,
    declared,
    expand,
    field_of,
    resource_of,
    substituted,
    wanted_of,
)
from tests.kubelet.stage import pod

POD = pod("p", "true", meta={"uid": "u1", "labels": {"app": "x", "b": 'q"'}, "annotations": {"a/b": "note"}})
FACTS = Facts(POD, "127.0.0.1", "127.9.0.2", {"cpu": 4000, "memory": 2**30})


def env(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"name": "c", "env": list(entries)}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("$(A)", "1"),
        ("a$(A)b$(B)c", "a1b2c"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$$$$(A)", "$$(A)"),
        ("$(MISSING)", "$(MISSING)"),
        ("$A ${A} $", "$A ${A} $"),
        ("$(A", "$(A"),
        ("$()", "$()"),
        ("$(A$(B))", "$(A$(B))"),
        ("$(A)$(A)", "11"),
    ],
)
def test_a_reference_is_expanded_as_kubernetes_does(text: str, wanted: str) -> None:
    assert expand(text, {"A": "1", "B": "2"}) == wanted


@given(st.text())
def test_doubling_every_dollar_escapes_any_text(text: str) -> None:
    assert expand(text.replace("$", "$$"), {"A": "1"}) == text


def test_a_variable_sees_those_before_it_and_not_those_after() -> None:
    container = env(
        {"name": "A", "value": "$(B)"}, {"name": "B", "value": "2"}, {"name": "C", "value": "$(A)/$(B)"}, {"name": "D"}
    )
    assert declared(container, FACTS, Sources()) == {"A": "$(B)", "B": "2", "C": "$(B)/2", "D": ""}


def test_env_from_comes_before_env_and_has_its_prefix() -> None:
    sources = Sources(
        {"m": {"data": {"a": "1", "bad=key": "x"}, "binaryData": {"b": base64.b64encode(b"2").decode()}}},
        {"s": {"data": {"a": base64.b64encode(b"secret").decode()}}},
    )
    container = {
        "name": "c",
        "envFrom": [{"configMapRef": {"name": "m"}, "prefix": "P_"}, {"secretRef": {"name": "s"}}],
        "env": [{"name": "P_a", "value": "$(P_a)+$(a)"}],
    }
    assert declared(container, FACTS, sources) == {"P_a": "1+secret", "P_b": "2", "a": "secret"}


@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("kind", ["configMapKeyRef", "secretKeyRef"])
@pytest.mark.parametrize("there", [True, False])
def test_a_missing_key_is_left_out_if_it_is_optional_and_refused_otherwise(
    kind: str, optional: bool, there: bool
) -> None:
    found = {"n": {"data": {}} if there else None}
    sources = Sources(found, found)
    container = env({"name": "A", "valueFrom": {kind: {"name": "n", "key": "k", "optional": optional}}})
    if optional:
        assert declared(container, FACTS, sources) == {}
    else:
        with pytest.raises(CannotConfigure) as refusal:
            declared(container, FACTS, sources)
        assert refusal.value.reason == "CreateContainerConfigError"
        assert ("couldn't find key k in" if there else "not found") in str(refusal.value)


def test_a_missing_config_map_in_env_from_is_refused_unless_optional() -> None:
    with pytest.raises(CannotConfigure, match='configmap "m" not found'):
        declared({"envFrom": [{"configMapRef": {"name": "m"}}]}, FACTS, Sources())
    assert declared({"envFrom": [{"configMapRef": {"name": "m", "optional": True}}]}, FACTS, Sources()) == {}


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("metadata.name", "p"),
        ("metadata.namespace", "default"),
        ("metadata.uid", "u1"),
        ("metadata.labels['app']", "x"),
        ("metadata.labels['none']", ""),
        ("metadata.annotations['a/b']", "note"),
        ("metadata.labels", 'app="x"\nb="q\\""'),
        ("spec.nodeName", "n1"),
        ("spec.serviceAccountName", "default"),
        ("status.hostIP", "127.0.0.1"),
        ("status.podIP", "127.9.0.2"),
        ("status.podIPs", "127.9.0.2"),
    ],
)
def test_the_downward_api_tells(path: str, wanted: str) -> None:
    assert field_of(path, FACTS) == wanted


def test_the_downward_api_refuses_what_it_does_not_know() -> None:
    with pytest.raises(CannotConfigure, match=r"unsupported fieldPath: spec\.secret"):
        field_of("spec.secret", FACTS)


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        ({"resource": "limits.cpu"}, "2"),
        ({"resource": "requests.cpu"}, "2"),
        ({"resource": "requests.cpu", "divisor": "1m"}, "1500"),
        ({"resource": "limits.memory"}, str(2**30)),
        ({"resource": "requests.memory", "divisor": "1Mi"}, "512"),
        ({"resource": "requests.cpu", "divisor": "0"}, "2"),
    ],
)
def test_a_resource_is_told_in_units_of_its_divisor_rounded_up(reference: dict[str, str], wanted: str) -> None:
    container = {"resources": {"requests": {"cpu": "1500m", "memory": "512Mi"}, "limits": {"cpu": "1500m"}}}
    assert resource_of(reference, container, FACTS) == wanted


def test_a_command_is_needed_because_no_image_is_pulled() -> None:
    with pytest.raises(CannotConfigure) as refusal:
        command_line({"name": "c", "image": "busybox", "args": ["x"]}, {})
    assert refusal.value.reason == "RunContainerError"
    assert command_line({"command": ["a", "$(X)"], "args": ["$$X", "$(X)y"]}, {"X": "1"}) == ["a", "1", "$X", "1y"]


NOTE = Injected(names=("ADDR",), ports=("PORT",), endpoints=("END",), group="g", port=23456)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("PORT", "23456", "20001"),
        ("PORT", "1234", "1234"),
        ("OTHER", "23456", "23456"),
        ("END", "master:23456", "127.9.0.9:20001"),
        ("END", "master:1", "master:1"),
        ("ADDR", "master", "127.9.0.9"),
        ("ADDR", "localhost", "localhost"),
        ("ADDR", "10.0.0.1", "10.0.0.1"),
    ],
)
def test_only_what_the_job_kind_injected_is_substituted(name: str, value: str, wanted: str) -> None:
    assert substituted(name, value, Substitution(NOTE, 20001, {"master": "127.9.0.9"}.get)) == wanted


def test_where_names_resolve_they_stay() -> None:
    substitution = Substitution(NOTE, 20001)
    assert substituted("ADDR", "master", substitution) == "master"
    assert substituted("END", "master:23456", substitution) == "master:20001"


def test_a_name_without_an_address_makes_the_container_wait() -> None:
    with pytest.raises(CannotConfigure) as refusal:
        substituted("ADDR", "master", Substitution(NOTE, 20001, lambda _: None))
    assert refusal.value.reason == "ContainerCreating"


def test_the_substituted_value_is_what_later_variables_and_the_command_see() -> None:
    container = env({"name": "PORT", "value": "23456"}, {"name": "URL", "value": "tcp://x:$(PORT)"})
    found = declared(container, FACTS, Sources(), Substitution(NOTE, 20001))
    assert found == {"PORT": "20001", "URL": "tcp://x:20001"}


def test_what_is_kumis_own_does_not_leak_into_containers() -> None:
    own = {"PATH": "/bin", "KUBECONFIG": "x", "KUMI_TOKEN": "x", "KUBERNETES_SERVICE_HOST": "x", "LANG": "C"}
    assert base_of(own) == {"PATH": "/bin", "LANG": "C"}


def test_the_config_maps_and_secrets_that_variables_need() -> None:
    container = {
        "envFrom": [{"configMapRef": {"name": "m2"}}, {"secretRef": {"name": "s1"}}],
        "env": [
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m1", "key": "k"}}},
            {"name": "B", "value": ""},
        ],
    }
    assert wanted_of(container) == (["m1", "m2"], ["s1"])
