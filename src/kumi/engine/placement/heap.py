"""Heap: a binary heap whose order may change while things wait in it.

The rule   push puts the thing at the end and lifts it while it is less than its parent; pop takes the first, puts the last in
           its place and sinks it below the lesser of its children while one is less.
Why        what is compared (shares) moves with every placement, and things in the heap are not moved for it: which of them
           comes next then depends on how the heap is kept, so it is part of the rule.
Cost       O(log n) compares.
Line       things whose order can't move: sorted once, taken one by one or a run at a time.
Source     Volcano: its priority queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Heap(Generic[T]):
    """See the module. `less(a, b)`: a comes before b."""

    __slots__ = ("_items", "_less")

    def __init__(self, less: Callable[[T, T], bool], items: Iterable[T] = ()) -> None:
        self._less = less
        self._items: list[T] = []
        for item in items:
            self.push(item)

    def next_like(self, like: Callable[[T], bool], most: int) -> list[T]:
        """None: what is taken may move the others."""
        return []

    def give_back(self, items: Sequence[T]) -> None:
        """These were taken, and are not wanted."""
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self._items)

    def push(self, item: T) -> None:
        """One more."""
        items = self._items
        items.append(item)
        at = len(items) - 1
        while at:
            above = (at - 1) // 2
            if not self._less(items[at], items[above]):
                break
            items[at], items[above] = items[above], items[at]
            at = above

    def pop(self) -> T:
        """The first. IndexError where there is none."""
        items = self._items
        items[0], items[-1] = items[-1], items[0]
        first = items.pop()
        at, n = 0, len(items)
        while (child := 2 * at + 1) < n:
            if child + 1 < n and self._less(items[child + 1], items[child]):
                child += 1
            if not self._less(items[child], items[at]):
                break
            items[at], items[child] = items[child], items[at]
            at = child
        return first


class Line(Generic[T]):
    """See the module. `items`: in their order."""

    __slots__ = ("_left",)

    def __init__(self, items: Sequence[T]) -> None:
        self._left = list(reversed(items))

    def __len__(self) -> int:
        return len(self._left)

    def pop(self) -> T:
        """The first. IndexError where there is none."""
        return self._left.pop()

    def next_like(self, like: Callable[[T], bool], most: int) -> list[T]:
        """Takes the next ones, as long as they are like that, at most so many."""
        taken: list[T] = []
        while self._left and len(taken) < most and like(self._left[-1]):
            taken.append(self._left.pop())
        return taken

    def give_back(self, items: Sequence[T]) -> None:
        """These were the first, and are again."""
        self._left += reversed(items)
