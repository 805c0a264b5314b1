from __future__ import annotations

from typing import Any

from kumi.api.kueue import AdmissionCheck, ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Workload
from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.controllers.queue_status import PACE_MS, QueueStatus
from kumi.runtime.reconcile import Patch
from kumi.testing.view import decoded

from .made import GPU, NOW_MS, admitted, at, cluster_queue, flavor, local_queue, workload


class Table:
    """A decider and the objects that it was given; what it writes comes back to it."""

    def __init__(self, *manifests: JsonObject) -> None:
        self.decider, self.objects, self.now_ms = QueueStatus(), dict[tuple[str, str], JsonObject](), NOW_MS
        for manifest in manifests:
            self.put(manifest)

    def put(self, manifest: JsonObject) -> None:
        new = decoded(manifest)
        before = self.objects.get((manifest["kind"], new.key))
        self.objects[manifest["kind"], new.key] = manifest
        self.decider.apply(type(new), new.key, decoded(before) if before else None, new)

    def remove(self, type_: type[Object], key: str) -> None:
        self.decider.apply(type_, key, decoded(self.objects.pop((type_.__name__, key))), None)

    def write(self) -> dict[str, JsonObject]:
        """Decides once; what is written, by the token."""
        written = {}
        for step in self.decider.decide(self.now_ms).steps:
            (patch,) = step.writes
            assert isinstance(patch, Patch)
            assert isinstance(patch.body, dict)
            written[step.token] = patch.body["status"]
            key = f"{patch.namespace}/{patch.name}" if patch.namespace else patch.name
            self.put({**self.objects[patch.kind.kind, key], "status": patch.body["status"]})
            self.decider.settle(step.token, True, "")
        return written

    def rest(self) -> None:
        """Until everything that it wrote has come back to it and its pace allows the next write."""
        self.now_ms += PACE_MS
        assert self.write() == {}
        self.now_ms += PACE_MS


def active(status: JsonObject) -> tuple[str, str]:
    (found,) = [c for c in status["conditions"] if c["type"] == "Active"]
    return found["status"], found["reason"]


def test_counts_and_usage_of_a_queue_and_its_door() -> None:
    table = Table(flavor(), cluster_queue(), local_queue(), workload("a", status=admitted()), workload("b"))
    written = table.write()
    queue, door = written["ClusterQueue gpus"], written["LocalQueue team/lq"]
    assert (queue["pendingWorkloads"], queue["reservingWorkloads"], queue["admittedWorkloads"]) == (1, 1, 1)
    assert queue["flavorsUsage"] == [
        {"name": "default", "resources": [{"name": GPU, "total": "4", "borrowed": "0"}]},
    ]
    assert door["flavorsReservation"] == [{"name": "default", "resources": [{"name": GPU, "total": "4"}]}]
    assert (door["pendingWorkloads"], door["admittedWorkloads"]) == (1, 1)
    assert active(queue) == ("True", "Ready")
    assert active(door) == ("True", "Ready")


def test_a_status_that_says_so_already_is_not_written_again() -> None:
    table = Table(flavor(), cluster_queue(), local_queue(), workload("a"))
    assert table.write()
    table.now_ms += PACE_MS
    assert table.write() == {}
    table.put(cluster_queue(stopPolicy="None") | {"status": table.objects["ClusterQueue", "gpus"]["status"]})
    table.now_ms += PACE_MS
    assert table.write() == {}


def test_a_queue_is_written_no_more_often_than_its_pace() -> None:
    table = Table(flavor(), cluster_queue(), local_queue())
    table.write()
    table.rest()
    table.put(workload("a"))
    assert table.write()["ClusterQueue gpus"]["pendingWorkloads"] == 1
    table.put(workload("b"))
    batch = table.decider.decide(table.now_ms + 1)
    assert batch.steps == ()
    assert batch.wake_at_ms == table.now_ms + PACE_MS
    table.now_ms += PACE_MS
    assert table.write()["ClusterQueue gpus"]["pendingWorkloads"] == 2


def test_a_refused_write_is_made_again() -> None:
    table = Table(flavor(), cluster_queue())
    (step,) = table.decider.decide(NOW_MS).steps
    table.decider.settle(step.token, False, "conflict")
    (again,) = table.decider.decide(NOW_MS + PACE_MS).steps
    assert again.token == step.token


def test_what_goes_is_no_longer_counted() -> None:
    table = Table(flavor(), cluster_queue(), local_queue(), workload("a", status=admitted()))
    table.write()
    table.remove(Workload, "team/a")
    table.now_ms += PACE_MS
    queue = table.write()["ClusterQueue gpus"]
    assert queue["reservingWorkloads"] == 0
    assert queue["flavorsUsage"][0]["resources"][0]["total"] == "0"


def test_a_queue_without_its_flavor_is_not_active_until_it_comes() -> None:
    table = Table(cluster_queue(), local_queue())
    written = table.write()
    assert active(written["ClusterQueue gpus"]) == ("False", "FlavorNotFound")
    assert active(written["LocalQueue team/lq"]) == ("False", "ClusterQueueIsInactive")
    table.put(flavor())
    table.now_ms += PACE_MS
    assert active(table.write()["ClusterQueue gpus"]) == ("True", "Ready")


