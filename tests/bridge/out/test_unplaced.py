from __future__ import annotations

from kumi.bridge.out.unplaced import unplaced
from kumi.engine.decisions import Unplaced
from kumi.engine.reasons import Code, Reason
from kumi.runtime.reconcile import Patch

from .made import NOW_MS, condition, pod

NO = Unplaced("pu", (Reason(Code.NO_NODES),))


def test_only_the_condition_of_scheduling_is_written() -> None:
    step = unplaced("t", NO, pod({"conditions": [condition("Ready", "False")]}), NOW_MS)
    (patch,) = step.writes
    assert isinstance(patch, Patch)
    assert (patch.type, patch.subresource) == ("strategic", "status")
    assert isinstance(patch.body, dict)
    (made,) = patch.body["status"]["conditions"]
    assert (made["type"], made["status"], made["reason"]) == ("PodScheduled", "False", "Unschedulable")
    assert [(n.reason, n.type) for n in step.notes] == [("FailedScheduling", "Warning")]


def test_nothing_is_written_where_it_says_so_already() -> None:
    (patch,) = unplaced("t", NO, pod(), NOW_MS).writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    step = unplaced("t", NO, pod(patch.body["status"]), NOW_MS)
    assert step.writes == ()
    assert step.notes == ()
