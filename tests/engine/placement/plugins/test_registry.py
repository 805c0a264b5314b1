"""Every registered plug-in keeps to what a plug-in is: the same for the same, nothing changed, finite scores, documented."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kumi.engine.gangs import DisruptionBudget, Member, NodeGroups, PodGroup, PriorityClass, Queue
from kumi.engine.model import Profile, Put, Requirement
from kumi.engine.placement import rounds
from kumi.engine.placement.actions import ACTIONS
from kumi.engine.placement.conf import SWITCHES, Conf, Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import SWITCH
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.surroundings import Surroundings
from kumi.engine.state import State
from kumi.testing.builders import amounts, node, pod

SAID_BESIDE = ("steady", "most", "refusals", "wake_ms")
"""what a plug-in may answer besides its hooks (hooks.py)"""
ALL = Option("", frozenset(SWITCHES))


def world(seed: int) -> State:
    """A small cluster on which something is going on everywhere: gangs that run, wait and are too large, in two queues."""
    state = State(Profile("volcano"))
    for n in range(4):
        labels = {"zone": str(n % 2), "volcano.sh/nodegroup-name": f"g{n % 2}"}
        state.apply(Put(node(f"n{n}", labels, cpu=4 + (n + seed) % 3, memory="8Gi", gpu=2)))
    groups = NodeGroups(required=("g0",), preferred=("g1",))
    state.apply(
        Put(replace(Queue("a"), weight=2, deserved=amounts(cpu=6), hierarchy=("root", "a"), weights=(1.0, 2.0)))
    )
    state.apply(Put(replace(Queue("b"), groups=groups, hierarchy=("root", "b"), weights=(1.0, 1.0))))
    state.apply(Put(PriorityClass("high", 100)))
    state.apply(Put(DisruptionBudget("ns/b", (Requirement("app", "In", ("ns/g0",)),), 1)))
    for number in range(6):
        key = f"ns/g{number}"
        high = "high" if (number + seed) % 3 == 0 else ""
        least = 1 + (number * 7 + seed) % 4
        needs = amounts(cpu=least)
        group = PodGroup(key, "ab"[number % 2], number, least=least, resources=needs, priority_class=high)
        state.apply(Put(group))
        for n in range(least + 1):
            runs = number < 2 and n < 3
            made = pod(f"{key}-task-{n}", cpu=1, memory="1Gi", priority=100 if high else 0)
            member = Member(group=key, role="w" if n else "ps", preemptable=True, zone="*" if n % 2 else "")
            where = {"node": f"n{(n + number) % 4}", "phase": "Running"} if runs else {}
            state.apply(Put(replace(made, member=member, created_ms=n, labels=(("app", key),), **where)))
    return state


def around(state: State) -> Surroundings:
    return Surroundings(state.tasks, state.nodes, state.pods, state.journal, 1_000_000)


def content(state: State) -> tuple[object, ...]:
    """What must be as it was."""
    tasks, nodes = state.tasks, state.nodes
    groups = {key: job.group for key, job in tasks.jobs.items()}
    arrays = [array.tobytes() for array in (nodes.used, nodes.releasing, nodes.pipelined, nodes.allocatable)]
    sums = ({q: dict(a) for q, a in tasks.allocated.items()}, {q: dict(a) for q, a in tasks.asked.items()})
    return (dict(tasks.status), dict(tasks.node), groups, arrays, sums)


def conf(name: str) -> Conf:
    """A session in which the plug-in has a say in everything, beside what makes a session."""
    around = [Option(other) for other in ("gang", "predicates") if other != name]
    return Conf(tuple(ACTIONS), ((replace(ALL, name=name), *around),))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PLUGINS)
def test_a_session_with_it_ends_alike_again_and_leaves_everything_as_it_was(name: str, seed: int) -> None:
    state = world(seed)
    before = content(state)
    first = rounds.run(around(state), conf(name), PLUGINS)
    assert content(state) == before
    assert rounds.run(around(state), conf(name), PLUGINS) == first
    other = world(seed)
    assert rounds.run(around(other), conf(name), PLUGINS) == first


@pytest.mark.parametrize("name", PLUGINS)
def test_it_is_a_value_made_of_its_arguments(name: str) -> None:
    made: Any = PLUGINS[name].configured(Option(name))
    assert dataclasses.is_dataclass(made)
    assert made == PLUGINS[name].configured(Option(name))
    assert type(made).__dataclass_params__.frozen


@pytest.mark.parametrize("name", PLUGINS)
def test_what_it_has_a_say_in_are_hooks_and_nothing_is_misspelt(name: str) -> None:
    state = world(0)
    opened = PLUGINS[name].configured(replace(ALL, name=name)).open(Framework(around(state), Conf((), ()), {}))
    said = [word for word in vars(type(opened)) if not word.startswith("_") and word in SWITCH]
    assert said, "it has a say in nothing"
    close = {word.replace("_", "") for word in SWITCH} - set(SWITCH)
    assert not close & {word for word in vars(type(opened)) if callable(getattr(type(opened), word, None))}


@pytest.mark.parametrize("name", PLUGINS)
def test_its_scores_and_predicates_are_one_a_row_and_finite_and_change_no_input(name: str) -> None:
    state = world(1)
    framework = Framework(around(state), conf(name), PLUGINS)
    opened: Any = next(plugin for option, plugin in framework._tiers[0] if option.name == name)
    task = state.pods.by_uid["ns/g4-task-1"]
    rows = state.nodes.by_name()
    placed = np.zeros(rows.size, dtype=np.int64)
    kept = (rows.copy(), placed.copy(), content(state))
    scored = [
        getattr(opened, hook)(task, rows, placed) for hook in ("node_order", "load_order") if hasattr(opened, hook)
    ]
    if hasattr(opened, "batch_order") and (batch := opened.batch_order(task, rows)) is not None:
        scored.append(batch)
    for scores in scored:
        assert scores.shape == rows.shape
        assert np.isfinite(scores).all()
    if hasattr(opened, "predicate"):
        assert opened.predicate(task).shape == (state.nodes.used.shape[1],)
    assert (rows == kept[0]).all()
    assert (placed == kept[1]).all()
    assert content(state) == kept[2]


@pytest.mark.parametrize("name", PLUGINS)
def test_it_is_documented(name: str) -> None:
    made: Any = PLUGINS[name]
    page = sys.modules[made.__module__].__doc__ or ""
    assert "Source" in page, f"{made.__module__} says nothing of where its rule is from"
    assert made.__doc__
