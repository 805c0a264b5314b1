"""Recordings as loads."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import pytest

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.api.scheme import SCHEME
from kumi.engine.model import Node, Put, Remove
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change, Via
from kumi.evaluator.traces import record
from kumi.evaluator.traces.base import TraceError
from kumi.jobs.workload import name_of
from tests.evaluator.traces.told import QUEUE, WORKLOAD, Told, group, job, meta, node, of_job, pod, spec, workload


def test_what_is_there_at_the_start_is_the_setting_and_what_changes_later_a_change(tmp_path: Path) -> None:
    told = Told().at(0, "ADDED", node("a")).begun().at(5, "ADDED", node("b")).at(6, "MODIFIED", node("b"))
    told.at(7, "MODIFIED", node("a", cpus=8)).at(7, "DELETED", node("b"))
    load = told.load(tmp_path)
    assert [noun.name for noun in load.setting if isinstance(noun, Node)] == ["a"]
    first, second = load.events()
    assert isinstance(first, Change)
    assert isinstance(second, Change)
    assert first.at_ms == START_MS + 5000
    assert [type(delta) for delta in second.deltas] == [Put, Remove], "what says nothing new is no change"


def test_what_could_not_be_read_is_not_there_as_it_was_not_for_who_decided(tmp_path: Path) -> None:
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta("local"), "provisioner": "p"}
    bad = {**storage, "allowedTopologies": [{"matchLabelExpressions": [{"values": ["a"]}]}]}
    limited = {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta("l")}
    wrong = {**limited, "spec": {"limits": [{"type": "Container", "default": {"cpu": "much"}}]}}
    told = Told().at(0, "ADDED", bad).at(0, "ADDED", wrong).begun().at(1, "ADDED", node("a"))
    told.at(2, "MODIFIED", storage).at(3, "MODIFIED", bad).at(4, "DELETED", wrong)
    (only,) = told.events(tmp_path)
    assert isinstance(only, Change)
    assert only.at_ms == START_MS + 1000


def test_a_workload_comes_with_its_pod_sets_queue_and_priority(tmp_path: Path) -> None:
    said = {WORKLOAD: "w"}
    told = Told().begun().at(2, "ADDED", workload("w", count=3))
    told.at(4, "ADDED", pod("a", "Running", said=said)).at(9, "MODIFIED", pod("a", "Succeeded", said=said))
    told.at(9.5, "MODIFIED", workload("w", "Finished", count=3))
    (job,) = told.jobs(tmp_path).values()
    assert (job.key, job.via, job.queue, job.priority) == ("ns/w", Via.WORKLOAD, "q", 7)
    assert [(role.name, role.count) for role in job.roles] == [("main", 3)]
    assert (job.arrives_ms, job.runs_ms, job.said_ms) == (START_MS + 2000, 5000, None)


def test_a_gang_comes_with_its_pods(tmp_path: Path) -> None:
    told = Told().begun().at(1, "ADDED", group("g", 2))
    for name in ("a", "b", "c"):
        told.at(1, "ADDED", pod(name, said={QUEUE: "g"})).at(2, "MODIFIED", pod(name, "Running", said={QUEUE: "g"}))
    for name in ("a", "b", "c"):
        told.at(6, "MODIFIED", pod(name, "Succeeded", said={QUEUE: "g"}))
    (job,) = told.jobs(tmp_path).values()
    assert (job.key, job.via, job.queue, job.least, job.pods, job.runs_ms) == ("ns/g", Via.GANG, "gold", 2, 3, 4000)


def test_jobs_that_are_there_at_the_start_come_then_the_older_first(tmp_path: Path) -> None:
    told = (
        Told()
        .at(0, "ADDED", pod("b", made_s=-5))
        .at(0, "ADDED", pod("a", made_s=-9))
        .at(0, "ADDED", pod("c", "Failed"))
    )
    jobs = told.begun().jobs(tmp_path)
    assert list(jobs) == ["ns/a", "ns/b"], "and what was over is no job any more"
    assert {job.arrives_ms for job in jobs.values()} == {START_MS}


def test_what_did_not_end_runs_as_long_as_it_says_if_that_can_be(tmp_path: Path) -> None:
    told = Told().begun()
    for name, length in (("long", "60s"), ("short", "3s"), ("silent", "")):
        said = {"x/execution-duration": length} if length else {}
        told.at(1, "ADDED", pod(name, said=said)).at(1, "MODIFIED", pod(name, "Running", said=said))
    told.at(10, "RESUMED")
    jobs = told.jobs(tmp_path)
    assert [(job.key, job.runs_ms, job.said_ms) for job in jobs.values()] == [
        ("ns/long", 60_000, 60_000),
        ("ns/short", None, 3000),
        ("ns/silent", None, None),
    ]
    assert told.load(tmp_path).notes == ("rec.jsonl: 3 jobs had not ended when the recording did",)


def test_who_was_given_up_before_it_ran_gives_up_unless_it_runs(tmp_path: Path) -> None:
    told = Told().begun().at(1, "ADDED", pod("p")).at(9, "DELETED", pod("p"))
    arrive, cancel = told.events(tmp_path)
    assert isinstance(arrive, Arrive)
    assert cancel == Cancel(START_MS + 9000, "ns/p", only_waiting=True)


def test_a_name_that_comes_again_has_another_key(tmp_path: Path) -> None:
    told = Told().begun()
    for uid, at in (("1", 1), ("2", 20)):
        told.at(at, "ADDED", pod("p", uid=uid)).at(at + 1, "MODIFIED", pod("p", "Running", uid=uid))
        told.at(at + 3, "DELETED", pod("p", "Running", uid=uid))
    told.at(40, "ADDED", group("p", 1)).at(40, "ADDED", pod("q", said={QUEUE: "p"}))
    jobs = told.jobs(tmp_path)
    assert [(job.key, job.runs_ms) for job in jobs.values()] == [("ns/p", 2000), ("ns/p-2", 2000), ("ns/p-3", None)]


def test_what_a_job_says_counts_for_its_workload(tmp_path: Path) -> None:
    words = {"a/execution-duration": "10s", "a/deadline-duration": "1m", "kumi.dev/checkpoint-interval": "2s"}
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta("j", annotations=words),
        "spec": {"template": {}},
    }
    refs = [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": True}]
    told = Told().begun().at(1, "ADDED", owner).at(1, "ADDED", workload("w", ownerReferences=refs))
    (job,) = told.jobs(tmp_path).values()
    assert (job.said_ms, job.runs_ms, job.checkpoint_ms, job.deadline_ms) == (10_000, 10_000, 2000, START_MS + 60_000)


def test_pods_of_nodes_are_left_out_with_a_note_and_so_is_a_torn_line(tmp_path: Path) -> None:
    refs = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": True}]
    told = Told().at(0, "ADDED", pod("d-1", ownerReferences=refs)).begun()
    told.torn = b'{"at_ms": 1'
    load = told.load(tmp_path)
    assert list(load.events()) == []
    assert load.notes == (
        "rec.jsonl: line 4, the last one, was not written to its end, and is left out",
        "rec.jsonl: left out 1 pods that belong to their nodes (DaemonSets)",
    )


def test_a_workload_that_was_over_before_is_no_job(tmp_path: Path) -> None:
    assert Told().at(0, "ADDED", workload("w", "Admitted", "Finished")).begun().events(tmp_path) == []


def test_a_load_is_the_same_each_time_packed_in_another_process_and_while_it_is_written(tmp_path: Path) -> None:
    told = Told().at(0, "ADDED", node("a")).begun().at(1, "ADDED", pod("p"))
    load = told.load(tmp_path)
    before = list(load.events())
    with (tmp_path / "rec.jsonl").open("ab") as more:
        more.write(Told().at(9, "ADDED", pod("q")).text.splitlines(keepends=True)[1])
    assert list(pickle.loads(pickle.dumps(load)).events()) == list(load.events()) == before
    (tmp_path / "rec.gz").write_bytes(gzip.compress(told.text))
    assert list(record.read(None, tmp_path / "rec.gz").events()) == before


def test_a_recording_that_was_cut_off_at_its_start_is_all_setting(tmp_path: Path) -> None:
    told = Told().at(0, "ADDED", node("a")).at(0, "ADDED", pod("p"))
    load = told.load(tmp_path)
    assert len(load.setting) == 1
    assert [event.at_ms for event in load.events()] == [START_MS]


def test_nodes_from_a_file_are_not_for_a_recording(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="has its own nodes"):
        record.read(tmp_path, tmp_path)


def test_a_job_of_no_queue_comes_with_its_pods_and_runs_until_it_is_finished(tmp_path: Path) -> None:
    words = {"x/execution-duration": "5s", "kumi.dev/checkpoint-interval": "1s"}
    told = Told().begun().at(1, "ADDED", job("j", completions=4, annotations=words))
    for number, at in enumerate((2, 2, 10, 10)):
        name = f"j-{number}"
        told.at(at, "ADDED", pod(name, **of_job("j"))).at(at + 1, "MODIFIED", pod(name, "Running", **of_job("j")))
        told.at(at + 7, "MODIFIED", pod(name, "Succeeded", **of_job("j")))
    (open_,) = told.jobs(tmp_path).values()
    assert open_.runs_ms is None, "there may be more pods"
    told.at(18, "MODIFIED", job("j", "Complete", completions=4, annotations=words))
    (found,) = told.jobs(tmp_path).values()
    assert (found.key, found.via, found.arrives_ms) == ("ns/j", Via.POD, START_MS + 1000)
    assert [(role.name, role.count, dict(role.shape.requests)["cpu"]) for role in found.roles] == [("main", 2, 1000)]
    assert (found.runs_ms, found.said_ms, found.checkpoint_ms, found.labels) == (14_000, 5000, 1000, (("app", "j"),))


def test_a_job_that_is_suspended_comes_when_it_is_resumed(tmp_path: Path) -> None:
    told = Told().begun().at(1, "ADDED", job("j", pods=1, suspend=True)).at(5, "MODIFIED", job("j", pods=1))
    told.at(5, "ADDED", pod("a", **of_job("j"))).at(6, "MODIFIED", pod("a", "Running", **of_job("j")))
    told.at(7, "MODIFIED", job("j", pods=1, suspend=True)).at(8, "DELETED", pod("a", "Running", **of_job("j")))
    told.at(20, "MODIFIED", job("j", pods=1)).at(20, "ADDED", pod("b", **of_job("j")))
    told.at(21, "MODIFIED", pod("b", "Running", **of_job("j"))).at(30, "MODIFIED", pod("b", "Succeeded", **of_job("j")))
    (found,) = told.at(30, "MODIFIED", job("j", "Complete", pods=1)).jobs(tmp_path).values()
    assert (found.arrives_ms, found.runs_ms) == (START_MS + 5000, 9000)


def test_a_training_job_of_no_queue_comes_with_its_roles(tmp_path: Path) -> None:
    replicas = {
        name: {"replicas": count, "template": {"spec": spec(cpus)}}
        for name, count, cpus in (("Master", 1, 2), ("Worker", 3, 1))
    }
    owner = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": meta("t"),
        "spec": {"pytorchReplicaSpecs": replicas},
    }
    told = Told().begun().at(1, "ADDED", owner)
    told.at(1, "ADDED", pod("t-master-0", cpus=2, **of_job("t", "PyTorchJob")))
    told.at(4, "DELETED", owner)
    (found,) = told.jobs(tmp_path).values()
    asked = [(role.name, role.count, dict(role.shape.requests)["cpu"]) for role in found.roles]
    assert asked == [("master", 1, 2000), ("worker", 3, 1000)]
    assert told.events(tmp_path)[1:] == [Cancel(START_MS + 4000, "ns/t", only_waiting=True)]


def test_what_a_workload_is_made_of_is_no_job_beside_it(tmp_path: Path) -> None:
    labels = {"kueue.x-k8s.io/queue-name": "q"}
    told = Told().begun().at(1, "ADDED", job("queued", labels=labels)).at(1, "ADDED", job("managed"))
    for name in ("queued", "managed"):
        told.at(
            2, "ADDED", workload(name if name == "managed" else name_of(SCHEME.of(Job), name, name), **of_job(name))
        )
        told.at(3, "ADDED", pod(f"{name}-0", **of_job(name)))
        told.at(4, "MODIFIED", pod(f"{name}-0", "Running", **of_job(name)))
        told.at(9, "MODIFIED", pod(f"{name}-0", "Succeeded", **of_job(name)))
    found = told.jobs(tmp_path)
    assert [one.via for one in found.values()] == [Via.WORKLOAD] * 2
    assert [one.runs_ms for one in found.values()] == [5000] * 2


def test_a_pod_of_a_queue_is_its_workload_before_that_is_there(tmp_path: Path) -> None:
    labels = {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/managed": "true"}
    name = name_of(SCHEME.of(Pod), "p", "p")
    grouped = labels | {"kueue.x-k8s.io/pod-group-name": "g"}
    told = Told().begun().at(1, "ADDED", pod("p", labels=labels)).at(1, "ADDED", pod("a", labels=grouped))
    told.at(2, "ADDED", workload(name, count=1)).at(2, "ADDED", workload("g", count=1))
    for other, said in (("p", labels), ("a", grouped)):
        told.at(3, "MODIFIED", pod(other, "Running", labels=said)).at(
            9, "MODIFIED", pod(other, "Succeeded", labels=said)
        )
    assert [(one.key, one.runs_ms) for one in told.jobs(tmp_path).values()] == [(f"ns/{name}", 6000), ("ns/g", 6000)]


def test_a_share_of_a_gpu_is_kept(tmp_path: Path) -> None:
    told = Told().begun().at(1, "ADDED", pod("p", said={"kumi.dev/gpu-share": "250"}))
    (found,) = told.jobs(tmp_path).values()
    assert found.roles[0].shape.share == 250


def test_a_pod_that_joins_a_gang_after_it_was_made_is_no_job_beside_it(tmp_path: Path) -> None:
    told = Told().begun().at(1, "ADDED", job("j", pods=1)).at(1, "ADDED", pod("p"))
    told.at(1, "ADDED", pod("j-0", **of_job("j"))).at(2, "ADDED", group("g", 2))
    for name, more in (("p", {}), ("j-0", of_job("j"))):
        told.at(3, "MODIFIED", pod(name, said={QUEUE: "g"}, **more))
        told.at(4, "MODIFIED", pod(name, "Running", said={QUEUE: "g"}, **more))
        told.at(9, "MODIFIED", pod(name, "Succeeded", said={QUEUE: "g"}, **more))
    assert [(one.key, one.pods, one.runs_ms) for one in told.jobs(tmp_path).values()] == [("ns/g", 2, 5000)]
    assert told.load(tmp_path).notes == ()
