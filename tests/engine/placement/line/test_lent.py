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
from kumi.engine.placement.line.asking import Reservation
from kumi.engine.placement.line.changes import Step
from kumi.engine.placement.line.lent import Lent
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
    _, used, total = Lent(state.nodes, state.journal).fullest(row, steps)
    assert (before[0] == state.nodes.used).all()
    assert (before[1] == state.nodes.devices.used).all()
    assert before[2] == state.nodes.devices.seats
    return used.tolist(), total


def begins(at: int, thousandths: int, key: str = "kept") -> Step:
    return Step(at, True, key, 0, gpu(thousandths), 1)


def ends(at: int, one: Pod) -> Step:
    return Step(at, False, one.uid, 0, one.shape, -1, (one,))


def test_who_comes_takes_the_device_that_others_have_left() -> None:
    state = hall(a := runs("a", 700, 10, 0), runs("b", 700, 99, 1))
    assert at_most(state) == ([700, 700], 1400)
    assert at_most(state, ends(10, a), begins(10, 800)) == ([800, 700], 1500)
    assert at_most(state, ends(10, a), begins(10, 300)) == ([700, 1000], 1700)


def test_whole_devices_that_are_kept_are_any_of_those_that_nobody_shares() -> None:
    state = hall(a := runs("a", 400, 10, 0))
    assert at_most(state, begins(5, 1000)) == ([400, 1000], 1400)
    assert at_most(state, ends(10, a), begins(20, 2000)) == ([1000, 1000], 2000)


def test_whole_devices_count_at_their_most_also_once_they_are_free_again() -> None:
    state = hall(a := runs("a", 400, 30, 0))
    kept, gone = begins(5, 1000), Step(20, False, "kept", 0, gpu(1000), -1)
    assert at_most(state, kept, gone) == ([400, 1000], 1400)
    assert at_most(state, kept, gone, ends(30, a), begins(40, 2000)) == ([1000, 1000], 2000)


def test_what_is_kept_gives_back_the_shares_that_it_had() -> None:
    state = hall(runs("a", 300, 99, 0))
    two = [Step(at, more > 0, "kept", 0, gpu(600), more) for at, more in ((5, 2), (10, -2))]
    assert at_most(state, *two) == ([900, 600], 1500)
    assert at_most(state, *two, begins(10, 700, "late")) == ([1000, 600], 1600)
    assert at_most(state, two[0], begins(9, 200, "late"), two[1]) == ([900, 800], 1700)
    assert at_most(state, two[1], begins(20, 700)) == ([1000, 0], 1000)


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


def test_room_is_kept_on_the_devices_on_which_it_was_found_also_for_shapes_that_are_equal() -> None:
    state = hall(runs("a", 300, 99, 0))
    lent, places = Lent(state.nodes, state.journal), tuple(("n", gpu(400), 1) for _ in range(3))
    assert lent.lay(places) == ((0,), (1,), (1,))
    lent.keep(Reservation("kept", "", 0, 5, places, ((1,), (1,), (0,))))
    steps = [
        Step(at, more > 0, "kept", n, one, more)
        for at, more in ((5, 1), (9, -1))
        for n, (_, one, _) in enumerate(places)
    ]
    late = begins(9, 600, "late")
    row = state.nodes.row_by_name["n"]
    assert lent.fullest(row, steps[:3]).used.tolist() == [700, 800]
    assert lent.fullest(row, [*steps[:2], steps[3], steps[4], late]).used.tolist() == [900, 800]
    assert not state.nodes.devices.used[1].any()
    state.apply(Put(node("n", gpu=1)))
    assert lent.fullest(row, steps[2:3]).used.tolist()[0] == 700


def share(name: str, at: int, takes: int, thousandths: int) -> Lined:
    return Lined(name, at, takes, asks={"gpu": f"{thousandths}m"}, share=thousandths)


def test_who_waits_for_a_share_of_one_device_has_a_reservation_as_with_amounts() -> None:
    sizes = {"x": (0, 10, 600), "a": (1, 10, 600), "b": (2, 10, 800), "c": (3, 100, 300)}
    policy = parse({"line": "conservative"})
    shares = play([share(name, *size) for name, size in sizes.items()], [node("n", gpu=1)], policy)
    amounts = [Lined(name, at, takes, asks={"cpu": f"{n}m"}) for name, (at, takes, n) in sizes.items()]
    found = play(amounts, [node("n", cpu=1)], policy)
    assert shares.promised == found.promised == {"ns/a": 10, "ns/b": 20, "ns/c": 30}
    assert shares.started == found.started == {"ns/x": 0, "ns/a": 10, "ns/b": 20, "ns/c": 30}


@pytest.mark.parametrize("policy", ["easy", "conservative"])
@pytest.mark.parametrize("ends", [3, 10])
def test_shares_that_are_kept_count_also_where_nobody_has_shared_yet(policy: str, ends: int) -> None:
    def wants(name: str, at: int, takes: int, pods: int, thousandths: int = 1000) -> Lined:
        shared = thousandths if thousandths < 1000 else 0
        return Lined(name, at, takes, pods=pods, gang=True, asks={"gpu": f"{thousandths}m"}, share=shared)

    jobs = [wants("x", 0, 10, 2), wants("z", 0, ends, 1), wants("a", 1, 10, 3, 600), wants("s", 2, 100, 1)]
    found = play(jobs, [node("n", gpu=3)], parse({"line": policy}))
    assert found.promised == {"ns/a": 10, "ns/s": 20}
    assert (found.started["ns/a"], found.started["ns/s"]) == (10, 20)


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_who_asks_for_no_device_passes_the_first_that_ever_shares_one(policy: str) -> None:
    state = hall(replace(runs("x", 2000, 10), devices=()), waits("a", 600, 10), waits("late", 0, 99), policy=policy)
    state.apply(Put(replace(state.pods.by_uid["ns/late"], shape=PodShape(()), created_ms=9)))
    assert [d.pod for d in session.decide(state, NOW) if isinstance(d, Bind)] == ["ns/late"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 6),  # comes
            st.sampled_from([200, 300, 500, 600, 700, 800, 1000, 2000]),
            st.integers(1, 6),  # runs
            st.integers(0, 3),  # says so much more
            st.integers(1, 3),  # pods, of a gang
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(["easy", "conservative"]),
    st.booleans(),
)
def test_nobody_starts_later_than_at_its_first_reservation(
    drawn: list[tuple[int, int, int, int, int]], policy: str, grouped: bool
) -> None:
    """That somebody shares a device from the beginning: of all is known which they have."""
    jobs = [
        share("first", 0, 1, 100),
        *(
            Lined(
                f"j{n}",
                at + 1,
                takes,
                takes + more,
                pods if grouped else 1,
                gang=grouped,
                asks={"gpu": f"{amount}m"},
                share=amount if amount < 1000 else 0,
            )
            for n, (at, amount, takes, more, pods) in enumerate(drawn)
        ),
    ]
    played = play(jobs, [node("a", gpu=3), node("b", gpu=2)], parse({"line": policy}))
    late = [(key, at) for key, at in played.promised.items() if played.started.get(key, -1) > at]
    assert late == []
