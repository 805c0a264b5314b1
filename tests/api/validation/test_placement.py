from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.placement import narrower, placement, taints, tolerations

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
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


def rule(**more: Any) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", **more}]}]}}}


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
    ],
)
def test_what_binds_a_pod_to_nodes(spec: dict[str, Any], paths: list[str]) -> None:
    assert [error.path for error in placement(spec, "spec")] == paths


def test_a_preference_has_a_weight() -> None:
    preferred = [{"weight": 0, "preference": {}}, {"weight": 100, "preference": {}}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
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
