"""Crowd: a shape is full until a row changes that takes one of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.model import HostPort, Neighbours, Node, Pod, PodShape, Put, Remove, SpreadTerm
from kumi.engine.placement import crowd, session
from kumi.engine.state import State
from kumi.engine.waiting import Alike
from kumi.testing.builders import amounts, node, pod

SHAPE = PodShape(amounts(cpu=3), node_selector=(("zone", "a"),))


@pytest.fixture
def state() -> State:
    state = State()
    for name, zone in (("n1", "a"), ("n2", "b"), ("n3", "a")):
        state.apply(Put(node(name, {"zone": zone}, cpu=4)))
        state.apply(Put(pod(f"ns/{name}", cpu=4, node=name)))
    state.apply(Put(pod("ns/p", shape=SHAPE)))
    return state


def refused(state: State, shape: PodShape = SHAPE) -> Alike:
    state.crowd.wake(state.pods.waiting.by_shape.values())
    alike = state.pods.waiting.by_shape[shape]
    assert state.crowd.refuse(alike, pod("ns/p", shape=shape))
    return alike


def woken(state: State) -> bool:
    state.crowd.wake(state.pods.waiting.by_shape.values())
    return not state.pods.waiting.by_shape[SHAPE].full


@pytest.mark.parametrize(("gone", "wakes"), [("n1", True), ("n2", False)])
def test_only_a_row_that_takes_one_wakes_it(state: State, gone: str, wakes: bool) -> None:
    refused(state)
    assert not woken(state)
    state.apply(Remove(Pod, f"ns/{gone}"))
    assert woken(state) is wakes


def test_room_that_was_only_tried_wakes_nobody(state: State) -> None:
    refused(state)
    with state.trial():
        state.apply(Remove(Pod, "ns/n1"))
        assert woken(state)
        refused(state)
    assert not woken(state)


def test_a_refusal_in_a_trial_does_not_outlive_it(state: State) -> None:
    state.apply(Remove(Pod, "ns/n1"))
    with state.trial():
        state.apply(Put(pod("ns/other", cpu=2, node="n1")))
        refused(state)
    assert woken(state)


def test_nodes_that_become_others_wake_everybody(state: State) -> None:
    refused(state)
    state.apply(Put(node("n2", {"zone": "a"}, cpu=4)))
    assert woken(state)


def test_where_much_changed_everybody_is_looked_for(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "_ROWS_AT_MOST", 1)
    refused(state)
    for uid in ("x", "y"):
        state.apply(Put(Pod(uid, f"ns/{uid}", PodShape(()), 0, node="n1" if uid == "x" else "n2")))
    assert woken(state)


def test_who_was_woken_is_full_again_when_another_took_the_room(state: State) -> None:
    alike = refused(state)
    state.apply(Remove(Pod, "ns/n1"))
    assert woken(state)
    assert not state.crowd.is_full_again(alike)
    state.apply(Put(pod("ns/other", cpu=4, node="n1")))
    assert state.crowd.is_full_again(alike)


def test_who_was_woken_and_not_looked_for_stays_awake(state: State) -> None:
    alike = refused(state)
    state.apply(Remove(Pod, "ns/n1"))
    assert woken(state)
    assert woken(state)
    assert not state.crowd.is_full_again(alike)


OTHERS = (
    PodShape(amounts(cpu=3), ports=(HostPort(80),)),
    PodShape(amounts(cpu=3), volume_claims=("ns/v",)),
)


@pytest.mark.parametrize("shape", OTHERS)
def test_what_does_not_follow_from_a_row_is_never_full(state: State, shape: PodShape) -> None:
    one = pod("ns/q", shape=shape)
    state.apply(Put(one))
    assert not state.crowd.refuse(state.pods.waiting.by_shape[shape], one)


def test_a_node_that_goes_takes_its_room_along(state: State) -> None:
    state.apply(Remove(Pod, "ns/n1"))
    refused(state)
    state.apply(Remove(Node, "n1"))
    state.crowd.wake(state.pods.waiting.by_shape.values())
    assert state.best.node(pod("ns/p", shape=SHAPE)) is None


@pytest.mark.parametrize(("hard", "stands"), [(False, True), (True, False)])
def test_one_stands_for_others_that_would_only_like_to_be_spread(state: State, hard: bool, stands: bool) -> None:
    spread = Neighbours(spread=(SpreadTerm("zone", (), hard=hard),))
    shape = replace(SHAPE, neighbours=spread)
    state.apply(Put(pod("ns/q", shape=shape)))
    alike = state.pods.waiting.by_shape[shape]
    assert state.crowd.refuse(alike, state.pods.by_uid["ns/q"]) is stands
    session.decide(state, 0)
    assert alike.full is stands


def test_what_is_new_is_so_until_all_were_told(state: State) -> None:
    alike = refused(state)
    assert alike.news
    assert not woken(state)
    assert alike.news
    state.crowd.told(state.pods.waiting.by_shape.values())
    assert not alike.news
