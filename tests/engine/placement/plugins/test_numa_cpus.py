"""NUMA cpus: whole sockets, whole cores, then single ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.model import Cpu, NumaTopology
from kumi.engine.placement.plugins.numa_cpus import cpu_hints, give, numa_nodes, reserved, take
from kumi.engine.placement.plugins.numa_hints import Hint, mask_of

TWO = [Cpu(n, n // 2, n // 4, n // 4) for n in range(8)]
"""two sockets of two cores of two"""
frees = st.sets(st.integers(0, 7)).map(frozenset)


@given(frees, st.integers(0, 8))
def test_as_many_are_taken_as_are_asked_for_and_only_free_ones(free: frozenset[int], count: int) -> None:
    taken = take(TWO, free, count)
    if count > len(free):
        assert taken is None
    else:
        assert taken is not None
        assert len(taken) == count
        assert taken <= free


@given(frees, st.integers(1, 8))
def test_a_hint_names_nodes_with_enough_and_the_fewest_are_preferred(free: frozenset[int], count: int) -> None:
    hints = cpu_hints(TWO, free, count)
    sets = {0b01: frozenset(range(4)), 0b10: frozenset(range(4, 8)), 0b11: frozenset(range(8))}
    assert {hint.nodes for hint in hints} == {mask for mask, cpus in sets.items() if len(cpus & free) >= count}
    least = 1 if count <= 4 else 2
    assert all(hint.preferred is (hint.nodes is not None and hint.nodes.bit_count() == least) for hint in hints)


@given(frees, st.integers(0, 8), st.sampled_from([None, 0b01, 0b10, 0b11]))
def test_cpus_of_the_hint_are_given_before_others(free: frozenset[int], count: int, mask: int | None) -> None:
    given_ = give(TWO, free, count, Hint(mask, True))
    near = {c.number for c in TWO if mask is not None and mask >> c.numa & 1} & free
    if count > len(free):
        assert given_ == frozenset()
    else:
        assert len(given_) == count
        assert len(given_ & near) == min(count, len(near))


@pytest.mark.parametrize(
    ("free", "count", "expected"),
    [
        (range(8), 4, {0, 1, 2, 3}),
        (range(8), 5, {0, 1, 2, 3, 4}),
        ({1, 2, 3, 4, 5, 6, 7}, 4, {4, 5, 6, 7}),
        ({1, 2, 3, 4, 5}, 2, {2, 3}),
        ({1, 3, 4, 5}, 1, {1}),
        ({0, 1, 2, 3, 5}, 3, {0, 1, 2}),
        ({0, 2, 4, 5, 6}, 3, {4, 5, 6}),
    ],
)
def test_what_is_broken_already_is_used_up_first(free: set[int], count: int, expected: set[int]) -> None:
    assert take(TWO, frozenset(free), count) == expected


def test_what_the_system_keeps_is_rounded_up_and_taken_first() -> None:
    assert reserved(NumaTopology("n", tuple(TWO), reserved=1500)) == {0, 1}
    assert reserved(NumaTopology("n", tuple(TWO))) == frozenset()
    assert reserved(NumaTopology("n", tuple(TWO), reserved=99_000)) == frozenset()
    assert numa_nodes(TWO) == mask_of([0, 1])
