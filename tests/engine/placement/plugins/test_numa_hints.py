"""NUMA hints: the best of what several resources like."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement.plugins.numa_hints import (
    ANY,
    BEST_EFFORT,
    NONE,
    RESTRICTED,
    SINGLE,
    Hint,
    best_hint,
    mask_of,
    nodes_of,
)

hints = st.lists(st.builds(Hint, st.none() | st.integers(1, 7), st.booleans()), max_size=3)
ALL = 0b111


@given(st.lists(st.none() | hints, max_size=3), st.sampled_from([BEST_EFFORT, RESTRICTED]))
def test_the_best_hint_is_preferred_if_one_can_be_and_no_other_is_narrower(
    known: list[Sequence[Hint] | None], policy: str
) -> None:
    best, admitted = best_hint(policy, ALL, known)
    ways = product(*([ANY] if one is None else one or [Hint(None, False)] for one in known))
    merged = []
    for way in ways:
        common = ALL
        for hint in way:
            common &= ALL if hint.nodes is None else hint.nodes
        if common:
            merged.append(Hint(common, all(h.preferred for h in way)))
    assert admitted is (policy == BEST_EFFORT or best.preferred)
    assert best in [*merged, Hint(ALL, False)]
    assert best.nodes is not None
    assert best.preferred is any(m.preferred for m in merged)
    for other in merged:
        if other.preferred is best.preferred and other.nodes is not None:
            assert (best.nodes.bit_count(), best.nodes) <= (other.nodes.bit_count(), other.nodes)


def test_one_node_alone_looks_only_at_preferred_hints_of_one_node() -> None:
    wide, narrow = Hint(0b11, True), Hint(0b01, True)
    assert best_hint(SINGLE, 0b11, [[wide, narrow]]) == (narrow, True)
    assert best_hint(SINGLE, 0b11, [[wide]]) == (Hint(0b11, False), False)
    assert best_hint(SINGLE, 0b11, [[narrow], [Hint(0b10, True)]]) == (Hint(0b11, False), False)
    assert best_hint(SINGLE, 0b11, [[Hint(0b01, False)]]) == (Hint(0b11, False), False)
    assert best_hint(SINGLE, 0b11, [[narrow], None]) == (narrow, True)


@pytest.mark.parametrize(
    ("policy", "admitted"), [(NONE, True), (BEST_EFFORT, True), (RESTRICTED, False), (SINGLE, False)]
)
def test_what_can_not_be_had_is_up_to_the_policy(policy: str, admitted: bool) -> None:
    assert best_hint(policy, 0b1, [[]])[1] is admitted


def test_masks_are_sets() -> None:
    assert mask_of([0, 2]) == 0b101
    assert nodes_of(0b101) == [0, 2]
    assert nodes_of(0) == []
