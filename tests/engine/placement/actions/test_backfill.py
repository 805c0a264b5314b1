"""Backfill: pods that ask for nothing but to be there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kumi.engine.gangs import Phase, PodGroup
from kumi.engine.model import Taint
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task

PLUGINS = ("gang", "predicates")


def ready(name: str, **fields: Any) -> PodGroup:
    return gang(name, phase=Phase.INQUEUE, **fields)


def full(**fields: Any) -> Scene:
    """One node without a free cpu."""
    scene = Scene(line(), node("n", cpu=1, **fields), ready("old"))
    scene.put(task("old-0", "old", cpu=1, node="n"))
    return scene


def test_they_need_no_room() -> None:
    scene = full()
    scene.put(ready("a", least=2), task("a-0", "a"), task("a-1", "a"))
    assert scene.run("backfill", *PLUGINS).outcome.binds == [("a-0", "n"), ("a-1", "n")]


def test_a_gang_is_bound_as_soon_as_it_is_ready_with_all_that_it_was_given() -> None:
    scene = Scene(line(), node("n", cpu=2), ready("a", least=2))
    scene.put(task("a-0", "a", cpu=1), task("a-1", "a"))
    done = scene.run("allocate backfill", *PLUGINS)
    assert sorted(done.outcome.binds) == [("a-0", "n"), ("a-1", "n")]


def test_a_gang_that_is_not_ready_is_not_bound() -> None:
    scene = full()
    scene.put(ready("a", least=2), task("a-0", "a"), task("a-1", "a", cpu=1))
    done = scene.run("backfill", *PLUGINS)
    assert done.outcome.binds == []


def test_they_go_where_predicates_take_them() -> None:
    scene = full(taints=(Taint("x", "", "NoSchedule"),))
    scene.put(ready("a"), task("a-0", "a"))
    assert scene.run("backfill", *PLUGINS).outcome.binds == []
    scene.put(node("free", cpu=1))
    assert scene.run("backfill", *PLUGINS).outcome.binds == [("a-0", "free")]


def test_gangs_that_are_not_let_in_or_cannot_be_placed_are_passed_over() -> None:
    scene = full()
    scene.put(gang("a", phase=Phase.PENDING), task("a-0", "a"), ready("b", least=2), task("b-0", "b"))
    assert scene.run("backfill", *PLUGINS).outcome.binds == []


def test_tasks_that_are_held_back_or_ask_for_something_are_passed_over() -> None:
    scene = Scene(line(), node("n", cpu=9), ready("a", least=0))
    scene.put(replace(task("a-0", "a"), gated=True), task("a-1", "a", cpu=1))
    done = scene.run("backfill", *PLUGINS)
    assert done.outcome.binds == []
    assert set(done.status.values()) == {Status.PENDING}
