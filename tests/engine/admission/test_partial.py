"""Partial: the most pods that can start."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.admission.assignment import Assignment, Mode
from kumi.engine.admission.flavors import options
from kumi.engine.admission.partial import largest
from kumi.engine.admission.question import NOBODY, Aim
from kumi.engine.model import PodSet
from kumi.testing.builders import shape, workload

from .searches import Case, cases

Counts = tuple[int, ...]


def job(*sets: tuple[int, int | None]) -> tuple[PodSet, ...]:
    return tuple(PodSet(f"p{n}", count, shape(), least=least) for n, (count, least) in enumerate(sets))


@st.composite
def pod_sets(draw: st.DrawFn) -> tuple[PodSet, ...]:
    counts = draw(st.lists(st.integers(0, 9), min_size=1, max_size=3))
    return job(*((n, draw(st.none() | st.integers(0, n))) for n in counts))


def test_of_all_steps_that_succeed_the_one_with_the_most_pods_is_found() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=400, database=None, derandomize=True)
    @given(pod_sets(), st.integers(0, 20))
    def holds(sets: tuple[PodSet, ...], room: int) -> None:
        asked: list[Counts] = []

        def attempt(counts: Counts) -> Counts | None:
            asked.append(counts)
            return counts if sum(counts) <= room else None

        found = largest(workload("ns/a", pod_sets=sets), attempt)
        down = [p.count - (p.count if p.least is None else p.least) for p in sets]
        total = sum(down)
        steps = [
            tuple(p.count - d * i // total for p, d in zip(sets, down, strict=True)) for i in range(total + 1) if total
        ]
        fitting = [counts for counts in steps if sum(counts) <= room]
        assert found == (max(fitting, key=sum) if fitting else None)
        assert all((p.least or 0) <= n <= p.count for counts in asked for n, p in zip(counts, sets, strict=True))
        assert len(asked) <= total.bit_length() + 1
        seen["none"] += bool(steps) and not fitting
        seen["fewer"] += found is not None and sum(found) < sum(p.count for p in sets)
        seen["all"] += found is not None and sum(found) == sum(p.count for p in sets)

    holds()
    assert min(seen["none"], seen["fewer"], seen["all"]) >= 5, seen


def test_a_job_that_may_not_shrink_is_not_tried() -> None:
    def fail(counts: Counts) -> Counts | None:
        raise AssertionError(counts)

    assert largest(workload("ns/a", pod_sets=job((4, None), (2, 2))), fail) is None


def test_pod_sets_shrink_in_step() -> None:
    def attempt(counts: Counts) -> Counts | None:
        return counts if sum(counts) <= 15 else None

    assert largest(workload("ns/a", pod_sets=job((10, 5), (10, 0))), attempt) == (8, 6)


def test_ten_pods_of_which_nine_fit() -> None:
    assert largest(workload("ns/a", pod_sets=job((10, 9))), lambda c: c if c[0] <= 9 else None) == (9,)


@pytest.mark.parametrize("profile", ["kueue", "kumi"])
def test_a_job_that_may_shrink_gets_the_most_pods_for_which_there_is_quota(profile: str) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=200, database=None, derandomize=True)
    @given(cases(), st.integers(1, 9), st.integers(0, 3))
    def holds(case: Case, count: int, least: int) -> None:
        pods = PodSet("main", count, shape(cpu=1), least=min(least, count))
        job, state = workload("ns/a", pod_sets=(pods,)), case.state(profile)

        def attempt(counts: Counts) -> Assignment | None:
            first = next(iter(options(state, job, case.queue, NOBODY, Aim(counts=counts))))
            return first if first.mode is Mode.FIT else None

        found = largest(job, attempt)
        fitting = [n for n in range(count, min(least, count) - 1, -1) if attempt((n,)) is not None]
        if least < count:
            assert (found.pod_sets[0].count if found else None) == (fitting[0] if fitting else None)
        seen["fewer"] += found is not None and found.pod_sets[0].count < count
        seen["none"] += found is None and least < count
        seen["borrows"] += found is not None and found.level > 0

    holds()
    assert min(seen["fewer"], seen["none"], seen["borrows"]) >= 5, seen
