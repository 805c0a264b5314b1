"""The data of the report: which runs are drawn, on one window of time, thinned as it says."""

from __future__ import annotations

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.evaluator.report.data import QUANTILES, RUNS, page_data, rounded, spread_curve
from kumi.evaluator.result import Result
from tests.evaluator.told import GPU, Told, ms, small


def longer(policy: str, seed: int = 0) -> Result:
    told = Told()
    told.node("n1", gpus=2, model="A")
    job = told.job("first", 0, gpus=2, runs=200)
    told.start(job, 0, "n1")
    told.end(job, 200)
    return Result(told.close(200), policy, seed, 0.1)


def test_each_policy_is_drawn_once_and_every_run_is_in_the_tables() -> None:
    runs = [small("a"), longer("a", 1), longer("b"), *(longer(f"p{n}") for n in range(RUNS))]
    found = page_data(runs)
    assert [one["run"] for one in found["drawn"]] == [0, *range(2, RUNS + 1)]
    assert len(found["runs"]) == len(runs)
    assert found["policies"] == RUNS + 2


def test_all_runs_are_drawn_on_one_window_of_time() -> None:
    found = page_data([small(), longer("longer")])
    assert (found["begin"], found["end"]) == (ms(0), ms(200))
    first, second = (one["series"]["running"] for one in found["drawn"])
    assert first["at"] == second["at"]
    assert first["at"][0] == 0
    assert first["lines"][0]["mean"][-1] == 0


def test_the_cluster_is_as_it_was_at_the_start() -> None:
    assert page_data([small()])["cluster"] == {"nodes": 2, "capacity": {GPU: 3}, "models": {"A": 1, "B": 1}}


def test_jobs_that_never_ran_to_their_end_say_why_and_what_they_ask_for() -> None:
    (one,) = page_data([small()])["drawn"]
    assert one["never"]["count"] == 1
    (job,) = one["never"]["jobs"]
    assert job == {
        "job": "default/giant", "arrival": ms(10), "started": False, "pods": 1, "asks": {GPU: 64},
        "why": "no node has 64 of nvidia.com/gpu",
    }  # fmt: skip


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=300), st.integers(0, 50))
def test_a_curve_says_which_part_of_all_jobs_is_at_or_under_a_time(values: list[int], absent: int) -> None:
    found = spread_curve(np.array(values, dtype=np.int64), len(values) + absent)
    assert len(found["seconds"]) == QUANTILES + 1
    assert found["percent"][-1] == pytest.approx(100 * len(values) / (len(values) + absent), rel=1e-4)
    assert found["seconds"] == sorted(found["seconds"])
    assert found["seconds"][-1] == pytest.approx(max(values) / 1000, rel=1e-4)


def test_what_is_no_figure_is_null_and_five_digits_stay() -> None:
    assert rounded(np.array([1 / 3, np.nan, np.inf, 123456789.0])) == [0.33333, None, None, 123460000]


def test_no_runs_is_a_page_too() -> None:
    assert orjson.loads(orjson.dumps(page_data([])))["drawn"] == []
