"""Comings: what counts pods has each of them once, wherever it went in between; and nothing of one that is gone."""

from __future__ import annotations

import pickle
from dataclasses import replace
from random import Random

import pytest

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.model import Pod, PodShape, Profile, Put, Remove
from kumi.engine.placement import session
from kumi.engine.state import State
from kumi.testing.builders import amounts, node, pod
from kumi.testing.diagram import picture

SHAPES = tuple(
    PodShape(amounts(cpu=cpu, gpu=gpu), share=400 if gpu == "400m" else 0)
    for cpu in (1, 2, 3)
    for gpu in (0, 1, "400m")
)


def most(state: State) -> list[tuple[int, str, str]]:
    """Who holds most cpu, counted anew."""
    held = [state.pods.by_uid[uid] for uid in state.pods.node_of]
    return sorted((-dict(one.shape.requests)["cpu"], "", one.uid) for one in held)


def test_who_came_and_went_by_any_way_leaves_what_was_there() -> None:
    for seed in range(20):
        random = Random(seed)
        state = State()
        for name in ("n1", "n2"):
            state.apply(Put(node(name, cpu=8, gpu=4)))
        before = picture(state), state.nodes.used.tolist()
        for number in range(40):
            if number == seed:
                assert list(state.holdings.largest("cpu")) == most(state)
            uid = f"u{random.randrange(6)}"
            one = Pod(uid, f"ns/{uid}", random.choice(SHAPES), 0, priority=random.randrange(2))
            at = random.choice(["", "", "n1", "n2", "gone"])
            one = replace(one, node=at, finished=random.random() < 0.2, terminating=random.random() < 0.2)
            state.apply(random.choice([Put(one), Put(one), Remove(Pod, uid)]))
            for decision in session.decide(state, number):
                state.settle(decision, ok=random.random() < 0.8)
            invariants.check(state)
        assert list(state.holdings.largest("cpu")) == most(state)
        for uid in list(state.pods.by_uid):
            state.apply(Remove(Pod, uid))
        assert state.nodes.used.tolist() == before[1]
        assert (state.pods.by_uid, state.pods.node_of, state.pods.on_node, state.pods.alone) == ({}, {}, {}, [])
        assert (state.holdings.by_resource, state.binding, state.refusals, state.newcomers) == ({}, {}, {}, {})


@pytest.mark.parametrize("scoring", ["binpack", "fragmentation", "nodeorder"])
def test_a_state_through_which_many_pods_went_is_as_large_as_one_through_which_few_did(scoring: str) -> None:
    """Whatever is kept of pods that are gone would show in what is written of the state."""

    def size(pods: int) -> int:
        state, random = State(Profile(arguments={"scoring": scoring})), Random(1)
        for number in range(4):
            state.apply(Put(node(f"n{number}", cpu=8, gpu=4)))
        here: list[str] = []
        for number in range(pods):
            uid = f"u{number:07}"
            state.apply(Put(Pod(uid, f"ns/{uid}", random.choice(SHAPES), number)))
            here.append(uid)
            for decision in (*cycle.decide(state, number), *session.decide(state, number)):
                state.settle(decision, ok=True)
            if len(here) > 30:
                state.apply(Remove(Pod, here.pop(random.randrange(len(here)))))
        for uid in here:
            state.apply(Remove(Pod, uid))
        session.decide(state, pods)
        return len(pickle.dumps(state))

    assert abs(size(600) - size(200)) < 600


def test_a_pod_that_says_what_was_known_changes_nothing() -> None:
    state = State()
    state.apply(Put(node("n1", cpu=8)))
    one = pod("ns/p", cpu=1, node="n1")
    state.apply(Put(one))
    version = state.nodes.version
    state.apply(Put(replace(one)))
    assert state.nodes.version == version
