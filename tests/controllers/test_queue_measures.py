from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from kumi.api.kueue import ClusterQueue, Cohort, LocalQueue
from kumi.controllers.queue_measures import GAUGES, Named, families, of_cluster_queue, of_cohort, of_local_queue
from kumi.controllers.queue_usage import Usage

from .made import GPU, at, cluster_queue, condition, local_queue

USED = Usage(
    reserving=2, admitted=1, reserved=Counter({("default", GPU): 3000}), used=Counter({("default", GPU): 1000})
)


def told(samples: list[Named]) -> dict[tuple[str, ...], Any]:
    return {(name.removeprefix("kueue_"), *sample.labels): sample.value for name, sample in samples}


def queue(**fields: Any) -> ClusterQueue:
    return msgspec.convert({**cluster_queue(cohortName="all"), **fields}, ClusterQueue)


def test_counts_and_amounts_of_a_cluster_queue_in_whole_units() -> None:
    found = told(list(of_cluster_queue(queue(), USED)))
    place = ("all", "gpus", "default", GPU)
    assert found["reserving_active_workloads", "gpus"] == 2
    assert found["admitted_active_workloads", "gpus"] == 1
    assert found[("cluster_queue_resource_reservation", *place)] == 3
    assert found[("cluster_queue_resource_usage", *place)] == 1
    assert found[("cluster_queue_nominal_quota", *place)] == 8
    assert ("cluster_queue_borrowing_limit", *place) not in found


def test_the_state_of_a_cluster_queue_is_one_of_three() -> None:
    def state(view: ClusterQueue) -> list[str]:
        found = told(list(of_cluster_queue(view, Usage())))
        return [key[2] for key, value in found.items() if key[0] == "cluster_queue_status" and value]

    assert state(queue()) == ["pending"]
    assert state(queue(status={"conditions": [condition("Active", "True")]})) == ["active"]
    going = queue()
    going.metadata.deletion_timestamp = at(0)
    assert state(going) == ["terminating"]


def test_shares_where_they_are_known() -> None:
    shared = {"fairSharing": {"weightedShare": 250}}
    assert (
        told(list(of_cluster_queue(queue(status=shared), Usage())))["cluster_queue_weighted_share", "gpus", "all"]
        == 250
    )
    cohort = msgspec.convert({"metadata": {"name": "all"}, "status": shared}, Cohort)
    assert told(list(of_cohort(cohort))) == {("cohort_weighted_share", "all"): 250}
    assert list(of_cohort(Cohort())) == []


def test_a_local_queue_tells_the_same_of_its_own() -> None:
    door = msgspec.convert({**local_queue(), "status": {"conditions": [condition("Active", "True")]}}, LocalQueue)
    found = told(list(of_local_queue(door, USED)))
    assert found["local_queue_resource_usage", "lq", "team", "default", GPU] == 1
    assert found["local_queue_admitted_active_workloads", "lq", "team"] == 1
    assert (found["local_queue_status", "lq", "team", "True"], found["local_queue_status", "lq", "team", "False"]) == (
        1,
        0,
    )


def test_every_family_is_told_with_as_many_labels_as_its_samples_have() -> None:
    samples = [*of_cluster_queue(queue(), USED), *of_local_queue(msgspec.convert(local_queue(), LocalQueue), USED)]
    made = list(families(samples))
    assert [f.name for f in made] == list(GAUGES)
    assert all(len(s.labels) == len(f.labels) for f in made for s in f.samples)
    assert sum(len(f.samples) for f in made) == len(samples)
