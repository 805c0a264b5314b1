"""Heap: sorted where the order is fixed; where it isn't, it is what a binary heap makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement.heap import Heap


@given(st.lists(st.integers()))
def test_pops_in_order_where_the_order_is_fixed(items: list[int]) -> None:
    heap = Heap(lambda a, b: a < b, items)
    assert len(heap) == len(items)
    assert [heap.pop() for _ in range(len(heap))] == sorted(items)
    assert len(heap) == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9))))
def test_each_pop_is_the_least_of_what_is_inside(steps: list[tuple[bool, int]]) -> None:
    heap, inside = Heap[int](lambda a, b: a < b), list[int]()
    for pushes, item in steps:
        if pushes or not inside:
            heap.push(item)
            inside.append(item)
        else:
            least = heap.pop()
            assert least == min(inside)
            inside.remove(least)


def test_things_stay_where_they_are_when_the_order_changes() -> None:
    shares = {"a": 1, "b": 2, "c": 3}
    heap = Heap(lambda x, y: shares[x] < shares[y], shares)
    shares["c"] = 0
    assert heap.pop() == "a"
    assert heap.pop() == "c"


def test_an_empty_heap_has_no_first() -> None:
    with pytest.raises(IndexError):
        Heap[int](lambda a, b: a < b).pop()
