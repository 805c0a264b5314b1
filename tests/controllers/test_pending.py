from __future__ import annotations

import msgspec

from kumi.api.kueue import Workload
from kumi.bridge.into import Deltas
from kumi.controllers.pending import line
from kumi.controllers.scheduler import Scheduler
from kumi.engine.state import State

from .made import cluster_queue, flavor, local_queue, views, workload


def waiting() -> tuple[State, dict[str, Workload]]:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    low = workload("low", ownerReferences=[owner])
    high = workload("high", queue="night", spec={"priority": 5})
    late = workload("late", creationTimestamp="2030-01-01T00:00:00Z")
    things = views(flavor(), cluster_queue(), local_queue(), local_queue("night"), low, high, late)
    state, deltas = State(), Deltas()
    for thing in things:
        state.apply(deltas.put(thing))
    return state, {t.key: t for t in things if isinstance(t, Workload)}


def test_positions_are_those_of_the_engine_and_of_each_door() -> None:
    found = list(line(*waiting(), "gpus"))
    assert [(p.metadata["name"], p.position, p.position_in_local_queue) for p in found] == [
        ("high", 0, 0),
        ("low", 1, 0),
        ("late", 2, 1),
    ]
    assert [(p.priority, p.local_queue) for p in found] == [(5, "night"), (0, "lq"), (0, "lq")]


def test_their_jobs_are_told() -> None:
    (_, low, _) = line(*waiting(), "gpus")
    assert low.metadata["namespace"] == "team"
    assert [o["kind"] for o in low.metadata["ownerReferences"]] == ["Job"]
    assert set(low.metadata) == {"name", "namespace", "creationTimestamp", "ownerReferences"}


def test_an_empty_queue_has_an_empty_line() -> None:
    assert list(line(State(), {}, "gpus")) == []


def test_the_scheduler_answers_for_queues_that_are_there() -> None:
    scheduler = Scheduler()
    for thing in (msgspec.convert(workload(), Workload), *views(flavor(), cluster_queue(), local_queue())):
        scheduler.apply(type(thing), thing.key, None, thing)
    assert [p.metadata["name"] for p in scheduler.pending("gpus") or ()] == ["w"]
    assert scheduler.pending("none") is None
    assert (scheduler.cluster_queue_of("team/lq"), scheduler.cluster_queue_of("team/x")) == ("gpus", None)
