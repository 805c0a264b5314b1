"""Easy: one reservation, and who may pass it."""

from __future__ import annotations

from heapq import heappop, heappush

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.model import Node, Profile
from kumi.engine.policy import parse
from kumi.testing.builders import node
from kumi.testing.lines import Lined, play

EASY = parse({"line": "easy", "queueOrder": "time"})


def job(name: str, at: int, cpu: int, runs: int, said: int | None = -1, **fields: object) -> Lined:
    return Lined(name, at, runs, said, asks={"cpu": cpu}, **fields)  # type: ignore[arg-type]


def starts(jobs: list[Lined], *nodes: Node, profile: Profile = EASY) -> dict[str, int]:
    return {key.partition("/")[2]: at for key, at in play(jobs, nodes, profile).started.items()}


class Pool:
    """EASY on one pool of processors, as the papers have it: shadow time and extra processors."""

    def __init__(self, jobs: list[Lined], total: int) -> None:
        self.total, self.coming = total, sorted(jobs, key=lambda j: (j.at, j.key))
        self.waiting: list[Lined] = []
        self.running: list[tuple[int, int, int]] = []
        """(said end, true end, size)"""
        self.started: dict[str, int] = {}
        self.times = sorted({j.at for j in jobs})

    def played(self) -> dict[str, int]:
        while self.times:
            now = heappop(self.times)
            self.running = [one for one in self.running if one[1] > now]
            while self.coming and self.coming[0].at <= now:
                self.waiting.append(self.coming.pop(0))
            while self.waiting and self.waiting[0].asks["cpu"] <= self.free():
                self.start(self.waiting[0], now)
            if self.waiting:
                self.backfill(now)
        return self.started

    def free(self) -> int:
        return self.total - sum(size for _, _, size in self.running)

    def start(self, j: Lined, now: int) -> None:
        self.started[j.name] = now
        self.waiting.remove(j)
        self.running.append((now + said(j), now + j.runs, j.asks["cpu"]))
        heappush(self.times, now + j.runs)

    def backfill(self, now: int) -> None:
        need, room, shadow = self.waiting[0].asks["cpu"], self.free(), now
        for end, _, size in sorted(self.running):
            if room < need:
                room, shadow = room + size, end
        extra = self.total - sum(size for end, _, size in self.running if end > shadow) - need
        for j in self.waiting[1:]:
            size, late = j.asks["cpu"], now + said(j) > shadow
            if size <= self.free() and (not late or size <= extra):
                extra -= size if late else 0
                self.start(j, now)


def said(j: Lined) -> int:
    return j.runs if j.said == -1 or j.said is None else j.said


JOBS = st.lists(
    st.tuples(st.integers(0, 8), st.integers(1, 4), st.integers(1, 9), st.sampled_from((0, 0, 1, 3, 7))), max_size=9
)


def made(drawn: list[tuple[int, int, int, int]]) -> list[Lined]:
    return [job(f"j{n}", at, cpu, runs, runs + more) for n, (at, cpu, runs, more) in enumerate(drawn)]


def gangs(jobs: list[Lined]) -> list[Lined]:
    """The same as gangs of one-cpu pods."""
    return [Lined(j.name, j.at, j.runs, j.said, pods=j.asks["cpu"], gang=True) for j in jobs]


@settings(max_examples=20)
@given(JOBS)
def test_pods_and_gangs_on_one_pool_start_when_the_textbook_has_them_start(
    drawn: list[tuple[int, int, int, int]],
) -> None:
    jobs = made(drawn)
    wanted = Pool(jobs, 4).played()
    assert starts(jobs, node("n", cpu=4)) == wanted
    assert starts(gangs(jobs), *(node(f"n{n}", cpu=1) for n in range(4))) == wanted


@settings(max_examples=30)
@given(JOBS, st.booleans(), st.booleans())
def test_nobody_starts_later_than_at_its_first_reservation_whatever_the_nodes(
    drawn: list[tuple[int, int, int, int]], grouped: bool, shortest: bool
) -> None:
    jobs = gangs(made(drawn)) if grouped else made(drawn)
    profile = parse({"line": "easy", "queueOrder": "shortest" if shortest else "time"})
    played = play(jobs, [node("a", cpu=4), node("b", cpu=3), node("c", cpu=1)], profile)
    assert len(played.started) == len(jobs)
    assert [(key, at) for key, at in played.promised.items() if played.started[key] > at] == []


# two cpus run until 10; the first that waits wants three of four, so its shadow time is 10 and one cpu is extra then
HALL = [job("runs", 0, 2, 10), job("first", 1, 3, 5)]


