from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.placement import narrower, placement, taints, tolerations

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


@pytest.mark.parametrize(
    ("toleration", "paths"),
    [
        ({"key": "a", "operator": "Exists"}, []),
        ({"operator": "Exists"}, []),
        ({"key": "a", "value": "b", "effect": "NoSchedule"}, []),
        ({"key": "a", "operator": "In"}, ["t[0].operator"]),
        ({"operator": "Equal"}, ["t[0].operator"]),
        ({"key": "a", "operator": "Exists", "value": "b"}, ["t[0].value"]),
        ({"key": "a", "effect": "Never"}, ["t[0].effect"]),
        ({"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}, ["t[0].effect"]),
        ({"key": "a", "effect": "NoExecute", "tolerationSeconds": 1}, []),
        ({"key": "a b"}, ["t[0].key"]),
    ],
)
def test_tolerations(toleration: dict[str, Any], paths: list[str]) -> None:
    assert [error.path for error in tolerations([toleration], "t")] == paths


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ([{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}], []),
        ([{"key": "a", "effect": "NoSchedule"}] * 2, ["t[1]"]),
        ([{"key": "a"}], ["t[0].effect"]),
        ([{"key": "a", "effect": "x"}], ["t[0].effect"]),
        ([{"effect": "NoSchedule"}], ["t[0].key"]),
    ],
)
def test_taints(given: list[dict[str, Any]], paths: list[str]) -> None:
    assert [error.path for error in taints(given, "t")] == paths


FIELD = f"{TERM}[0].matchFields[0]"


def rule(**more: Any) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", **more}]}]}}}


def by_field(**field: Any) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [field]}]}}}


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"nodeSelector": {"a": "b"}, "schedulingGates": [{"name": "x.y/z"}]}, []),
        ({"nodeSelector": {"a": "b c"}}, ["spec.nodeSelector"]),
        (
            {"schedulingGates": [{"name": "a"}, {"name": "a"}, {}]},
            ["spec.schedulingGates[1]", "spec.schedulingGates[2].name"],
        ),
        ({"schedulingGates": [{"name": "a"}], "nodeName": "n"}, ["spec.nodeName"]),
        ({"affinity": rule(operator="In", values=["x"])}, []),
        ({"affinity": rule(operator="In")}, [f"{TERM}[0].matchExpressions[0].values"]),
        ({"affinity": rule(operator="Exists", values=["x"])}, [f"{TERM}[0].matchExpressions[0].values"]),
        ({"affinity": rule(operator="Gt", values=["1", "2"])}, [f"{TERM}[0].matchExpressions[0].values"]),
        ({"affinity": rule(operator="Like")}, [f"{TERM}[0].matchExpressions[0].operator"]),
        ({"affinity": {"nodeAffinity": {REQUIRED: {}}}}, [TERM]),
        ({"affinity": by_field(key="metadata.name", operator="NotIn", values=["n1"])}, []),
        ({"affinity": by_field(operator="In", values=["n1"])}, [f"{FIELD}.key"]),
        ({"affinity": by_field(key="metadata.name", operator="In", values=["n1", "n2"])}, [f"{FIELD}.values"]),
        ({"affinity": by_field(key="metadata.name", operator="Exists")}, [f"{FIELD}.operator"]),
        ({"affinity": by_field(key="metadata.name", operator="In", values=["N_1"])}, [f"{FIELD}.values[0]"]),
    ],
)
def test_what_binds_a_pod_to_nodes(spec: dict[str, Any], paths: list[str]) -> None:
    assert [error.path for error in placement(spec, "spec")] == paths


BAD = {"matchExpressions": [{"operator": "Exists"}]}
KEY = "labelSelector.matchExpressions[0].key"
ZONED = {"topologyKey": "zone"}


@pytest.mark.parametrize("part", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize(
    ("term", "paths"),
    [
        (ZONED, []),
        ({**ZONED, "labelSelector": {"matchLabels": {"a": "b"}}, "namespaces": ["ns"], "namespaceSelector": {}}, []),
        ({}, ["topologyKey"]),
        ({"topologyKey": "a b"}, ["topologyKey"]),
        ({**ZONED, "labelSelector": BAD}, [KEY]),
        ({**ZONED, "namespaceSelector": BAD}, ["namespaceSelector.matchExpressions[0].key"]),
        ({**ZONED, "namespaces": ["n_s"]}, ["namespace"]),
    ],
)
def test_what_binds_a_pod_to_other_pods(part: str, term: dict[str, Any], paths: list[str]) -> None:
    must, wants = f"spec.affinity.{part}.{REQUIRED}[0].", f"spec.affinity.{part}.{PREFERRED}[0].podAffinityTerm."
    required = {"affinity": {part: {REQUIRED: [term]}}}
    assert [error.path for error in placement(required, "spec")] == [f"{must}{path}" for path in paths]
    preferred = {"affinity": {part: {PREFERRED: [{"weight": 1, "podAffinityTerm": term}]}}}
    assert [error.path for error in placement(preferred, "spec")] == [f"{wants}{path}" for path in paths]


@pytest.mark.parametrize("weight", [0, 101])
def test_a_preference_for_pods_has_a_weight(weight: int) -> None:
    affinity = {"podAffinity": {PREFERRED: [{"weight": weight, "podAffinityTerm": ZONED}]}}
    assert [error.path for error in placement({"affinity": affinity}, "spec")] == [
        f"spec.affinity.podAffinity.{PREFERRED}[0].weight"
    ]


SPREAD = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
ANYWAY = {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}


@pytest.mark.parametrize(
    ("constraints", "paths"),
    [
        ([SPREAD, ANYWAY, {**SPREAD, "topologyKey": "rack"}], []),
        ([{**SPREAD, "minDomains": 2, "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"}], []),
        ([{}], ["[0].maxSkew", "[0].topologyKey", "[0].whenUnsatisfiable"]),
        ([SPREAD, SPREAD], ["[0].{topologyKey, whenUnsatisfiable}"]),
        ([{**SPREAD, "minDomains": 0}, {**ANYWAY, "minDomains": 2}], ["[0].minDomains", "[1].minDomains"]),
        (
            [{**SPREAD, "nodeAffinityPolicy": "No", "nodeTaintsPolicy": ""}],
            ["[0].nodeAffinityPolicy", "[0].nodeTaintsPolicy"],
        ),
        ([{**SPREAD, "labelSelector": BAD}], [f"[0].{KEY}"]),
    ],
)
def test_how_a_pod_is_spread(constraints: list[dict[str, Any]], paths: list[str]) -> None:
    errors = placement({"topologySpreadConstraints": constraints}, "spec")
    assert [error.path for error in errors] == [f"spec.topologySpreadConstraints{path}" for path in paths]


def test_a_preference_has_a_weight() -> None:
    preferred = [{"weight": 0, "preference": {}}, {"weight": 100, "preference": {}}]
    affinity = {"nodeAffinity": {PREFERRED: preferred}}
    assert [error.path.rpartition(".")[2] for error in placement({"affinity": affinity}, "spec")] == ["weight"]


def test_an_affinity_is_narrower_when_it_only_requires_more() -> None:
    term = {"key": "a", "operator": "Exists"}
    old = rule(operator="Exists")
    more = {
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [term, {"key": "b", "operator": "Exists"}]}]}
        }
    }
    assert narrower(more, old)
    assert narrower(old, None)
    assert not narrower(old, more)
    assert not narrower(None, old)
    assert not narrower({**old, "podAffinity": {}}, old)
