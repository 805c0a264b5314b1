"""Shortest: whoever takes the least time goes first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement.heap import Heap
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


def order(*said: int | None) -> list[int]:
    made = Scene(line(), node("n", cpu=9))
    for n, one in enumerate(said):
        made.put(gang(f"j{n}", execution_ms=one), task(f"j{n}-0", f"j{n}", cpu=1))
    at = made.open("shortest")
    heap = Heap(at.job_less, at.jobs())
    return [int(heap.pop().key[4:]) for _ in range(len(heap))]


@given(st.lists(st.none() | st.integers(1, 5), max_size=6))
def test_the_smaller_goes_first_and_who_says_nothing_last(said: list[int | None]) -> None:
    assert order(*said) == sorted(range(len(said)), key=lambda n: (said[n] is None, said[n] or 0, n))
