"""Makeup: what a gang's waiting tasks are like."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine.model import Neighbours
from kumi.engine.placement.makeup import Makeup, makeup
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task
from kumi.testing.neighbours import HOST, about


def of(scene: Scene, name: str = "g") -> Makeup:
    state = scene.state
    return makeup(state.tasks, state.nodes.residents, scene.job(name))


def counts(made: Makeup) -> list[tuple[str, int]]:
    """(the first of them, how many)"""
    return [(one.task.name, one.pods) for one in made.alike]


def test_tasks_of_one_role_shape_and_priority_are_counted_together() -> None:
    scene = Scene(node("n"), line(), gang("g"))
    scene.put(task("a", "g", cpu=1), task("b", "g", cpu=1), task("c", "g", cpu=2), task("d", "g", cpu=1, role="w"))
    scene.put(task("e", "g", cpu=1, priority=7), task("gone", "g", cpu=1, node="n"))
    assert counts(of(scene)) == [("a", 2), ("c", 1), ("d", 1), ("e", 1)]


def test_equal_shapes_are_one_though_they_are_different_objects() -> None:
    scene = Scene(line(), gang("g"), gang("h"))
    scene.put(*(task(f"{name}-{n}", name, cpu=n + 1 - n) for name in "gh" for n in range(3)))
    assert [counts(of(scene, name)) for name in "gh"] == [[("g-0", 3)], [("h-0", 3)]]
    assert of(scene, "g").kind == of(scene, "h").kind


def test_what_is_gated_is_counted_by_itself() -> None:
    scene = Scene(line(), gang("g"), task("a", "g", cpu=1), replace(task("b", "g", cpu=1), gated=True))
    assert (counts(of(scene)), of(scene).gated) == ([("a", 1)], 1)
    scene.put(task("b", "g", cpu=1))
    assert (counts(of(scene)), of(scene).gated) == ([("a", 2)], 0)


def test_gangs_with_tasks_that_look_at_others_or_have_a_node_cleared_are_of_no_kind() -> None:
    shy = task("a", "g", cpu=1)
    shape = replace(shy.shape, neighbours=Neighbours(apart=(about(HOST, "app", "db"),)))
    assert of(Scene(line(), gang("g"), replace(shy, shape=shape))).kind is None
    assert of(Scene(line(), gang("g"), task("a", "g", cpu=1, nominated="n"))).kind is None


def test_whom_others_shun_is_another_kind() -> None:
    scene = Scene(node("n"), line(), gang("g"), gang("r"))
    scene.put(task("a", "g", cpu=1), replace(task("b", "g", cpu=1), labels=(("app", "db"),)))
    assert counts(of(scene)) == [("a", 2)]
    shy = task("r-0", "r", cpu=1, node="n")
    scene.put(replace(shy, shape=replace(shy.shape, neighbours=Neighbours(apart=(about(HOST, "app", "db"),)))))
    assert counts(of(scene)) == [("a", 1), ("b", 1)]


def test_a_trial_that_is_taken_back_leaves_what_was_there() -> None:
    scene = Scene(node("n"), line(), gang("g"), task("a", "g", cpu=1), task("b", "g", cpu=1))
    before = of(scene)
    with scene.state.journal.trial():
        scene.put(task("b", "g", cpu=1, node="n"))
        assert counts(of(scene)) == [("a", 1)]
    assert of(scene) == before
