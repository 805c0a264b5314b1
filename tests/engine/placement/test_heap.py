"""Heap: sorted where the order is fixed; where it isn't, it is what a binary heap makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement.heap import Heap, Line


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


@given(st.lists(st.integers(0, 3)), st.integers(0, 4))
def test_a_line_gives_things_in_their_order_one_by_one_or_those_that_are_alike(items: list[int], most: int) -> None:
    line, taken = Line(sorted(items)), list[int]()
    while len(line):
        first = line.pop()
        more = line.next_like(lambda one, first=first: one == first, most)  # type: ignore[misc]
        assert len(more) <= most
        assert set(more) <= {first}
        taken += [first, *more]
    assert taken == sorted(items)


def test_what_is_given_back_comes_next_again() -> None:
    line = Line([1, 1, 1, 2])
    assert line.next_like(lambda one: one == 1, 9) == [1, 1, 1]
    line.give_back([1, 1])
    assert [line.pop() for _ in range(len(line))] == [1, 1, 2]


def test_a_heap_gives_no_runs_since_each_that_is_taken_may_move_the_others() -> None:
    heap = Heap(lambda a, b: a < b, [1, 1])
    assert heap.next_like(lambda one: True, 9) == []
    heap.give_back([0])
    assert [heap.pop() for _ in range(3)] == [0, 1, 1]
