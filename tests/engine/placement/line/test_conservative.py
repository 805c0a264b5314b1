"""Conservative: everybody has a reservation."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kumi.engine.model import Node, Profile
from kumi.engine.policy import parse
from kumi.testing.builders import node
from kumi.testing.lines import Lined, Played, play

CONSERVATIVE = parse({"line": "conservative", "queueOrder": "time"})


def job(name: str, at: int, cpu: int, runs: int, said: int | None = -1, **fields: object) -> Lined:
    return Lined(name, at, runs, said, asks={"cpu": cpu}, **fields)  # type: ignore[arg-type]


def says(j: Lined) -> int:
    assert j.said is not None
    return j.said


def gangs(jobs: list[Lined]) -> list[Lined]:
    """The same as gangs of one-cpu pods."""
    return [Lined(j.name, j.at, j.runs, j.said, pods=j.asks["cpu"], gang=True) for j in jobs]


def played(jobs: list[Lined], *nodes: Node, profile: Profile = CONSERVATIVE) -> Played:
    return play(jobs, nodes, profile)


def starts(jobs: list[Lined], *nodes: Node, profile: Profile = CONSERVATIVE) -> dict[str, int]:
    return {key.partition("/")[2]: at for key, at in played(jobs, *nodes, profile=profile).started.items()}


def textbook(jobs: list[Lined], total: int) -> dict[str, int]:
    """Conservative backfill on one pool of processors, where all say the truth: each job, when it comes, gets the first hole in
    the profile that is long enough, and never moves."""
    taken: list[tuple[int, int, int]] = []
    started = {}
    for j in sorted(jobs, key=lambda j: (j.at, j.key)):
        at = next(t for t in sorted({j.at, *(end for _, end, _ in taken if end > j.at)}) if _fits(j, t, taken, total))
        taken.append((at, at + j.runs, j.asks["cpu"]))
        started[j.name] = at
    return started


def _fits(j: Lined, at: int, taken: list[tuple[int, int, int]], total: int) -> bool:
    moments = [at, *(begin for begin, _, _ in taken if at < begin < at + j.runs)]
    return all(sum(n for b, e, n in taken if b <= m < e) + j.asks["cpu"] <= total for m in moments)


JOBS = st.lists(
    st.tuples(st.integers(0, 8), st.integers(1, 4), st.integers(1, 9), st.sampled_from((0, 0, 1, 3, 7))), max_size=9
)
Drawn = list[tuple[int, int, int, int]]


def made(drawn: Drawn) -> list[Lined]:
    return [job(f"j{n}", at, cpu, runs, runs + more) for n, (at, cpu, runs, more) in enumerate(drawn)]


@settings(max_examples=20)
@given(JOBS)
def test_pods_and_gangs_that_say_the_truth_start_when_the_textbook_has_them_start(drawn: Drawn) -> None:
    jobs = made([(at, cpu, runs, 0) for at, cpu, runs, _ in drawn])
    wanted = textbook(jobs, 4)
    assert starts(jobs, node("n", cpu=4)) == wanted
    assert starts(gangs(jobs), node("n", cpu=4)) == wanted


@settings(max_examples=30)
@given(JOBS, st.booleans(), st.sampled_from(("time", "shortest", "fair")))
@example([(0, 4, 5, 0), (1, 1, 3, 0), (1, 4, 4, 0), (2, 1, 9, 0), (2, 2, 2, 0)], False, "time")
def test_nobody_starts_later_than_at_its_first_reservation_whatever_the_nodes(
    drawn: Drawn, grouped: bool, order: str
) -> None:
    jobs = gangs(made(drawn)) if grouped else made(drawn)
    profile = parse({"line": "conservative", "queueOrder": order})
    seen = played(jobs, node("a", cpu=4), node("b", cpu=3), node("c", cpu=1), profile=profile)
    assert len(seen.started) == len(jobs)
    assert [(key, at) for key, at in seen.promised.items() if seen.started[key] > at] == []


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 8), *[st.integers(1, n) for n in (4, 9, 12)]), max_size=9), st.booleans())
@example([(0, 2, 4, 2), (0, 4, 4, 4), (0, 2, 6, 3), (3, 2, 6, 3)], False)
@example([(0, 2, 4, 2), (0, 4, 4, 4), (0, 2, 6, 3), (3, 2, 6, 3)], True)
def test_whatever_is_said_nobody_in_a_pool_passes_one_that_came_before_and_asks_for_no_more(
    drawn: Drawn, grouped: bool
) -> None:
    jobs = [job(f"j{n}", at, cpu, runs, said) for n, (at, cpu, runs, said) in enumerate(drawn)]
    seen = played(gangs(jobs) if grouped else jobs, node("n", cpu=4)).started
    line = sorted(jobs, key=lambda j: (j.at, j.key))
    passed = [
        (b.name, a.name)
        for n, a in enumerate(line)
        for b in line[n + 1 :]
        if b.asks["cpu"] >= a.asks["cpu"] and says(b) >= says(a) and seen[b.key] < seen[a.key]
    ]
    assert passed == []


# `first` may start at 10, `second`, which needs all four, at 15; `x` would delay the second and not the first
HALL = [job("runs", 0, 2, 10), job("first", 1, 3, 5), job("second", 2, 4, 5)]


@pytest.mark.parametrize(("runs", "begins"), [(7, 3), (12, 3), (13, 20)])
def test_nobody_starts_who_would_delay_any_that_waits(runs: int, begins: int) -> None:
    jobs = [*HALL, job("x", 3, 1, runs)]
    seen = played(jobs, node("n", cpu=4))
    assert seen.started == {"ns/runs": 0, "ns/first": 10, "ns/second": 15, "ns/x": begins}
    assert (seen.promised["ns/first"], seen.promised["ns/second"]) == (10, 15)
    assert starts(gangs(jobs), node("n", cpu=4))["x"] == begins


def test_easy_lets_it_pass_the_second() -> None:
    late = starts([*HALL, job("x", 3, 1, 13)], node("n", cpu=4), profile=parse({"line": "easy"}))
    assert (late["x"], late["second"]) == (3, 16)


def test_what_ends_early_brings_all_forward() -> None:
    early = [job("runs", 0, 2, 4, 10), *HALL[1:]]
    assert starts(early, node("n", cpu=4)) == {"runs": 0, "first": 4, "second": 9}


def test_one_whose_place_keeps_out_a_shorter_one_of_its_kind_is_brought_forward_itself() -> None:
    """`runs` says 8 and takes 7; `short`, asked first then, would be in the way of `long` at 9, which may start at once."""
    profile = parse({"line": "conservative", "queueOrder": "shortest"})
    jobs = [job("runs", 1, 4, 7, 8), job("long", 3, 4, 9, 12), job("short", 5, 4, 3, 6)]
    seen = played(jobs, node("n", cpu=4), profile=profile)
    assert (seen.promised["ns/long"], seen.started["ns/long"]) == (9, 8)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("order", ["time", "shortest", "fair"])
def test_the_first_is_not_starved_by_those_behind_it_where_all_run_longer_than_they_say(
    grouped: bool, order: str
) -> None:
    """All that come later take half of the nodes, one after the other for as long as it goes on."""
    later = [job(f"j{n:02}", 2 + 4 * n, 2, 9, 8) for n in range(12)]
    jobs = [job("runs", 0, 2, 10, 5), job("first", 1, 4, 7, 8), *later]
    profile = parse({"line": "conservative", "queueOrder": order})
    assert starts(gangs(jobs) if grouped else jobs, node("n", cpu=4), profile=profile)["first"] == 10


def test_one_that_is_late_does_not_delay_those_before_it() -> None:
    """`runs` says 5 and takes 9: `third`, which was to start at 5 and end at 9, would be in the way of `second` at 10."""
    jobs = [job("runs", 0, 1, 9, 5), job("half", 0, 3, 10), job("second", 1, 4, 5), job("third", 2, 1, 4)]
    assert starts(jobs, node("n", cpu=4)) == {"runs": 0, "half": 0, "second": 10, "third": 15}


def test_one_that_fits_on_no_node_or_of_which_nobody_knows_when_keeps_nobody_waiting() -> None:
    assert starts([job("huge", 0, 9, 1), job("a", 1, 4, 5), job("b", 2, 1, 1)], node("n", cpu=4)) == {"a": 1, "b": 6}
    unknown = [job("runs", 0, 2, 10, None), job("first", 1, 3, 5), job("x", 2, 2, 99)]
    assert starts(unknown, node("n", cpu=4)) == {"runs": 0, "x": 2, "first": 101}


def test_a_higher_priority_takes_what_was_kept_for_others() -> None:
    jobs = [job("runs", 0, 4, 10, priority=1), job("first", 1, 4, 5), job("urgent", 2, 4, 5, priority=1)]
    seen = played(jobs, node("n", cpu=4))
    assert (seen.started["ns/urgent"], seen.started["ns/first"], seen.promised["ns/first"]) == (10, 15, 10)


def test_what_was_kept_stands_though_shorter_ones_come() -> None:
    profile = parse({"line": "conservative", "queueOrder": "shortest"})
    jobs = [job("runs", 0, 4, 10), job("long", 1, 3, 50), *(job(f"s{n}", 2 + n, 2, 9) for n in range(3))]
    assert starts(jobs, node("n", cpu=4), profile=profile)["long"] == 10


def test_only_so_many_get_a_reservation() -> None:
    jobs = [*HALL, job("third", 3, 4, 5)]
    seen = played(jobs, node("n", cpu=4), profile=parse({"line": "conservative", "lineDepth": 1}))
    assert (seen.promised["ns/first"], seen.promised["ns/second"], seen.promised["ns/third"]) == (10, 15, 20)
    state = seen.state
    assert state is not None
    assert state.profile.settings.depth == 1
