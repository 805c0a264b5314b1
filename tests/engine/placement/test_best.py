"""Best: what is kept gives the node that the plain rule gives, whatever happens in between."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from kumi.engine.decisions import Unplaced
from kumi.engine.model import (
    HostPort,
    Namespace,
    Neighbours,
    Node,
    Pod,
    PodShape,
    Profile,
    Put,
    Remove,
    Requirement,
    SpreadTerm,
    Taint,
    Toleration,
    VolumeClaim,
)
from kumi.engine.placement import best, session
from kumi.engine.placement.best import Best, plain
from kumi.engine.placement.plugins import SCORES
from kumi.engine.state import State
from kumi.testing.builders import GPU, amounts, node, pod, shape
from kumi.testing.neighbours import HOST, ZONE, here, zone

HARD, ADVICE = Taint("t", "", "NoSchedule"), Taint("old", "", "PreferNoSchedule")
APP = (("app", "a"),)
IS_A = (Requirement("app", "In", ("a",)),)
SHAPES = (
    PodShape(amounts(cpu=1)),
    PodShape(amounts(cpu=2, memory=300)),
    PodShape(amounts(cpu=1, gpu=1)),
    PodShape(amounts(cpu="500m", gpu="300m"), share=300),
    PodShape(amounts(memory=100), node_selector=((ZONE, "z0"),)),
    PodShape(amounts(cpu=1), tolerations=(Toleration("", "Exists", "", ""),)),
    PodShape(amounts(cpu=1), affinity=((Requirement(ZONE, "NotIn", ("z0",)),),)),
    PodShape(amounts(cpu=1), preferred=((3, (Requirement(ZONE, "In", ("z1",)),)),)),
    PodShape(amounts(cpu=1), images=("big", "small")),
    PodShape(amounts(cpu=1), ports=(HostPort(80),)),
    PodShape(amounts(cpu=1), volume_claims=("ns/v",)),
    PodShape(amounts(), scored=(100, 200)),
    PodShape(amounts(cpu=1), neighbours=Neighbours(apart=(here("app", "a"),))),
    PodShape(amounts(cpu=1), neighbours=Neighbours(near=(zone("app", "a"),))),
    PodShape(amounts(cpu=1), neighbours=Neighbours(rather_apart=((2, zone("app", "a")),))),
    PodShape(amounts(cpu=1), neighbours=Neighbours(spread=(SpreadTerm(HOST, IS_A),))),
    PodShape((("example.com/rare", 1000),)),
)
NAMES = tuple(f"n{n}" for n in range(11))  # more than a table begins with: in trials it grows
UIDS = tuple(f"u{n}" for n in range(8))


class History:
    """A state, the trials that are open on it, and what comes next by chance."""

    def __init__(self, scoring: str, seed: int) -> None:
        self.state = State(Profile(arguments={"scoring": scoring}))
        self.random = Random(f"{scoring} {seed}")
        self.trials: list[Any] = []
        self.advice = (ADVICE,) if seed % 3 == 2 else ()
        for _ in range(8):
            self.state.apply(Put(self.node()))

    def node(self) -> Node:
        pick = self.random.choice
        name, state = pick(NAMES), pick(["up", "up", "up", "up", "down", "cordoned"])
        has = amounts(cpu=pick(range(1, 7)), memory=pick([300, 700]), pods=pick([4, 110]), gpu=pick(range(4)))
        return Node(
            name,
            ((HOST, name), (ZONE, pick(["z0", "z1"]))),
            has + pick([(), (("example.com/rare", 1000),)]),
            pick([(), (), (), (HARD,), self.advice]),
            unschedulable=state == "cordoned",
            ready=state != "down",
            images=pick([(), (("big", 2**29),)]),
        )

    def pod(self) -> Pod:
        pick = self.random.choice
        uid, at = pick(UIDS), pick(["", *NAMES])
        leaving = pick([False, False, True])
        return Pod(uid, f"ns/{uid}", pick(SHAPES), 0, pick([0, 1]), at, labels=pick([(), APP]), terminating=leaving)

    def step(self, word: str) -> None:
        """One more thing happens. Amounts that nothing stands for stay where they are."""
        state, nodes, pick = self.state, self.state.nodes, self.random.choice
        match word:
            case "node":
                state.apply(Put(self.node()))
            case "pod":
                state.apply(Put(self.pod()))
            case "gone":
                state.apply(Remove(*pick([(Node, pick(NAMES)), (Pod, pick(UIDS)), (Pod, pick(UIDS))])))
            case "other":
                claim = VolumeClaim("ns/v", pick(["", "unbound"]))
                state.apply(Put(pick([claim, Namespace("ns", pick([(), APP]))])))
            case "decide":
                for decision in session.decide(state, 0):
                    state.settle(decision, ok=pick([True, False]))
            case "open":
                self.trials.append(state.trial())
                self.trials[-1].__enter__()
            case "close" | "commit" if self.trials:
                trial = self.trials.pop()
                if word == "commit":
                    trial.commit()
                trial.__exit__(None, None, None)
            case "use" | "pipeline" | "evict":
                getattr(nodes, word)(pick(NAMES), pick(SHAPES).requests, 1)
            case "many":
                nodes.use_rows(nodes.by_name(), pick(SHAPES).requests, nodes.by_name() * 0 + 1)
            case "empty" if self.trials:
                nodes.vacate()


WORDS = (
    "node",
    "pod",
    "pod",
    "gone",
    "other",
    "decide",
    "open",
    "close",
    "commit",
    "use",
    "pipeline",
    "evict",
    "many",
    "empty",
)


@pytest.mark.parametrize("scoring", sorted(SCORES))
def test_what_is_kept_says_what_the_plain_rule_says(scoring: str) -> None:
    seen = Counter[bool]()
    for seed in range(12):
        history = History(scoring, seed)
        state = history.state
        for _ in range(40):
            word = history.random.choice(WORDS)
            history.step(word)
            for asked in history.random.sample(SHAPES, 9):
                one = pod("ns/p", shape=asked, labels=history.random.choice([(), APP]))
                found = state.best.node(one)
                assert found == plain(state.nodes, state.site.plugins, one), (seed, word, asked)
                seen[found is None] += 1
    assert min(seen.values()) > 500, seen


def placed(state: State, **asked: Any) -> str | None:
    return state.best.node(pod("ns/p", **asked))


def test_a_trial_that_was_taken_back_is_not_remembered() -> None:
    state = State()
    for name in ("n1", "n2"):
        state.apply(Put(node(name, cpu=2)))
    with state.trial():
        state.apply(Put(pod("ns/a", cpu=2, node="n1")))
        assert placed(state, cpu=1) == "n2"
    assert placed(state, cpu=1) == "n1"


def test_a_trial_is_seen_as_long_as_it_lasts() -> None:
    state = State()
    state.apply(Put(node("n1", cpu=2)))
    assert placed(state, cpu=1) == "n1"
    with state.trial():
        state.apply(Remove(Node, "n1"))
        assert placed(state, cpu=1) is None
    assert placed(state, cpu=1) == "n1"


def test_a_row_that_another_node_gets_is_not_taken_for_the_first() -> None:
    state = State()
    state.apply(Put(node("n1", cpu=2)))
    assert placed(state, cpu=2) == "n1"
    state.apply(Remove(Node, "n1"))
    state.apply(Put(node("n2", cpu=1)))
    assert placed(state, cpu=2) is None


def test_a_resource_that_comes_later_counts() -> None:
    state = State()
    state.apply(Put(node("n1", cpu=2)))
    assert placed(state, gpu=1) is None
    state.apply(Put(node("n1", cpu=2, gpu=1)))
    assert placed(state, gpu=1) == "n1"


def test_the_first_by_name_is_the_best_of_equals() -> None:
    state = State()
    for name in ("n3", "n1", "n2"):
        state.apply(Put(node(name, cpu=2)))
    assert placed(state, cpu=1) == "n1"


def test_in_an_empty_cluster_nothing_fits() -> None:
    assert placed(State(), cpu=1) is None


def test_only_rows_that_changed_are_asked_again() -> None:
    """Of a hundred nodes, one of which got a pod."""
    state, asked = State(), list[int]()
    for number in range(100):
        state.apply(Put(node(f"n{number:02}", cpu=8)))
    scoring = state.site.plugins.score

    class Counting:
        def score(self, nodes: Any, one: Pod, rows: Any, placed: Any) -> Any:
            asked.append(rows.size)
            return scoring.score(nodes, one, rows, placed)

        def is_steady(self, nodes: Any, one: Pod) -> bool:
            return True

        def is_local(self, nodes: Any, one: Pod) -> bool:
            return True

    kept = Best(state.nodes, replace(state.site.plugins, score=Counting()))
    for number in range(3):
        found = kept.node(pod("ns/p", cpu=1))
        assert found == "n00"
        state.apply(Put(pod(f"ns/{number}", cpu=1, node=found)))
    assert asked == [100, 1, 1]


def test_shapes_that_were_not_asked_for_longest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best, "_CELLS_AT_MOST", 20)
    state = State()
    state.apply(Put(node("n1", cpu=64)))
    for cpu in range(1, 65):
        placed(state, cpu=cpu)
        placed(state, cpu=1)
    assert list(state.best._kept) == [shape(cpu=1), *(shape(cpu=cpu) for cpu in range(46, 65))]


def test_a_shape_that_compares_nodes_is_asked_for_in_full() -> None:
    state = State()
    for name in ("n1", "n2"):
        state.apply(Put(node(name, {"zone": name}, cpu=4, **{GPU: 1})))
    likes = PodShape(amounts(cpu=1), preferred=((1, (Requirement("zone", "In", ("n2",)),)),))
    assert state.best.node(pod("ns/p", shape=likes)) == "n2"
    assert state.best._kept[likes].scores is None


def test_an_image_counts_for_more_where_more_nodes_have_it() -> None:
    """It makes up for what n2 is fuller by, once a second node has it: one that takes no pods, and says nothing new of n1."""
    state, image = State(), (("big", 900 * 2**20),)
    state.apply(Put(replace(node("n1", cpu=4), images=image)))
    state.apply(Put(node("n2", cpu=4)))
    state.apply(Put(replace(node("n3", cpu=4), ready=False)))
    state.apply(Put(pod("ns/a", cpu=2, node="n2")))
    asked = PodShape(amounts(cpu=1), images=("big",))
    assert state.best.node(pod("ns/p", shape=asked)) == "n2"
    state.apply(Put(replace(node("n3", cpu=4), ready=False, images=image)))
    assert state.best.node(pod("ns/p", shape=asked)) == "n1"


def test_a_larger_node_changes_what_is_small() -> None:
    """Best fit measures what would be left by the most that a node has: n3, which takes no pods, is another measure of cpu."""
    state = State(Profile(arguments={"scoring": "bestFit"}))
    state.apply(Put(node("n1", cpu=8, gpu=2)))
    state.apply(Put(node("n2", cpu=2, gpu=4)))
    small = replace(node("n3", cpu=1), ready=False)
    state.apply(Put(small))
    assert placed(state, cpu=1) == "n2"
    state.apply(Put(replace(small, allocatable=amounts(cpu=64))))
    assert placed(state, cpu=1) == "n1"


@pytest.mark.parametrize("asked", [PodShape(amounts(cpu=1)), PodShape(amounts(cpu="500m", gpu="300m"), share=300)])
def test_rows_that_went_with_a_trial_are_passed_over(asked: PodShape) -> None:
    state = State()
    for n in range(8):  # as many as a table has rows
        state.apply(Put(node(f"n{n}", cpu=4, gpu=2)))
    state.apply(Put(replace(pod("ns/there", node="n0", shape=asked), uid="there")))
    assert placed(state, shape=asked) == "n0"
    with state.trial():
        state.apply(Put(node("a", cpu=4, gpu=2)))
        state.nodes.use("a", asked.requests, 2)
        assert placed(state, shape=asked) == "a"
    assert placed(state, shape=asked) == "n0"


def test_nobody_who_waits_looks_at_rows_that_went_with_a_trial() -> None:
    state = State()
    for n in range(8):
        state.apply(Put(node(f"n{n}", cpu=1)))
    state.apply(Put(pod("ns/large", cpu=2)))
    assert [type(d) for d in session.decide(state, 0)] == [Unplaced]
    with state.trial():
        state.apply(Put(node("a", cpu=1)))
    state.apply(Put(replace(pod("ns/there", cpu=1), node="n0")))
    state.apply(Remove(Pod, "ns/there"))
    assert session.decide(state, 0) == []
