"""Jobs by chance, as a scenario has them."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.evaluator.generators import Diurnal, Poisson
from kumi.evaluator.model import START_MS, Arrive, Job, Via
from kumi.evaluator.scenarios.chances import source
from kumi.evaluator.scenarios.steps import Told
from kumi.testing.builders import node
from tests.evaluator.scenarios.told import faults, part

SMALL = {"name": "small", "asks": {"cpu": 1}}
USUAL = {"count": 20, "rate": 60, "runs": "1m", "kinds": [SMALL]}


def jobs(seed: int = 1, **said: Any) -> list[Job]:
    one = part({**USUAL, **said})
    (made,) = source(one, 0, START_MS, [node("n", cpu=10)])
    assert faults(one) == []
    return [m.event.job for m in made(seed) if isinstance(m, Told) and isinstance(m.event, Arrive)]


def wrong(**said: Any) -> list[str]:
    one = part({**USUAL, **said})
    assert source(one, 0, START_MS, [node("n", cpu=10)]) == []
    return faults(one)


def test_so_many_jobs_come_of_the_kinds_that_are_said() -> None:
    kinds = [{**SMALL, "pods": {1: 1, 4: 1}, "as": "gang", "queue": "gold", "priority": 5, "gpuModel": ["A", "B"]}]
    found = jobs(kinds=kinds, tenants={"x": 1, "y": 2}, says=2, deadline=3, checkpoint="5s")
    assert len(found) == 20
    assert {job.pods for job in found} == {1, 4}
    assert {job.namespace for job in found} == {"x", "y"}
    first = found[0]
    assert (first.via, first.queue, first.priority, first.checkpoint_ms) == (Via.GANG, "gold", 5, 5000)
    assert (first.runs_ms, first.said_ms) == (60_000, 120_000)
    assert first.deadline_ms == first.arrives_ms + 180_000
    (term,) = first.roles[0].shape.affinity or ()
    assert (term[0].key, term[0].values) == ("kumi.dev/gpu-model", ("A", "B"))


def test_they_come_from_a_time_until_a_time() -> None:
    found = jobs(count=None, at="1h", until="2h", says=0)
    assert 30 < len(found) < 100
    assert all(START_MS + 3_600_000 <= job.arrives_ms < START_MS + 7_200_000 for job in found)
    assert found[0].said_ms is None


def test_a_load_is_a_part_of_the_nodes() -> None:
    found = jobs(count=2000, rate=None, load=0.5)
    assert abs(len(found) * 60_000 / (found[-1].arrives_ms - START_MS) / 10 - 0.5) < 0.05


def test_equal_seeds_give_equal_jobs() -> None:
    assert jobs(1) == jobs(1) != jobs(2)


@pytest.mark.parametrize(
    ("pattern", "means"),
    [
        (None, Poisson(60)),
        ("diurnal", Diurnal(60)),
        ({"diurnal": {"swing": 0.9, "period": "12h", "peak": "1h"}}, Diurnal(60, 0.9, 43_200_000, 3_600_000)),
    ],
)
def test_arrivals_have_a_pattern(pattern: Any, means: Any) -> None:
    one = part({**USUAL, "pattern": pattern})
    (made,) = source(one, 0, START_MS, [])
    assert made.__self__.plan.arrivals == means  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"kinds": None}, "here.kinds: says what jobs there are: at least one kind, with what it asks for"),
        ({"says": -1}, "here.says: must be 0 (owners say nothing) or more, not -1"),
        ({"kinds": [{"asks": {"cpu": -1}}]}, "here.kinds[0].asks.cpu: must be 0 or more, not -1"),
        ({"kinds": [{**SMALL, "pods": 10**7}]}, "here.kinds[0].pods: must be 1,000,000 at most, not 10,000,000"),
        ({"kinds": [{**SMALL, "pods": {10**7: 1}}]}, "here.kinds[0].pods: sizes are whole numbers, 1,000,000 at most"),
        ({"count": None}, "here: goes on for ever: say how many (`count`), or `until` when"),
        ({"rate": None}, "here: needs one of `rate` (jobs an hour) and `load` (a part of the cluster)"),
        ({"runs": None}, "here.kinds[0]: says nothing of how long it runs: give `runs`, here or for all kinds"),
        ({"kinds": {"name": "x"}}, "here.kinds.asks: says what a pod asks for, such as {cpu: 1, memory: 4Gi}"),
        ({"kinds": {**SMALL, "asks": {"cpu": "x"}}}, "here.kinds.asks.cpu: 'x' is not a quantity"),
        ({"kinds": {**SMALL, "as": "workload"}}, "here.kinds.queue: a workload needs a queue"),
        (
            {"kinds": {**SMALL, "pods": {"a": 1}}},
            "here.kinds.pods: sizes are whole numbers, 1,000,000 at most: {1: 6, 4: 3}",
        ),
        ({"kinds": {**SMALL, "pods": {0: 1}}}, "here.kinds.pods: small: sizes of gangs must be 1 or more"),
        ({"tenants": {"a": -1}}, "here: the weights of tenants must be 0 or more"),
        (
            {"kinds": {**SMALL, "asks": {"nvidia.com/gpu": 1}}, "rate": None, "load": 1},
            "here: jobs ask for nvidia.com/gpu",
        ),
        ({"pattern": "weekly"}, "here.pattern: 'weekly' means nothing here; it may be poisson, diurnal, regular"),
    ],
)
def test_what_is_wrong_is_noted(said: dict[str, Any], says: str) -> None:
    assert wrong(**said)[0].startswith(says)
