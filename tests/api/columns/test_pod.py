from __future__ import annotations

from typing import Any

import pytest

from kumi.api.columns.pod import POD, pod_status
from kumi.api.wire import JsonObject

RUNNING = {"ready": True, "state": {"running": {}}}


def pod(status: JsonObject | None = None, spec: JsonObject | None = None, **metadata: Any) -> JsonObject:
    return {"metadata": metadata, "spec": {"containers": [{"name": "c"}], **(spec or {})}, "status": status or {}}


def waiting(reason: str) -> JsonObject:
    return {"state": {"waiting": {"reason": reason}}}


def ended(code: int, **more: Any) -> JsonObject:
    return {"state": {"terminated": {"exitCode": code, **more}}}


def cells(obj: JsonObject, now_ms: int = 0) -> dict[str, object]:
    return {column.name: column.cell(obj, now_ms) for column in POD if column.cell is not None}


INIT = {"initContainers": [{"name": "i"}, {"name": "j"}]}
SIDECAR = {"initContainers": [{"name": "s", "restartPolicy": "Always"}]}
INITIALIZED = [{"type": "Initialized", "status": "True"}]


@pytest.mark.parametrize(
    ("obj", "word"),
    [
        (pod({"phase": "Pending"}), "Pending"),
        (pod({"phase": "Failed", "reason": "Evicted"}), "Evicted"),
        (
            pod({"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}),
            "SchedulingGated",
        ),
        (pod({"phase": "Pending", "containerStatuses": [waiting("CrashLoopBackOff")]}), "CrashLoopBackOff"),
        (pod({"phase": "Running", "containerStatuses": [RUNNING]}), "Running"),
        (pod({"phase": "Failed", "containerStatuses": [ended(1, reason="Error")]}), "Error"),
        (pod({"phase": "Failed", "containerStatuses": [ended(3)]}), "ExitCode:3"),
        (pod({"phase": "Failed", "containerStatuses": [ended(137, signal=9)]}), "Signal:9"),
        (pod({"phase": "Succeeded", "containerStatuses": [ended(0, reason="Completed")]}), "Completed"),
        (pod({"phase": "Running", "containerStatuses": [ended(0, reason="Completed"), RUNNING]}), "NotReady"),
        (pod({"phase": "Pending", "initContainerStatuses": [ended(0), waiting("PodInitializing")]}, INIT), "Init:1/2"),
        (pod({"phase": "Pending", "initContainerStatuses": [waiting("ErrImagePull")]}, INIT), "Init:ErrImagePull"),
        (pod({"phase": "Pending", "initContainerStatuses": [ended(2)]}, INIT), "Init:ExitCode:2"),
        (
            pod(
                {
                    "phase": "Running",
                    "conditions": INITIALIZED,
                    "initContainerStatuses": [{"name": "s", "started": True, **RUNNING}],
                    "containerStatuses": [RUNNING],
                },
                SIDECAR,
            ),
            "Running",
        ),
        (pod({"phase": "Running", "containerStatuses": [RUNNING]}, deletionTimestamp="t"), "Terminating"),
        (pod({"phase": "Succeeded"}, deletionTimestamp="t"), "Succeeded"),
        (pod({"phase": "Running", "reason": "NodeLost"}, deletionTimestamp="t"), "Unknown"),
    ],
)
def test_the_status_is_the_word_that_says_the_most(obj: JsonObject, word: str) -> None:
    assert pod_status(obj) == word


def test_ready_counts_containers_and_sidecars_that_run() -> None:
    spec = {"containers": [{"name": "a"}, {"name": "b"}], **SIDECAR}
    status = {
        "initContainerStatuses": [{"name": "s", "started": True, **RUNNING}],
        "containerStatuses": [RUNNING, {"ready": True, "state": {"terminated": {}}}],
    }
    assert cells(pod(status, spec))["Ready"] == "2/3"
    assert cells(pod())["Ready"] == "0/1"


def test_restarts_add_up_and_say_when_the_last_was() -> None:
    last = {"lastState": {"terminated": {"finishedAt": "1970-01-01T00:00:10Z"}}}
    status = {"containerStatuses": [{**RUNNING, "restartCount": 2, **last}, {**RUNNING, "restartCount": 1}]}
    assert cells(pod(status), 70_000)["Restarts"] == "3 (60s ago)"
    assert cells(pod({"containerStatuses": [RUNNING]}))["Restarts"] == "0"


def test_where_a_pod_is_shows_when_asked_for_more() -> None:
    found = cells(pod({"podIP": "10.0.0.1"}, {"nodeName": "n1"}))
    assert (found["IP"], found["Node"], found["Nominated Node"]) == ("10.0.0.1", "n1", "<none>")
    assert [column.name for column in POD if column.priority == 0] == ["Ready", "Status", "Restarts", "Age"]


def test_readiness_gates_count_those_that_hold() -> None:
    spec = {"readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]}
    status = {"conditions": [{"type": "a", "status": "True"}]}
    assert cells(pod(status, spec))["Readiness Gates"] == "1/2"
    assert cells(pod())["Readiness Gates"] == "<none>"
