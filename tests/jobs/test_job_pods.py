"""Which pods a Job makes and removes."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.api.meta import format_time
from kumi.jobs.job_plan import INDEX_KEY, plan_of
from kumi.jobs.job_pods import Moves, moves
from kumi.jobs.job_tracking import FINALIZER, count
from tests.jobs.world import batch_job

NOW = 1_700_000_000_000


def job(**spec: Any) -> Job:
    made = batch_job(**spec)
    made["metadata"]["uid"] = "u"
    return msgspec.convert(made, Job)


def pod(name: str, phase: str = "Running", index: int | None = None, going: bool = False, **more: Any) -> Pod:
    born = more.pop("born", 0)
    meta: dict[str, Any] = {"name": name, "uid": name, "creationTimestamp": format_time(NOW + born)}
    meta["finalizers"] = [FINALIZER]
    if index is not None:
        meta["annotations"] = {INDEX_KEY: str(index)}
    if going:
        meta["deletionTimestamp"] = format_time(NOW)
    status: dict[str, Any] = {"phase": phase}
    if more.get("ready"):
        status["conditions"] = [{"type": "Ready", "status": "True"}]
    if "ended" in more:
        state = {"terminated": {"finishedAt": format_time(NOW + more["ended"])}}
        status["containerStatuses"] = [{"name": "c", "state": state}]
    spec = {"nodeName": more["node"]} if "node" in more else {}
    return msgspec.convert({"metadata": meta, "status": status, "spec": spec}, Pod)


def look(made: Job, *pods: Pod, now_ms: int = NOW) -> Moves:
    plan = plan_of(made)
    return moves(made, plan, count(plan, made.status, pods), pods, now_ms)


def removed(found: Moves) -> list[str]:
    return [p.metadata.name for p in found.remove]


def indexes(found: Moves) -> list[int]:
    return [int(p["metadata"]["labels"][INDEX_KEY]) for p in found.create]


# laws


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.booleans())
def test_live_pods_end_at_what_is_wanted(parallelism: int, completions: int, running: int, indexed: bool) -> None:
    mode = "Indexed" if indexed else "NonIndexed"
    made = job(parallelism=parallelism, completions=completions, completionMode=mode)
    pods = [pod(f"p{i}", index=i if indexed else None) for i in range(running)]
    found = look(made, *pods)
    assert running - len(found.remove) + len(found.create) == min(parallelism, completions)
    assert not (found.create and found.remove) or indexed


@given(st.integers(1, 8))
def test_names_are_distinct_and_the_same_at_every_look(parallelism: int) -> None:
    made = job(parallelism=parallelism)
    names = [p["metadata"]["name"] for p in look(made).create]
    assert len(set(names)) == parallelism
    assert names == [p["metadata"]["name"] for p in look(made).create]
    assert all(re.fullmatch("j-[bcdfghjklmnpqrstvwxz2456789]{5}", n) for n in names)


# which go


def test_the_least_far_go_first() -> None:
    pods = [
        pod("ready", ready=True, node="n"),
        pod("running", node="n"),
        pod("pending", "Pending", node="n"),
        pod("unscheduled", "Pending"),
    ]
    order = ["unscheduled", "pending", "running", "ready"]
    for keep in range(4):
        assert removed(look(job(parallelism=keep), *pods)) == order[: 4 - keep]


def test_of_equals_the_youngest_goes_first() -> None:
    assert removed(look(job(parallelism=1), pod("old"), pod("young", born=5000))) == ["young"]


def test_duplicates_and_indexes_out_of_range_go() -> None:
    made = job(parallelism=3, completions=3, completionMode="Indexed")
    pods = [pod("a", index=0, ready=True), pod("b", index=0), pod("c", index=7), pod("d"), pod("e", index=1)]
    found = look(made, *pods)
    assert sorted(removed(found)) == ["b", "c", "d"]
    assert indexes(found) == [2]


def test_a_pod_of_an_index_that_is_complete_goes() -> None:
    made = job(parallelism=2, completions=2, completionMode="Indexed")
    assert removed(look(made, pod("a", "Succeeded", index=0), pod("b", index=0), pod("c", index=1))) == ["b"]


# which come


def test_the_lowest_missing_indexes_come_first() -> None:
    made = job(parallelism=3, completions=5, completionMode="Indexed")
    assert indexes(look(made, pod("b", index=1), pod("z", "Succeeded", index=2))) == [0, 3]


def test_a_pod_on_its_way_out_is_replaced_at_once_unless_only_failed_ones_are() -> None:
    leaving = pod("a", going=True, node="n")
    assert len(look(job(), leaving).create) == 1
    assert len(look(job(podReplacementPolicy="Failed"), leaving).create) == 0


def test_a_pod_is_like_its_template_and_says_whose_it_is() -> None:
    (made,) = look(job()).create
    assert made["metadata"]["generateName"] == "j-"
    assert made["metadata"]["finalizers"] == [FINALIZER]
    assert made["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": "u",
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": "u",
        "job-name": "j",
    }
    assert made["metadata"]["ownerReferences"][0]["kind"] == "Job"
    assert made["spec"]["containers"] == [{"name": "c", "image": "i"}]


def test_an_indexed_pod_knows_its_index() -> None:
    made = look(job(completions=1, completionMode="Indexed")).create[0]
    assert re.fullmatch("j-0-[a-z0-9]{5}", made["metadata"]["name"])
    assert made["metadata"]["annotations"] == {INDEX_KEY: "0"}
    assert made["spec"]["hostname"] == "j-0"
    assert made["spec"]["containers"][0]["env"] == [
        {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX_KEY}']"}}}
    ]


def test_an_index_variable_of_the_users_own_is_kept() -> None:
    made = batch_job(completions=1, completionMode="Indexed")
    mine = {"name": "JOB_COMPLETION_INDEX", "value": "7"}
    made["spec"]["template"]["spec"]["containers"][0]["env"] = [mine]
    found = look(msgspec.convert(made, Job))
    assert found.create[0]["spec"]["containers"][0]["env"] == [mine]


def test_a_long_name_is_cut_to_leave_room_for_its_own_letters() -> None:
    made = batch_job()
    made["metadata"]["name"] = "x" * 63
    (found,) = look(msgspec.convert(made, Job)).create
    assert len(found["metadata"]["name"]) == 63


# pace


@pytest.mark.parametrize(("failures", "delay_s"), [(1, 10), (2, 20), (3, 40), (5, 160), (6, 320), (7, 360), (50, 360)])
def test_each_failure_in_a_row_doubles_the_wait_up_to_six_minutes(failures: int, delay_s: int) -> None:
    made = job(backoffLimit=1000)
    pods = [pod(f"f{i}", "Failed", ended=i * 1000) for i in range(failures)]
    due = NOW + (failures - 1) * 1000 + delay_s * 1000
    before, after = look(made, *pods, now_ms=due - 1), look(made, *pods, now_ms=due)
    assert (before.create, before.wait_until_ms) == ((), due)
    assert len(after.create) == 1


def test_a_success_ends_the_row() -> None:
    made = job(completions=3, parallelism=1)
    pods = [pod("f", "Failed", ended=0), pod("s", "Succeeded", ended=5000)]
    assert len(look(made, *pods, now_ms=NOW + 5000).create) == 1


def test_without_a_time_of_its_end_a_failure_counts_from_the_pods_birth() -> None:
    assert look(job(), pod("f", "Failed", born=2000), now_ms=NOW).wait_until_ms == NOW + 12_000


def test_a_pod_deleted_from_outside_is_replaced_without_waiting() -> None:
    assert len(look(job(), pod("a", going=True)).create) == 1
