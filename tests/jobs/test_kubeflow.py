"""The shared engine of kubeflow.org/v1 jobs, through PyTorchJob."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.core import Pod, Service
from kumi.api.coscheduling import PodGroup as CoschedulingPodGroup
from kumi.api.kubeflow import PyTorchJob
from kumi.api.volcano import PodGroup
from kumi.jobs.base import Settings
from kumi.jobs.kubeflow import has_ended
from kumi.jobs.pytorchjob import PyTorchReplicas
from tests.jobs.world import World, going, phase, pytorch_job

ALL = ["p-master-0", "p-worker-0", "p-worker-1"]


def world(grace: bool = False, installation: Settings | None = None, **job: Any) -> World:
    made = World(PyTorchReplicas(), pytorch_job(**job), installation, grace=grace)
    made.settle()
    return made


def run_all(w: World) -> None:
    for name in w.names():
        w.run(name)
    w.settle()


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
    master=st.integers(0, 1),
    policy=st.sampled_from(["OnFailure", "ExitCode", "Never"]),
    grace=st.booleans(),
)
def test_whatever_happens_the_job_ends_right(
    events: list[tuple[str, int, int]], master: int, policy: str, grace: bool
) -> None:
    w = World(PyTorchReplicas(), pytorch_job(master=master, workers=2, policy=policy), grace=grace)
    names = set(ALL) if master else {"p-worker-0", "p-worker-1"}
    hurt = 0
    for what, which, looks in events:
        hurt += _happen(w, what, which)
        for _ in range(looks):
            w.look()
        _check(w, names)
    w.edit({"runPolicy": {"suspend": False}})
    for _ in range(40):
        w.settle()
        _check(w, names)
        if w.is_true("Succeeded") or w.is_true("Failed"):
            break
        for pod in w.pods():
            if going(pod):
                w.gone(pod["metadata"]["name"])
            elif phase(pod) in ("Pending", "Running"):
                w.end(pod["metadata"]["name"])
    failed = w.is_true("Failed")
    assert failed != w.is_true("Succeeded"), "one end, never both"
    assert not (failed and not hurt), "what Kumi deleted is no failure"
    assert not (failed and policy == "OnFailure")
    before, conditions = len(w.made), w.status["conditions"]
    w.edit({"runPolicy": {"suspend": True}})
    w.settle()
    w.edit({"runPolicy": {"suspend": False}})
    w.settle()
    assert len(w.made) == before
    assert w.status["conditions"] == conditions, "a finished job stays finished"


HARMLESS = st.lists(
    st.tuples(
        st.sampled_from(["run", "gone", "lose", "lag", "suspend", "resume"]),
        st.integers(0, 5),
        st.integers(0, 3),
    ),
    max_size=30,
)


@settings(max_examples=200, deadline=None)
@given(events=HARMLESS, workers=st.integers(1, 2))
def test_what_kumi_deletes_itself_never_fails_a_job_that_never_restarts(
    events: list[tuple[str, int, int]], workers: int
) -> None:
    w = World(PyTorchReplicas(), pytorch_job(master=0, workers=workers, policy="Never"), grace=True)
    for what, which, looks in events:
        _happen(w, what, which)
        for _ in range(looks):
            w.look()
        assert not w.is_true("Failed")


def _happen(w: World, what: str, which: int) -> int:
    """Lets it happen; 1 if it may hurt the job."""
    w.advance(1)
    if which > 2:
        w.catch_up()
    pods = w.pods()
    if what == "lose":
        w.look(fail_after=which)
    elif what == "lag":
        w.lag((Pod, Service, PyTorchJob)[which % 3])
    elif what in ("suspend", "resume"):
        w.edit({"runPolicy": {"suspend": what == "suspend"}})
    elif pods:
        pod = pods[which % len(pods)]
        name, live = pod["metadata"]["name"], phase(pod) in ("Pending", "Running") and not going(pod)
        if what == "run" and live:
            w.run(name)
        elif what in ("succeed", "fail") and live:
            w.end(name, 1 if what == "fail" else 0)
            return int(what == "fail")
        elif what == "delete" and live:
            w.delete(Pod, name)
            return 1
        elif what == "gone" and going(pod):
            w.gone(name)
    return 0


def _check(w: World, names: set[str]) -> None:
    types = [t for t, _ in w.conditions]
    assert len(types) == len(set(types))
    assert set(w.names()) <= names


@settings(max_examples=60, deadline=None)
@given(events=EVENTS)
def test_a_second_look_after_the_first_one_settled_writes_nothing(events: list[tuple[str, int, int]]) -> None:
    w = World(PyTorchReplicas(), pytorch_job())
    for what, which, looks in events:
        _happen(w, what, which)
        for _ in range(looks):
            w.look()
    w.settle()
    assert not w.look()


def test_suspend_edit_resume_equals_creating_with_the_edited_spec() -> None:
    edit = {"pytorchReplicaSpecs": {"Worker": {"replicas": 3}}, "nprocPerNode": "2"}
    w = world()
    run_all(w)
    w.edit({"runPolicy": {"suspend": True}})
    w.settle()
    w.edit({**edit, "runPolicy": {"suspend": False}})
    w.settle()
    other = World(PyTorchReplicas(), pytorch_job())
    other.edit(edit)
    other.settle()
    assert [p["spec"] for p in w.pods()] == [p["spec"] for p in other.pods()]
    assert w.names(Service) == other.names(Service)


# cases: the life of a job


def test_created_is_the_first_condition_and_pods_have_services_of_their_names() -> None:
    w = world()
    assert w.conditions == [("Created", "True")]
    assert w.names() == w.names(Service) == ALL
    assert w.status["startTime"]


def test_a_job_of_another_manager_is_left_alone() -> None:
    w = world(runPolicy={"managedBy": "kueue.x-k8s.io/multikueue"})
    assert w.names() == []
    assert w.status == {}


def test_running_workers_alone_do_not_make_a_job_with_a_master_run() -> None:
    w = world()
    w.run("p-worker-0")
    w.settle()
    assert w.conditions == [("Created", "True")]
    w.run("p-master-0")
    w.settle()
    assert w.conditions[-1] == ("Running", "True")


def test_success_of_the_master_ends_the_job_and_counts_running_workers_as_succeeded() -> None:
    w = world()
    run_all(w)
    w.end("p-master-0")
    w.settle()
    assert w.conditions == [("Created", "True"), ("Running", "False"), ("Succeeded", "True")]
    counts = {t: (s.get("active", 0), s.get("succeeded", 0)) for t, s in w.status["replicaStatuses"].items()}
    assert counts == {"Master": (0, 1), "Worker": (0, 2)}
    assert w.status["completionTime"]
    assert w.names() == ALL, "kept by default"


def test_a_pod_deleted_from_outside_is_made_again_under_its_name() -> None:
    w = world()
    run_all(w)
    uid = w.pods()[1]["metadata"]["uid"]
    w.delete(Pod, "p-worker-0")
    w.settle()
    assert w.names() == ALL
    assert w.pods()[1]["metadata"]["uid"] != uid
    assert w.conditions[-1] == ("Running", "True")


def test_a_service_deleted_from_outside_is_made_again() -> None:
    w = world()
    w.delete(Service, "p-worker-0")
    w.settle()
    assert w.names(Service) == ALL


def test_replicas_beyond_the_count_go_with_their_services() -> None:
    w = world()
    w.edit({"pytorchReplicaSpecs": {"Worker": {"replicas": 1}}})
    w.settle()
    assert w.names() == w.names(Service) == ALL[:2]


# cases: failure


@pytest.mark.parametrize("policy", ["OnFailure", "Always"])
def test_a_failed_pod_is_made_again_and_the_job_restarts(policy: str) -> None:
    w = world(policy=policy)
    run_all(w)
    w.end("p-worker-1", 1)
    w.look()
    assert w.conditions == [("Created", "True"), ("Restarting", "True")]
    w.settle()
    assert w.names() == ALL
    assert w.conditions == [("Created", "True"), ("Running", "True")], "the master runs on"
    assert "PyTorchJobRestarting" in w.events


@pytest.mark.parametrize(("code", "fails"), [(1, True), (127, True), (128, False), (137, False)])
def test_exit_codes_from_128_on_are_tried_again_and_others_fail_the_job(code: int, fails: bool) -> None:
    w = world(master=0, policy="ExitCode")
    run_all(w)
    w.end("p-worker-1", code)
    w.settle()
    assert w.is_true("Failed") == fails
    assert len(w.made) == (2 if fails else 3)
    assert "completionTime" not in w.status


def test_a_failure_without_a_known_exit_code_is_tried_again() -> None:
    w = world(master=0, policy="ExitCode")
    w.patch(Pod, "p-worker-0", {"status": {"phase": "Failed", "reason": "Evicted"}})
    w.settle()
    assert not w.is_true("Failed")
    assert len(w.made) == 3


def test_only_the_main_containers_exit_code_counts() -> None:
    w = world(master=0, policy="ExitCode")
    w.end("p-worker-0", 1, container="sidecar")
    w.settle()
    assert not w.is_true("Failed")


def test_the_first_failure_fails_a_job_that_never_restarts() -> None:
    w = world(policy="Never")
    run_all(w)
    w.end("p-worker-0", 1)
    w.settle()
    assert w.conditions == [("Created", "True"), ("Running", "False"), ("Failed", "True")]
    assert w.status["completionTime"]
    assert w.names() == ALL


@pytest.mark.parametrize("policy", ["Never", "OnFailure", "ExitCode"])
def test_a_pod_whose_node_stopped_is_made_again_whatever_the_policy_and_uses_up_no_retry(policy: str) -> None:
    w = world(policy=policy, runPolicy={"backoffLimit": 0})
    run_all(w)
    uid = w.objects[Pod, "p-worker-0"]["metadata"]["uid"]
    w.disrupt("p-worker-0")
    w.settle()
    assert not w.is_true("Failed")
    assert w.names() == ALL
    again = w.objects[Pod, "p-worker-0"]
    assert (phase(again), again["metadata"]["uid"] != uid) == ("Pending", True)


def test_restarts_in_place_hit_the_backoff_limit_and_everything_goes() -> None:
    w = world(runPolicy={"backoffLimit": 2})
    run_all(w)
    status = {"containerStatuses": [{"name": "pytorch", "restartCount": 2}]}
    w.patch(Pod, "p-worker-0", {"status": status})
    w.settle()
    assert w.is_true("Failed")
    assert w.names() == w.names(Service) == []
    assert w.status["completionTime"]
    assert "backoff limit of 2" in w.status["conditions"][-1]["message"]


def test_restarts_below_the_limit_do_not_fail_it() -> None:
    w = world(runPolicy={"backoffLimit": 3})
    run_all(w)
    w.patch(Pod, "p-worker-0", {"status": {"containerStatuses": [{"name": "pytorch", "restartCount": 2}]}})
    w.settle()
    assert not w.is_true("Failed")


def test_a_backoff_limit_of_zero_allows_no_failed_pod() -> None:
    w = world(runPolicy={"backoffLimit": 0})
    run_all(w)
    w.end("p-worker-0", 1)
    w.settle()
    assert w.is_true("Failed")
    assert w.names() == []


def test_a_job_that_hit_a_limit_is_cleaned_even_if_its_first_deletions_were_lost() -> None:
    w = world(runPolicy={"backoffLimit": 2})
    run_all(w)
    w.patch(Pod, "p-worker-0", {"status": {"containerStatuses": [{"name": "pytorch", "restartCount": 2}]}})
    w.look()
    assert w.is_true("Failed")
    w.look(fail_after=2)
    assert w.names() != []
    w.settle()
    assert w.is_true("Failed")
    assert w.names() == w.names(Service) == []


def test_the_deadline_counts_from_the_start() -> None:
    w = world(runPolicy={"activeDeadlineSeconds": 60})
    assert w.sync().wake_at_ms == w.now_ms + 60_000
    w.advance(60)
    w.settle()
    assert w.is_true("Failed")
    assert w.names() == []
    assert "deadline of 60 s" in w.status["conditions"][-1]["message"]


# cases: after the end


@pytest.mark.parametrize(("clean", "pods"), [("None", ALL), ("Running", ["p-master-0"]), ("All", [])])
def test_what_is_kept_of_a_finished_job(clean: str, pods: list[str]) -> None:
    w = world(runPolicy={"cleanPodPolicy": clean})
    w.run("p-worker-0")
    w.end("p-master-0")
    w.settle()
    assert w.names() == w.names(Service) == pods


def test_a_finished_job_goes_after_its_time_to_live() -> None:
    w = world(runPolicy={"ttlSecondsAfterFinished": 10})
    w.end("p-master-0")
    w.settle()
    assert w.sync().wake_at_ms == w.now_ms + 10_000
    w.advance(10)
    w.look()
    assert not w.exists


def test_a_permanent_exit_code_leaves_the_job_for_ever() -> None:
    w = world(master=0, policy="ExitCode", runPolicy={"ttlSecondsAfterFinished": 1})
    w.end("p-worker-0", 1)
    w.settle()
    w.advance(100)
    w.settle()
    assert w.exists


# cases: suspend and resume


def test_a_job_created_suspended_makes_nothing_and_has_not_started() -> None:
    w = world(runPolicy={"suspend": True})
    assert w.conditions == [("Created", "True"), ("Suspended", "True")]
    assert w.names() == w.names(Service) == []
    assert "startTime" not in w.status


def test_suspending_takes_everything_down() -> None:
    w = world()
    run_all(w)
    w.edit({"runPolicy": {"suspend": True}})
    w.settle()
    assert w.conditions == [("Created", "True"), ("Running", "False"), ("Suspended", "True")]
    assert {c["reason"] for c in w.status["conditions"][1:]} == {"PyTorchJobSuspended"}
    assert w.names() == w.names(Service) == []
    assert w.status["startTime"]
    assert all(not s.get("active") for s in w.status["replicaStatuses"].values())


def test_suspended_is_stored_before_anything_is_deleted() -> None:
    w = world()
    w.edit({"runPolicy": {"suspend": True}})
    w.look()
    assert w.is_true("Suspended")
    assert w.names() == ALL


def test_pods_on_their_way_out_stay_active_and_a_resumed_job_waits_for_them() -> None:
    w = world(grace=True, policy="Never")
    run_all(w)
    w.edit({"runPolicy": {"suspend": True}})
    w.settle()
    assert w.status["replicaStatuses"]["Worker"]["active"] == 2
    w.edit({"runPolicy": {"suspend": False}})
    w.settle()
    assert w.is_true("Suspended")
    for name in ALL:
        w.gone(name)
    w.settle()
    assert dict(w.conditions)["Suspended"] == "False"
    assert "Failed" not in dict(w.conditions)
    assert w.names() == ALL


def test_resuming_starts_the_clock_anew() -> None:
    w = world(runPolicy={"activeDeadlineSeconds": 30, "suspend": True})
    w.advance(100)
    w.edit({"runPolicy": {"suspend": False}})
    w.settle()
    assert w.conditions == [("Created", "True"), ("Suspended", "False")]
    assert w.status["conditions"][-1]["reason"] == "PyTorchJobResumed"
    assert w.sync().wake_at_ms == w.now_ms + 30_000
    assert w.names() == ALL


# cases: gangs


VOLCANO = Settings(gang_scheduler="volcano")


def test_pods_of_a_volcano_gang_wait_for_their_pod_group() -> None:
    w = world(installation=VOLCANO)
    assert w.names() == []
    assert w.names(PodGroup) == ["p"]
    w.patch(PodGroup, "p", {"status": {"phase": "Pending"}})
    w.settle()
    assert w.names() == []
    w.patch(PodGroup, "p", {"status": {"phase": "Inqueue"}})
    w.settle()
    assert w.names() == ALL
    assert w.pods()[0]["spec"]["schedulerName"] == "volcano"


def test_the_pod_group_follows_the_job_and_goes_with_its_end() -> None:
    w = world(installation=VOLCANO)
    w.patch(PodGroup, "p", {"status": {"phase": "Running"}})
    w.edit({"pytorchReplicaSpecs": {"Worker": {"replicas": 4}}})
    w.settle()
    assert w.objects[PodGroup, "p"]["spec"]["minMember"] == 5
    w.end("p-master-0")
    w.settle()
    assert w.names(PodGroup) == []


def test_another_gang_scheduler_gets_pods_at_once_and_one_pod_group() -> None:
    w = world(installation=Settings(gang_scheduler="coscheduling"))
    assert w.names() == ALL
    assert w.names(CoschedulingPodGroup) == ["p"]
    assert w.pods()[0]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == "p"
    assert not w.look()


def test_a_suspended_job_has_no_pod_group() -> None:
    w = world(installation=VOLCANO)
    w.edit({"runPolicy": {"suspend": True}})
    w.settle()
    assert w.names(PodGroup) == []


def test_an_ended_status_is_succeeded_or_failed() -> None:
    w = world()
    view = w.view(PyTorchJob)[0]
    assert not has_ended(view.status)
    w.end("p-master-0")
    w.settle()
    assert has_ended(w.view(PyTorchJob)[0].status)


def test_what_the_template_says_of_restarting_gives_way_with_a_warning() -> None:
    job = pytorch_job(master=0, workers=1, policy="ExitCode")
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["restartPolicy"] = "Always"
    w = World(PyTorchReplicas(), job)
    w.settle()
    assert w.pods()[0]["spec"]["restartPolicy"] == "Never"
    assert "SetPodTemplateRestartPolicy" in w.events
