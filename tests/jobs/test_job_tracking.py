"""Counting each finished pod once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.batch import Job, JobStatus
from kumi.api.core import Pod
from kumi.jobs.job_plan import INDEX_KEY, Plan, plan_of
from kumi.jobs.job_tracking import FINALIZER, Count, count, is_tracked, leftovers, outcome_of, released, tracked
from tests.jobs.world import batch_job

PLAN = plan_of(msgspec.convert(batch_job(completions=5, parallelism=5), Job))
INDEXED = plan_of(msgspec.convert(batch_job(completions=5, parallelism=5, completionMode="Indexed"), Job))
ONLY_FAILED = plan_of(msgspec.convert(batch_job(podReplacementPolicy="Failed"), Job))


def pod(name: str, phase: str, *, tracked: bool = True, going: bool = False, node: str = "", index: str = "") -> Pod:
    meta: dict[str, Any] = {"name": name, "uid": name, "finalizers": ["other", FINALIZER] if tracked else []}
    if going:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if index:
        meta["annotations"] = {INDEX_KEY: index}
    return msgspec.convert({"metadata": meta, "spec": {"nodeName": node}, "status": {"phase": phase}}, Pod)


def look(plan: Plan, status: JobStatus, *pods: Pod) -> Count:
    return count(plan, status, pods)


def stored(found: Count) -> JobStatus:
    return JobStatus(
        succeeded=found.counted_succeeded,
        failed=found.counted_failed,
        uncounted_terminated_pods=found.uncounted,
        completed_indexes=",".join(map(str, sorted(found.completed))),
    )


def test_the_three_steps_of_one_pod() -> None:
    first = look(PLAN, JobStatus(), pod("a", "Succeeded"))
    assert (first.uncounted, first.release, first.counted_succeeded) == ({"succeeded": ["a"]}, (), 0)
    second = look(PLAN, stored(first), pod("a", "Succeeded"))
    assert [p.metadata.name for p in second.release] == ["a"]
    assert second.uncounted == {"succeeded": ["a"]}
    third = look(PLAN, stored(second), pod("a", "Succeeded", tracked=False))
    assert (third.uncounted, third.counted_succeeded, third.open) == ({}, 1, False)
    assert look(PLAN, stored(third), pod("a", "Succeeded", tracked=False)).counted_succeeded == 1
    assert {first.succeeded, second.succeeded, third.succeeded} == {1}, "the total is right at every step"


def test_a_pod_that_vanished_after_it_was_written_down_is_counted() -> None:
    found = look(PLAN, JobStatus(uncounted_terminated_pods={"failed": ["a"]}))
    assert (found.counted_failed, found.open) == (1, False)


def test_an_index_counts_once_however_many_pods_of_it_succeed() -> None:
    found = look(INDEXED, JobStatus(), pod("a", "Succeeded", index="2"), pod("b", "Succeeded", index="2"))
    assert (found.completed, found.succeeded, found.uncounted) == ({2}, 1, {})
    again = look(INDEXED, stored(found), pod("a", "Succeeded", index="2"), pod("b", "Succeeded", index="2"))
    assert [p.metadata.name for p in again.release] == ["a", "b"]


@pytest.mark.parametrize("index", ["9", ""])
def test_a_pod_without_a_right_index_is_let_go_uncounted(index: str) -> None:
    found = look(INDEXED, JobStatus(), pod("a", "Failed", index=index))
    assert (found.failed, len(found.release)) == (0, 1)


def test_a_pod_without_the_finalizer_is_not_counted() -> None:
    found = look(PLAN, JobStatus(), pod("a", "Failed", tracked=False))
    assert (found.failed, found.open) == (0, False)


@pytest.mark.parametrize(
    ("phase", "going", "node", "usual", "only_failed"),
    [
        ("Running", False, "n", "", ""),
        ("Running", True, "n", "failed", ""),
        ("Pending", True, "", "failed", "failed"),
        ("Failed", True, "n", "failed", "failed"),
        ("Succeeded", True, "n", "succeeded", "succeeded"),
    ],
)
def test_what_becomes_of_a_pod_that_is_being_deleted(
    phase: str, going: bool, node: str, usual: str, only_failed: str
) -> None:
    found = pod("a", phase, going=going, node=node)
    assert (outcome_of(PLAN, found), outcome_of(ONLY_FAILED, found)) == (usual, only_failed)


def test_taking_the_finalizer_off_and_putting_it_back_leaves_others_alone() -> None:
    assert released(pod("a", "Running")).body == {"metadata": {"finalizers": ["other"]}}
    bare = pod("a", "Running", tracked=False)
    assert not is_tracked(bare)
    assert tracked(bare).body == {"metadata": {"finalizers": [FINALIZER]}}


def test_leftovers_of_a_finished_job_are_what_ended_or_is_going() -> None:
    done = msgspec.convert(batch_job(), Job)
    pods = (
        pod("a", "Succeeded"),
        pod("b", "Running"),
        pod("c", "Running", going=True),
        pod("d", "Failed", tracked=False),
    )
    assert [a.object.metadata.name for a in leftovers(done, pods)] == ["a", "c"]


def test_a_job_that_is_being_deleted_lets_go_of_all() -> None:
    going = batch_job()
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert len(leftovers(msgspec.convert(going, Job), (pod("b", "Running"),))) == 1
