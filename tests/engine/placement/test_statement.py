"""Statement: one attempt, committed or taken back as a whole."""

from __future__ import annotations

from kumi.engine.placement.framework import Framework
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.diagram import _plain
from kumi.testing.gangs import Scene, gang, line, task


def hall() -> tuple[Scene, Framework, Outcome]:
    scene = Scene(line(), node("n", cpu=4), gang("a"), task("a-0", "a", cpu=1), task("a-1", "a", cpu=1))
    scene.put(gang("b"), task("b-0", "b", cpu=1, node="n"))
    return scene, scene.open("gang"), Outcome()


def room(scene: Scene) -> tuple[int, int, int]:
    """Of n: cpu that is used, that is leaving, that is promised."""
    nodes = scene.state.nodes
    at = (nodes.line("cpu"), nodes.row_by_name["n"])
    return int(nodes.used[at]), int(nodes.releasing[at]), int(nodes.pipelined[at])


def test_it_acts_at_once() -> None:
    scene, framework, outcome = hall()
    statement = Statement(framework, outcome)
    statement.place(scene.pod("a-0"), "n", Status.ALLOCATED)
    statement.place(scene.pod("a-1"), "n", Status.PIPELINED)
    statement.evict(scene.pod("b-0"), "a-1")
    assert room(scene) == (2000, 1000, 1000)
    assert [scene.state.tasks.status[u] for u in ("a-0", "a-1", "b-0")] == [
        Status.ALLOCATED,
        Status.PIPELINED,
        Status.RELEASING,
    ]
    assert outcome == Outcome()


def test_a_commit_binds_what_holds_room_and_issues_evictions() -> None:
    scene, framework, outcome = hall()
    statement = Statement(framework, outcome)
    statement.place(scene.pod("a-0"), "n", Status.ALLOCATED)
    statement.place(scene.pod("a-1"), "n", Status.PIPELINED)
    statement.evict(scene.pod("b-0"), "a-1")
    statement.commit()
    assert outcome.binds == [("a-0", "n")]
    assert outcome.evictions == [("b-0", "a-1")]
    assert scene.state.tasks.status["a-0"] is Status.BINDING
    assert scene.state.tasks.status["a-1"] is Status.PIPELINED


def test_without_its_trial_nothing_has_happened() -> None:
    scene, framework, outcome = hall()
    before = _plain(scene.state.tasks), room(scene)
    with scene.state.journal.trial():
        statement = Statement(framework, outcome)
        statement.place(scene.pod("a-0"), "n", Status.ALLOCATED)
        statement.evict(scene.pod("b-0"), "a-0")
    assert (_plain(scene.state.tasks), room(scene)) == before


def test_a_run_is_charged_as_its_tasks_would_be_one_by_one() -> None:
    scene, framework, outcome = hall()
    statement = Statement(framework, outcome)
    both = [scene.pod("a-0"), scene.pod("a-1")]
    row = scene.state.nodes.row_by_name["n"]
    statement.place_run(both, [row, row], Status.ALLOCATED)
    assert room(scene) == (3000, 0, 0)
    statement.commit()
    assert outcome.binds == [("a-0", "n"), ("a-1", "n")]


def test_what_a_trial_took_back_is_neither_bound_nor_evicted() -> None:
    scene, framework, outcome = hall()
    statement = Statement(framework, outcome)
    with scene.state.journal.trial():
        statement.place(scene.pod("a-0"), "n", Status.ALLOCATED)
        statement.evict(scene.pod("b-0"), "")
    assert statement.forget(0) == ["b-0"]
    statement.commit()
    assert outcome == Outcome()


def test_one_that_is_spared_is_as_it_was() -> None:
    scene, framework, outcome = hall()
    statement = Statement(framework, outcome)
    statement.evict(scene.pod("b-0"), "")
    statement.spare(scene.pod("b-0"), Status.RUNNING)
    assert room(scene) == (1000, 0, 0)
    assert statement.evicted == []
    assert scene.state.tasks.status["b-0"] is Status.RUNNING


def test_a_place_that_another_statement_left_open_is_committed_once() -> None:
    scene, framework, outcome = hall()
    Statement(framework, outcome).place(scene.pod("a-0"), "n", Status.ALLOCATED)
    later = Statement(framework, outcome)
    later.place(scene.pod("a-1"), "n", Status.ALLOCATED)
    for uid in ("a-0", "a-1"):
        later.dispatch(uid)
    later.commit()
    assert sorted(outcome.binds) == [("a-0", "n"), ("a-1", "n")]
