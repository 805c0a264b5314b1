"""Least slack: who has the least time to lose."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement.heap import Heap
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

NOW = 1000


def hall(**jobs: tuple[int | None, int | None]) -> Scene:
    """Waiting gangs of one task: (deadline, execution time)."""
    made = Scene(line(), node("n", cpu=9), now_ms=NOW)
    for name, (deadline, execution) in jobs.items():
        made.put(gang(name, deadline_ms=deadline, execution_ms=execution), task(f"{name}-0", name, cpu=1))
    return made


def order(made: Scene) -> list[str]:
    at = made.open("least_slack")
    heap = Heap(at.job_less, at.jobs())
    return [heap.pop().key[3:] for _ in range(len(heap))]


@given(st.lists(st.tuples(st.none() | st.integers(0, 9000), st.none() | st.integers(1, 9000)), max_size=6))
def test_the_smaller_slack_goes_first_and_no_deadline_last(said: list[tuple[int | None, int | None]]) -> None:
    names = [f"j{n}" for n in range(len(said))]
    slack = {n: (d is None, 0 if d is None else d - (e or 0)) for n, (d, e) in zip(names, said, strict=True)}
    assert order(hall(**dict(zip(names, said, strict=True)))) == sorted(names, key=lambda n: (slack[n], n))


def test_what_has_run_does_not_remain() -> None:
    made = hall(a=(5000, 3000), b=(5000, 2500))
    assert order(made) == ["a", "b"]
    made.put(replace(task("a-0", "a", cpu=1, node="n"), started_ms=NOW - 600))
    assert order(made) == ["b", "a"]


def test_a_gang_that_says_nothing_has_the_words_of_its_pods() -> None:
    made = hall(a=(5000, 100), b=(None, None))
    made.put(task("b-0", "b", cpu=1, deadline_ms=9000), task("b-1", "b", cpu=1, deadline_ms=4000, execution_ms=10))
    assert order(made) == ["b", "a"]


def named(
    mine: tuple[int | None, int | None], theirs: tuple[int | None, int | None], ran_ms: int = 0
) -> list[str] | None:
    made = hall(p=mine, v=theirs)
    made.put(replace(task("v-0", "v", cpu=1, node="n"), started_ms=NOW - ran_ms if ran_ms else 0))
    at = made.open("least_slack")
    found = at.preemptable(made.pod("p-0"), [made.pod("v-0")])
    assert at.evictable(made.job("p"), [made.pod("v-0")], reclaim=False) == found
    return [pod.uid for pod in found]


@pytest.mark.parametrize(
    ("mine", "theirs", "gives"),
    [
        ((NOW + 150, 100), (None, 500), True),  # slack 50: it can't wait 500
        ((NOW + 150, 100), (None, None), True),  # nobody knows how long the other runs
        ((NOW + 700, 100), (None, 500), False),  # it makes it anyway
        ((NOW + 50, 100), (None, 500), False),  # it is late anyway
        ((NOW + 150, 100), (NOW + 600, 500), True),  # the other makes it, starting anew
        ((NOW + 150, 100), (NOW + 599, 500), False),  # the other would miss its own
        ((None, 100), (None, 500), False),  # no opinion, and nobody else to say yes
    ],
)
def test_who_gives_way(mine: tuple[int | None, int], theirs: tuple[int | None, int | None], gives: bool) -> None:
    assert named(mine, theirs) == (["v-0"] if gives else [])


def test_a_victim_that_is_nearly_done_is_waited_for() -> None:
    assert named((NOW + 150, 100), (None, 500), ran_ms=460) == []
    assert named((NOW + 150, 100), (None, 500), ran_ms=440) == ["v-0"]


def test_never_a_task_of_its_own_and_no_opinion_across_queues() -> None:
    made = hall(p=(NOW + 150, 100))
    made.put(task("p-1", "p", cpu=1, node="n"))
    at = made.open("least_slack")
    assert at.preemptable(made.pod("p-0"), [made.pod("p-1")]) == []
    both = made.open("gang", "least_slack")
    assert both.evictable(made.job("p"), [made.pod("p-1")], reclaim=True) == [made.pod("p-1")]


def test_without_its_switch_it_has_no_say_in_who_gives_way() -> None:
    made = hall(p=(NOW + 50, 100), v=(None, 500))
    at = made.open("gang", option("least_slack", without=("enablePreemptable",)))
    assert at.evictable(made.job("p"), [made.pod("v-0")], reclaim=False) == [made.pod("v-0")]
    assert made.open("gang", "least_slack").evictable(made.job("p"), [made.pod("v-0")], reclaim=False) == []


def test_where_only_slack_counts_nobody_gives_way_to_one_without_a_deadline() -> None:
    made = hall(p=(None, 100), v=(None, 500))
    arguments = {"least_slack.onlyBySlack": True}
    at = made.open("gang", option("least_slack", **arguments))
    assert at.evictable(made.job("p"), [made.pod("v-0")], reclaim=False) == []
    assert made.open("gang", "least_slack").evictable(made.job("p"), [made.pod("v-0")], reclaim=False) == [
        made.pod("v-0")
    ]


SAID = st.tuples(st.integers(1, 900), st.none() | st.integers(1, 300))


@given(SAID, SAID, st.integers(0, 299))
def test_whoever_takes_from_another_has_the_earlier_deadline(
    mine: tuple[int, int | None], theirs: tuple[int, int | None], ran: int
) -> None:
    (due, takes), (other_due, other_takes) = mine, theirs
    if named((NOW + due, takes), (NOW + other_due, other_takes), min(ran, other_takes or ran)):
        assert due < other_due


@given(
    st.tuples(st.none() | st.integers(0, 4000), st.none() | st.integers(1, 3000)),
    st.tuples(st.none() | st.integers(0, 4000), st.none() | st.integers(1, 3000)),
    st.booleans(),
    st.booleans(),
)
def test_a_gang_from_which_it_says_that_nothing_is_to_be_had_is_not_named(
    mine: tuple[int | None, int | None], theirs: tuple[int | None, int | None], only: bool, reclaim: bool
) -> None:
    made = hall(p=mine, v=theirs)
    made.put(task("v-0", "v", cpu=1, node="n"))
    at = made.open(option("least_slack", **{"least_slack.onlyBySlack": only}))
    named = at.evictable(made.job("p"), [made.pod("v-0")], reclaim=reclaim)
    assert at.evicts_from(made.job("p"), made.job("v"), reclaim=reclaim) or not named
