from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.cron import ScheduleError, parse, zone_of

MINUTE_MS = 60_000


def ms(text: str) -> int:
    return int(dt.datetime.fromisoformat(text).timestamp() * 1000)


def following(schedule: str, after: str, zone: str = "") -> str:
    found = parse(schedule).next_ms(ms(after), zone)
    assert found is not None
    return dt.datetime.fromtimestamp(found / 1000, dt.UTC).isoformat().removesuffix(":00+00:00")


FIELDS = st.tuples(
    st.sampled_from(["*", "0", "*/7", "5-20", "1,59"]),
    st.sampled_from(["*", "3", "*/5", "22-23"]),
    st.sampled_from(["*", "1", "31", "*/10"]),
    st.sampled_from(["*", "2", "jan-mar"]),
    st.sampled_from(["*", "mon", "0,6", "7"]),
)


@given(FIELDS, st.integers(0, 4_000_000_000_000))
def test_the_next_time_is_later_and_due_and_none_between_is(fields: tuple[str, ...], after_ms: int) -> None:
    schedule = parse(" ".join(fields))
    found = schedule.next_ms(after_ms)
    if found is None:
        assert (fields[2], fields[3]) == ("31", "2")
        return
    assert found > after_ms
    assert found % MINUTE_MS == 0
    assert schedule.next_ms(found - 1) == found
    between = after_ms + (found - after_ms) // 2
    assert schedule.next_ms(between) == found


@pytest.mark.parametrize(
    ("schedule", "after", "next_"),
    [
        ("* * * * *", "2026-01-01T00:00:30Z", "2026-01-01T00:01"),
        ("30 4 * * *", "2026-01-01T04:30:00Z", "2026-01-02T04:30"),
        ("0 0 1 * *", "2026-01-15T00:00:00Z", "2026-02-01T00:00"),
        ("0 0 * * 0", "2026-01-01T00:00:00Z", "2026-01-04T00:00"),
        ("0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00"),
        ("0 0 13 * fri", "2026-01-01T00:00:00Z", "2026-01-02T00:00"),
        ("*/15 9-17 * * mon-fri", "2026-01-02T17:45:00Z", "2026-01-05T09:00"),
        ("5/20 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:05"),
        ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00"),
        ("@hourly", "2026-01-01T00:00:00Z", "2026-01-01T01:00"),
        ("@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00"),
        ("@every 1h30m", "2026-01-01T00:00:00Z", "2026-01-01T01:30"),
    ],
)
def test_when_it_is_due(schedule: str, after: str, next_: str) -> None:
    assert following(schedule, after) == next_


def test_a_zone_has_its_own_midnight() -> None:
    assert following("0 0 * * *", "2026-07-01T00:00:00Z", "Europe/Paris") == "2026-07-01T22:00"


def test_a_time_that_clocks_skip_is_not_due_that_day() -> None:
    assert following("30 2 * * *", "2026-03-29T00:00:00Z", "Europe/Paris") == "2026-03-30T00:30"


def test_a_time_that_clocks_repeat_is_due_once() -> None:
    first = following("30 2 * * *", "2026-10-24T12:00:00Z", "Europe/Paris")
    assert first == "2026-10-25T00:30"
    assert following("30 2 * * *", f"{first}:00Z", "Europe/Paris") == "2026-10-26T01:30"


def test_what_never_comes_is_given_up() -> None:
    assert parse("0 0 30 2 *").next_ms(0) is None


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * foo *", "5-1 * * * *", "@every x", "*/0 * * * *"],
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError):
        parse(text)


def test_what_is_no_zone_is_refused() -> None:
    with pytest.raises(ScheduleError):
        zone_of("Nowhere/At_All")
