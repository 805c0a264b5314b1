"""Who has what of the cluster: dominant shares, what each was served of its wishes, and how equal that is."""

from __future__ import annotations

import numpy as np
import pytest

from kumi.evaluator.shares import MOST, Shares, leading, shares
from kumi.evaluator.timeline import grid
from tests.evaluator.told import Told, shape


def cluster(gpus: float = 10, cpu: float = 100) -> Told:
    told = Told()
    told.node("n1", gpus=gpus, cpu=cpu)
    return told


def of(told: Told, end: float) -> Shares:
    facts = told.close(end)
    return shares(facts, grid(facts.begin_ms, facts.end_ms))


def test_the_dominant_share_is_the_greatest_of_all_resources() -> None:
    told = cluster()
    for tenant, gpus, cpu in (("gpus", 4, 10), ("cores", 1, 60)):
        job = told.job(tenant, 0, shape=shape(gpus, cpu), runs=10, tenant=tenant)
        told.start(job, 0, "n1")
        told.end(job, 10)
    assert of(told, 10).mean.tolist() == pytest.approx([0.4, 0.6])


def test_who_gets_all_that_it_wants_is_served_however_little_that_is() -> None:
    told = cluster()
    for tenant, gpus in (("big", 8), ("small", 1)):
        job = told.job(tenant, 0, gpus=gpus, runs=10, tenant=tenant)
        told.start(job, 0, "n1")
        told.end(job, 10)
    found = of(told, 10)
    assert found.fairness == pytest.approx(1)
    assert found.share_fairness == pytest.approx((0.9 * 0.9) / (2 * (0.64 + 0.01)))


def test_one_of_two_alike_that_waits_half_of_its_time_is_served_half() -> None:
    told = cluster()
    jobs = [told.job(tenant, 0, gpus=10, runs=10, tenant=tenant) for tenant in ("first", "second")]
    for turn, job in enumerate(jobs):
        told.start(job, 10 * turn, "n1")
        told.end(job, 10 * turn + 10)
    found = of(told, 20)
    assert found.served.tolist() == pytest.approx([1, 0.5])
    assert found.fairness == pytest.approx(1.5**2 / (2 * 1.25))


def test_who_floods_the_queue_wants_no_more_than_the_cluster() -> None:
    told = cluster()
    flood = [told.job(f"flood-{n}", 0, gpus=10, runs=10, tenant="flood") for n in range(5)]
    told.start(flood[0], 0, "n1")
    told.end(flood[0], 10)
    assert of(told, 10).served.tolist() == pytest.approx([1])


def test_who_wants_nothing_that_nodes_have_is_in_no_index() -> None:
    told = cluster()
    told.start(told.job("a", 0, gpus=1, tenant="a"), 0, "n1")
    told.start(told.job("b", 0, gpus=0, tenant="b"), 0, "n1")
    found = of(told, 10)
    assert np.isnan(found.served).tolist() == [False, True]
    assert found.fairness == 1


def test_fairness_over_time_is_of_those_who_want_something_then() -> None:
    told = cluster()
    first = told.job("first", 0, gpus=10, runs=10, tenant="first")
    told.start(first, 0, "n1")
    told.job("second", 5, gpus=10, runs=10, tenant="second")
    told.end(first, 10)
    facts = told.close(10)
    found = shares(facts, grid(facts.begin_ms, facts.end_ms, 2)).fairness_over_time()
    assert found.tolist() == pytest.approx([1, 0.5])


def test_beyond_the_first_tenants_the_rest_are_others() -> None:
    told = cluster(gpus=100)
    for number in range(MOST + 3):
        told.start(told.job(f"j{number}", 0, gpus=1 + number, runs=None, tenant=f"t{number:02d}"), 0, "n1")
    told.job("last", 10)
    facts = told.close(10)
    drawn = leading(shares(facts, grid(facts.begin_ms, facts.end_ms, 1)), facts.tenants)
    assert [name for name, _ in drawn] == [*(f"t{n:02d}" for n in range(MOST + 2, 2, -1)), "others"]
    assert drawn[-1][1].tolist() == pytest.approx([(1 + 2 + 3) / 100])


def test_a_run_that_takes_no_time_is_judged_as_it_ends() -> None:
    told = cluster()
    told.start(told.job("a", 0, gpus=5, runs=None, tenant="a"), 0, "n1")
    told.job("b", 0, gpus=5, runs=None, tenant="b")
    found = of(told, 0)
    assert found.mean.tolist() == pytest.approx([0.5, 0])
    assert found.fairness == pytest.approx(0.5)
