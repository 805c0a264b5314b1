"""Figures of jobs and of use: laws that hold on any run of the engine, percentiles as NumPy has them, and hand-made runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.evaluator import metrics
from kumi.evaluator.facts import NONE
from kumi.evaluator.model import Load, Policy, What
from tests.evaluator.loads import loads, policies
from tests.evaluator.told import GPU, Told, has_shrunk, played, small

values = st.lists(st.integers(0, 10**12), min_size=1, max_size=60)


@settings(max_examples=40)
@given(loads(), policies())
def test_on_every_run_what_does_good_is_within_what_runs_is_held_and_is_there(load: Load, policy: Policy) -> None:
    facts = played(load, policy)
    for resource in facts.asked:
        use = metrics.use(facts, resource)
        assert 0 <= use.utilized <= use.allocated
        assert (use.goodput_percent is None) == (use.allocated == 0)
        assert 0 <= (use.goodput_percent or 0) <= 100
        assert has_shrunk(facts) or (use.allocated <= use.capacity and 0 <= use.peak_percent <= 100)


@settings(max_examples=40)
@given(loads(), policies())
def test_on_every_run_jobs_that_came_wait_run_or_are_over(load: Load, policy: Policy) -> None:
    facts = played(load, policy)
    assert sum(metrics.outcomes(facts).values()) == len(facts.jobs)
    times = np.unique(np.concatenate((facts.jobs.arrival, facts.runs.at, facts.jobs.end[facts.jobs.end != NONE])))
    there = [
        int((facts.jobs.arrival <= t).sum() - ((facts.jobs.end != NONE) & (facts.jobs.end <= t)).sum()) for t in times
    ]
    waits, runs = metrics.queue_length(facts).on(times), metrics.running(facts).on(times)
    assert (waits + runs).tolist() == there
    assert (waits >= 0).all()
    assert (runs >= 0).all()


@settings(max_examples=40)
@given(loads(), policies())
def test_the_queues_area_is_the_time_that_jobs_wait(load: Load, policy: Policy) -> None:
    facts = played(load, policy)
    long = facts.end_ms - facts.begin_ms
    queued = metrics.queued_ms(facts)
    assert (queued >= 0).all()
    assert metrics.queue_length(facts).mean(facts.begin_ms, facts.end_ms) * long == pytest.approx(int(queued.sum()))


@given(values)
def test_percentiles_are_those_of_numpy(found: list[int]) -> None:
    of = metrics.spread(np.array(found, dtype=np.int64))
    assert (of.p50, of.p95, of.p99) == tuple(np.percentile(found, [50, 95, 99]))
    assert of.mean == sum(found) / len(found)
    assert (of.max, of.count) == (max(found), len(found))


def test_a_percentile_lies_between_two_values_in_proportion() -> None:
    of = metrics.spread(np.array([0, 10, 20, 30], dtype=np.int64))
    assert (of.p50, of.p95) == (15.0, pytest.approx(28.5))


def test_nothing_has_no_spread() -> None:
    assert metrics.spread(np.empty(0, dtype=np.int64)).mean is None


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=30), st.floats(0.001, 1000))
def test_jains_index_knows_neither_unit_nor_order(x: list[float], factor: float) -> None:
    index = metrics.jain(x)
    assert 1 / len(x) - 1e-9 <= index <= 1 + 1e-9
    assert metrics.jain([factor * v for v in reversed(x)]) == pytest.approx(index)


@pytest.mark.parametrize(
    ("x", "index"), [([3, 3, 3], 1), ([5, 0, 0, 0, 0], 0.2), ([1, 2, 3], 36 / 42), ([], 1), ([0, 0], 1)]
)
def test_jains_index(x: list[float], index: float) -> None:
    assert metrics.jain(x) == pytest.approx(index)


def test_wait_is_until_the_first_start_and_queued_is_all_waiting() -> None:
    facts = small().facts
    assert metrics.wait_ms(facts).tolist() == [0, 0, NONE, 0]
    # second waits from 20 to 50 again; giant from 10 to the end
    assert metrics.queued_ms(facts).tolist() == [0, 30_000, 90_000, 0]


def test_completion_slowdown_and_makespan() -> None:
    facts = small().facts
    assert metrics.jct_ms(facts).tolist() == [100_000, 85_000, NONE, 30_000]
    assert metrics.slowdown(facts)[[0, 1, 3]].tolist() == [1.0, 1.7, 1.0]
    assert np.isnan(metrics.slowdown(facts)[2])
    assert metrics.makespan_ms(facts) == 100_000


def test_short_jobs_count_as_ten_seconds_in_the_bounded_slowdown() -> None:
    told = Told()
    short = told.job("short", 0, runs=1)
    told.start(short, 19, "n1")
    told.end(short, 20)
    at_once = told.job("at-once", 20, runs=1)
    told.start(at_once, 20, "n1")
    told.end(at_once, 21)
    nothing = told.job("nothing", 21, runs=0)
    told.start(nothing, 21, "n1")
    told.end(nothing, 21)
    facts = told.close(21)
    assert metrics.bounded_slowdown(facts).tolist() == [2.0, 1.0, 1.0]
    assert metrics.slowdown(facts)[:2].tolist() == [20.0, 1.0]
    assert np.isnan(metrics.slowdown(facts)[2])


def test_a_deadline_is_met_at_its_very_instant_and_missed_by_who_never_finishes() -> None:
    told = Told()
    for name, ends, due in (("early", 9, 10), ("sharp", 10, 10), ("late", 14, 10)):
        job = told.job(name, 0, due=due)
        told.start(job, 0, "n1")
        told.end(job, ends)
    told.job("never", 0, due=10)
    told.end(told.job("given-up", 0, due=10), 5, What.CANCELLED)
    told.end(told.job("given-up-late", 0, due=10), 11, What.CANCELLED)
    told.job("free", 0)
    facts = told.close(20, never="no room", free="no room")
    assert metrics.deadline_met(facts).tolist() == [True, True, False, False, False, False, False]
    assert metrics.deadline_missed(facts).tolist() == [False, False, True, True, False, True, False]
    assert metrics.tardiness_ms(facts).tolist() == [0, 0, 4000, NONE, NONE, NONE, NONE]


def test_use_is_weighted_by_time() -> None:
    told = Told()
    told.node("n1", gpus=4)
    job = told.job("a", 0, gpus=2, runs=30)
    told.start(job, 0, "n1")
    told.end(job, 30)
    other = told.job("b", 0, gpus=4, runs=10)
    told.start(other, 30, "n1")
    told.end(other, 40)
    use = metrics.use(told.close(40), GPU)
    assert use.mean_percent == pytest.approx(100 * (2 * 30 + 4 * 10) / (4 * 40))
    assert use.peak_percent == 100.0


def test_a_gang_that_waits_for_its_rest_holds_what_is_not_used() -> None:
    told = Told()
    told.node("n1", gpus=2)
    gang = told.job("gang", 0, pods=2, runs=10)
    told.place(gang, 0, "n1")
    told.start(gang, 20, "n1")
    told.end(gang, 30)
    use = metrics.use(told.close(30), GPU)
    assert use.allocated == 1000 * 30_000 + 1000 * 10_000
    assert use.utilized == 2 * 1000 * 10_000
    assert use.goodput_percent == pytest.approx(50)


def test_work_that_is_run_again_is_no_goodput() -> None:
    facts = small().facts
    # 200 + 35 + 30 + 20 GPU seconds are held, of which second's first run kept 15 of 20
    use = metrics.use(facts, GPU)
    assert use.allocated == (2 * 100 + 20 + 30 + 35) * 1_000_000
    assert use.goodput_percent == pytest.approx(100 * (285 - 5) / 285)


def test_capacity_follows_nodes_that_come_go_and_are_not_ready() -> None:
    told = Told()
    told.node("n1", 0, gpus=4)
    told.node("n2", 10, gpus=4)
    told.node("n2", 20, gpus=4, ready=False)
    told.node("n2", 30, gpus=4, unschedulable=True)
    told.node_goes("n1", 40)
    told.job("a", 0)
    facts = told.close(50)
    has = metrics.capacity(facts, GPU)
    at = np.array([s * 1000 for s in (0, 10, 20, 30, 40)]) + facts.begin_ms
    assert has.on(at).tolist() == [4000, 8000, 4000, 8000, 4000]


def test_the_peak_is_of_the_capacity_of_its_time() -> None:
    told = Told()
    told.node("n1", 0, gpus=2)
    job = told.job("a", 0, gpus=2, runs=10)
    told.start(job, 0, "n1")
    told.node("n2", 5, gpus=6)
    told.end(job, 10)
    assert metrics.use(told.close(10), GPU).peak_percent == 100.0


def test_pods_on_a_node_that_shrinks_hold_more_than_there_is() -> None:
    told = Told()
    told.node("n1", 0, gpus=4)
    job = told.job("a", 0, gpus=4, runs=10)
    told.start(job, 0, "n1")
    told.node("n1", 5, gpus=2)
    told.end(job, 10)
    assert metrics.use(told.close(10), GPU).peak_percent == 200.0


def test_where_nothing_takes_time_the_mean_is_how_it_ends() -> None:
    told = Told()
    told.node("n1", gpus=4)
    told.start(told.job("a", 0, gpus=3, runs=None), 0, "n1")
    use = metrics.use(told.close(0), GPU)
    assert (use.mean_percent, use.peak_percent) == (75.0, 75.0)


def test_outcomes_count_every_job_once() -> None:
    told = Told()
    told.start(told.job("runs", 0), 0, "n1")
    told.job("waits", 0)
    told.end(told.job("refused", 0), 0, What.REFUSED)
    facts = told.close(1, waits="no room", runs="it runs")
    assert metrics.outcomes(facts) == {"finished": 0, "cancelled": 0, "refused": 1, "running": 1, "waiting": 1}


def test_nobody_finished_has_no_makespan() -> None:
    told = Told()
    told.job("a", 0)
    assert metrics.makespan_ms(told.close(9)) is None
