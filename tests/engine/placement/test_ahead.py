"""Ahead: one order for pods on their own and gangs, whoever is made of what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.decisions import Bind, Decision, EvictPod, Nominate, Unplaced
from kumi.engine.gangs import Member, PodGroup, PriorityClass, Queue
from kumi.engine.model import Neighbours, Noun, Pod, PodTerm, Profile, Put, Remove
from kumi.engine.placement import ahead, session
from kumi.engine.placement.conf import Conf, Option
from kumi.engine.reasons import Code
from kumi.engine.settings import Discipline, QueueOrder, Settings
from kumi.engine.state import State
from kumi.testing.builders import node, pod, shape

Came = tuple[int, int, int]
"""(priority, when it came in seconds, how many pods: 0 for one on its own)"""
CLASSES = [PriorityClass(f"p{n}", n) for n in range(3)]


def state_of(*nouns: Noun, **fields: object) -> State:
    state = State(Profile(**fields))
    for noun in (Queue("default"), Queue("other"), *CLASSES, *nouns):
        state.apply(Put(noun))
    return state


def alone(name: str, priority: int = 0, created_s: int = 0, **fields: object) -> Pod:
    return replace(pod(f"ns/{name}", cpu=1), uid=name, priority=priority, created_ms=created_s * 1000, **fields)


def gang(name: str, pods: int, priority: int = 0, created_s: int = 0, **fields: object) -> list[Noun]:
    """A pod group that needs all of its pods, and these."""
    key = f"ns/{name}"
    group = PodGroup(
        key, str(fields.pop("queue", "default")), created_s * 1000, name, pods, priority_class=f"p{priority}", **fields
    )
    made = (alone(f"{name}-{n}", priority, created_s) for n in range(pods))
    return [group, *(replace(one, member=Member(group=key)) for one in made)]


def decide(state: State) -> list[Decision]:
    decided = session.decide(state, 0)
    invariants.check(state)
    return decided


def placed(decided: Sequence[Decision]) -> set[str]:
    return {decision.pod for decision in decided if isinstance(decision, Bind)}


def by_hand(came: Sequence[Came], room: int) -> set[str]:
    """Who gets a place where each in its turn takes what there is, or is passed."""
    order = sorted(range(len(came)), key=lambda n: (-came[n][0], came[n][1], came[n][2] == 0, f"g{n}"))
    found: set[str] = set()
    for n in order:
        names = [f"g{n}-{i}" for i in range(came[n][2])] or [f"s{n}"]
        if len(names) <= room:
            room -= len(names)
            found.update(names)
    return found


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)), max_size=9), st.integers(1, 8))
@settings(max_examples=150)
def test_everybody_is_placed_in_one_order(came: list[Came], room: int) -> None:
    state = state_of(node("a", cpu=room))
    for n, (priority, at, pods) in enumerate(came):
        for noun in gang(f"g{n}", pods, priority, at) if pods else [alone(f"s{n}", priority, at)]:
            state.apply(Put(noun))
    assert placed(decide(state)) == by_hand(came, room)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)), max_size=7), st.data())
@settings(max_examples=60)
def test_who_finds_room_does_not_depend_on_how_it_was_looked_for(came: list[Came], data: st.DataObject) -> None:
    """One after the other, with a session after each, in the order in which they are to go: as all at once."""
    room = data.draw(st.integers(1, 8))
    order = sorted(range(len(came)), key=lambda n: (-came[n][0], came[n][1], came[n][2] == 0, f"g{n}"))
    state, found = state_of(node("a", cpu=room), conf=Conf(("allocate",), ((Option("gang"),),))), set[str]()
    for n in order:
        priority, at, pods = came[n]
        for noun in gang(f"g{n}", pods, priority, at) if pods else [alone(f"s{n}", priority, at)]:
            state.apply(Put(noun))
        found |= placed(decide(state))
    assert found == by_hand(came, room)


@pytest.mark.parametrize(
    ("single", "first"),
    [((1, 9), "s"), ((0, 9), "g"), ((0, 0), "s"), ((0, 5), "g")],
    ids=["higher priority", "later", "earlier", "same second"],
)
def test_a_pod_and_a_gang_for_one_place(single: tuple[int, int], first: str) -> None:
    state = state_of(node("a", cpu=1), *gang("g", 1, 0, 5), alone("s", *single))
    assert placed(decide(state)) == {"g-0" if first == "g" else "s"}


def test_a_pod_between_two_gangs_has_its_turn_between_them() -> None:
    state = state_of(node("a", cpu=3), *gang("big", 4, 2), *gang("small", 3, 0), alone("s", 1, 9))
    assert placed(decide(state)) == {"s"}


def test_queues_take_turns_and_a_pod_goes_before_the_gang_whose_turn_it_is() -> None:
    """The queue that goes first has the gang that matters least: the pod does not wait for it."""
    conf = Conf(("allocate",), ((Option("priority"), Option("gang"), Option("predicates")),))
    low, high = gang("low", 2, 0, queue="default"), gang("high", 2, 2, queue="other")
    assert placed(decide(state_of(node("a", cpu=2), *low, *high, conf=conf))) == {"low-0", "low-1"}
    assert placed(decide(state_of(node("a", cpu=2), *low, *high, alone("s", 1, 9), conf=conf))) == {"s"}


def test_the_orders_that_count_what_is_said_count_it_for_both() -> None:
    slow, quick = Member(execution_ms=100), Member(execution_ms=1)
    for member, first in ((slow, {"g-0"}), (quick, {"s"})):
        state = state_of(
            node("a", cpu=1),
            *gang("g", 1, execution_ms=10),
            replace(alone("s"), member=member),
            settings=Settings(order=QueueOrder.SHORTEST),
        )
        assert placed(decide(state)) == first


def test_where_namespaces_take_turns_a_higher_priority_still_goes_before_a_gang() -> None:
    state = state_of(node("a", cpu=1), *gang("g", 1, 0), alone("s", 1, 9), settings=Settings(order=QueueOrder.FAIR))
    assert placed(decide(state)) == {"s"}


@pytest.mark.parametrize("holder", ["a", "b", ""])
def test_where_namespaces_take_turns_one_that_came_later_hides_nobody(holder: str) -> None:
    """Both pods come before or after the gang by when they came, whosever turn it is between them."""
    held = replace(running("r", 0), key=f"{holder}/r", node="z")
    late, early = (replace(alone(name, 0, at), key=f"{name}/p") for name, at in (("a", 9), ("b", 1)))
    nouns = [node("n", cpu=1), node("z", cpu=1), held if holder else replace(held, key="c/r")]
    fair = Settings(order=QueueOrder.FAIR)
    assert placed(decide(state_of(*nouns, *gang("g", 1, 0, 5), late, early, settings=fair))) == {"b"}
    between = [*gang("first", 9, 0, 0), *gang("g", 1, 0, 5), *gang("last", 1, 0, 20)]
    assert placed(decide(state_of(*nouns, *between, late, early, settings=fair))) == {"b"}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 1), st.integers(0, 6)), max_size=7), st.integers(1, 6))
@settings(max_examples=80)
def test_where_namespaces_take_turns_all_that_go_before_a_gang_find_room_first(
    came: list[tuple[str, int, int]], room: int
) -> None:
    pods = [replace(alone(f"s{n}", matters, at), key=f"{ns}/s{n}") for n, (ns, matters, at) in enumerate(came)]
    state = state_of(node("n", cpu=room), *gang("g", 1, 0, 3), *pods, settings=Settings(order=QueueOrder.FAIR))
    first = {pod.uid for pod in pods if pod.priority > 0 or pod.created_ms < 3000}
    found = placed(decide(state))
    assert len(found & first) == min(len(first), room)
    assert ("g-0" in found) is (len(first) < room)


def test_behind_a_line_pods_on_their_own_wait_for_gangs() -> None:
    conf = Conf(("strict",), ((Option("priority"), Option("gang"), Option("predicates")),))
    strict = Settings(line=Discipline.STRICT)
    state = state_of(node("a", cpu=1), *gang("g", 1, 0, 5), alone("s", 0, 1), settings=strict, conf=conf)
    assert placed(decide(state)) == {"g-0"}


def running(name: str, priority: int) -> Pod:
    return replace(alone(name, priority), node="a", phase="Running")


def test_room_by_victims_is_looked_for_before_gangs_that_matter_less() -> None:
    """The gang would be promised the place that the victim leaves."""
    state = state_of(node("a", cpu=1), running("v", 0), *gang("g", 1, 1), alone("s", 2, 9))
    decided = decide(state)
    assert [d.pod for d in decided if isinstance(d, EvictPod)] == ["v"]
    assert Nominate("s", "a") in decided
    assert not decide(state)


def test_what_a_gang_was_promised_is_kept_from_a_pod_that_matters_more() -> None:
    """Somebody left for the gang: nobody leaves in vain."""
    state = state_of(node("a", cpu=2), replace(running("v", 0), terminating=True))
    for noun in gang("g", 2, 1):
        state.apply(Put(noun))
    assert not placed(decide(state))
    assert len(state.answers.promised) > 0
    state.apply(Put(alone("s", 2, 9)))
    assert not placed(decide(state))
    state.apply(Put(replace(running("v", 0), finished=True, phase="Succeeded")))
    assert placed(decide(state)) == {"g-0", "g-1"}


def test_what_a_gang_was_promised_is_kept_from_a_pod_whose_turn_is_between_gangs() -> None:
    conf = Conf(("allocate",), ((Option("priority"), Option("gang"), Option("predicates")),))
    leaving = replace(running("v", 0), terminating=True)
    state = state_of(node("a", cpu=2), leaving, *gang("large", 9, 2), *gang("g", 2), name="volcano", conf=conf)
    assert not placed(decide(state))
    assert sorted(state.answers.promised) == ["g-0", "g-1"]
    for noun in (alone("s", 1, 9), *gang("between", 9, 1, 10)):
        state.apply(Put(noun))
    assert not placed(decide(state))


def test_a_pod_between_gangs_leaves_what_the_first_was_promised() -> None:
    in_x = shape({"zone": "x"}, cpu=1)
    nodes = (node("a", {"zone": "x"}, cpu=2), node("b", {"zone": "x"}, cpu=1), node("c", cpu=1))
    first = [replace(n, shape=in_x) if isinstance(n, Pod) else n for n in gang("g", 3, 2)]
    leaving = replace(running("v", 0), terminating=True)
    state = state_of(*nodes, leaving, *first, *gang("h", 1, 0), alone("s", 1, 9))
    state.apply(Put(replace(alone("t", 1, 9), shape=in_x)))
    decided = [(d.pod, d.node) for d in decide(state) if isinstance(d, Bind)]
    assert decided == [("s", "c")]
    assert sorted(state.answers.promised) == ["g-0", "g-1", "g-2"]


def test_a_gang_has_the_place_in_line_that_it_would_have_as_a_pod() -> None:
    state = state_of(node("a", cpu=1), *gang("g", 2, 1, 3), alone("s", 1, 3))
    single = state.pods.waiting.turn(state.pods.by_uid["s"])
    there = ahead.turn(state, state.tasks.jobs["ns/g"])
    assert there[:3] == single[:3]
    assert there < single


def test_without_somebody_to_look_for_nothing_is_asked() -> None:
    state = state_of(node("a", cpu=1), alone("s", 1))
    assert not ahead.is_open(state)
    for noun in gang("g", 3):
        state.apply(Put(noun))
    assert ahead.is_open(state)
    decide(state)
    assert not ahead.is_open(state)


def test_one_that_finds_no_room_before_the_gangs_and_after_is_told_once_and_the_last() -> None:
    apart = Neighbours(apart=(PodTerm("zone", ()),))
    large = replace(alone("large", 2), shape=replace(shape(cpu=3), neighbours=apart))
    decided = decide(state_of(node("n", {"zone": "a"}, cpu=2), large, *gang("g", 1)))
    (told,) = (one for one in decided if isinstance(one, Unplaced) and one.pod == "large")
    assert [reason.code for reason in told.reasons] == [Code.NODE_NOT_MATCHED]


@pytest.mark.parametrize("between", [False, True], ids=["no gang", "a gang"])
def test_equal_pods_before_a_gang_and_after_it_hear_the_same_news(between: bool) -> None:
    big = [replace(alone(name, 0, at), shape=shape(cpu=4)) for name, at in (("before", 1), ("after", 9))]
    there = [replace(running(f"r{cpus}", 5), shape=shape(cpu=cpus)) for cpus in (2, 6)]
    state = state_of(node("a", cpu=8), *there, *(gang("g", 9, 0, 5) if between else []), *big)

    def told() -> dict[str, int]:
        said = [one for one in decide(state) if isinstance(one, Unplaced)]
        return {one.pod: one.reasons[0].have for one in said if one.pod in ("before", "after")}

    assert told() == {"before": 0, "after": 0}
    state.apply(Remove(Pod, "r2"))
    assert told() == {"before": 2000, "after": 2000}
    assert all(alike.is_told for alike in state.pods.waiting.by_shape.values())
    assert told() == {}


@pytest.mark.parametrize("order", [QueueOrder.TIME, QueueOrder.FAIR])
def test_one_that_finds_no_room_between_gangs_is_looked_for_once(
    order: QueueOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = replace(alone("s", 0, 3), shape=replace(shape(cpu=1), neighbours=Neighbours(near=(PodTerm("zone", ()),))))
    gangs = [noun for n, at in enumerate((1, 5, 7)) for noun in gang(f"g{n}", 9, 0, at)]
    looked = list[str]()
    plain = ahead.InBetween._node
    monkeypatch.setattr(ahead.InBetween, "_node", lambda self, pod: looked.append(pod.uid) or plain(self, pod))
    decide(state_of(node("n", cpu=1), *gangs, near, settings=Settings(order=order)))
    assert looked == ["s"]
