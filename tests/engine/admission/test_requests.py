"""Requests: what pods count for, pending and admitted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.quantity import MAX
from kumi.engine.admission.requests import asked, held, remaining, scaled
from kumi.engine.model import PodSet, PodSetAssigned, PodShape
from kumi.testing.builders import GPU, queue, shape, workload

PLAIN = queue("cq", {"f": {"cpu": 1}})
WITH_PODS = queue("cq", {"f": {"cpu": 1, "pods": 1}})
FIVE = PodSet("main", 5, shape(cpu="10m", memory="10Ki"))
GIVEN = PodSetAssigned("main", 3, (("cpu", "f"), ("memory", "f")), (("cpu", 30), ("memory", 30 * 1024)))


@given(st.integers(-MAX, MAX), st.integers(0, 2**31))
def test_what_is_asked_for_is_never_negative_and_never_more_than_the_largest_amount(amount: int, count: int) -> None:
    found = asked(PodSet("main", count, PodShape((("memory", amount),))), PLAIN, count)["memory"]
    assert found == max(0, min(MAX, amount * count))


@given(st.integers(0, 10**6), st.integers(1, 50), st.integers(0, 50))
def test_scaling_never_gives_more_than_a_pods_part(per_pod: int, of: int, to: int) -> None:
    assert scaled(per_pod * of, of, to) == per_pod * to
    assert scaled(per_pod * of + of - 1, of, to) == per_pod * to


def test_each_pod_that_has_not_ended_asks_for_its_own() -> None:
    assert remaining(replace(FIVE, reclaimed=2)) == 3
    assert remaining(replace(FIVE, reclaimed=7)) == 0
    assert remaining(replace(FIVE, reclaimed=2), reclaimable=False) == 5
    assert asked(FIVE, PLAIN, 3) == {"cpu": 30, "memory": 30 * 1024}


def test_pods_are_asked_for_where_the_queue_covers_them() -> None:
    assert asked(FIVE, WITH_PODS, 3)["pods"] == 3000
    assert "pods" not in asked(FIVE, PLAIN, 3)


def test_what_was_worked_out_for_quota_goes_before_what_is_requested() -> None:
    assert asked(replace(FIVE, quota=(("credits/x", 7),)), PLAIN, 2) == {"credits/x": 14}
    assert asked(replace(FIVE, quota=()), PLAIN, 2) == {}


@pytest.mark.parametrize(
    ("pods", "reclaimable", "count", "cpu"),
    [
        (FIVE, True, 3, 30),
        (replace(FIVE, reclaimed=2), True, 3, 30),
        (replace(FIVE, reclaimed=3), True, 2, 20),
        (replace(FIVE, reclaimed=5), True, 0, 0),
        (replace(FIVE, reclaimed=5), False, 3, 30),
        (replace(FIVE, count=1), True, 1, 10),
    ],
)
def test_what_is_held_shrinks_with_the_pods_and_never_grows(
    pods: PodSet, reclaimable: bool, count: int, cpu: int
) -> None:
    found = held(workload("ns/a", pod_sets=(pods,)), GIVEN, reclaimable=reclaimable)
    assert (found.count, dict(found.usage)["cpu"], found.flavors) == (count, cpu, GIVEN.flavors)


def test_a_pod_set_that_is_not_there_any_more_holds_what_it_was_given() -> None:
    assert held(workload("ns/a", 1, gpu=1), replace(GIVEN, name="gone")) == replace(GIVEN, name="gone")
    assert GPU not in dict(GIVEN.usage)
