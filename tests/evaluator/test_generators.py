"""Jobs that chance makes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from math import sqrt

import numpy as np
import pytest

from kumi.api.errors import KumiError
from kumi.engine.model import PodShape
from kumi.evaluator.generators import (
    DAY_MS,
    HOUR_MS,
    Arrivals,
    Diurnal,
    Generated,
    Kind,
    Plan,
    Poisson,
    Regular,
    per_hour,
    sized,
)
from kumi.evaluator.model import START_MS, Arrive, Job, Role, Via
from kumi.evaluator.spreads import Exponential, Fixed
from kumi.testing.builders import node


def kind(name: str = "k", cpus: int = 1, pods: int = 1, weight: float = 1.0, runs_ms: float = 60_000) -> Kind:
    return Kind(name, (Role("task", pods, PodShape((("cpu", cpus * 1000),))),), Exponential(runs_ms), weight)


def jobs(plan: Plan, seed: int = 5) -> list[Job]:
    return [event.job for event in Generated(plan, seed).events() if isinstance(event, Arrive)]


def times(arrivals: Arrivals, count: int, seed: int = 1) -> list[float]:
    return list(islice(arrivals.times(np.random.default_rng(seed)), count))


@pytest.mark.parametrize("arrivals", [Poisson(3600), Diurnal(3600, swing=0.9), Regular(3600)], ids=repr)
def test_so_many_come_in_a_day_as_the_rate_says(arrivals: Arrivals) -> None:
    found = times(arrivals, 3 * 86_400)
    assert found == sorted(found)
    in_two_days = sum(at < 2 * DAY_MS for at in found)
    assert abs(in_two_days - 2 * 86_400) < 5 * sqrt(2 * 86_400)


def test_gaps_of_poisson_arrivals_are_exponential() -> None:
    gaps = np.diff(times(Poisson(3600), 50_000))
    assert abs(gaps.mean() - 1000) < 25
    assert abs(gaps.std() / gaps.mean() - 1) < 0.03


def test_diurnal_arrivals_peak_when_they_should() -> None:
    found = times(Diurnal(3600, swing=0.8, peak_ms=6 * HOUR_MS), 86_400)
    by_quarter = Counter(int(at % DAY_MS // (6 * HOUR_MS)) for at in found if at < DAY_MS)
    near, far = by_quarter[0] + by_quarter[1], by_quarter[2] + by_quarter[3]
    assert abs(near / (near + far) - (0.5 + 0.8 / np.pi)) < 0.02


def test_a_plan_ends_after_so_many_jobs_or_at_its_time() -> None:
    plan = Plan(Regular(3600), (kind(),), jobs=5)
    assert [job.arrives_ms - START_MS for job in jobs(plan)] == [0, 1000, 2000, 3000, 4000]
    assert len(jobs(replace(plan, until_ms=3000))) == 3


def test_a_stream_has_no_end_and_no_memory() -> None:
    assert len(list(islice(Generated(Plan(Poisson(1), (kind(),)), 0).events(), 10_000))) == 10_000


def test_kinds_and_tenants_come_as_often_as_they_weigh() -> None:
    kinds = (kind("a", weight=3), kind("b", weight=1), kind("c", weight=0))
    found = jobs(Plan(Poisson(60), kinds, jobs=20_000, tenants=(("x", 1), ("y", 4))))
    names = Counter(job.key.partition("/")[2].partition("-")[0] for job in found)
    assert (abs(names["a"] / 20_000 - 0.75), names["c"]) < (0.02, 1)
    assert abs(Counter(job.namespace for job in found)["y"] / 20_000 - 0.8) < 0.02
    assert len({job.key for job in found}) == 20_000


def test_equal_seeds_give_equal_jobs_and_what_is_else_drawn_changes_no_arrival() -> None:
    plan = Plan(Poisson(60), (kind("a"), kind("b", runs_ms=5)), jobs=100)
    assert jobs(plan, 1) == jobs(plan, 1) != jobs(plan, 2)
    other = replace(plan, tenants=(("x", 1), ("y", 1)))
    assert [(j.arrives_ms, j.runs_ms) for j in jobs(other)] == [(j.arrives_ms, j.runs_ms) for j in jobs(plan)]


def test_owners_say_so_many_times_the_truth_and_deadlines_follow_it() -> None:
    fixed = replace(kind(), runs=Fixed(10_000))
    job = jobs(Plan(Regular(60), (fixed,), jobs=1, says=1.5, slack=3, checkpoint_ms=7))[0]
    assert (job.runs_ms, job.said_ms, job.checkpoint_ms) == (10_000, 15_000, 7)
    assert job.deadline_ms == START_MS + 30_000
    silent = jobs(Plan(Regular(60), (fixed,), jobs=1, says=None))[0]
    assert (silent.said_ms, silent.deadline_ms) == (None, None)


def test_a_load_keeps_that_part_of_the_cluster_busy() -> None:
    kinds = (kind("a", cpus=2, weight=1, runs_ms=10_000), kind("b", cpus=1, pods=4, weight=3, runs_ms=20_000))
    nodes = [node("n", cpu=16), node("m", cpu=24)]
    rate = per_hour(kinds, 0.8, nodes)
    found = jobs(Plan(Poisson(rate), kinds, jobs=20_000))
    work = sum((job.runs_ms or 0) * job.pods * dict(job.roles[0].shape.requests)["cpu"] for job in found)
    spans = found[-1].arrives_ms - START_MS
    assert abs(work / spans / 40_000 - 0.8) < 0.03


def test_a_load_of_nothing_or_of_what_is_not_there_is_told() -> None:
    gpus = Kind("g", (Role("task", 1, PodShape((("nvidia.com/gpu", 1000),))),), Fixed(1))
    with pytest.raises(KumiError, match="no node has any"):
        per_hour([gpus], 0.5, [node("n", cpu=1)])
    with pytest.raises(KumiError, match="ask for nothing"):
        per_hour([Kind("z", (), Fixed(1))], 0.5, [node("n", cpu=1)])
    with pytest.raises(KumiError, match="must be above 0"):
        per_hour([kind()], 0, [node("n", cpu=1)])


def test_sizes_of_gangs_share_the_weight_of_their_kind() -> None:
    gang = replace(kind("g", weight=2), via=Via.GANG, queue="q")
    made = sized(gang, {1: 3, 4: 1})
    assert [(k.name, k.weight, k.roles[0].count, k.via, k.queue) for k in made] == [
        ("g-1", 1.5, 1, Via.GANG, "q"),
        ("g-4", 0.5, 4, Via.GANG, "q"),
    ]
    with pytest.raises(KumiError, match="must be 1 or more"):
        sized(gang, {0: 1})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Poisson(0),
        lambda: Diurnal(1, swing=1.5),
        lambda: Diurnal(1, period_ms=0),
        lambda: Plan(Poisson(1), ()),
        lambda: Plan(Poisson(1), (kind(weight=0),)),
        lambda: Plan(Poisson(1), (kind(),), tenants=(("a", -1),)),
    ],
)
def test_a_plan_that_can_not_be_is_told(make: object) -> None:
    with pytest.raises(KumiError):
        make()  # type: ignore[operator]
