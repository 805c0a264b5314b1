"""Changes: what more or less is used of which nodes, and when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import Member
from kumi.engine.model import Pod, PodShape, Put
from kumi.engine.placement.line import changes as module
from kumi.engine.placement.line.changes import Change, Changes
from kumi.engine.policy import parse
from kumi.engine.state import State
from kumi.testing.builders import node, pod, shape

NOW = 1000
SHAPES = {cpu: shape(cpu=cpu) for cpu in (1, 2)}


def runs(name: str, at: str, takes: int, group: str = "", cpu: int = 1) -> Pod:
    made = pod(f"ns/{name}", node=at, phase="Running", started_ms=NOW)
    return replace(made, shape=SHAPES[cpu], member=Member(group=group, execution_ms=takes))


def hall(*pods: Pod) -> State:
    state = State(parse({"line": "easy"}))
    for name in "abc":
        state.apply(Put(node(name, cpu=99)))
    for one in pods:
        state.apply(Put(one))
    return state


def looked(state: State, gone: tuple[str, ...] = ()) -> Changes:
    return Changes(state.nodes, state.pods, NOW, lambda: gone)


def shown(state: State, found: list[Change]) -> list[tuple[int, str, dict[str, int]]]:
    names = state.nodes.name_by_row()
    return [
        (c.at_ms, c.key, {names[row]: more for row, more in zip(c.rows.tolist(), c.more.tolist(), strict=True)})
        for c in found
    ]


def test_pods_of_a_gang_that_are_alike_and_end_at_once_are_one_change() -> None:
    pods = [runs(f"g-{n}", at, 50, "ns/g") for n, at in enumerate("aab")]
    state = hall(*pods, runs("g-3", "c", 50, "ns/g", cpu=2), runs("s", "c", 20))
    found = list(looked(state).in_order())
    assert shown(state, found) == [
        (1020, "ns/s", {"c": -1}),
        (1050, "ns/g", {"a": -2, "b": -1}),
        (1050, "ns/g", {"c": -1}),
    ]
    assert [c.like.name for c in found if c.like is not None] == ["s", "g-0", "g-3"]


def test_who_is_leaving_anyway_ends_nowhere() -> None:
    state = hall(*(runs(f"g-{n}", at, 50, "ns/g") for n, at in enumerate("ab")))
    assert shown(state, list(looked(state, gone=("ns/g-0",)).in_order())) == [(1050, "ns/g", {"b": -1})]
    assert shown(state, list(looked(state).in_order())) == [(1050, "ns/g", {"a": -1, "b": -1})]


def test_what_is_found_of_a_gang_holds_until_its_pods_are_others() -> None:
    state = hall(*(runs(f"g-{n}", at, 50, "ns/g") for n, at in enumerate("ab")))
    (first,), (second,) = list(looked(state).in_order()), list(looked(state).in_order())
    assert first.rows is second.rows
    state.apply(Put(runs("g-2", "b", 50, "ns/g")))
    assert shown(state, list(looked(state).in_order())) == [(1050, "ns/g", {"a": -1, "b": -2})]


def test_where_devices_are_shared_each_pod_that_has_some_is_named() -> None:
    def holds(name: str, share: int) -> Pod:
        asks = PodShape((("nvidia.com/gpu", share or 1000),), share=share)
        return replace(runs(name, "a", 50, "ns/g"), shape=asks)

    state = hall(runs("g-0", "b", 50, "ns/g"), holds("g-1", 0), holds("g-2", 500))
    named = {c.like.name: [p.name for p in c.pods] for c in looked(state).in_order() if c.like is not None}
    assert named == {"g-0": [], "g-1": ["g-1"], "g-2": ["g-2"]}


def test_pods_of_a_gang_that_start_and_those_that_have_are_told_apart_and_all_are_by_key() -> None:
    pods = [runs("z", "a", 50), runs("g-0", "b", 50, "aa/g"), runs("g-1", "c", 50, "aa/g")]
    state = hall(*pods[:2], replace(pods[2], started_ms=0))
    made = looked(state)
    made.enter("aa/g", made.of_places("aa/g", (("a", SHAPES[2], 1),), 1050, -1))
    found = list(made.in_order())
    assert [(c.key, c.number, c.like is None) for c in found] == [
        ("aa/g", 0, False),
        ("aa/g", 0, True),
        ("aa/g", 1, False),
        ("ns/z", 0, False),
    ]
    ends = [module.turn(change) for change in found if change.like is not None]
    assert ends == sorted(set(ends))


def test_what_places_come_to_is_no_part_of_what_nodes_keep() -> None:
    """Reservations are made anew at each look: what is found of them would only grow there."""
    state = hall()
    made, places = looked(state), (("a", SHAPES[1], 2),)
    before = list(state.nodes._cache)
    (begin,), (end,) = (made.of_places("k", places, NOW + at, times) for at, times in ((1, 1), (9, -1)))
    assert begin.rows is end.rows
    assert list(state.nodes._cache) == before


KEPT = st.lists(
    st.tuples(
        st.integers(1, 9),
        st.integers(1, 5),
        st.dictionaries(st.sampled_from("abc"), st.integers(1, 2), min_size=1),
        st.sampled_from([1, 2]),
    ),
    max_size=5,
)


@given(KEPT, st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9)), max_size=4), st.integers(0, 4))
def test_a_row_gets_and_loses_what_all_changes_together_say_however_many_rows_each_has(
    kept: list[tuple[int, int, dict[str, int], int]], ends: list[tuple[str, int]], few: int
) -> None:
    state = hall(*(runs(f"r{n}", at, takes) for n, (at, takes) in enumerate(ends)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW", few)
        made = looked(state)
        for n, (begin, takes, on, cpu) in enumerate(kept):
            places = tuple((name, SHAPES[cpu], count) for name, count in on.items())
            begins = made.of_places(f"k{n}", places, NOW + begin, 1)
            made.enter(f"k{n}", [*begins, *made.of_places(f"k{n}", places, NOW + begin + takes, -1)], begins)
        if kept:
            made.leave("k0")
            assert made.leave("k0") == []
        for row in state.nodes.by_name().tolist():
            wanted = [
                (change.at_ms, change.shape, int(change.more[np.flatnonzero(change.rows == row)[0]]))
                for change in made.in_order()
                if row in change.rows.tolist() and NOW + 2 < change.at_ms < NOW + 8
            ]
            found = [(step.at_ms, step.shape, step.more) for step in made.on_rows([row], NOW + 2, NOW + 8)[row]]
            assert sorted(found, key=repr) == sorted(wanted, key=repr)
            begins_there = any(
                n and on.get(state.nodes.name_by_row()[row]) and 2 < at < 8 for n, (at, _, on, _) in enumerate(kept)
            )
            assert (row in made.beginning(NOW + 2, NOW + 8)) == begins_there
        assert sorted(map(repr, made.everything())) == sorted(map(repr, made.in_order()))
        for at in range(NOW, NOW + 15):
            assert [c.at_ms for c in made.at(at)] == [c.at_ms for c in made.in_order() if c.at_ms == at]
