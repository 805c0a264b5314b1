"""A history keeps what it is told, whatever the order of a job's life, and keeps it small."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest

from kumi.api.errors import KumiError
from kumi.engine.decisions import Bind, Unplaced
from kumi.engine.model import Node, PodShape, Put
from kumi.evaluator.facts import ENDS, NONE, OVER
from kumi.evaluator.history import History
from kumi.evaluator.model import MOST, Job, Role, What
from tests.evaluator.told import GPU, Told, ms, shape, small


def test_a_job_that_runs_and_ends_has_one_run_and_one_span() -> None:
    told = Told()
    told.node("n1")
    job = told.job("a", 5, gpus=2, runs=10, priority=3, said_ms=7000, due=20)
    told.start(job, 6, "n1")
    told.end(job, 16)
    facts = told.close(16)
    jobs, runs, spans = facts.jobs, facts.runs, facts.spans
    assert (jobs.arrival[0], jobs.first_start[0], jobs.end[0]) == (ms(5), ms(6), ms(16))
    assert (jobs.work[0], jobs.said[0], jobs.deadline[0], jobs.priority[0]) == (10_000, 7000, ms(20), 3)
    assert jobs.key(0) == "default/a"
    assert (runs.job.tolist(), runs.at.tolist(), runs.to.tolist()) == ([0], [ms(6)], [ms(16)])
    assert (spans.at.tolist(), spans.to.tolist(), facts.nodes) == ([ms(6)], [ms(16)], ("n1",))
    assert facts.of_shapes(GPU)[spans.shape].tolist() == [2000]


@pytest.mark.parametrize(("kept", "lost"), [(0, 8), (5, 3), (8, 0)])
def test_what_a_preempted_run_does_not_keep_is_lost(kept: float, lost: float) -> None:
    told = Told()
    job = told.job("a", 0)
    told.start(job, 0, "n1")
    told.end(job, 8, What.PREEMPTED, kept=kept)
    assert told.close(8).jobs.lost[0] == lost * 1000


def test_what_was_kept_before_counts_in_the_next_run() -> None:
    told = Told()
    job = told.job("a", 0, runs=100)
    told.start(job, 0, "n1")
    told.end(job, 25, What.PREEMPTED, kept=20)
    told.start(job, 30, "n1")
    told.end(job, 47, What.LOST, kept=30)
    jobs = told.close(50).jobs
    # 5 of the first run; the second began with 20, ran 17 more and kept 30
    assert jobs.lost[0] == 5_000 + 7_000
    assert (jobs.preempted[0], jobs.evicted[0]) == (1, 1)


def test_a_cancelled_run_wastes_work_but_nobody_does_it_again() -> None:
    told = Told()
    job = told.job("a", 0, runs=100)
    told.start(job, 0, "n1")
    told.end(job, 10, What.CANCELLED)
    jobs = told.close(10).jobs
    assert (jobs.lost[0], jobs.wasted[0], jobs.over[0]) == (0, 10_000, OVER[What.CANCELLED])


@pytest.mark.parametrize("what", ENDS)
def test_what_is_said_of_a_job_after_its_end_changes_nothing(what: What) -> None:
    told = Told()
    job = told.job("a", 0)
    told.end(job, 3, what)
    told.end(job, 9, What.CANCELLED)
    jobs = told.close(9).jobs
    assert (jobs.over[0], jobs.end[0]) == (OVER[what], ms(3))


def test_pods_of_a_gang_leave_one_by_one() -> None:
    told = Told()
    gang = told.job("a", 0, pods=3)
    told.start(gang, 0, "n1", "n1", "n2")
    told.leave(gang, 4, "n2")
    told.leave(gang, 6, "n1")
    told.end(gang, 10)
    spans = told.close(10).spans
    held = sorted(zip(spans.node.tolist(), spans.to.tolist(), strict=True))
    assert held == [(0, ms(6)), (0, ms(10)), (1, ms(4))]


def test_pods_of_two_roles_are_told_apart() -> None:
    told = Told()
    job = told.job("a", 0, roles=(Role("chief", 1, shape(0, cpu=1)), Role("worker", 1, shape(4))))
    told.place(job, 0, "n1", role=0)
    told.place(job, 0, "n1", role=1)
    told.history.left(ms(5), job, [(1, "n1")])
    facts = told.close(9)
    still = facts.spans.to == NONE
    assert facts.of_shapes(GPU)[facts.spans.shape[still]].tolist() == [0]


def test_devices_that_are_decided_are_those_of_the_pod_that_is_placed_next_with_as_many() -> None:
    told = Told()
    whole, half = told.job("whole", 0, gpus=2), told.job("half", 0, gpus=0.5)
    for devices in ((3,), (0, 1)):
        told.history.decided(ms(0), Bind("a pod", "n1", devices))
    for job in (whole, half):
        told.history.placed(ms(0), job, [(0, "n1")])
    told.start(told.job("plain", 0), 0, "n1")
    facts = told.close(1)
    named = [facts.device_sets[n] if n != NONE else None for n in facts.spans.devices.tolist()]
    assert named == [(0, 1), (3,), None]


def test_equal_roles_are_kept_once() -> None:
    told = Told()
    for number in range(50):
        told.job(f"j{number}", number, gpus=1 + number % 2)
    facts = told.close(60)
    assert (len(facts.shapes), len(facts.kinds)) == (2, 2)


def test_decisions_are_counted_by_kind() -> None:
    history = History()
    for pod in range(3):
        history.decided(ms(0), Bind(f"p{pod}", "n1"))
    history.decided(ms(0), Unplaced("p9", ()))
    history.closed(ms(0), [])
    assert history.facts.decisions == {"Bind": 3, "Unplaced": 1}


def test_a_run_that_is_not_over_has_no_facts() -> None:
    with pytest.raises(ValueError, match="not closed"):
        _ = History().facts


def test_only_jobs_that_are_still_there_have_a_why() -> None:
    result = small()
    assert result.facts.why == {2: "no node has 64 of nvidia.com/gpu"}


def test_a_history_survives_a_save() -> None:
    history = pickle.loads(pickle.dumps(small_history()))
    facts = history.facts
    assert facts.jobs.key(0) == "default/a"
    assert facts.runs.to.tolist() == [NONE]


def small_history() -> History:
    told = Told()
    told.start(told.job("a", 0), 1, "n1")
    told.close(5)
    return told.history


def test_a_million_jobs_would_take_less_than_300_megabytes() -> None:
    told, jobs = Told(), 8_000
    told.node("n1")
    tracemalloc.start()
    try:
        for number in range(jobs):
            job = told.job(f"some-namespace/job-{number:07d}", number, gpus=1 + number % 50)
            told.start(job, number, "n1")
            told.end(job, number + 1)
        facts = told.close(jobs)
        bytes_each = tracemalloc.get_traced_memory()[0] / jobs
    finally:
        tracemalloc.stop()
    assert len(facts.jobs) == jobs
    assert bytes_each < 300


def test_columns_are_of_the_types_that_they_say() -> None:
    facts = small().facts
    assert facts.jobs.arrival.dtype == np.int64
    assert facts.jobs.started.dtype == np.bool_
    assert facts.spans.node.dtype == np.int32


def test_amounts_that_columns_have_no_room_for_are_told() -> None:
    huge = PodShape((("cpu", MOST),))
    with pytest.raises(KumiError, match=f"a pod asks for {MOST} cpu"):
        History().happened(0, What.ARRIVED, Job("ns/j", 0, (Role("main", 1, huge),), 1), 0)
    with pytest.raises(KumiError, match=f"node n has {MOST} cpu"):
        History().changed(0, Put(Node("n", (), (("cpu", MOST),))))


@pytest.mark.parametrize("runs_ms", [1, MOST])
def test_times_that_columns_have_no_room_for_are_told(runs_ms: int) -> None:
    job = Job("ns/j", MOST if runs_ms == 1 else 0, (), runs_ms)
    with pytest.raises(KumiError, match="job ns/j: its times are too large"):
        History().happened(job.arrives_ms, What.ARRIVED, job, 0)
