"""Alone: whom a session places, whom it looks at at all, and that passing over who can't fit changes nothing."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from kumi.engine import invariants
from kumi.engine.decisions import Bind, Unplaced
from kumi.engine.model import Node, Pod, PodShape, Profile, Put, Remove, Taint, Toleration
from kumi.engine.placement import session
from kumi.engine.placement.best import plain
from kumi.engine.placement.seats import bind
from kumi.engine.reasons import Code
from kumi.engine.settings import QueueOrder, Settings
from kumi.engine.state import State
from kumi.testing.builders import amounts, node, pod
from kumi.testing.neighbours import ZONE

TAINT = Taint("t", "", "NoSchedule")
SHAPES = (
    *(PodShape(amounts(cpu=cpu, gpu=gpu)) for cpu in (1, 2, 4) for gpu in (1, 2)),
    PodShape(amounts(cpu=3)),
    PodShape(amounts(cpu=1, gpu="400m"), share=400),
    PodShape(amounts(cpu=2), node_selector=((ZONE, "z1"),)),
    PodShape(amounts(cpu=2), tolerations=(Toleration("t", "Exists", "", ""),)),
)


def plainly(state: State) -> None:
    """The rule: everybody in line, one after the other, by the plain choice."""
    for uid in state.pods.waiting.in_order():
        one = state.pods.by_uid[uid]
        found = plain(state.nodes, state.site.plugins, one)
        if found is not None:
            bind(state, one, found)


@pytest.mark.parametrize("order", [QueueOrder.TIME, QueueOrder.FAIR])
def test_who_is_passed_over_would_not_have_been_placed(order: QueueOrder) -> None:
    """Two clusters with one history: in the second everybody is looked at each time."""
    seen = Counter[str]()
    for seed in range(10):
        random = Random(seed)
        fast, slow = (State(Profile(settings=Settings(order=order))) for _ in range(2))

        def both(delta: Any, states: tuple[State, ...] = (fast, slow)) -> None:
            for state in states:
                state.apply(delta)

        def some_node(random: Random = random) -> Node:
            has = {"cpu": random.choice([2, 4, 6]), "gpu": random.choice([1, 2, 4])}
            found = node(f"n{random.randrange(5)}", {ZONE: random.choice(["z0", "z1"])}, **has)
            return Node(found.name, found.labels, found.allocatable, random.choice([(), (), (TAINT,)]))

        for number in range(120):
            word = random.choice(["come", "come", "come", "go", "go", "node", "no node"])
            if word == "come":
                key = f"s{number % 3}/p{number}"
                both(Put(Pod(key, key, random.choice(SHAPES), number)))
            elif word == "go" and fast.pods.by_uid:
                both(Remove(Pod, random.choice(sorted(fast.pods.by_uid))))
            elif word == "node" or number < 10:
                both(Put(some_node()))
            elif word == "no node" and number % 4 == 0:
                both(Remove(Node, f"n{random.randrange(5)}"))
            if number % 5 == 4:
                with fast.trial():
                    fast.apply(Remove(Node, f"n{random.randrange(5)}"))
                    session.decide(fast, number)
            for decision in session.decide(fast, number):
                seen[type(decision).__name__] += 1
                fast.settle(decision, ok=True)
            plainly(slow)
            assert fast.pods.node_of == slow.pods.node_of, (seed, number, word)
            invariants.check(fast)
    assert min(seen["Bind"], seen["Unplaced"]) > 150, seen


def cluster(*nodes: Node) -> State:
    state = State()
    for each in nodes:
        state.apply(Put(each))
    return state


def looked_for(state: State, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pods for which a node is looked for from now on."""
    asked: list[str] = []
    look = state.best.node

    def node_of(one: Pod) -> str | None:
        asked.append(one.uid)
        return look(one)

    monkeypatch.setattr(state.best, "node", node_of)
    return asked


def test_a_line_that_cannot_fit_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    state = cluster(node("n1", cpu=4), node("n2", cpu=1))
    for number in range(50):
        state.apply(Put(pod(f"ns/large-{number:02}", cpu=3, created_ms=number)))
    state.apply(Put(pod("ns/small", cpu=1, created_ms=99)))
    session.decide(state, 0)
    asked = looked_for(state, monkeypatch)
    state.apply(Remove(Pod, "ns/small"))
    assert session.decide(state, 0) == []
    assert asked == []
    state.apply(Remove(Pod, "ns/large-00"))
    assert session.decide(state, 0) == [Bind("ns/large-01", "n1")]
    assert asked == ["ns/large-01"]


def test_equal_pods_are_looked_for_once_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    state = cluster(node("n1", cpu=1))
    asked = looked_for(state, monkeypatch)
    for number in range(5):
        state.apply(Put(pod(f"ns/p{number}", cpu=2)))
    assert [type(said) for said in session.decide(state, 0)] == [Unplaced] * 5
    assert asked == ["ns/p0"]


def test_one_that_comes_later_is_told_what_the_others_were_told() -> None:
    state = cluster(node("n1", cpu=1))
    state.apply(Put(pod("ns/a", cpu=2)))
    first = session.decide(state, 0)
    state.apply(Put(pod("ns/b", cpu=2)))
    second = session.decide(state, 0)
    assert [said.reasons for said in (*first, *second) if isinstance(said, Unplaced)] == [state.refusals["ns/a"]] * 2


def test_all_of_a_shape_are_told_again_when_nodes_become_others() -> None:
    state = cluster(node("n1", cpu=1))
    for name in ("a", "b"):
        state.apply(Put(pod(f"ns/{name}", cpu=2)))
    session.decide(state, 0)
    state.apply(Put(node("n2", cpu="1500m")))
    said = session.decide(state, 0)
    assert [d.pod for d in said if isinstance(d, Unplaced) and d.reasons[0].have == 1500] == ["ns/a", "ns/b"]


def test_more_room_than_there_was_is_news_though_it_is_not_enough() -> None:
    state = cluster(node("n1", cpu=4))
    for name, cpu in (("a", 2), ("b", 1), ("c", 1)):
        state.apply(Put(pod(f"ns/{name}", cpu=cpu, node="n1")))
    state.apply(Put(pod("ns/p", cpu=4)))
    session.decide(state, 0)
    had = []
    for gone in ("b", "a"):
        state.apply(Remove(Pod, f"ns/{gone}"))
        had += [d.reasons[-1].have for d in session.decide(state, 0) if isinstance(d, Unplaced)]
    state.apply(Put(pod("ns/d", cpu=2, node="n1")))
    state.apply(Remove(Pod, "ns/d"))
    assert session.decide(state, 0) == []
    assert had == [1000, 3000]


def test_who_matters_more_goes_first_also_where_others_came_before() -> None:
    state = cluster(node("n1", cpu=1))
    state.apply(Put(pod("ns/a", cpu=1, created_ms=1)))
    state.apply(Put(pod("ns/b", cpu=1, created_ms=2, priority=5)))
    said = session.decide(state, 0)
    assert [d.pod for d in said if isinstance(d, Bind)] == ["ns/b"]
    assert [d.reasons[0].code for d in said if isinstance(d, Unplaced)] == [Code.NODES_FULL]
