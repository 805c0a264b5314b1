"""Strict: nobody passes the first that finds no room."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.policy import parse
from kumi.testing.builders import node
from kumi.testing.lines import Lined, play

STRICT = parse({"line": "strict", "queueOrder": "time"})
JOBS = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4), st.integers(1, 9)), max_size=9)


def job(name: str, at: int, cpu: int, runs: int, **fields: object) -> Lined:
    return Lined(name, at, runs, asks={"cpu": cpu}, **fields)  # type: ignore[arg-type]


def gangs(jobs: list[Lined]) -> list[Lined]:
    """The same as gangs of one-cpu pods."""
    return [Lined(j.name, j.at, j.runs, j.said, pods=j.asks["cpu"], gang=True) for j in jobs]


def starts(jobs: list[Lined], size: int = 4, policy: str = "strict") -> dict[str, int]:
    profile = parse({"line": policy, "queueOrder": "time"})
    return {key.partition("/")[2]: at for key, at in play(jobs, [node("n", cpu=size)], profile).started.items()}


def textbook(jobs: list[Lined], total: int) -> dict[str, int]:
    """First come, first served, on one pool of processors."""
    running: list[tuple[int, int]] = []
    now, started = 0, {}
    for j in sorted(jobs, key=lambda j: (j.at, j.key)):
        now = max(now, j.at)
        while sum(size for end, size in running if end > now) + j.asks["cpu"] > total:
            now = min(end for end, _ in running if end > now)
        running.append((now + j.runs, j.asks["cpu"]))
        started[j.name] = now
    return started


@settings(max_examples=20)
@given(JOBS)
def test_pods_and_gangs_start_in_the_order_in_which_they_came_as_soon_as_they_fit(
    drawn: list[tuple[int, int, int]],
) -> None:
    jobs = [job(f"j{n}", at, cpu, runs) for n, (at, cpu, runs) in enumerate(drawn)]
    assert starts(jobs) == starts(gangs(jobs)) == textbook(jobs, 4)


def test_open_lets_pass_who_fits() -> None:
    jobs = [job("runs", 0, 2, 10), job("first", 1, 3, 5), job("small", 2, 1, 50)]
    assert starts(jobs) == {"runs": 0, "first": 10, "small": 10}
    assert starts(jobs, policy="open") == {"runs": 0, "small": 2, "first": 10}


def test_those_that_fit_on_no_node_keep_nobody_waiting() -> None:
    jobs = [job("huge", 0, 9, 1), job("vast", 0, 9, 2), job("a", 1, 4, 5), job("b", 2, 1, 1)]
    assert starts(jobs) == {"a": 1, "b": 6}
    assert starts(gangs(jobs)) == {"a": 1, "b": 6}


def test_when_the_first_goes_the_next_is_tried() -> None:
    jobs = [job("runs", 0, 4, 10), job("first", 1, 4, 5, priority=1), job("next", 2, 1, 1, priority=2)]
    assert starts([job("runs", 0, 4, 10, priority=3), *jobs[1:]]) == {"runs": 0, "next": 10, "first": 11}
