from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.replication import validate_replication_controller

TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Always", "dnsPolicy": "ClusterFirst"},
}
RIGHT: dict[str, Any] = {"replicas": 1, "selector": {"a": "b"}, "template": TEMPLATE}


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        ({}, []),
        ({"replicas": -1}, ["spec.replicas"]),
        ({"selector": {}}, ["spec.selector"]),
        ({"template": None}, ["spec.template"]),
        ({"selector": {"a": "c"}}, ["spec.template.metadata.labels"]),
        (
            {"template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}},
            ["spec.template.spec.restartPolicy"],
        ),
    ],
)
def test_what_a_replication_controller_may_say(change: dict[str, Any], paths: list[str]) -> None:
    obj = {"metadata": {"name": "a"}, "spec": {**RIGHT, **change}}
    assert [error.path for error in validate_replication_controller(obj, None)] == paths
