from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from kumi.api.defaulting import apps as defaults
from kumi.api.validation import apps
from kumi.api.wire import JsonObject


def made(kind: str = "deployment", **spec: Any) -> JsonObject:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }
    obj: JsonObject = {
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec},
    }
    getattr(defaults, f"default_{kind}")(obj)
    return obj


def wrong(new: JsonObject, old: JsonObject | None = None, kind: str = "deployment") -> list[str]:
    return [error.path for error in getattr(apps, f"validate_{kind}")(new, old)]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({}, []),
        ({"replicas": -1, "minReadySeconds": -1}, ["spec.replicas", "spec.minReadySeconds"]),
        ({"selector": {}}, ["spec.selector"]),
        ({"selector": {"matchLabels": {"a": "x"}}}, ["spec.template.metadata.labels"]),
        ({"strategy": {"type": "Recreate", "rollingUpdate": {}}}, ["spec.strategy.rollingUpdate"]),
        ({"strategy": {"type": "Sometimes"}}, ["spec.strategy.type"]),
        (
            {"strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": "0%"}}},
            ["spec.strategy.rollingUpdate.maxUnavailable"],
        ),
        (
            {"strategy": {"rollingUpdate": {"maxUnavailable": "101%", "maxSurge": "x"}}},
            ["spec.strategy.rollingUpdate.maxSurge", "spec.strategy.rollingUpdate.maxUnavailable"],
        ),
        ({"progressDeadlineSeconds": 5, "minReadySeconds": 5}, ["spec.progressDeadlineSeconds"]),
    ],
)
def test_what_a_deployment_may_say(spec: dict[str, Any], paths: list[str]) -> None:
    assert wrong(made(**spec)) == paths


def test_its_pods_restart_and_have_no_deadline() -> None:
    bad = made()
    bad["spec"]["template"]["spec"] |= {"restartPolicy": "Never", "activeDeadlineSeconds": 5}
    assert wrong(bad) == ["spec.template.spec.restartPolicy", "spec.template.spec.activeDeadlineSeconds"]


@pytest.mark.parametrize("kind", ["deployment", "replica_set", "daemon_set"])
def test_a_selector_stays(kind: str) -> None:
    old = made(kind)
    new = deepcopy(old)
    new["spec"]["selector"] = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    assert wrong(new, old, kind) == ["spec.selector"]
    assert wrong(old, old, kind) == []


def test_of_a_stateful_set_a_few_fields_may_change() -> None:
    old = made("stateful_set", serviceName="web")
    new = deepcopy(old)
    new["spec"] |= {"replicas": 7, "minReadySeconds": 3, "revisionHistoryLimit": 1, "ordinals": {"start": 2}}
    assert wrong(new, old, "stateful_set") == []
    assert wrong(made("stateful_set", serviceName="other"), old, "stateful_set") == ["spec"]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"podManagementPolicy": "Wild"}, ["spec.podManagementPolicy"]),
        ({"updateStrategy": {"type": "OnDelete", "rollingUpdate": {}}}, ["spec.updateStrategy.rollingUpdate"]),
        ({"updateStrategy": {"type": "Never"}}, ["spec.updateStrategy.type"]),
        ({"updateStrategy": {"rollingUpdate": {"partition": -1}}}, ["spec.updateStrategy.rollingUpdate.partition"]),
        (
            {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Burn"}},
            ["spec.persistentVolumeClaimRetentionPolicy.whenScaled"],
        ),
        ({"ordinals": {"start": -1}}, ["spec.ordinals.start"]),
    ],
)
def test_what_a_stateful_set_may_say(spec: dict[str, Any], paths: list[str]) -> None:
    assert wrong(made("stateful_set", **spec), kind="stateful_set") == paths


def test_a_daemon_set_rolls_or_waits() -> None:
    assert wrong(made("daemon_set", updateStrategy={"type": "OnDelete"}), kind="daemon_set") == []
    assert wrong(made("daemon_set", updateStrategy={"type": "x"}), kind="daemon_set") == ["spec.updateStrategy.type"]


def test_a_revision_has_data_that_stay() -> None:
    revision = {"metadata": {"name": "r"}, "revision": 1, "data": {"a": 1}}
    assert wrong(revision, kind="controller_revision") == []
    assert wrong({**revision, "data": {"a": 2}}, revision, "controller_revision") == ["data"]
    assert wrong({"metadata": {"name": "r"}, "revision": -1}, kind="controller_revision") == ["revision", "data"]


def test_the_pods_of_a_stateful_set_may_mount_its_claims() -> None:
    spec = made("stateful_set", volumeClaimTemplates=[{"metadata": {"name": "own"}}])
    (run,) = spec["spec"]["template"]["spec"]["containers"]
    run["volumeMounts"] = [{"name": "own", "mountPath": "/own"}]
    assert wrong(spec, kind="stateful_set") == []
    run["volumeMounts"] = [{"name": "other", "mountPath": "/own"}]
    assert wrong(spec, kind="stateful_set") == ["spec.template.spec.containers[0].volumeMounts[0].name"]
