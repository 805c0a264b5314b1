"""Layers: what pods of each priority use, counted anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.model import Node, Pod, Put, Remove
from kumi.engine.state import State
from kumi.testing.builders import node, pod

pods = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 4), st.integers(0, 3), st.sampled_from(["", "w", "t", "gone"])),
    max_size=8,
)


def filled(said: list[tuple[int, int, int, str]], kept_at: int = -1) -> State:
    """Pods by priority, cpus, node; of a Workload, on their way out, or removed again. Somebody asks for the first time ahead of
    that number."""
    state = State()
    for n in range(3):
        state.apply(Put(node(f"n{n}", cpu=9)))
    for number, (priority, cpu, where, kind) in enumerate(said):
        if number == kept_at:
            keep(state)
        made = pod(f"ns/p{number}", cpu=cpu, priority=priority, node=f"n{where}")
        made = replace(made, workload="ns/w" if kind == "w" else "", terminating=kind == "t")
        state.apply(Put(made))
        if kind == "gone":
            state.apply(Remove(Pod, made.uid))
    return state


def keep(state: State) -> None:
    """Somebody asks for the first time."""
    everywhere = np.ones(state.nodes.used.shape[1], dtype=np.bool_)
    assert list(state.layers.mended(pod("ns/x", cpu=1).shape.requests, everywhere, 0)) == []


def plain(state: State, cpu: int, priority: int) -> dict[str, int | None]:
    """Node -> the lowest level whose pods, and those below, have to go to make room."""
    found: dict[str, int | None] = {}
    for name in sorted(state.nodes.row_by_name):
        there = [state.pods.by_uid[uid] for uid in state.pods.on_node.get(name, ())]
        free = 9 - sum(dict(p.shape.requests)["cpu"] // 1000 for p in there if not p.terminating)
        for level in sorted(state.layers.by_priority):
            mine = [p for p in there if p.priority == level and not (p.workload or p.terminating)]
            free += sum(dict(p.shape.requests)["cpu"] // 1000 for p in mine)
            if level < priority and free >= cpu:
                found[name] = level
                break
    return found


@given(pods, st.integers(-1, 8), st.integers(1, 9), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_rows_come_level_by_level_as_a_plain_count_has_them(
    said: list[tuple[int, int, int, str]], kept_at: int, cpu: int, priority: int
) -> None:
    state = filled(said, kept_at)
    everywhere = np.ones(state.nodes.used.shape[1], dtype=np.bool_)
    levels = list(state.layers.mended(pod("ns/x", cpu=cpu).shape.requests, everywhere, priority))
    names = state.nodes.name_by_row()
    order = [sorted(names[row] for row in rows.tolist()) for rows in levels]
    wanted = plain(state, cpu, priority)
    by_level = {level: sorted(n for n, at in wanted.items() if at == level) for level in wanted.values()}
    assert order == [by_level[level] for level in sorted(by_level, key=lambda at: at or 0)]


def test_outside_of_the_mask_and_for_what_no_node_has_there_are_none() -> None:
    state = filled([(0, 9, 0, "")])
    nowhere = np.zeros(state.nodes.used.shape[1], dtype=np.bool_)
    assert list(state.layers.mended(pod("ns/x", cpu=1).shape.requests, nowhere, 9)) == []
    assert list(state.layers.mended(pod("ns/x", gpu=1).shape.requests, ~nowhere, 9)) == []


def test_a_node_that_goes_takes_its_pods_with_it_and_brings_them_back() -> None:
    state = filled([(0, 9, 0, "")])
    keep(state)
    row = state.nodes.row_by_name["n0"]
    line = state.nodes.line_by_resource["cpu"]
    state.apply(Remove(Node, "n0"))
    assert state.layers.by_priority[0].amounts[line, row] == 0
    state.apply(Put(node("n0", cpu=9)))
    assert state.layers.by_priority[0].amounts[line, state.nodes.row_by_name["n0"]] == 9000


def test_a_pod_that_changes_its_priority_changes_its_layer() -> None:
    state = filled([(0, 9, 0, "")])
    keep(state)
    state.apply(Put(replace(state.pods.by_uid["ns/p0"], priority=5)))
    assert [int(state.layers.by_priority[level].amounts[0].sum()) for level in (0, 5)] == [0, 1000]


def test_the_first_question_inside_a_trial_that_is_taken_back_leaves_nothing_behind() -> None:
    state = filled([(0, 9, 0, "")])
    with state.trial():
        state.apply(Remove(Pod, next(iter(state.pods.by_uid))))
        keep(state)
    everywhere = np.ones(state.nodes.used.shape[1], dtype=np.bool_)
    levels = list(state.layers.mended(pod("ns/x", cpu=9).shape.requests, everywhere, 1))
    assert [sorted(state.nodes.name_by_row()[row] for row in rows.tolist()) for rows in levels] == [["n0", "n1", "n2"]]
