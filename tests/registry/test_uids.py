from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from kumi.registry.uids import COUNT_BITS, Uids

NOW_MS = 1_700_000_000_000


@given(st.lists(st.integers(NOW_MS - 5, NOW_MS + 5), min_size=2), st.binary(min_size=8, max_size=8))
def test_each_is_greater_than_the_one_before_whatever_the_clock_does(times: list[int], chance: bytes) -> None:
    clock = iter(times)
    uids = Uids(lambda: next(clock), lambda _: chance)
    given_out = [uids() for _ in times]
    assert given_out == sorted(set(given_out))


def test_it_is_a_uuid_with_the_time_and_as_much_chance_as_there_is_room_for() -> None:
    found = uuid.UUID(Uids(lambda: NOW_MS, lambda size: b"\xff" * size)())
    assert (found.version, found.variant) == (7, uuid.RFC_4122)
    assert found.int >> 80 == NOW_MS
    assert found.int & (1 << 62) - 1 == (1 << 62) - 1


def test_two_that_start_at_once_do_not_give_out_the_same() -> None:
    assert Uids(lambda: NOW_MS)() != Uids(lambda: NOW_MS)()


def test_more_than_a_millisecond_has_room_for_go_on_in_the_next() -> None:
    uids = Uids(lambda: NOW_MS)
    given_out = [uids() for _ in range((1 << COUNT_BITS) + 1)]
    assert given_out == sorted(set(given_out))
    assert uuid.UUID(given_out[-1]).int >> 80 == NOW_MS + 1
