"""Figures of tenants and queues: they add up to those of the run, and each is that of its own jobs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kumi.evaluator import metrics
from kumi.evaluator.facts import Facts
from kumi.evaluator.groups import Groups
from kumi.evaluator.metrics import Use
from kumi.evaluator.model import Load, Policy
from tests.evaluator.loads import loads, policies
from tests.evaluator.told import GPU, Told, played, small


def used(facts: Facts) -> dict[str, Use]:
    return {resource: metrics.use(facts, resource) for resource in facts.asked}


@settings(max_examples=30)
@given(loads(), policies())
def test_what_groups_have_adds_up_to_what_the_run_has(load: Load, policy: Policy) -> None:
    facts = played(load, policy)
    use, jobs = used(facts), facts.jobs
    groups = Groups(facts, use)
    begin, end = facts.begin_ms, facts.end_ms
    for names, of in ((facts.tenants, jobs.tenant), (facts.queues, jobs.queue)):
        found = groups.figures(names, of).values()
        assert sum(one["jobs"] for one in found) == len(jobs)
        assert sum(one["finished"] for one in found) == jobs.finished.sum()
        waits = sum(one["queue_length"]["mean"] for one in found)
        assert waits == pytest.approx(metrics.queue_length(facts).mean(begin, end), abs=1e-9)
        for resource, one in use.items():
            if one.capacity:
                held = sum(of_group["allocation_percent"][resource] for of_group in found)
                ran = sum(of_group["utilization_percent"][resource] for of_group in found)
                assert held == pytest.approx(one.mean_percent)
                assert ran == pytest.approx(one.utilized_percent)


def test_a_tenant_has_every_figure_of_its_own_jobs() -> None:
    facts = small().facts
    red = Groups(facts, used(facts)).figures(facts.tenants, facts.jobs.tenant)["red"]
    # first: 0 to 100 on two GPUs, due at 90; third: 20 to 50, due at 60
    assert (red["jobs"], red["finished"], red["makespan_s"]) == (2, 2, 100)
    assert red["slowdown"]["mean"] == red["bounded_slowdown"]["max"] == 1
    assert (red["deadlines_met"], red["deadlines_missed"]) == (1, 1)
    assert (red["tardiness_s"]["mean"], red["tardiness_s"]["max"]) == (5, 10)
    assert red["allocation_percent"][GPU] == pytest.approx(100 * 230 / 300)
    assert red["goodput_percent"][GPU] == 100
    assert red["queue_length"] == {"mean": 0, "peak": 0}


def test_a_queue_has_them_too_and_its_makespan_begins_with_its_own_first_job() -> None:
    facts = small().facts
    found = Groups(facts, used(facts)).figures(facts.queues, facts.jobs.queue)
    assert found["silver"]["makespan_s"] == 30
    # second waits from 20 to 50, and five of its seconds are run again
    assert found["gold"]["queue_length"] == {"mean": pytest.approx(0.3), "peak": 1}
    assert found["gold"]["goodput_percent"][GPU] == pytest.approx(100 * (255 - 5) / 255)


def test_a_figure_that_nobody_has_is_none() -> None:
    facts = small().facts
    none = Groups(facts, used(facts)).figures(facts.queues, facts.jobs.queue)[""]
    assert none["makespan_s"] is None
    assert none["tardiness_s"]["mean"] is None
    assert none["goodput_percent"] == {GPU: None}
    assert none["allocation_percent"] == {GPU: 0}


def test_a_run_of_one_instant_has_no_percents() -> None:
    told = Told()
    told.node("n1")
    told.start(told.job("a", 0, runs=None), 0, "n1")
    facts = told.close(0)
    (found,) = Groups(facts, used(facts)).figures(facts.tenants, facts.jobs.tenant).values()
    assert found["allocation_percent"] == {GPU: None}


def test_no_jobs_no_groups() -> None:
    facts = Told().close(5)
    assert Groups(facts, {}).figures(facts.tenants, np.empty(0, dtype=np.int32)) == {}
