"""Timeline: how full nodes will be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import Member
from kumi.engine.model import Pod, PodShape, Put
from kumi.engine.placement.line.asking import Places, Raised, Reservation, Taken, Try
from kumi.engine.placement.line.outlook import Needs, needed
from kumi.engine.placement.line.timeline import Around, Timeline
from kumi.engine.placement.nodes import Ints
from kumi.engine.policy import parse
from kumi.engine.state import State
from kumi.testing.builders import node, pod, shape

NOW = 1000


@dataclass
class Wants:
    """One that waits for so many cpus on one node, the first by name that has them."""

    state: State
    cpu: int
    said_ms: int | None = 100
    key: str = "asker"
    name: str = "asker"
    priority: int = 0
    kind: object = None
    pods: int | None = None
    """so many; None: it doesn't say what it needs, and is tried each time"""

    def start(self, raised: Raised | None) -> Try:
        raise NotImplementedError

    def taken(self) -> Taken:
        return ()

    @property
    def shape(self) -> PodShape:
        return shape(cpu=self.cpu)

    def fits(self) -> bool:
        return self.sketch() is not None

    def sketch(self) -> Places | None:
        nodes = self.state.nodes
        every = np.ones(nodes.used.shape[1], dtype=np.bool_)
        rows = [row for row in nodes.by_name().tolist() if nodes.places(self.shape, every)[row]]
        return ((nodes.name_by_row()[rows[0]], self.shape, 1),) if rows else None

    def needs(self) -> Needs | None:
        if self.pods is None:
            return None
        every = np.ones(self.state.nodes.used.shape[1], dtype=np.bool_)
        return needed(self.pods, [self.state.nodes.asked(self.shape.requests)], every)

    def helped(self, rows: Ints) -> bool:
        every = np.ones(self.state.nodes.used.shape[1], dtype=np.bool_)
        return bool(self.state.nodes.places(self.shape, every, rows).any())


def running(name: str, cpu: int, takes: int | None, at: str = "n", **fields: object) -> Pod:
    made = pod(f"ns/{name}", cpu=cpu, node=at, phase="Running", started_ms=NOW, **fields)
    return replace(made, member=Member(execution_ms=takes))


def cluster(*pods: Pod, cpu: int = 4, nodes: tuple[str, ...] = ("n",)) -> State:
    state = State(parse({"line": "easy"}))
    for name in nodes:
        state.apply(Put(node(name, cpu=cpu)))
    for one in pods:
        state.apply(Put(one))
    return state


def timeline(state: State) -> Timeline:
    def wanted() -> Ints:
        return np.zeros_like(state.nodes.used)

    return Timeline(Around(state.nodes, state.pods, state.journal, NOW, tuple, wanted))


def kept(key: str, at: int, cpu: int, node_name: str = "n") -> Reservation:
    return Reservation(key, key, 0, at, ((node_name, shape(cpu=cpu), 1),))


def at(found: Reservation | None) -> int | None:
    return None if found is None else found.at_ms


def free(state: State) -> int:
    line = state.nodes.line_by_resource["cpu"]
    return state.nodes.room(line, state.nodes.row_by_name["n"]) // 1000


@given(st.lists(st.tuples(st.integers(1, 2), st.integers(1, 9)), max_size=4), st.integers(1, 8))
def test_the_earliest_time_is_the_first_end_by_which_enough_has_left(ends: list[tuple[int, int]], cpu: int) -> None:
    state = cluster(*(running(f"r{n}", size, takes) for n, (size, takes) in enumerate(ends)), cpu=8)
    before = state.nodes.used.copy()
    moments = sorted({NOW + takes for _, takes in ends})
    wanted = [m for m in moments if 8 - sum(s for s, takes in ends if NOW + takes > m) >= cpu]
    assert at(timeline(state).earliest(Wants(state, cpu))) == (wanted[0] if wanted else None)
    assert (state.nodes.used == before).all()


def test_what_never_ends_never_leaves_and_what_is_leaving_has_left_at_once() -> None:
    state = cluster(running("silent", 3, None), running("going", 1, None, terminating=True))
    assert at(timeline(state).earliest(Wants(state, 2))) is None
    assert at(timeline(state).earliest(Wants(state, 1))) == NOW + 1


@pytest.mark.parametrize(("takes", "begins"), [(40, 50), (50, 50), (51, 250), (None, 250)])
def test_it_goes_where_it_fits_for_as_long_as_it_takes(takes: int | None, begins: int) -> None:
    """All four are free from 50 on, and three of them kept at [100, 250)."""
    state = cluster(running("r", 4, 50))
    made = timeline(state)
    made.keep(kept("other", NOW + 100, 3), 150)
    assert at(made.earliest(Wants(state, 2, takes))) == NOW + begins


def test_raised_is_as_full_as_it_gets_meanwhile() -> None:
    state = cluster(running("r", 2, 100))
    made = timeline(state)
    assert made.raised(500) is None
    made.keep(kept("a", NOW + 50, 1), 100)
    made.keep(kept("b", NOW + 100, 4), 100)
    seen = []
    for takes in (50, 51, 100, 101, None):
        raised = made.raised(takes)
        assert raised is not None
        with raised:
            seen.append(free(state))
    assert seen == [2, 1, 1, -1, -1]
    made.drop("b")
    made.drop("nobody")
    raised = made.raised(None)
    assert raised is not None
    with raised:
        assert free(state) == 1
    assert free(state) == 2