@pytest.mark.parametrize(
    ("last", "begins"),
    [
        (job("x", 2, 2, 8), 2),  # it ends at the shadow time
        (job("x", 2, 2, 9), 15),  # it ends after it, and takes more than what is extra
        (job("x", 2, 1, 99), 2),  # it takes what is extra
        (job("x", 2, 1, 99, None), 2),  # also where nobody says how long
        (job("x", 2, 2, 1, None), 15),  # nobody says that it ends by then
        (job("x", 2, 2, 1, 9), 15),  # what it said counts, not what is true
    ],
)
def test_who_passes_the_first(last: Lined, begins: int) -> None:
    assert starts([*HALL, last], node("n", cpu=4)) == {"runs": 0, "first": 10, "x": begins}


def test_what_ends_early_brings_the_first_forward() -> None:
    assert starts([job("runs", 0, 2, 4, 10), job("first", 1, 3, 5)], node("n", cpu=4))["first"] == 4


def test_a_reservation_is_on_a_node_not_in_a_total() -> None:
    """At 10 there are four cpus in all, and three of them on one node only if `long` stays away from it."""
    jobs = [job("a", 0, 3, 10), job("b", 0, 3, 20), job("first", 1, 3, 5), job("long", 2, 1, 30)]
    nodes = (node("n1", cpu=3), node("n2", cpu=4))
    assert starts(jobs, *nodes) == {"a": 0, "b": 0, "long": 2, "first": 10}
    alone = (node("n1", cpu=3), node("n2", cpu=3))
    assert starts(jobs, *alone) == {"a": 0, "b": 0, "first": 10, "long": 15}


def test_the_first_makes_way_to_another_node_that_is_as_good_at_its_time() -> None:
    """n1 is where it would go at 10; `long` fits on n1 alone, and the first then goes to n2, which is empty at 10 as well."""
    jobs = [job("a", 0, 2, 10), job("b", 0, 4, 10), job("first", 1, 4, 5), job("long", 2, 2, 30)]
    assert starts(jobs, node("n1", cpu=4), node("n2", cpu=4)) == {"a": 0, "b": 0, "long": 2, "first": 10}


def test_where_nobody_says_when_anything_ends_nobody_is_held_back() -> None:
    jobs = [job("runs", 0, 2, 10, None), job("first", 1, 3, 5), job("x", 2, 2, 99)]
    assert starts(jobs, node("n", cpu=4)) == {"runs": 0, "x": 2, "first": 101}


def test_what_runs_longer_than_it_said_ends_at_any_moment_and_the_first_is_next() -> None:
    jobs = [job("runs", 0, 2, 10, 3), job("first", 1, 3, 5), job("x", 4, 2, 3), job("y", 4, 1, 2)]
    assert starts(jobs, node("n", cpu=4)) == {"runs": 0, "first": 10, "x": 15, "y": 4}


def test_one_that_fits_on_no_node_keeps_nobody_waiting_and_is_named_as_such() -> None:
    assert starts([job("huge", 0, 9, 1), job("a", 1, 4, 5), job("b", 2, 1, 1)], node("n", cpu=4)) == {"a": 1, "b": 6}


def test_the_first_of_those_that_fit_somewhere_has_the_reservation() -> None:
    assert starts([job("huge", 0, 9, 1), *HALL, job("x", 2, 2, 9)], node("n", cpu=4)) == {
        "runs": 0,
        "first": 10,
        "x": 15,
    }


def test_one_that_takes_less_time_may_pass_where_one_like_it_may_not() -> None:
    jobs = [*HALL, job("x", 2, 2, 9), job("y", 2, 2, 8)]
    assert starts(jobs, node("n", cpu=4)) == {"runs": 0, "y": 2, "first": 10, "x": 15}


def test_a_higher_priority_goes_first_and_takes_the_reservation() -> None:
    jobs = [job("runs", 0, 4, 10), job("first", 1, 4, 5), job("urgent", 2, 4, 5, priority=1), job("x", 3, 4, 1)]
    assert starts(jobs, node("n", cpu=4), profile=EASY)["urgent"] == 2  # by preempting
    low = [job("runs", 0, 4, 10, priority=1), *jobs[1:]]
    assert starts(low, node("n", cpu=4)) == {"runs": 0, "urgent": 10, "first": 15, "x": 20}


def test_at_most_so_many_are_looked_at_behind_the_first() -> None:
    jobs = [*HALL, job("large", 2, 2, 50), job("small", 3, 1, 2)]
    assert starts(jobs, node("n", cpu=4))["small"] == 3
    for depth, begins in ((2, 3), (1, 10), (0, 15)):
        profile = parse({"line": "easy", "lineDepth": depth})
        assert starts(jobs, node("n", cpu=4), profile=profile)["small"] == begins
        assert starts(gangs(jobs), node("n", cpu=4), profile=profile)["small"] == begins


def test_the_first_stays_first_though_a_shorter_one_comes() -> None:
    profile = parse({"line": "easy", "queueOrder": "shortest"})
    jobs = [job("runs", 0, 4, 10), job("long", 1, 3, 50), *(job(f"s{n}", 2 + n, 2, 9) for n in range(3))]
    assert starts(jobs, node("n", cpu=4), profile=profile)["long"] == 10
