"""batch/v1 Job, as a whole: laws, cases, and the machine that goes wrong."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.batch import Job, JobStatus
from kumi.api.core import Pod
from kumi.jobs.base import PodSetInfo, PodSetShape
from kumi.jobs.job import JobReplicas, QueuedBatchJob
from tests.jobs.world import World, batch_job, going, phase

TERMINAL = ("Complete", "Failed")


def world(grace: bool = False, **spec: Any) -> World:
    made = World(JobReplicas(), batch_job(**spec), grace=grace)
    made.settle()
    return made


def conditions_of(w: World) -> dict[str, str]:
    return {c["type"]: c.get("reason", "") for c in w.status["conditions"] if c["status"] == "True"}


# laws


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["run", "succeed", "fail", "delete", "gone", "lose", "lag", "suspend", "resume"]),
        st.integers(0, 5),
        st.integers(0, 2),
    ),
    max_size=40,
)
"""what happens, to which pod, and how many looks follow"""


@settings(max_examples=150, deadline=None)
@given(
    events=EVENTS,
    parallelism=st.integers(1, 3),
    completions=st.integers(1, 4),
    indexed=st.booleans(),
    replacement=st.sampled_from(["TerminatingOrFailed", "Failed"]),
    grace=st.booleans(),
)
def test_whatever_happens_every_pod_counts_once_and_the_job_ends_right(
    events: list[tuple[str, int, int]], parallelism: int, completions: int, indexed: bool, replacement: str, grace: bool
) -> None:
    mode = "Indexed" if indexed else "NonIndexed"
    w = World(
        JobReplicas(),
        batch_job(
            parallelism=parallelism,
            completions=completions,
            completionMode=mode,
            backoffLimit=1000,
            podReplacementPolicy=replacement,
        ),
        grace=grace,
    )
    fate: dict[str, str] = {}
    for what, which, looks in events:
        _happen(w, fate, what, which)
        for _ in range(looks):
            w.look()
        _check(w, parallelism, fate)
    w.edit({"suspend": False})
    for _ in range(80):
        w.settle()
        _check(w, parallelism, fate)
        if w.is_true("Complete"):
            break
        w.advance(360)
        for pod in w.pods():
            if going(pod):
                w.gone(pod["metadata"]["name"])
            elif phase(pod) in ("Pending", "Running"):
                _end(w, fate, pod, 0)
                break
    assert w.is_true("Complete")
    assert w.status["succeeded"] == completions if indexed else w.status["succeeded"] >= completions
    assert w.status.get("failed", 0) == sum(f == "failed" for f in fate.values())
    if not indexed:
        assert w.status["succeeded"] == sum(f == "succeeded" for f in fate.values())
    assert w.status["terminating"] == 0
    assert not w.status["uncountedTerminatedPods"]
    assert not [p for p in w.pods() if p["metadata"].get("finalizers")]
    before = len(w.made)
    w.edit({"suspend": True})
    w.settle()
    w.edit({"suspend": False})
    w.settle()
    assert len(w.made) == before, "nothing is made for a finished job"


def _happen(w: World, fate: dict[str, str], what: str, which: int) -> None:
    w.advance(20)
    if which > 2:
        w.catch_up()
    pods = w.pods()
    if what == "lose":
        w.look(fail_after=which)
    elif what == "lag":
        w.lag(Pod if which % 2 else Job)
    elif what in ("suspend", "resume"):
        w.edit({"suspend": what == "suspend"})
    elif pods:
        pod = pods[which % len(pods)]
        name, live = pod["metadata"]["name"], phase(pod) in ("Pending", "Running")
        tracked = bool(pod["metadata"].get("finalizers"))
        if what == "run" and phase(pod) == "Pending":
            w.run(name)
        elif what in ("succeed", "fail") and live and not going(pod):
            _end(w, fate, pod, 0 if what == "succeed" else 1)
        elif what == "delete" and live and not going(pod):
            if tracked:
                fate[pod["metadata"]["uid"]] = "failed"
            w.patch(Pod, name, {"status": {"phase": phase(pod)}, "spec": {"nodeName": None}})
            w.delete(Pod, name)
        elif what == "gone" and going(pod):
            w.gone(name)


def _end(w: World, fate: dict[str, str], pod: dict[str, Any], code: int) -> None:
    """A pod that Kumi has let go of (no finalizer) counts no more, however it ends."""
    if pod["metadata"].get("finalizers"):
        fate[pod["metadata"]["uid"]] = "failed" if code else "succeeded"
    w.end(pod["metadata"]["name"], code)


def _check(w: World, parallelism: int, fate: dict[str, str]) -> None:
    assert w.most_live <= parallelism
    types = [t for t, _ in w.conditions]
    assert len(types) == len(set(types))
    assert w.status.get("failed", 0) <= sum(f == "failed" for f in fate.values())


@settings(max_examples=60, deadline=None)
@given(events=EVENTS, parallelism=st.integers(1, 3), completions=st.integers(1, 3))
def test_a_second_look_after_the_first_one_settled_writes_nothing(
    events: list[tuple[str, int, int]], parallelism: int, completions: int
) -> None:
    w = World(JobReplicas(), batch_job(parallelism=parallelism, completions=completions))
    for what, which, looks in events:
        _happen(w, {}, what, which)
        for _ in range(looks):
            w.look()
    w.settle()
    assert not w.look()


def test_suspend_edit_resume_equals_creating_with_the_edited_spec() -> None:
    edited = {"spec": {"nodeSelector": {"zone": "b"}}}
    w = world(parallelism=2, completions=2)
    w.edit({"suspend": True})
    w.settle()
    w.edit({"template": edited, "parallelism": 1})
    w.edit({"suspend": False})
    w.settle()
    other = World(JobReplicas(), batch_job(parallelism=1, completions=2))
    other.edit({"template": edited})
    other.settle()
    assert [p["spec"] for p in w.pods()] == [p["spec"] for p in other.pods()]
    assert {k: v for k, v in w.status.items() if k != "conditions"} == {
        k: v for k, v in other.status.items() if k != "conditions"
    }


# cases: completing


def test_a_plain_job_runs_one_pod_and_completes() -> None:
    w = world()
    (pod,) = w.pods()
    w.run(pod["metadata"]["name"], ready=True)
    w.settle()
    assert (w.status["active"], w.status["ready"]) == (1, 1)
    w.end(pod["metadata"]["name"])
    w.settle()
    assert conditions_of(w) == {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}
    assert [c["type"] for c in w.status["conditions"]] == ["SuccessCriteriaMet", "Complete"]
    assert w.status["succeeded"] == 1
    assert "active" not in w.status
    assert (w.status["ready"], w.status["terminating"], w.status["uncountedTerminatedPods"]) == (0, 0, {})
    assert w.status["completionTime"]


def test_complete_waits_until_every_pod_is_counted() -> None:
    w = world()
    w.end(w.names()[0])
    w.look()
    assert w.is_true("SuccessCriteriaMet")
    assert not w.is_true("Complete")
    assert w.status["uncountedTerminatedPods"] == {"succeeded": [w.pods()[0]["metadata"]["uid"]]}


def test_a_finished_pod_that_is_deleted_at_once_is_still_counted() -> None:
    w = world()
    name = w.names()[0]
    w.end(name)
    w.delete(Pod, name)
    w.settle()
    assert w.is_true("Complete")
    assert w.names() == []


def test_a_work_queue_ends_with_its_last_pod_after_one_success() -> None:
    w = world(parallelism=2)
    first, second = w.names()
    w.end(first)
    w.settle()
    assert not w.is_true("Complete")
    assert w.names() == [first, second], "no new pod after the first success"
    w.end(second)
    w.settle()
    assert w.is_true("Complete")
    assert w.status["succeeded"] == 2


def test_more_completions_than_parallelism_run_one_after_another() -> None:
    w = world(parallelism=2, completions=3)
    for _ in range(3):
        assert len(w.live()) <= 2
        w.end(w.live()[0]["metadata"]["name"])
        w.settle()
    assert w.is_true("Complete")
    assert len(w.made) == 3


def test_no_completions_needed_is_complete_at_once() -> None:
    assert world(completions=0).is_true("Complete")


def test_parallelism_zero_makes_no_pods_and_waits() -> None:
    w = world(parallelism=0, completions=1)
    assert w.names() == []
    assert w.conditions == []


# cases: failing


def test_a_failed_pod_is_replaced_after_ten_seconds() -> None:
    w = world()
    w.end(w.names()[0], 1)
    w.settle()
    assert w.live() == []
    assert w.sync().wake_at_ms == w.now_ms + 10_000
    w.advance(10)
    w.settle()
    assert len(w.live()) == 1
    assert w.status["failed"] == 1


@pytest.mark.parametrize("spec", [{}, {"completionMode": "Indexed", "completions": 1}])
def test_a_pod_whose_node_stopped_is_replaced_at_once_and_uses_up_no_retry(spec: dict[str, Any]) -> None:
    w = world(backoffLimit=0, **spec)
    w.settle()
    (first,) = w.names()
    w.run(first)
    w.disrupt(first)
    w.settle()
    assert not w.is_true("FailureTarget")
    (second,) = [p["metadata"]["name"] for p in w.live()]
    assert second != first
    w.end(second)
    w.settle()
    assert w.is_true("Complete")
    assert w.status["succeeded"] == 1
    assert not w.status.get("failed")


def test_failures_past_the_limit_fail_the_job_and_take_the_other_pods_down() -> None:
    w = world(parallelism=2, completions=2, backoffLimit=0)
    first, _ = w.names()
    w.end(first, 1)
    w.settle()
    assert conditions_of(w) == {"FailureTarget": "BackoffLimitExceeded", "Failed": "BackoffLimitExceeded"}
    assert w.live() == []
    assert "completionTime" not in w.status
    assert "BackoffLimitExceeded" in w.events


def test_failed_waits_until_the_last_pod_is_gone() -> None:
    w = world(grace=True, parallelism=2, completions=2, backoffLimit=0)
    first, second = w.names()
    w.run(second)
    w.end(first, 1)
    w.settle()
    assert w.is_true("FailureTarget")
    assert not w.is_true("Failed")
    assert w.status["terminating"] == 1
    w.gone(second)
    w.settle()
    assert w.is_true("Failed")
    assert w.status["terminating"] == 0


@pytest.mark.parametrize(("limit", "restarts", "fails"), [(0, 0, False), (0, 1, True), (3, 2, False), (3, 3, True)])
def test_restarts_in_place_count_against_the_limit(limit: int, restarts: int, fails: bool) -> None:
    w = world(restart="OnFailure", backoffLimit=limit)
    name = w.names()[0]
    w.patch(Pod, name, {"status": {"phase": "Running", "containerStatuses": [{"name": "c", "restartCount": restarts}]}})
    w.settle()
    assert w.is_true("Failed") == fails


@pytest.mark.parametrize(
    ("ended", "spec", "words"),
    [
        ("Succeeded", {}, "1 pod succeeded, as many as the job needs"),
        ("Succeeded", {"completions": 2, "parallelism": 2}, "2 pods succeeded, as many as the job needs"),
        ("Failed", {"backoffLimit": 0}, "1 pod failed: the backoff limit is 0"),
    ],
)
def test_the_end_is_told_in_words_that_count_right(ended: str, spec: dict[str, Any], words: str) -> None:
    w = world(**spec)
    for name in w.names():
        w.patch(Pod, name, {"status": {"phase": ended}})
    w.settle()
    assert words in [c["message"] for c in w.status["conditions"]]


def test_restarts_do_not_count_where_pods_never_restart() -> None:
    w = world(backoffLimit=0)
    w.patch(
        Pod, w.names()[0], {"status": {"phase": "Running", "containerStatuses": [{"name": "c", "restartCount": 1}]}}
    )
    w.settle()
    assert not w.is_true("Failed")


def test_the_deadline_fails_the_job() -> None:
    w = world(activeDeadlineSeconds=30)
    assert w.sync().wake_at_ms == w.now_ms + 30_000
    w.advance(29)
    w.settle()
    assert not w.is_true("Failed")
    w.advance(1)
    w.settle()
    assert conditions_of(w)["Failed"] == "DeadlineExceeded"
    assert w.names() == []


# cases: suspend and resume


def test_a_job_created_suspended_makes_nothing() -> None:
    w = world(suspend=True)
    assert w.names() == []
    assert conditions_of(w) == {"Suspended": "JobSuspended"}
    assert "startTime" not in w.status


def test_suspending_removes_pods_without_counting_them() -> None:
    w = world(parallelism=2, completions=2, backoffLimit=0)
    w.run(w.names()[0])
    w.edit({"suspend": True})
    w.settle()
    assert w.names() == []
    assert "failed" not in w.status
    assert "active" not in w.status
    assert "startTime" not in w.status


def test_a_pod_that_ends_while_it_is_being_suspended_is_counted() -> None:
    w = world()
    name = w.names()[0]
    w.edit({"suspend": True})
    w.lag(Pod)
    w.end(name)
    w.look()
    assert w.names() == [name], "its removal was decided on an old view, and is refused"
    w.settle()
    assert w.is_true("Complete")


def test_resuming_starts_the_clock_anew() -> None:
    w = world(activeDeadlineSeconds=30)
    w.edit({"suspend": True})
    w.settle()
    w.advance(100)
    w.edit({"suspend": False})
    w.settle()
    assert w.sync().wake_at_ms == w.now_ms + 30_000
    assert dict(w.conditions) == {"Suspended": "False"}
    assert len(w.live()) == 1


def test_suspended_pods_on_their_way_out_are_shown_as_terminating() -> None:
    w = world(grace=True)
    name = w.names()[0]
    w.run(name)
    w.edit({"suspend": True})
    w.settle()
    assert w.status["terminating"] == 1
    w.gone(name)
    w.settle()
    assert w.status["terminating"] == 0


# cases: time to live, managers, deletion


def test_a_finished_job_goes_after_its_time_to_live() -> None:
    w = world(ttlSecondsAfterFinished=60)
    w.end(w.names()[0])
    w.settle()
    assert w.sync().wake_at_ms == w.now_ms + 60_000
    w.advance(60)
    w.look()
    assert not w.exists


def test_a_job_of_another_manager_is_left_alone() -> None:
    w = world(managedBy="kueue.x-k8s.io/multikueue")
    assert w.names() == []
    assert w.status == {}


def test_a_job_that_is_being_deleted_makes_nothing_and_lets_its_pods_go() -> None:
    w = world(grace=True)
    name = w.names()[0]
    w.end(name)
    w.patch(Job, "j", {"metadata": {"finalizers": ["x"]}})
    w.delete(Job, "j")
    w.settle()
    assert w.pods()[0]["metadata"].get("finalizers") is None
    assert len(w.made) == 1


# how the queues see it


QUEUED = QueuedBatchJob()


def job(**spec: Any) -> Job:
    made = batch_job(**spec)
    return msgspec.convert(made, Job)


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({}, 1),
        ({"parallelism": 3}, 3),
        ({"parallelism": 3, "completions": 2}, 2),
        ({"parallelism": 2, "completions": 9}, 2),
    ],
)
def test_the_pod_set_is_as_many_pods_as_run_at_once(spec: dict[str, int], count: int) -> None:
    (shape,) = QUEUED.pod_sets(job(**spec))
    assert (shape.name, shape.count, shape.min_count) == ("main", count, None)


def test_a_job_may_start_with_fewer_pods_and_gets_them_back_when_it_is_stopped() -> None:
    made = batch_job(parallelism=8, completions=8)
    made["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    view = msgspec.convert(made, Job)
    assert QUEUED.pod_sets(view)[0].min_count == 2
    assert QUEUED.start_patch(view, [PodSetInfo("main", 3)]) == {"spec": {"suspend": False, "parallelism": 3}}
    made["spec"].update(parallelism=3, suspend=True)
    stopped = msgspec.convert(made, Job)
    assert QUEUED.stop_patch(stopped, [PodSetShape("main", 8, {}, 2)]) == {"spec": {"parallelism": 8}}


def test_completions_follow_where_they_are_to_be_as_many() -> None:
    made = batch_job(parallelism=8, completions=8)
    made["metadata"]["annotations"] = {
        "kueue.x-k8s.io/job-min-parallelism": "2",
        "kueue.x-k8s.io/job-completions-equal-parallelism": "true",
    }
    started = QUEUED.start_patch(msgspec.convert(made, Job), [PodSetInfo("main", 3)])
    assert started == {"spec": {"suspend": False, "parallelism": 3, "completions": 3}}


@pytest.mark.parametrize(
    ("spec", "succeeded", "given_back"),
    [
        ({"parallelism": 4, "completions": 10}, 5, {}),
        ({"parallelism": 4, "completions": 10}, 8, {"main": 2}),
        ({"parallelism": 4, "completions": 3}, 1, {"main": 1}),
        ({"parallelism": 4}, 2, {}),
        ({"parallelism": 4, "completions": 4}, 0, {}),
    ],
)
def test_pods_that_nothing_is_left_to_do_for_are_given_back(
    spec: dict[str, int], succeeded: int, given_back: dict[str, int]
) -> None:
    made = {**batch_job(**spec), "status": {"succeeded": succeeded}}
    assert QUEUED.standing(msgspec.convert(made, Job)).reclaimable == given_back


def test_stopping_takes_two_steps_with_the_start_time_between() -> None:
    made = batch_job()
    made["spec"]["template"]["spec"]["nodeSelector"] = {"pool": "gpu", "zone": "a"}
    stored = [PodSetShape("main", 1, {"spec": {"nodeSelector": {"zone": "a"}}})]
    running = msgspec.convert(made, Job)
    assert QUEUED.stop_patch(running, stored) == {"spec": {"suspend": True}}
    made["spec"]["suspend"] = True
    made["status"] = {"startTime": "2026-01-01T00:00:00Z"}
    assert QUEUED.stop_patch(msgspec.convert(made, Job), stored) == {}
    made["status"] = {}
    restored = QUEUED.stop_patch(msgspec.convert(made, Job), stored)
    assert restored == {"spec": {"template": {"spec": {"nodeSelector": {"pool": None, "zone": "a"}}}}}


def test_a_suspension_that_was_not_seen_yet_still_holds_its_quota() -> None:
    w = world()
    w.edit({"suspend": True})
    assert QUEUED.standing(w.view(Job)[0]).active
    w.settle()
    assert not QUEUED.standing(w.view(Job)[0]).active


def test_pods_on_their_way_out_hold_their_quota() -> None:
    w = world(grace=True)
    name = w.names()[0]
    w.run(name)
    w.edit({"suspend": True})
    w.settle()
    assert QUEUED.standing(w.view(Job)[0]).active
    w.gone(name)
    w.settle()
    assert not QUEUED.standing(w.view(Job)[0]).active


def test_a_pod_that_succeeded_and_is_not_counted_yet_is_ready_enough() -> None:
    status = JobStatus(active=0, ready=0, uncounted_terminated_pods={"succeeded": ["u"]})
    assert QUEUED.standing(msgspec.structs.replace(world().view(Job)[0], status=status)).pods_ready


def test_a_finished_job_says_how() -> None:
    w = world()
    w.end(w.names()[0])
    w.settle()
    standing = QUEUED.standing(w.view(Job)[0])
    assert (standing.finished, standing.succeeded, standing.active) == (True, True, False)
    assert standing.message
