"""What the API shows at each point of a pod's life."""

from __future__ import annotations

from typing import Any

from kumi.kubelet.pod_plan import Backoff, plan_of
from kumi.kubelet.pod_state import PodLife
from kumi.kubelet.pod_status import Place, status_of
from kumi.kubelet.pod_words import Exit, Exited, Fail, Prepared, Refused, Started, Tick, Unprepared
from tests.kubelet.stage import container, pod

PLACE = Place("127.0.0.1", "127.9.0.2")


def born(**spec: Any) -> tuple[dict[str, Any], PodLife]:
    found = pod("p", container("x"), container("x", "two"), meta={"uid": "u"}, **spec)
    life = PodLife(plan_of(found, Backoff()), 1_000)
    life.hear(Tick(), 0)
    return found, life


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {c["type"]: (c["status"], c.get("reason", "")) for c in status["conditions"]}


def states(status: dict[str, Any]) -> list[Any]:
    return [c["state"] for c in status["containerStatuses"]]


def test_before_anything_runs_the_address_is_there_and_containers_wait() -> None:
    found, life = born()
    status = status_of(found, life, PLACE, 0)
    assert (status["phase"], status["podIP"], status["podIPs"]) == ("Pending", "127.9.0.2", [{"ip": "127.9.0.2"}])
    assert status["startTime"] == "1970-01-01T00:00:01Z"
    assert states(status) == [{"waiting": {"reason": "ContainerCreating"}}] * 2
    assert conditions(status) == {
        "Initialized": ("True", ""),
        "ContainersReady": ("False", "ContainersNotReady"),
        "Ready": ("False", "ContainersNotReady"),
        "PodScheduled": ("True", ""),
    }


def test_why_a_pod_is_not_prepared_is_shown() -> None:
    found, life = born()
    life.hear(Unprepared('configmap "c" not found'), 0)
    waiting = states(status_of(found, life, PLACE, 0))[0]["waiting"]
    assert waiting == {"reason": "ContainerCreating", "message": 'configmap "c" not found'}


def test_while_init_containers_run_the_others_say_pod_initializing() -> None:
    found, life = born(initContainers=[container("x", "init")])
    life.hear(Prepared(), 0)
    life.hear(Started("init", 0, 0), 0)
    status = status_of(found, life, PLACE, 0)
    assert states(status) == [{"waiting": {"reason": "PodInitializing"}}] * 2
    assert status["initContainerStatuses"][0]["state"] == {"running": {"startedAt": "1970-01-01T00:00:00Z"}}
    assert conditions(status)["Initialized"] == ("False", "ContainersNotInitialized")


def test_a_running_pod_is_ready_and_one_that_lacks_a_container_is_not() -> None:
    found, life = born()
    life.hear(Prepared(), 0)
    life.hear(Started("main", 0, 0), 0)
    life.hear(Refused("two", 0, "CreateContainerConfigError", "no secret"), 0)
    status = status_of(found, life, PLACE, 0)
    assert status["phase"] == "Pending"
    assert states(status)[1] == {"waiting": {"reason": "CreateContainerConfigError", "message": "no secret"}}
    ready = next(c for c in status["conditions"] if c["type"] == "Ready")
    assert ready["message"] == "containers with unready status: [two]"
    life.hear(Tick(), 60_000)
    life.hear(Started("two", 0, 60_000), 60_000)
    status = status_of(found, life, PLACE, 60_000)
    assert (status["phase"], conditions(status)["Ready"]) == ("Running", ("True", ""))
    assert [c["ready"] for c in status["containerStatuses"]] == [True, True]


def test_a_crash_loop_shows_the_last_exit_and_the_count() -> None:
    found, life = born(restartPolicy="Always")
    life.hear(Prepared(), 0)
    life.hear(Started("two", 0, 0), 0)
    for attempt in (0, 1):
        life.hear(Started("main", attempt, 0), 0)
        life.hear(Exited("main", attempt, Exit(3, 0, "Error", "", 0, 2_000)), 2_000)
    status = status_of(found, life, PLACE, 0)
    main = status["containerStatuses"][0]
    assert status["phase"] == "Running"
    assert main["restartCount"] == 1
    assert main["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert main["lastState"]["terminated"]["exitCode"] == 3
    assert main["lastState"]["terminated"]["containerID"] == "kumi://u/main/1"


def test_a_pod_that_is_over_says_how_each_container_ended() -> None:
    found, life = born()
    life.hear(Prepared(), 0)
    for name, code in (("main", 0), ("two", 139)):
        life.hear(Started(name, 0, 0), 0)
        life.hear(Exited(name, 0, Exit(code, max(code - 128, 0), "", "", 0, 5_000)), 5_000)
    status = status_of(found, life, PLACE, 5_000)
    assert status["phase"] == "Failed"
    assert states(status)[0]["terminated"]["reason"] == "Completed"
    assert states(status)[1]["terminated"] == {
        "exitCode": 139,
        "signal": 11,
        "reason": "Error",
        "startedAt": "1970-01-01T00:00:00Z",
        "finishedAt": "1970-01-01T00:00:05Z",
        "containerID": "kumi://u/two/0",
    }
    assert conditions(status)["Ready"] == ("False", "PodFailed")


def test_a_reason_to_fail_is_the_pods_reason() -> None:
    found, life = born()
    life.hear(Fail("Evicted", "no room"), 0)
    status = status_of(found, life, PLACE, 0)
    assert (status["phase"], status["reason"], status["message"]) == ("Failed", "Evicted", "no room")


def test_conditions_of_others_stay_and_times_move_only_with_the_status() -> None:
    found, life = born()
    other = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": "2020-01-02T00:00:00Z"}
    initialized = {"type": "Initialized", "status": "False", "lastTransitionTime": "2020-01-02T00:00:00Z"}
    found["status"] = {"conditions": [other, ready, initialized]}
    by_type = {c["type"]: c for c in status_of(found, life, PLACE, 0)["conditions"]}
    assert by_type["PodScheduled"] == other
    assert by_type["Ready"]["lastTransitionTime"] == "2020-01-02T00:00:00Z"
    assert by_type["Initialized"]["lastTransitionTime"] == "1970-01-01T00:00:00Z"


def test_the_same_life_gives_the_same_status() -> None:
    found, life = born()
    assert status_of(found, life, PLACE, 0) == status_of(found, life, PLACE, 0)
