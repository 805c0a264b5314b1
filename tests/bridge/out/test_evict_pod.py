from __future__ import annotations

from kumi.bridge.out.evict_pod import evict_pod
from kumi.engine.decisions import EvictPod
from kumi.runtime.reconcile import Delete, Patch

from .made import NOW_MS, condition, pod


def test_a_pod_says_why_it_goes_before_this_very_pod_is_deleted() -> None:
    step = evict_pod("t", EvictPod("pu", "ns/a"), pod({"conditions": [condition("Ready", "True")]}), NOW_MS)
    patch, delete = step.writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    (made,) = patch.body["status"]["conditions"]
    assert (made["type"], made["status"], made["reason"]) == ("DisruptionTarget", "True", "PreemptionByScheduler")
    assert (patch.type, patch.subresource) == ("strategic", "status")
    assert isinstance(delete, Delete)
    assert delete.uid == patch.body["metadata"]["uid"] != ""
    assert delete.grace_seconds is None
    assert [note.reason for note in step.notes] == ["Preempted"]


def test_a_pod_is_told_for_whom_it_goes() -> None:
    for preemptor, told in (("pod ns/a", "pod ns/a, which goes first"), ("", "others that go first")):
        (note,) = evict_pod("t", EvictPod("pu", "u"), pod(), NOW_MS, preemptor).notes
        assert note.message == f"It makes room for {told}."
