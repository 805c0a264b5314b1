"""Schedules: five fields that say at which minutes something is due.

    minute hour day-of-month month day-of-week       each: *  N  N-M  */S  N-M/S  N/S  and lists of these with commas
    months and days of the week also by name (JAN, mon); 0 and 7 are Sunday; ? is *
    @yearly @annually @monthly @weekly @daily @midnight @hourly    @every 1h30m

The rule   a minute is due when all fields hold; where day-of-month and day-of-week are both restricted, one of the two is
           enough. `@every D` is due D after the time asked from.
Zones      a schedule is read in a zone's own time; a time that a change of clocks skips is not due that day, one that it
           repeats is due once.
Source     crontab(5); Kubernetes: CronJob (schedule syntax, time zones).
Cost       O(days looked through) a step; a schedule that is never due (30 February) is given up after YEARS.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

YEARS = 5
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_DAYS = {name: number for number, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 7, _DAYS),
)
_EVERY = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class ScheduleError(ValueError):
    """The text is no schedule; says why."""


@dataclass(frozen=True)
class Schedule:
    """When something is due. `every_s` > 0: that often; else the sets hold what each field allows."""

    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    any_day: bool = True
    any_weekday: bool = True
    every_s: int = 0

    def next_ms(self, after_ms: int, zone: str = "") -> int | None:
        """The first due time later than `after_ms` (milliseconds since the epoch); None: there is none."""
        if self.every_s:
            return (after_ms // 1000 + self.every_s) * 1000
        where = zone_of(zone)
        start = (_EPOCH + dt.timedelta(milliseconds=after_ms)).astimezone(where)
        for day in _days_from(start.date()):
            if self._holds(day):
                for moment in self._moments(day, where):
                    if moment > after_ms:
                        return moment
        return None

    def _holds(self, day: dt.date) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month and in_week if self.any_day or self.any_weekday else in_month or in_week

    def _moments(self, day: dt.date, where: dt.tzinfo) -> Iterator[int]:
        found = set()
        for hour in self.hours:
            for minute in self.minutes:
                local = dt.datetime(day.year, day.month, day.day, hour, minute, tzinfo=where)
                utc = local.astimezone(dt.UTC)
                if utc.astimezone(where).replace(tzinfo=None) == local.replace(tzinfo=None):
                    found.add((utc - _EPOCH) // dt.timedelta(milliseconds=1))
        yield from sorted(found)


def zone_of(name: str) -> dt.tzinfo:
    """A time zone by its name, UTC for none. ScheduleError: there is none of that name."""
    if not name:
        return dt.UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ScheduleError(f"unknown time zone {name}") from error


@lru_cache(maxsize=1024)
def parse(text: str) -> Schedule:
    """A schedule. ScheduleError."""
    words = _MACROS.get(text.strip(), text)
    if words.startswith("@every "):
        return Schedule(every_s=_seconds(words.removeprefix("@every ").strip()))
    parts = words.split()
    if len(parts) != len(_FIELDS):
        raise ScheduleError(f"expected exactly 5 fields, found {len(parts)}: {text}")
    sets = [_field(part, *field) for part, field in zip(parts, _FIELDS, strict=True)]
    weekdays = frozenset(day % 7 for day in sets[4])
    stars = [part.startswith(("*", "?")) for part in parts]
    return Schedule(sets[0], sets[1], sets[2], sets[3], weekdays, stars[2], stars[4])


def _days_from(day: dt.date) -> Iterator[dt.date]:
    for number in range(366 * YEARS):
        yield day + dt.timedelta(days=number)


def _seconds(text: str) -> int:
    match = _EVERY.fullmatch(text)
    total = sum(int(part or 0) * unit for part, unit in zip(match.groups(), (3600, 60, 1), strict=True)) if match else 0
    if total < 1:
        raise ScheduleError(f"failed to parse duration {text}")
    return total


def _field(text: str, name: str, low: int, high: int, words: dict[str, int]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step_text = part.partition("/")
        step = _number(step_text, name, 1, high, {}) if slash else 1
        if span in ("*", "?"):
            first, last = low, high
        else:
            start, dash, end = span.partition("-")
            first = _number(start, name, low, high, words)
            last = _number(end, name, low, high, words) if dash else high if slash else first
        if first > last:
            raise ScheduleError(f"beginning of range ({first}) beyond end of range ({last}): {part}")
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _number(text: str, name: str, low: int, high: int, words: dict[str, int]) -> int:
    value = words.get(text.lower())
    if value is None:
        if not text.isascii() or not text.isdigit():
            raise ScheduleError(f"failed to parse int from {text!r} in {name}")
        value = int(text)
    if not low <= value <= high:
        raise ScheduleError(f"{value} is not between {low} and {high}, as a {name} has to be")
    return value
