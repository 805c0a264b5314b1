from __future__ import annotations

from typing import Any

from kumi.api.meta import OwnerReference
from kumi.bridge.messages import record_from_json, record_to_json
from kumi.bridge.out.hold import hold, is_another_answer
from kumi.engine.decisions import Hold
from kumi.engine.reasons import Code, Considered, Reason, Record
from kumi.runtime.reconcile import Patch

from .made import NOW_MS, condition, said, workload

FULL = Record(Reason(Code.NODES_FULL, resource="nvidia.com/gpu", need=4000, have=2000), position=2, at_ms=NOW_MS)


def status_of(record: Record, before: dict[str, Any] | None = None) -> dict[str, Any]:
    (patch,) = hold("t", Hold("n/w", record), workload(before), NOW_MS).writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert patch.body["metadata"] == {"resourceVersion": "7"}
    status: dict[str, Any] = patch.body["status"]
    return status


def test_conditions_and_the_record_say_why_it_waits() -> None:
    status = status_of(FULL)
    assert said(status) == {
        "QuotaReserved": ("False", "TopologyPlacementFailed"),
        "Admitted": ("False", "NoReservation"),
    }
    assert record_from_json(status["decision"]) == FULL


def test_whether_it_is_back_in_its_queue_is_for_others_to_say() -> None:
    before = {"conditions": [condition("Requeued", "False", "Deactivated")]}
    assert said(status_of(Record(Reason(Code.QUOTA_IN_USE)), before))["Requeued"] == ("False", "Deactivated")


def test_an_event_is_told_once_an_answer() -> None:
    told = status_of(FULL)
    moved = Record(
        Reason(Code.NODES_FULL, resource="nvidia.com/gpu", need=4000, have=3000), position=1, at_ms=NOW_MS + 1
    )
    other = Record(Reason(Code.QUOTA_IN_USE, resource="nvidia.com/gpu"))
    view = workload(told)
    assert [n.reason for n in hold("t", Hold("n/w", FULL), workload(), NOW_MS).notes] == ["TopologyPlacementFailed"]
    assert hold("t", Hold("n/w", moved), view, NOW_MS).notes == ()
    assert not is_another_answer(Hold("n/w", moved), view)
    assert is_another_answer(Hold("n/w", other), view)


def test_a_condition_that_says_something_else_makes_it_another_answer() -> None:
    told = {**status_of(FULL), "conditions": [condition("QuotaReserved", "False", "PendingEvaluation")]}
    assert is_another_answer(Hold("n/w", FULL), workload(told))


def test_that_it_waits_is_a_warning_with_the_word_of_the_condition() -> None:
    never = Record(Reason(Code.OVER_QUOTA, resource="cpu", need=9000, have=8000, permanent=True))
    (note,) = hold("t", Hold("n/w", never), workload(), NOW_MS).notes
    assert (note.type, note.reason) == ("Warning", "ExceedsMaxQuota")


def test_who_is_preempted_for_it_is_told_one_by_one() -> None:
    victims = (Considered("n/a", "Job n/a", "InClusterQueue"), Considered("n/b", "Job n/b", why_not="NotNeeded"))
    record = Record(Reason(Code.PREEMPTING, where="q"), considered=victims)
    notes = hold("t", Hold("n/w", record), workload(), NOW_MS).notes
    assert [(n.type, n.reason) for n in notes] == [
        ("Warning", "WaitingForPreemptedWorkloads"),
        ("Normal", "PreemptedWorkload"),
    ]
    assert "Job n/a" in notes[1].message


def test_the_record_before_is_replaced_whole() -> None:
    before = record_to_json(Record(Reason(Code.QUOTA_IN_USE, resource="cpu", flavor="f", where="q", need=1, have=1)))
    after = status_of(Record(Reason(Code.NO_NODES)), {"decision": before})["decision"]
    assert before.keys() <= after.keys()
    assert after["flavor"] is None


def test_its_job_is_told_as_well() -> None:
    view = workload()
    owner = OwnerReference(api_version="batch/v1", kind="Job", name="j", uid="y", controller=True)
    view.metadata.owner_references = [owner]
    assert [note.about["kind"] for note in hold("t", Hold("n/w", FULL), view, NOW_MS).notes] == ["Workload", "Job"]
