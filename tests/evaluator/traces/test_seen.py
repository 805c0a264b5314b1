"""What became of jobs in a recording."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from kumi.evaluator.model import START_MS
from kumi.evaluator.traces import lines
from kumi.evaluator.traces.seen import Names, Seen, Survey, job_of, roles, view_of
from tests.evaluator.traces.told import QUEUE, WORKLOAD, Told, group, pod, workload


def seen(told: Told) -> Survey:
    stream = BytesIO(told.text)
    lines.started_ms(Path("rec"), stream)
    survey = Survey(START_MS)
    for line in lines.lines(Path("rec"), stream):
        survey.see(line)
    return survey


def one(told: Told) -> Seen:
    (found,) = seen(told).jobs.values()
    return found


def test_a_pod_is_a_job_a_part_of_one_or_its_nodes_own() -> None:
    owner = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": True}]
    for obj, name in (
        (pod("p"), "Pod ns/p"),
        (pod("p", said={WORKLOAD: "w"}), "Workload ns/w"),
        (pod("p", said={QUEUE: "g"}), "PodGroup ns/g"),
        (pod("p", ownerReferences=owner), ""),
        (group("g", 1, annotations={WORKLOAD: "w"}), ""),
        (group("g", 1), "PodGroup ns/g"),
    ):
        view = view_of(obj)
        assert view is not None
        assert job_of(view) == name


def test_what_can_not_be_read_is_nothing() -> None:
    assert view_of({"apiVersion": "v9", "kind": "Thing", "metadata": {"name": "x"}}) is None
    assert view_of({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 7}}) is None


def test_a_name_that_comes_again_is_another_job() -> None:
    names = Names()
    found = []
    for obj in (
        workload("w", uid="1"),
        pod("p", said={WORKLOAD: "w"}),
        workload("w", uid="2"),
        pod("q", said={WORKLOAD: "w"}),
    ):
        view = view_of(obj)
        assert view is not None
        found.append(names.of(view))
    assert found == ["Workload ns/w", "Workload ns/w", "Workload ns/w-2", "Workload ns/w-2"]


def test_it_ran_from_the_first_start_to_the_last_end_of_its_pods() -> None:
    told = Told().begun().at(1, "ADDED", group("g", 2))
    for name in ("a", "b"):
        told.at(1.5, "ADDED", pod(name, said={QUEUE: "g"}))
    told.at(2, "MODIFIED", pod("a", "Running", said={QUEUE: "g"})).at(
        3, "MODIFIED", pod("b", "Running", said={QUEUE: "g"})
    )
    told.at(9, "MODIFIED", pod("a", "Succeeded", said={QUEUE: "g"}))
    assert one(told).ran_ms is None, "one of its pods still runs"
    told.at(12, "MODIFIED", pod("b", "Failed", said={QUEUE: "g"}))
    assert one(told).ran_ms == 10_000


def test_what_is_deleted_while_it_runs_ended_then() -> None:
    told = (
        Told()
        .begun()
        .at(1, "ADDED", pod("p"))
        .at(2, "MODIFIED", pod("p", "Running"))
        .at(5, "DELETED", pod("p", "Running"))
    )
    assert one(told).ran_ms == 3000


def test_of_what_ran_when_the_recording_began_what_was_left_counts() -> None:
    told = Told().at(0, "ADDED", pod("p", "Running", started_s=-100)).begun().at(5, "MODIFIED", pod("p", "Succeeded"))
    assert one(told).ran_ms == 5000


def test_a_run_that_nobody_saw_begin_began_when_it_says() -> None:
    told = Told().begun().at(1, "ADDED", pod("p")).at(9, "MODIFIED", pod("p", "Succeeded", started_s=6))
    assert one(told).ran_ms == 3000


def test_after_an_eviction_the_next_run_counts() -> None:
    said = {WORKLOAD: "w"}
    told = Told().begun().at(1, "ADDED", workload("w")).at(2, "ADDED", pod("a", "Pending", said=said))
    told.at(3, "MODIFIED", pod("a", "Running", said=said))
    told.at(50, "MODIFIED", workload("w", "Evicted", since_s=50)).at(
        51, "MODIFIED", workload("w", "Evicted", since_s=50)
    )
    told.at(52, "MODIFIED", pod("a", "Running", said=said)).at(53, "DELETED", pod("a", "Running", said=said))
    told.at(60, "ADDED", pod("b", said=said)).at(61, "MODIFIED", pod("b", "Running", said=said))
    told.at(71, "MODIFIED", pod("b", "Succeeded", said=said))
    assert one(told).ran_ms == 10_000


def test_a_workload_whose_pods_are_elsewhere_ran_from_admission_to_finish() -> None:
    told = Told().begun().at(1, "ADDED", workload("w")).at(4, "MODIFIED", workload("w", "Admitted"))
    assert one(told).ran_ms is None
    told.at(10, "MODIFIED", workload("w", "Admitted", "Finished"))
    assert one(told).ran_ms == 6000


def test_a_gang_is_as_large_as_it_was_at_once() -> None:
    told = Told().begun().at(1, "ADDED", group("g", 1))
    for name in ("a", "b"):
        told.at(1, "ADDED", pod(name, said={QUEUE: "g"}))
    told.at(2, "DELETED", pod("a", said={QUEUE: "g"})).at(3, "ADDED", pod("c", said={QUEUE: "g"}))
    told.at(3, "ADDED", pod("d", cpus=2, said={QUEUE: "g"}))
    found = list(roles(one(told).most.items()))
    assert [(name, count, dict(shape.requests)["cpu"]) for name, count, shape in found] == [
        ("task", 2, 1000),
        ("task.2", 1, 2000),
    ]


def test_a_survey_knows_how_far_the_recording_goes_and_if_it_is_torn() -> None:
    told = Told().begun().at(8, lines.RESUMED)
    told.torn = b'{"at'
    survey = seen(told)
    assert (survey.end_ms, survey.last_line, survey.torn) == (START_MS + 8000, 3, 4)
