from __future__ import annotations

from kumi.bridge.into import Deltas
from kumi.controllers.line_measures import Attempts, families
from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Evict, Hold
from kumi.engine.model import Admission, Profile
from kumi.engine.reasons import Code, Reason, Record
from kumi.engine.state import State

from .made import NOW_MS, cluster_queue, flavor, local_queue, namespace, views, workload


def state(*workloads: dict[str, object], stop: str = "None") -> State:
    made = State(Profile(places=False))
    deltas = Deltas()
    queue = cluster_queue(gpus=4, stopPolicy=stop)
    for thing in views(flavor(), queue, local_queue(), namespace(), *workloads):
        made.apply(deltas.put(thing))
    return made


def told(found: State, attempts: Attempts | None = None) -> dict[str, dict[tuple[str, ...], object]]:
    return {f.name: {s.labels: s.value for s in f.samples} for f in families(found, attempts or Attempts())}


def test_who_waits_may_be_tried_until_it_is_set_aside() -> None:
    found = state(workload("a", gpus=9), workload("b", gpus=9))
    assert told(found)["kueue_pending_workloads"] == {("gpus", "active"): 2, ("gpus", "inadmissible"): 0}
    cycle.decide(found, NOW_MS)
    assert told(found)["kueue_pending_workloads"] == {("gpus", "active"): 0, ("gpus", "inadmissible"): 2}
    assert told(found)["kueue_local_queue_pending_workloads"]["lq", "team", "inadmissible"] == 2


def test_nobody_is_tried_in_a_queue_that_is_stopped() -> None:
    found = state(workload("a"), stop="Hold")
    assert told(found)["kueue_pending_workloads"] == {("gpus", "active"): 0, ("gpus", "inadmissible"): 1}


def test_who_is_in_no_line_waits_at_its_door() -> None:
    later = workload("a", status={"requeueState": {"requeueAt": "2040-01-01T00:00:00Z"}})
    assert told(state(later))["kueue_local_queue_pending_workloads"]["lq", "team", "inadmissible"] == 1


def test_attempts_and_preemptions_are_counted() -> None:
    found, attempts = state(workload("w")), Attempts()
    record = Record(Reason(Code.QUOTA_IN_USE))
    for decision in (
        Admit("team/a", Admission("gpus", ())),
        Hold("team/b", record),
        Hold("team/c", record),
        Evict("team/v", "Preempted", cause="InClusterQueue", by="team/w"),
        Evict("team/x", "Deactivated"),
    ):
        attempts.count(found, decision)
    assert told(found, attempts)["kueue_admission_attempts_total"] == {("success",): 1, ("inadmissible",): 2}
    assert told(found, attempts)["kueue_preempted_workloads_total"] == {("gpus", "InClusterQueue"): 1}