def test_what_was_started_in_this_look_ends_too() -> None:
    state = cluster(running("r", 1, None))
    state.nodes.use("n", shape(cpu=3).requests, 1)
    made = timeline(state)
    made.run("x", [("n", pod("ns/x", cpu=3))], 70)
    made.run("y", [("n", pod("ns/y", cpu=3))], None)
    assert at(made.earliest(Wants(state, 3))) == NOW + 70


def test_it_may_begin_no_sooner_than_is_said_and_no_later() -> None:
    state = cluster(running("r", 4, 50), running("s", 4, 90, at="m"), nodes=("n", "m"))
    made = timeline(state)
    assert at(made.earliest(Wants(state, 4), after_ms=NOW + 60)) == NOW + 60
    assert at(made.earliest(Wants(state, 4), by_ms=NOW + 49)) is None


def test_beside_others_it_may_have_another_place_at_its_time() -> None:
    state = cluster(running("r", 4, 50), running("s", 4, 50, at="m"), nodes=("n", "m"))
    made = timeline(state)
    first = made.earliest(Wants(state, 4))
    assert first is not None
    made.keep(first, 100)
    assert first.places[0][0] == "m"
    there = (("m", shape(cpu=1), 1),)
    other = made.beside(there, 100, Wants(state, 4), first.at_ms)
    assert (at(other), other.places[0][0] if other else "") == (NOW + 50, "n")
    both = (*there, ("n", shape(cpu=1), 1))
    assert made.beside(both, 100, Wants(state, 4), first.at_ms) is None
    assert at(made.beside(both, 40, Wants(state, 4), first.at_ms)) == NOW + 50
    assert made.next_name() == "asker"


def test_whether_it_ever_fits_is_about_empty_nodes() -> None:
    state = cluster(running("r", 4, None))
    made = timeline(state)
    assert made.ever(Wants(state, 4))
    assert not made.ever(Wants(state, 5))
    assert free(state) == 0


def test_what_is_kept_on_a_node_that_is_gone_is_kept_no_longer() -> None:
    state = cluster()
    made = timeline(state)
    made.keep(kept("a", NOW + 50, 4, "gone"), 100)
    assert (made.raised(None), made.next_name()) == (None, "")


def test_one_whose_time_has_come_ends_as_if_it_began_now() -> None:
    state = cluster()
    made = timeline(state)
    made.keep(kept("late", NOW - 10, 4), 100)
    assert at(made.earliest(Wants(state, 4))) == NOW + 100


RUNNING = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 9), st.sampled_from("nm")), max_size=4)
KEPT = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 3), st.sampled_from("nm"), st.sampled_from((1, 3, 6, None))),
    min_size=9,
    max_size=14,
)


@given(RUNNING, KEPT, st.integers(1, 4), st.sampled_from((1, 4, None)), st.sampled_from((0, NOW + 1, NOW + 5)))
def test_all_nodes_at_once_say_what_a_look_at_each_time_says(
    runs: list[tuple[int, int, str]],
    held: list[tuple[int, int, str, int | None]],
    cpu: int,
    takes: int | None,
    after_ms: int,
) -> None:
    pods = [running(f"r{n}", size, ends, at=where) for n, (size, ends, where) in enumerate(runs)]
    state = cluster(*pods, cpu=9, nodes=("n", "m"))
    made, before = timeline(state), state.nodes.used.copy()
    asker = Wants(state, cpu, takes, pods=1)
    for n, (begins, size, where, said_ms) in enumerate(held):
        made.keep(kept(f"k{n:02}", NOW + begins, size, where), said_ms)
        if n == len(held) - 2:
            made.earliest(asker)
    made.drop("k03")
    assert made.earliest(asker, after_ms=after_ms) == made.earliest_one_by_one(asker, after_ms=after_ms)
    raised = made.raised(takes)
    assert raised is not None
    with raised:
        fullest = state.nodes.used.copy()
    for key in [f"k{n:02}" for n in range(len(held))][8:]:
        made.drop(key)
    few = timeline(state)
    for n, (begins, size, where, said_ms) in enumerate(held[:8]):
        if n != 3:
            few.keep(kept(f"k{n:02}", NOW + begins, size, where), said_ms)
    assert made.earliest(asker) == few.earliest_one_by_one(asker)
    assert (fullest >= before).all()
    assert (state.nodes.used == before).all()


def test_many_that_are_kept_count_as_each_does() -> None:
    state = cluster(running("r", 2, 100), cpu=20)
    made = timeline(state)
    for n in range(9):
        made.keep(kept(f"k{n}", NOW + 10 * (n + 1), 2), 25)
    seen = []
    for takes in (10, 11, 31, 91, None):
        raised = made.raised(takes)
        assert raised is not None
        with raised:
            seen.append(free(state))
    assert seen == [18, 16, 12, 12, 12]
