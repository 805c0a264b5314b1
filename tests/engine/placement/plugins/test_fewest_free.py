"""Fewest free GPUs first, then the least cpu; and the packing story, in which that is what counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.decisions import Bind
from kumi.engine.gangs import Member, PodGroup, Queue
from kumi.engine.model import Noun, Profile, Put
from kumi.engine.placement import session
from kumi.engine.placement.conf import Option
from kumi.engine.placement.plugins.fewest_free import FewestFree
from kumi.engine.policy import parse
from kumi.engine.state import State
from kumi.testing.builders import GPU, node, pod

from .test_binpack import table


@given(st.lists(st.tuples(st.integers(0, 64_000), st.integers(0, 8_000)), min_size=1, max_size=6), st.integers(0, 2))
def test_the_order_is_that_of_free_gpus_and_then_of_free_cpu(found: list[tuple[int, int]], placed: int) -> None:
    nodes = table(*(node(f"n{i}", cpu=64, gpu=8) for i in range(len(found))))
    for i, (cpu, gpu) in enumerate(found):
        nodes.use(f"n{i}", (("cpu", 64_000 - cpu), (GPU, 8_000 - gpu)), 1)
    scores = FewestFree().by_load(nodes, nodes.seen, pod("ns/p"), nodes.by_name(), np.full(len(found), placed))
    by_score = sorted(range(len(found)), key=lambda i: -scores[i])
    keys = [(gpu, cpu) for cpu, gpu in found]
    assert [keys[i] for i in by_score] == sorted(keys)
    assert all(0 <= score <= 100 for score in scores)


def test_it_has_no_arguments() -> None:
    assert FewestFree.configured(Option("fewestFree")) == FewestFree()


STORY = [5] * 4 + [1] * 4 + [3] * 4
"""GPUs of the jobs, in their order"""


def told(scoring: str, *, gangs: bool) -> tuple[int, int]:
    """Four nodes of 8 GPUs and four of 1: how many GPUs the jobs get, and how many of them get none."""
    profile = parse({"scoring": scoring}) if gangs else Profile(arguments={"scoring": scoring})
    state = State(profile)
    state.apply(Put(Queue("q")))
    for number in range(8):
        state.apply(Put(node(f"n{number}", gpu=8 if number < 4 else 1)))
    given, waiting = 0, 0
    for number, gpus in enumerate(STORY):
        key = f"ns/job-{number}"
        nouns: list[Noun] = [pod(key, gpu=gpus, created_ms=number)]
        if gangs:
            nouns = [PodGroup(key, "q", number), pod(key, gpu=gpus, created_ms=number, member=Member(group=key))]
        for noun in nouns:
            state.apply(Put(noun))
        decided = session.decide(state, number)
        for decision in decided:
            state.settle(decision, ok=True)
        bound = any(isinstance(d, Bind) for d in decided)
        given, waiting = given + gpus * bound, waiting + (not bound)
    return given, waiting


@pytest.mark.parametrize("gangs", [False, True])
@pytest.mark.parametrize(("scoring", "gpus", "waiting"), [("utilization", 30, 2), ("fewestFree", 36, 0)])
def test_the_packing_story(scoring: str, gpus: int, waiting: int, gangs: bool) -> None:
    """30 of 36 is 83 %."""
    assert told(scoring, gangs=gangs) == (gpus, waiting)
