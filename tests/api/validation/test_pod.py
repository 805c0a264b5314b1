from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from kumi.api.defaulting.pod import default_pod
from kumi.api.validation.pod import pod_template, validate_pod
from kumi.api.wire import JsonObject


def pod(**spec: Any) -> JsonObject:
    found: JsonObject = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}], **spec}}
    default_pod(found)
    return found


def wrong(new: JsonObject, old: JsonObject | None = None) -> list[str]:
    return [error.path for error in validate_pod(new, old)]


def test_a_minimal_pod_is_right_and_its_defaults_are_what_makes_it_so() -> None:
    assert wrong(pod()) == []
    assert wrong({"metadata": {"name": "p"}, "spec": {}}) == ["spec.containers", "spec.restartPolicy", "spec.dnsPolicy"]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"restartPolicy": "Sometimes"}, ["spec.restartPolicy"]),
        ({"dnsPolicy": "Mine"}, ["spec.dnsPolicy"]),
        ({"activeDeadlineSeconds": 0}, ["spec.activeDeadlineSeconds"]),
        ({"terminationGracePeriodSeconds": -1}, ["spec.terminationGracePeriodSeconds"]),
        ({"preemptionPolicy": "x"}, ["spec.preemptionPolicy"]),
        (
            {"hostname": "a.b", "subdomain": "A", "priorityClassName": "x_y"},
            ["spec.priorityClassName", "spec.hostname", "spec.subdomain"],
        ),
        ({"volumes": [{"name": "a"}, {"name": "a"}]}, ["spec.volumes[1].name"]),
        ({"tolerations": [{"key": "a", "effect": "x"}]}, ["spec.tolerations[0].effect"]),
        ({"overhead": {"cpu": "-1"}}, ["spec.overhead[cpu]"]),
        ({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}, ["spec.resources.requests"]),
    ],
)
def test_what_a_pod_may_say(spec: dict[str, Any], paths: list[str]) -> None:
    assert wrong(pod(**spec)) == paths


def changed(old: JsonObject, **spec: Any) -> JsonObject:
    new = deepcopy(old)
    new["spec"].update(spec)
    return new


def test_what_stays_the_same_may_stay() -> None:
    assert wrong(pod(), pod()) == []


def test_images_deadlines_and_more_tolerations_may_change() -> None:
    old = pod(activeDeadlineSeconds=10)
    new = changed(old, activeDeadlineSeconds=5, tolerations=[{"key": "a", "operator": "Exists"}])
    new["spec"]["containers"][0]["image"] = "i:2"
    assert wrong(new, old) == []


@pytest.mark.parametrize(
    "spec", [{"hostname": "h"}, {"restartPolicy": "Never"}, {"nodeSelector": {"a": "b"}}, {"nodeName": "n"}]
)
def test_everything_else_stays(spec: dict[str, Any]) -> None:
    old = pod()
    assert wrong(changed(old, **spec), old) == ["spec"]


def test_a_toleration_stays_and_so_does_the_number_of_containers() -> None:
    old = pod(tolerations=[{"key": "a", "operator": "Exists"}])
    assert wrong(changed(old, tolerations=[]), old) == ["spec"]
    more = changed(old, containers=[*old["spec"]["containers"], {"name": "d", "image": "i"}])
    assert wrong(more, old) == ["spec.containers"]


def test_a_deadline_only_comes_nearer() -> None:
    old = pod(activeDeadlineSeconds=10)
    assert wrong(changed(old, activeDeadlineSeconds=11), old) == ["spec.activeDeadlineSeconds"]
    gone = deepcopy(old)
    del gone["spec"]["activeDeadlineSeconds"]
    assert wrong(gone, old) == ["spec.activeDeadlineSeconds"]
    assert wrong(changed(pod(), activeDeadlineSeconds=11), pod()) == []


def test_gates_go_and_none_comes_and_a_gated_pod_may_be_bound_closer() -> None:
    old = pod(schedulingGates=[{"name": "a"}, {"name": "b"}], nodeSelector={"x": "1"})
    assert wrong(changed(old, schedulingGates=[{"name": "a"}]), old) == []
    assert wrong(changed(old, schedulingGates=[{"name": "a"}, {"name": "c"}]), old) == ["spec.schedulingGates"]
    assert wrong(changed(old, nodeSelector={"x": "1", "y": "2"}), old) == []
    assert wrong(changed(old, nodeSelector={"y": "2"}), old) == ["spec"]
    term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    assert wrong(changed(old, affinity=affinity), old) == []


def test_a_template_is_told_at_its_place() -> None:
    template = {"metadata": {"labels": {"a": "b c"}}, "spec": {"containers": [{"name": "c"}]}}
    paths = [error.path for error in pod_template(template, "spec.template")]
    assert paths[:2] == ["spec.template.metadata.labels", "spec.template.spec.containers[0].image"]


def test_what_annotations_want_of_gpus_is_checked() -> None:
    made = pod()
    made["metadata"]["annotations"] = {"kumi.dev/gpu-share": "1.5"}
    assert wrong(made) == ["metadata.annotations[kumi.dev/gpu-share]"]
    template = {"metadata": {"annotations": {"alibabacloud.com/gpu-milli": "0"}}, "spec": pod()["spec"]}
    assert [e.path for e in pod_template(template, "spec.template")] == [
        "spec.template.metadata.annotations[alibabacloud.com/gpu-milli]"
    ]


def test_a_shared_gpu_is_not_asked_for_in_containers_as_well() -> None:
    made = pod()
    made["metadata"]["annotations"] = {"kumi.dev/gpu-share": "500"}
    assert wrong(made) == []
    made["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    default_pod(made)
    assert wrong(made) == ["metadata.annotations[kumi.dev/gpu-share]"]


def test_a_spec_that_is_stored_and_wrong_may_stay() -> None:
    old = changed(pod(), topologySpreadConstraints=[{"topologyKey": "zone"}])
    assert wrong(old) != []
    relabelled = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    assert wrong(relabelled, old) == []
    assert wrong(changed(old, activeDeadlineSeconds=5), old) != []
