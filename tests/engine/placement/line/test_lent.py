"""Lent: single devices that pods share, at their fullest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.decisions import Bind
from kumi.engine.gangs import Member
from kumi.engine.model import Pod, PodShape, Put
from kumi.engine.placement import session
from kumi.engine.placement.devices import GPU
from kumi.engine.placement.line.changes import Step
from kumi.engine.placement.line.lent import fullest
from kumi.engine.policy import parse
from kumi.engine.state import State
from kumi.testing.builders import node, pod
from kumi.testing.gangs import gang, line, task
from kumi.testing.lines import Lined, play

NOW = 1_000_000


def gpu(thousandths: int) -> PodShape:
    return PodShape(((GPU, thousandths),), share=thousandths if thousandths < 1000 else 0)


def waits(name: str, thousandths: int, takes: int, **fields: object) -> Pod:
    return replace(pod(f"ns/{name}", **fields), shape=gpu(thousandths), member=Member(execution_ms=takes))


def runs(name: str, thousandths: int, takes: int, *devices: int) -> Pod:
    made = waits(name, thousandths, takes, node="n", phase="Running", started_ms=NOW)
    return replace(made, devices=devices)


def hall(*pods: Pod, policy: str = "easy") -> State:
    state = State(parse({"line": policy}))
    for noun in (line(), node("n", gpu=2), *pods):
        state.apply(Put(noun))
    return state


def at_most(state: State, *steps: Step) -> tuple[list[int], int]:
    row = state.nodes.row_by_name["n"]
    before = (state.nodes.used.copy(), state.nodes.devices.used.copy(), dict(state.nodes.devices.seats))
    _, used, total = fullest(state.nodes, state.journal, row, steps)
    assert (before[0] == state.nodes.used).all()
    assert (before[1] == state.nodes.devices.used).all()
    assert before[2] == state.nodes.devices.seats
    return used.tolist(), total


def begins(at: int, thousandths: int) -> Step:
    return Step(at, True, "kept", 0, gpu(thousandths), 1)


def ends(at: int, one: Pod) -> Step:
    return Step(at, False, one.uid, 0, one.shape, -1, (one,))


def test_who_comes_takes_the_device_that_others_have_left() -> None:
    state = hall(a := runs("a", 700, 10, 0), runs("b", 700, 99, 1))
    assert at_most(state) == ([700, 700], 1400)
    assert at_most(state, ends(10, a), begins(10, 800)) == ([800, 700], 1500)
    assert at_most(state, ends(10, a), begins(10, 300)) == ([700, 1000], 1700)


def test_whole_devices_that_are_kept_are_any_of_those_that_nobody_shares() -> None:
    state = hall(a := runs("a", 400, 10, 0))
    assert at_most(state, begins(5, 1000)) == ([400, 0], 1400)
    assert at_most(state, ends(10, a), begins(20, 2000)) == ([400, 0], 2400)


def test_whole_devices_count_at_their_most_also_once_they_are_free_again() -> None:
    state = hall(a := runs("a", 400, 30, 0))
    kept, gone = begins(5, 1000), Step(20, False, "kept", 0, gpu(1000), -1)
    assert at_most(state, kept, gone) == ([400, 0], 1400)
    assert at_most(state, kept, gone, ends(30, a), begins(40, 2000)) == ([400, 0], 2400)


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_a_share_of_a_device_that_is_free_all_the_while_is_given_and_not_that_which_is_kept(policy: str) -> None:
    pods = [waits("first", 800, 50, created_ms=1), waits("late", 300, 200, created_ms=2)]
    state = hall(runs("a", 700, 10, 0), runs("b", 700, 99, 1), *pods, policy=policy)
    found = [(d.pod, d.devices) for d in session.decide(state, NOW) if isinstance(d, Bind)]
    assert found == [("ns/late", (1,))]
    assert [r.at_ms for r in state.pods.waiting.reservations.values()] == [NOW + 10]


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_the_same_of_gangs(policy: str) -> None:
    state = hall(runs("a", 700, 10, 0), runs("b", 700, 99, 1), policy=policy)
    for name, takes, share in (("first", 50, 800), ("late", 200, 300)):
        state.apply(Put(gang(name, least=1, execution_ms=takes, created_ms=takes)))
        state.apply(Put(replace(task(f"{name}-0", name), shape=gpu(share))))
    found = [(d.pod, d.devices) for d in session.decide(state, NOW) if isinstance(d, Bind)]
    assert found == [("late-0", (1,))]
    assert [r.at_ms for r, _ in state.answers.reserved.values()] == [NOW + 10]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 6), st.sampled_from([200, 300, 500, 700, 1000, 2000]), st.integers(1, 6), st.integers(0, 3)
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(["easy", "conservative"]),
    st.booleans(),
)
def test_nobody_starts_later_than_at_its_first_reservation(
    drawn: list[tuple[int, int, int, int]], policy: str, grouped: bool
) -> None:
    jobs = [
        Lined(
            f"j{n}",
            at,
            takes,
            takes + more,
            gang=grouped,
            asks={"gpu": f"{amount}m"},
            share=amount if amount < 1000 else 0,
        )
        for n, (at, amount, takes, more) in enumerate(drawn)
    ]
    played = play(jobs, [node("a", gpu=2), node("b", gpu=1)], parse({"line": policy}))
    assert [(key, at) for key, at in played.promised.items() if played.started[key] > at] == []
