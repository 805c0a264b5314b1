"""Series over time: every name, its labels, its means and its window."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kumi.evaluator.model import Load, Policy
from kumi.evaluator.series import MEANS, Series, all_series
from kumi.evaluator.shares import MOST
from tests.evaluator.loads import loads, policies
from tests.evaluator.told import GPU, Told, has_shrunk, ms, played, small


def named(found: list[Series]) -> dict[tuple[str, str], Series]:
    return {(line.name, line.label): line for line in found}


@settings(max_examples=30)
@given(loads(), policies())
def test_on_every_run_parts_are_parts(load: Load, policy: Policy) -> None:
    facts = played(load, policy)
    shrunk = has_shrunk(facts)
    for line in all_series(facts, points=20):
        known = line.mean[~np.isnan(line.mean)]
        most = {"fairness": 1, "allocation_percent": np.inf if shrunk else 100, "gpu_fragmentation": 100}.get(
            line.name, np.inf
        )
        assert ((known >= 0) & (known <= most + 1e-9)).all(), line
        if line.peak is not None:
            assert (line.peak >= line.mean - 1e-9).all(), line


def test_every_name_is_told_with_its_labels() -> None:
    found = named(all_series(small().facts))
    assert {name for name, _ in found} == set(MEANS)
    assert {label for name, label in found if name == "dominant_share"} == {"red", "blue"}
    assert {label for name, label in found if name == "gpu_fragmentation"} == {"", "A", "B"}
    assert {label for name, label in found if name == "allocated"} == {GPU}


def test_amounts_are_in_the_resources_own_unit_and_percents_of_capacity() -> None:
    found = named(all_series(small().facts, points=10))
    assert found["allocated", GPU].mean[0] == pytest.approx(3)
    assert found["capacity", GPU].mean.tolist() == [3] * 10
    assert found["allocation_percent", GPU].mean[9] == pytest.approx(100 * (2 * 10) / (3 * 10))
    assert found["allocation_percent", GPU].peak.max() == pytest.approx(100)


def test_means_and_peaks_of_a_queue() -> None:
    queue = named(all_series(small().facts, points=10))["queue_length", ""]
    # giant waits from 10 on, second again from 20 to 50
    assert queue.mean.tolist() == [0, 1, 2, 2, 2, 1, 1, 1, 1, 1]
    assert queue.peak.tolist() == [0, 1, 2, 2, 2, 1, 1, 1, 1, 1]


def test_who_waits_is_told_by_queue_and_by_tenant() -> None:
    found = named(all_series(small().facts, points=10))
    assert found["queue_waiting", ""].mean.tolist() == [0, *[1] * 9]  # giant, which is in no queue
    assert found["queue_waiting", "gold"].mean.tolist() == [0, 0, 1, 1, 1, 0, 0, 0, 0, 0]
    assert found["queue_waiting", "silver"].peak.tolist() == [0] * 10
    parts = [line.mean for (name, _), line in found.items() if name == "tenant_waiting"]
    assert sum(parts).tolist() == found["queue_length", ""].mean.tolist()


def test_where_there_are_no_queues_none_is_told() -> None:
    told = Told()
    told.job("a", 0)
    assert not [line for line in all_series(told.close(9)) if line.name == "queue_waiting"]


def test_queues_that_waited_little_are_one_line() -> None:
    told = Told()
    for number in range(MOST + 3):
        told.job(f"j{number:02d}", number, queue=f"q{number:02d}")
    found = [line for line in all_series(told.close(100), points=1) if line.name == "queue_waiting"]
    assert [line.label for line in found] == [*(f"q{number:02d}" for number in range(MOST)), "others"]
    assert found[-1].peak is not None
    assert found[-1].peak.tolist() == [3]


def test_a_window_may_be_longer_than_the_run() -> None:
    found = named(all_series(small().facts, window=(ms(0), ms(200)), points=2))
    assert found["running", ""].at.tolist() == [ms(0), ms(100)]
    assert found["running", ""].mean[1] == 0


def test_a_run_of_one_instant_has_one_bucket() -> None:
    told = Told()
    told.node("n1", gpus=4)
    told.start(told.job("a", 0, gpus=3, runs=None), 0, "n1")
    found = named(all_series(told.close(0)))
    assert found["allocation_percent", GPU].mean.tolist() == [75]
    assert not np.isnan(found["fairness", ""].mean).any()
