"""The Gantt: bars of pods that come and go together, lanes that do not overlap, and how much is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.evaluator.facts import Facts
from kumi.evaluator.report import gantt as module
from kumi.evaluator.report.gantt import gantt, lanes
from tests.evaluator.told import Told, small


def drawn(facts: Facts, runs: int = 1) -> dict[str, Any]:
    return gantt(facts, (facts.begin_ms, facts.end_ms), runs)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50), st.integers(0, 20)), max_size=40))
def test_bars_of_one_lane_never_overlap_and_no_lane_is_left_free(told: list[tuple[int, int, int]]) -> None:
    told.sort(key=lambda bar: bar[:2])
    node, at, long = (
        (np.array(column, dtype=np.int64) for column in zip(*told, strict=True))
        if told
        else (np.empty(0, np.int64),) * 3
    )
    lane = lanes(node, at, at + long)
    for i in range(len(told)):
        earlier = [j for j in range(i) if node[j] == node[i]]
        assert all(at[j] + long[j] <= at[i] for j in earlier if lane[j] == lane[i])
        for free in range(lane[i]):
            assert any(lane[j] == free and at[j] + long[j] > at[i] for j in earlier)


def test_pods_of_a_gang_on_one_node_are_one_bar() -> None:
    told = Told()
    gang = told.job("gang", 0, pods=5)
    told.start(gang, 0, "n1", "n1", "n1", "n2", "n2")
    told.leave(gang, 4, "n1")
    told.end(gang, 10)
    found = drawn(told.close(10))
    bars = list(zip(found["node"], found["at"], found["to"], found["pods"], strict=True))
    assert sorted(bars) == [(0, 0, 4000, 1), (0, 0, 10_000, 2), (1, 0, 10_000, 2)]
    assert found["lanes"] == [2, 1]


def test_a_small_run_is_drawn_whole() -> None:
    found = drawn(small().facts)
    assert [found["jobs"][job] for job in found["job"]] == [
        "default/first",
        "default/second",
        "default/third",
        "default/second",
    ]
    assert (found["nodes"], found["bars"], found["all_nodes"]) == (["n1", "n2"], 4, 2)
    assert [found["tenants"][of] for of in found["of"]] == ["red", "blue", "red"]


def test_what_is_still_there_has_no_end() -> None:
    told = Told()
    told.start(told.job("a", 0, runs=None), 2, "n1")
    told.job("b", 9)
    found = drawn(told.close(9))
    assert (found["at"], found["to"]) == ([2000], [-1])


def test_the_longest_bars_and_the_busiest_nodes_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BARS", 6)
    monkeypatch.setattr(module, "NODES", 2)
    told = Told()
    for number in range(9):
        job = told.job(f"j{number}", 0)
        told.start(job, 0, f"n{number}")
        told.end(job, 1 + number)
    facts = told.close(9)
    assert drawn(facts)["nodes"] == ["n7", "n8"]
    assert drawn(facts, runs=6)["nodes"] == ["n8"]
    assert (drawn(facts)["bars"], drawn(facts)["all_nodes"]) == (9, 9)


def test_nothing_was_placed() -> None:
    told = Told()
    told.job("a", 0)
    found = drawn(told.close(1))
    assert (found["node"], found["nodes"], found["bars"]) == ([], [], 0)
