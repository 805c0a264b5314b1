"""The journal: what a trial changed is gone after it, to the last byte."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal


@dataclass
class Things:
    """One of everything that a journal changes."""

    journal: Journal = field(default_factory=Journal)
    table: dict[int, int] = field(default_factory=lambda: {1: 10, 2: 20})
    other: dict[int, int] = field(default_factory=lambda: {1: 1})
    line: list[int] = field(default_factory=lambda: [2, 5, 9])
    array: Any = field(default_factory=lambda: np.arange(12, dtype=np.int64).reshape(2, 6))
    number: int = 7

    def bytes(self) -> bytes:
        tables = sorted(self.table.items()), sorted(self.other.items())
        return repr((tables, self.line, self.number, self.array.shape)).encode() + self.array.tobytes()


def change(things: Things, step: tuple[str, int, int]) -> None:
    kind, a, b = step
    journal = things.journal
    if kind == "put":
        journal.put(things.table, a, b)
    elif kind == "drop":
        journal.drop_all(a, things.table, things.other)
    elif kind == "insert" and a not in things.line:
        journal.insert(things.line, a)
    elif kind == "insert many":
        journal.insert_many(things.line, sorted({a, b, 11} - set(things.line), reverse=True))
    elif kind == "put many":
        journal.put_many(things.table, {a: b, 2: a})
    elif kind == "drop many":
        journal.drop_many(things.table, [key for key in (a, b) if key in things.table][:1])
    elif kind == "discard":
        journal.discard(things.line, a)
    elif kind == "add":
        journal.add(things.array, (a % 2, b % things.array.shape[1]), a - b)
    elif kind == "add rows":
        rows = np.array(sorted({a % 6, b % 6}))
        journal.add(things.array, (1, rows), np.arange(rows.size) + 1)
    elif kind == "write":
        journal.write(things.array, (slice(None), a % 6), b)
    elif kind == "swap":
        journal.swap(things, "number", a)
    elif kind == "grow":
        journal.swap(things, "array", np.hstack([things.array, np.zeros((2, 1), dtype=np.int64)]))


KINDS = [
    "put",
    "put many",
    "drop",
    "drop many",
    "insert",
    "insert many",
    "discard",
    "add",
    "add rows",
    "write",
    "swap",
    "grow",
]
steps = st.tuples(st.sampled_from(KINDS), st.integers(0, 9), st.integers(0, 9))
blocks = st.recursive(
    st.lists(steps, max_size=5),
    lambda inner: st.tuples(st.booleans(), st.lists(st.one_of(steps, inner), max_size=5)),
    max_leaves=12,
)


def play(things: Things, block: Any) -> None:
    """A list changes; a pair is a trial that commits or not; what a lost trial changed is gone at its end."""
    if isinstance(block, list):
        for step in block:
            change(things, step)
        return
    commits, parts = block
    before = things.bytes()
    with things.journal.trial() as trial:
        for part in parts:
            change(things, part) if isinstance(part, tuple) and isinstance(part[0], str) else play(things, part)
        if commits:
            trial.commit()
    if not commits:
        assert things.bytes() == before


@given(st.lists(blocks, max_size=6))
def test_any_nesting_of_trials_leaves_no_byte_behind(parts: list[Any]) -> None:
    things = Things()
    before = things.bytes()
    with things.journal.trial():
        for part in parts:
            play(things, part)
    assert things.bytes() == before
    assert things.journal.depth == 0


@given(st.lists(blocks, max_size=6))
def test_a_committed_trial_leaves_what_the_same_changes_leave_without_one(parts: list[Any]) -> None:
    tried, plain = Things(), Things()
    with tried.journal.trial() as trial:
        for part in parts:
            play(tried, part)
        trial.commit()
    for part in parts:
        play(plain, part)
    assert tried.bytes() == plain.bytes()


def test_a_committed_trial_inside_a_lost_one_is_lost() -> None:
    things = Things()
    with things.journal.trial():
        with things.journal.trial() as inner:
            things.journal.put(things.table, 1, 99)
            inner.commit()
        assert things.table[1] == 99
    assert things.table == {1: 10, 2: 20}


def test_a_lost_trial_inside_a_committed_one_takes_only_its_own_back() -> None:
    things = Things()
    with things.journal.trial() as outer:
        things.journal.put(things.table, 1, 11)
        with things.journal.trial():
            things.journal.put(things.table, 1, 12)
        outer.commit()
    assert things.table[1] == 11


def test_an_exception_takes_a_trial_back_even_after_commit() -> None:
    things = Things()

    def fail() -> None:
        with things.journal.trial() as trial:
            things.journal.put(things.table, 1, 11)
            trial.commit()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert things.table[1] == 10
    assert things.journal.depth == 0


def test_a_later_trial_does_not_take_back_what_an_earlier_one_committed() -> None:
    things = Things()
    with things.journal.trial() as trial:
        things.journal.put(things.table, 1, 11)
        trial.commit()
    with things.journal.trial():
        things.journal.put(things.table, 2, 22)
    assert things.table == {1: 11, 2: 20}


def test_nothing_is_noted_outside_of_trials() -> None:
    things = Things()
    for number in range(1000):
        change(things, ("put", number, number))
    assert things.journal._entries == []


def test_discard_says_whether_the_item_was_there() -> None:
    things = Things()
    assert things.journal.discard(things.line, 5)
    assert not things.journal.discard(things.line, 5)
    assert things.line == [2, 9]


@given(st.sets(st.integers(0, 400)), st.sets(st.integers(0, 400)))
def test_many_items_come_to_their_places_however_few_they_are(known: set[int], more: set[int]) -> None:
    line = sorted(known)
    Journal().insert_many(line, [n for n in more if n not in known])
    assert line == sorted(known | more)


def test_few_items_come_to_a_long_line() -> None:
    line = list(range(0, 1000, 2))
    Journal().insert_many(line, [501, 3])
    assert line == sorted([*range(0, 1000, 2), 3, 501])
