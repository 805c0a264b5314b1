from __future__ import annotations

from dataclasses import replace

from kumi.engine.gangs import Member
from kumi.engine.model import Node, Pod, Put, Remove
from kumi.engine.state import State
from kumi.testing.builders import node, pod


def hall() -> State:
    state = State()
    for name in ("n1", "n2"):
        state.apply(Put(node(name, cpu=4)))
    state.apply(Put(pod("ns/p", cpu=2)))
    return state


def promised(state: State, name: str) -> int:
    return int(state.nodes.pipelined[state.nodes.line_by_resource["cpu"], state.nodes.row_by_name[name]])


def test_a_place_is_promised_once_and_moves_with_its_pod() -> None:
    state = hall()
    mine = state.pods.by_uid["ns/p"]
    state.nominations.put(mine, "n1")
    state.nominations.put(mine, "n2")
    assert (promised(state, "n1"), promised(state, "n2")) == (0, 2000)
    state.nominations.drop(mine.uid)
    state.nominations.drop(mine.uid)
    assert (promised(state, "n2"), state.nominations.node_of) == (0, {})


def test_a_node_that_is_not_there_or_cannot_have_it_is_passed_over() -> None:
    state = hall()
    state.nominations.put(state.pods.by_uid["ns/p"], "elsewhere")
    state.nominations.put(pod("ns/g", gpu=1), "n1")
    assert state.nominations.node_of == {}


def test_it_ends_when_the_pod_is_bound_goes_or_its_node_does() -> None:
    for end in (
        Put(replace(pod("ns/p", cpu=2), node="n2")),
        Put(replace(pod("ns/p", cpu=2), terminating=True)),
        Remove(Pod, "ns/p"),
        Remove(Node, "n1"),
    ):
        state = hall()
        state.nominations.put(state.pods.by_uid["ns/p"], "n1")
        state.apply(end)
        assert state.nominations.node_of == {}
        if "n1" in state.nodes.row_by_name:
            assert promised(state, "n1") == 0


def test_a_pod_that_says_on_its_own_for_which_node_it_was_nominated_is_so_once() -> None:
    state = hall()
    said = replace(pod("ns/q", cpu=1), member=Member(nominated="n1"))
    state.apply(Put(said))
    assert (state.nominations.node_of, promised(state, "n1")) == ({"ns/q": "n1"}, 1000)
    state.nominations.drop("ns/q")
    state.apply(Put(replace(said, labels=(("a", "b"),))))
    assert state.nominations.node_of == {}


def test_pods_of_gangs_and_workloads_keep_their_places_otherwise() -> None:
    state = hall()
    state.apply(Put(replace(pod("ns/q", cpu=1), member=Member(group="ns/g", nominated="n1"))))
    state.apply(Put(replace(pod("ns/r", cpu=1), workload="ns/w", member=Member(nominated="n1"))))
    assert state.nominations.node_of == {}