def test_a_flavor_that_goes_takes_its_queue_along() -> None:
    table = Table(flavor(), cluster_queue())
    table.write()
    table.remove(ResourceFlavor, "default")
    table.now_ms += PACE_MS
    assert active(table.write()["ClusterQueue gpus"]) == ("False", "FlavorNotFound")


def test_stopped_and_going_queues_say_so() -> None:
    stopped = Table(flavor(), cluster_queue(stopPolicy="Hold"), local_queue(stopPolicy="HoldAndDrain")).write()
    assert active(stopped["ClusterQueue gpus"]) == ("False", "Stopped")
    assert active(stopped["LocalQueue team/lq"]) == ("False", "Stopped")
    going = cluster_queue()
    going["metadata"]["deletionTimestamp"] = at(0)
    assert active(Table(flavor(), going).write()["ClusterQueue gpus"]) == ("False", "Terminating")


def test_a_door_without_its_queue_says_so_until_it_comes() -> None:
    table = Table(flavor(), local_queue())
    assert active(table.write()["LocalQueue team/lq"]) == ("False", "ClusterQueueDoesNotExist")
    table.rest()
    table.put(cluster_queue())
    assert active(table.write()["LocalQueue team/lq"]) == ("True", "Ready")
    table.remove(ClusterQueue, "gpus")
    table.now_ms += PACE_MS
    assert active(table.write()["LocalQueue team/lq"]) == ("False", "ClusterQueueDoesNotExist")


def test_a_door_that_moves_takes_its_waiting_workloads_along() -> None:
    table = Table(flavor(), cluster_queue("a"), cluster_queue("b"), local_queue(queue="a"), workload("w"))
    assert table.write()["ClusterQueue a"]["pendingWorkloads"] == 1
    table.put(local_queue(queue="b"))
    table.now_ms += PACE_MS
    written = table.write()
    assert written["ClusterQueue a"]["pendingWorkloads"] == 0
    assert written["ClusterQueue b"]["pendingWorkloads"] == 1


def later(status: JsonObject) -> list[dict[str, Any]]:
    return [c for c in status["conditions"] if c["type"] == "NotYetInForce"]


def test_fields_whose_rule_comes_later_are_named_and_the_condition_goes_with_them() -> None:
    table = Table(flavor(), cluster_queue(excludeResourcePrefixes=["x/"]))
    (said,) = later(table.write()["ClusterQueue gpus"])
    assert said["status"] == "True"
    assert "spec.excludeResourcePrefixes" in said["message"]
    table.put(cluster_queue() | {"status": table.objects["ClusterQueue", "gpus"]["status"]})
    table.now_ms += PACE_MS
    assert later(table.write()["ClusterQueue gpus"]) == []


def test_what_is_used_beyond_nominal_is_borrowed() -> None:
    table = Table(flavor(), cluster_queue(gpus=3), local_queue(), workload("a", status=admitted()))
    assert table.write()["ClusterQueue gpus"]["flavorsUsage"][0]["resources"][0]["borrowed"] == "1"


def test_it_watches_what_it_counts() -> None:
    assert QueueStatus().watches == (
        ResourceFlavor,
        AdmissionCheck,
        Cohort,
        ClusterQueue,
        LocalQueue,
        Workload,
    )


def cohort(name: str = "all", **spec: Any) -> JsonObject:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def test_shares_of_queues_and_cohorts_are_those_of_the_engine() -> None:
    weighed = cluster_queue("gpus", gpus=2, cohortName="all", fairSharing={"weight": "500m"})
    table = Table(
        flavor(),
        weighed,
        cluster_queue("other", gpus=6, cohortName="all"),
        cohort(parentName="root", fairSharing={"weight": 1}),
        cohort("root"),
        local_queue(),
        workload("a", status=admitted()),
    )
    written = table.write()
    assert written["ClusterQueue gpus"]["fairSharing"] == {"weightedShare": 500}
    assert "fairSharing" not in written["ClusterQueue other"]
    assert written["Cohort all"] == {"fairSharing": {"weightedShare": 0}}
    assert "Cohort root" not in written
    table.rest()
    table.remove(Workload, "team/a")
    table.now_ms += PACE_MS
    assert table.write()["ClusterQueue gpus"]["fairSharing"] == {"weightedShare": 0}


def test_a_check_that_nobody_answers_closes_its_queue() -> None:
    asks = {"admissionChecks": [{"name": "capacity"}]}
    table = Table(flavor(), cluster_queue(admissionChecksStrategy=asks))
    assert active(table.write()["ClusterQueue gpus"]) == ("False", "AdmissionCheckNotFound")
    check: JsonObject = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "capacity"},
        "spec": {"controllerName": "x/y"},
    }
    table.put(check)
    table.now_ms += PACE_MS
    assert active(table.write()["ClusterQueue gpus"]) == ("False", "AdmissionCheckInactive")
    said = {"type": "Active", "status": "True", "reason": "R", "message": "", "lastTransitionTime": at(0)}
    table.put({**check, "status": {"conditions": [said]}})
    table.now_ms += PACE_MS
    assert active(table.write()["ClusterQueue gpus"]) == ("True", "Ready")


def test_cohorts_that_are_each_others_parents_close_the_queues_below() -> None:
    table = Table(flavor(), cluster_queue(cohortName="a"), cohort("a", parentName="b"), cohort("b", parentName="a"))
    assert active(table.write()["ClusterQueue gpus"]) == ("False", "CohortCycleDetected")
