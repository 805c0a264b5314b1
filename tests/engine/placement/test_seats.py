"""Seats: what is said of one pod counts at once, and is said once."""

from __future__ import annotations

from kumi.engine.decisions import Bind, Unplaced
from kumi.engine.model import Put
from kumi.engine.placement.seats import bind, unplaced
from kumi.engine.reasons import Code, Reason
from kumi.engine.state import State
from kumi.testing.builders import node, pod

FULL, NONE = (Reason(Code.NODES_FULL, "cpu", need=2000, have=1000),), (Reason(Code.NODES_FULL, "cpu", need=2000),)


def cluster() -> State:
    state = State()
    state.apply(Put(node("n1", cpu=4)))
    state.apply(Put(pod("ns/p", cpu=3)))
    return state


def test_a_bind_counts_before_its_write_is_acknowledged() -> None:
    state = cluster()
    assert bind(state, state.pods.by_uid["ns/p"], "n1") == Bind("ns/p", "n1")
    assert state.pods.node_of == {"ns/p": "n1"}
    assert state.nodes.room(state.nodes.line_by_resource["cpu"], state.nodes.row_by_name["n1"]) == 1000


def test_a_pod_is_told_why_it_waits_once_and_again_when_that_is_another_cause() -> None:
    state = cluster()
    waits = state.pods.by_uid["ns/p"]
    said = [unplaced(state, waits, reasons) for reasons in (FULL, FULL, NONE, FULL)]
    assert said == [[Unplaced("ns/p", FULL)], [], [Unplaced("ns/p", NONE)], [Unplaced("ns/p", FULL)]]


def test_who_got_a_node_and_waits_again_is_told_again() -> None:
    state = cluster()
    waits = state.pods.by_uid["ns/p"]
    unplaced(state, waits, FULL)
    decided = bind(state, waits, "n1")
    state.settle(decided, ok=False)
    assert unplaced(state, waits, FULL) == [Unplaced("ns/p", FULL)]
