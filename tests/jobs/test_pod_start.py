from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from kumi.api.core import Pod
from kumi.jobs.base import PodSetInfo, StartConflict
from kumi.jobs.pod_groups import GATE
from kumi.jobs.pod_start import started
from kumi.registry.patch.json_patch import apply


def manifest(**spec: Any) -> dict[str, Any]:
    gates = [{"name": "other/gate"}, {"name": GATE}]
    return {
        "metadata": {"name": "p", "resourceVersion": "7", "labels": {"a": "1"}},
        "spec": {"containers": [], "schedulingGates": gates, **spec},
    }


INFO = PodSetInfo(
    "main",
    1,
    node_selector={"zone": "x"},
    labels={"kueue.x-k8s.io/podset": "main"},
    annotations={"kueue.x-k8s.io/workload": "w"},
    tolerations=({"key": "spot", "operator": "Exists"},),
)


def after(before: dict[str, Any], info: PodSetInfo = INFO) -> dict[str, Any]:
    made: dict[str, Any] = apply(copy.deepcopy(before), started(msgspec.convert(before, Pod), info))
    return made


def test_what_it_got_is_added_and_only_its_own_gate_goes() -> None:
    made = after(manifest())
    assert made["metadata"]["labels"] == {"a": "1", "kueue.x-k8s.io/podset": "main"}
    assert made["metadata"]["annotations"] == {"kueue.x-k8s.io/workload": "w"}
    assert made["spec"]["nodeSelector"] == {"zone": "x"}
    assert made["spec"]["tolerations"] == [{"key": "spot", "operator": "Exists"}]
    assert made["spec"]["schedulingGates"] == [{"name": "other/gate"}]


def test_what_is_there_is_not_written_again() -> None:
    kept = [{"key": "mine", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]
    made = after(manifest(tolerations=kept, nodeSelector={"zone": "x", "disk": "ssd"}))
    assert made["spec"]["tolerations"] == [*kept, {"key": "spot", "operator": "Exists"}]
    assert made["spec"]["nodeSelector"] == {"zone": "x", "disk": "ssd"}
    again = after(manifest(tolerations=[{"key": "spot", "operator": "Exists"}]))
    assert len(again["spec"]["tolerations"]) == 1


def test_another_value_is_a_conflict() -> None:
    with pytest.raises(StartConflict, match="zone"):
        started(msgspec.convert(manifest(nodeSelector={"zone": "y"}), Pod), INFO)


def test_it_is_done_to_the_pod_as_it_was_read() -> None:
    (test, *_) = started(msgspec.convert(manifest(), Pod), INFO)
    assert test == {"op": "test", "path": "/metadata/resourceVersion", "value": "7"}
