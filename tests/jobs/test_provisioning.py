from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.kueue import Workload
from kumi.api.provisioning import ProvisioningRequest, ProvisioningRequestConfig
from kumi.jobs.base import PodSetInfo
from kumi.jobs.provisioning import Verdict, objects, pod_sets, request_name, verdict


def workload(admitted: bool = False) -> Workload:
    def asked(name: str, resource: str) -> dict[str, Any]:
        container = {"name": "c", "resources": {"requests": {resource: "1"}}}
        return {"name": name, "count": 2, "template": {"metadata": {}, "spec": {"containers": [container]}}}

    conditions = [{"type": "Admitted", "status": "True", "reason": "R"}] if admitted else []
    spec = {"podSets": [asked("driver", "cpu"), asked("worker", "x/gpu")]}
    meta = {"name": "w", "namespace": "n", "annotations": {"provreq.kueue.x-k8s.io/p": "1", "other": "2"}}
    return msgspec.convert({"metadata": meta, "spec": spec, "status": {"conditions": conditions}}, Workload)


def config(**spec: Any) -> ProvisioningRequestConfig:
    return msgspec.convert(
        {"metadata": {"name": "c"}, "spec": {"provisioningClassName": "k", **spec}}, ProvisioningRequestConfig
    )


def request(*types: str, **details: str) -> ProvisioningRequest:
    conditions = [{"type": t, "status": "True", "reason": "R", "message": t.lower()} for t in types]
    status = {"conditions": conditions, "provisioningClassDetails": details}
    made = {"metadata": {"name": "r"}, "spec": {"provisioningClassName": "k"}, "status": status}
    return msgspec.convert(made, ProvisioningRequest)


def test_names_differ_by_attempt_and_stay_within_bounds() -> None:
    assert request_name("w", "c", 2) == "w-c-2"
    long = [request_name("w" * 300 + end, "c", 1) for end in "ab"]
    assert long[0] != long[1]
    assert max(map(len, long)) < 210


def test_only_pod_sets_that_need_a_managed_resource_are_asked_for() -> None:
    assert [p.name for p in pod_sets(workload(), config(managedResources=["x/gpu"]).spec)] == ["worker"]
    assert [p.name for p in pod_sets(workload(), config().spec)] == ["driver", "worker"]
    assert verdict(workload(), config(managedResources=["y"]).spec, None, 1).state == "Ready"


def test_a_request_names_a_template_for_each_pod_set_with_what_is_added() -> None:
    infos = {name: PodSetInfo(name, 3, node_selector={"zone": "a"}) for name in ("driver", "worker")}
    first, second, asked = objects(workload(), config(parameters={"q": "3"}), "r", infos)
    assert [t["metadata"]["name"] for t in (first, second)] == ["ppt-r-driver", "ppt-r-worker"]
    assert first["template"]["spec"]["nodeSelector"] == {"zone": "a"}
    assert [p["count"] for p in asked["spec"]["podSets"]] == [3, 3]
    assert asked["spec"]["parameters"] == {"q": "3", "p": "1"}


@pytest.mark.parametrize(
    ("types", "admitted", "state"),
    [
        ([], False, "Pending"),
        (["Accepted"], False, "Pending"),
        (["Accepted", "Provisioned"], False, "Ready"),
        (["Provisioned", "Failed"], False, "Retry"),
        (["Provisioned", "BookingExpired"], False, "Retry"),
        (["Provisioned", "BookingExpired"], True, "Ready"),
        (["Provisioned", "CapacityRevoked"], True, "Rejected"),
    ],
)
def test_the_worst_that_a_request_says_counts(types: list[str], admitted: bool, state: str) -> None:
    assert verdict(workload(admitted), config().spec, request(*types), 1).state == state


def test_each_attempt_waits_twice_as_long_up_to_a_bound_and_the_last_one_fails() -> None:
    patient = config(retryStrategy={"backoffLimitCount": 3, "backoffBaseSeconds": 10, "backoffMaxSeconds": 25}).spec
    found = [verdict(workload(), patient, request("Failed"), attempt) for attempt in (1, 2, 3, 4)]
    assert [(v.state, v.requeue_after_seconds) for v in found] == [
        ("Retry", 10),
        ("Retry", 20),
        ("Retry", 25),
        ("Rejected", None),
    ]
    assert verdict(workload(), config().spec, request("Failed"), 1).requeue_after_seconds == 60


def test_provisioned_capacity_tells_pods_where_it_is() -> None:
    rules = {"nodeSelector": [{"key": "pool", "valueFromProvisioningClassDetail": "d"}]}
    made = verdict(
        workload(), config(podSetUpdates=rules, managedResources=["x/gpu"]).spec, request("Provisioned", d="p1"), 1
    )
    (update,) = made.pod_set_updates
    assert (update["name"], update["nodeSelector"]) == ("worker", {"pool": "p1"})
    assert set(update["annotations"].values()) == {"r", "k"}
    assert made == Verdict("Ready", "provisioned", pod_set_updates=made.pod_set_updates)
