"""Counted: a gang of equal tasks, counted, finds what it finds placed task by task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase
from kumi.engine.placement.actions import allocate
from kumi.engine.placement.actions.counted import Counted, counted
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.line.asking import Places
from kumi.engine.placement.makeup import makeup
from kumi.engine.placement.statement import Outcome, Refusal, Statement
from kumi.engine.placement.tasks import Status
from kumi.engine.reasons import Code, Reason
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task

PLUGINS = ("gang", "capacity", "predicates", "nodeorder", "binpack")


def asked(session: Framework, name: str = "g") -> Counted | None:
    job = session.tasks.jobs[f"ns/{name}"]
    return counted(session, job, makeup(session.tasks, session.nodes.residents, job))


def placed(session: Framework, outcome: Outcome) -> tuple[Places | None, Refusal | None]:
    """The reference: its tasks one after the other, taken back; where they went if it was ready then, else why not."""
    job = session.tasks.jobs["ns/g"]
    with session.journal.trial():
        statement = Statement(session, outcome)
        allocate.place(session, outcome, statement, job, allocate.tasks_of(session, job))
        if not session.job_ready(job):
            return None, outcome.refusals[job.key]
        counts: dict[str, int] = {}
        for uid in statement.placed:
            counts[session.tasks.node[uid]] = counts.get(session.tasks.node[uid], 0) + 1
    first = session.tasks.pods["g-0"]
    return tuple((at, first.shape, count) for at, count in counts.items()), None


@st.composite
def halls(draw: st.DrawFn) -> Scene:
    """A gang, some of which may run, waits on nodes of different sizes that others use; its queue may have so much."""
    made = Scene(line(capability={"cpu": draw(st.integers(1, 12))}), gang("r", phase=Phase.RUNNING))
    for n in range(draw(st.integers(1, 4))):
        size, used = draw(st.integers(1, 5)), draw(st.integers(0, 2))
        made.put(node(f"n{n}", cpu=size, pods=draw(st.integers(1, 4))))
        made.put(*(task(f"r-{n}-{u}", "r", cpu=1, node=f"n{n}") for u in range(min(used, size))))
    pods, least = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    role = draw(st.sampled_from(["", "worker"]))
    made.put(gang("g", least=least, least_of=((role, draw(st.integers(1, 6))),) if role else (), phase=Phase.INQUEUE))
    asks = draw(st.integers(1, 2))
    made.put(*(task(f"g-{n}", "g", cpu=asks, role=role) for n in range(pods)))
    if draw(st.booleans()):
        made.put(task("g-runs", "g", cpu=1, node="n0", role=role))
    return made


@settings(max_examples=150)
@given(halls())
def test_counting_finds_what_placing_finds(scene: Scene) -> None:
    session, outcome = scene.open(*PLUGINS), Outcome()
    one = asked(session)
    if one is None:
        return
    places, refusal = placed(session, outcome)
    assert one.has_room() == (places is not None)
    assert one.refusal(outcome) == refusal
    if places is not None:
        assert one.places() == places


def test_what_nodes_say_is_looked_up_and_not_made_up() -> None:
    scene = Scene(node("n", cpu=1), line(), gang("g", least=2, phase=Phase.INQUEUE))
    scene.put(task("g-0", "g", cpu=1), task("g-1", "g", cpu=1))
    one = asked(scene.open("gang", "predicates"))
    assert one is not None
    assert (one.has_room(), one.refusal(Outcome())) == (False, None)


def test_a_gang_is_told_how_many_of_its_tasks_have_a_place_and_what_keeps_the_next() -> None:
    scene = Scene(node("n", cpu=9, pods=2), node("m", cpu=9, pods=1), line(capability={"cpu": 9}))
    scene.put(gang("g", least=6, phase=Phase.INQUEUE), task("g-runs", "g", cpu=1, node="m"))
    scene.put(*(task(f"g-{n}", "g", cpu=1) for n in range(5)))
    session, outcome = scene.open(*PLUGINS), Outcome()
    places, by_nodes = placed(session, outcome)
    one = asked(session)
    assert one is not None
    assert (places, by_nodes) == (None, Refusal(3, outcome.explained["q", one.task.shape]))
    assert one.refusal(outcome) == by_nodes

    scene.put(line(capability={"cpu": 2}))
    session = scene.open(*PLUGINS)
    one = asked(session)
    assert one is not None
    assert one.refusal(Outcome()) == Refusal(2, (Reason(Code.QUEUE_SHARE, where="q"),))


def test_what_nodes_said_to_a_larger_gang_is_not_said_to_one_that_just_fits() -> None:
    scene = Scene(node("n", cpu=9, pods=3), line(), gang("g", least=4, phase=Phase.INQUEUE))
    scene.put(gang("fits", least=3, phase=Phase.INQUEUE))
    scene.put(*(task(f"{name}-{n}", name, cpu=1) for name, count in (("g", 4), ("fits", 3)) for n in range(count)))
    session, outcome = scene.open(*PLUGINS), Outcome()
    placed(session, outcome)
    larger, just_fits = asked(session), asked(session, "fits")
    assert larger is not None
    assert just_fits is not None
    (said,) = outcome.explained.values()
    assert larger.refusal(outcome) == Refusal(3, said)
    assert (just_fits.refusal(outcome), just_fits.has_room()) == (None, True)


@pytest.mark.parametrize(("pods", "may_use", "has_room"), [(3, 3, True), (2, 9, False), (9, 2, False), (9, 1, False)])
def test_a_gang_has_room_where_nodes_and_queue_have_it_for_the_last_of_its_tasks(
    pods: int, may_use: int, has_room: bool
) -> None:
    scene = Scene(node("n", cpu=9, pods=pods), line(capability={"cpu": may_use}))
    scene.put(gang("g", least=3, phase=Phase.INQUEUE), *(task(f"g-{n}", "g", cpu=1) for n in range(3)))
    one = asked(scene.open(*PLUGINS))
    assert one is not None
    assert one.has_room() is has_room
    assert bool(one.places()) is has_room


def test_only_gangs_of_one_kind_of_tasks_that_look_at_nobody_are_counted() -> None:
    scene = Scene(node("n", cpu=9), line(), *(gang(name, least=1, phase=Phase.INQUEUE) for name in "abcde"))
    scene.put(task("a-0", "a", cpu=1), task("b-0", "b", cpu=1), task("b-1", "b", cpu=2), task("e-0", "e"))
    scene.put(task("c-0", "c", cpu=1, nominated="n"), task("d-0", "d", cpu=1), task("d-1", "d", cpu=1, node="n"))
    session = scene.open(*PLUGINS)
    assert [asked(session, name) is not None for name in "abcde"] == [True, False, False, False, False]
    assert asked(scene.open("predicates"), "a") is None  # nobody says what makes it ready
    assert asked(scene.open(*PLUGINS, "sla"), "a") is not None


def test_a_gang_that_lacks_tasks_of_another_role_is_not_counted() -> None:
    scene = Scene(node("n", cpu=9), line())
    scene.put(gang("g", least=2, least_of=(("a", 1), ("b", 1)), phase=Phase.INQUEUE), task("g-0", "g", cpu=1, role="a"))
    assert asked(scene.open(*PLUGINS)) is None
    scene.put(task("g-1", "g", cpu=1, role="b", node="n"))
    assert asked(scene.open(*PLUGINS)) is not None


def test_nothing_is_known_while_somebody_is_leaving() -> None:
    scene = Scene(node("n", cpu=2), line(), gang("r"), gang("g", least=2, phase=Phase.INQUEUE))
    runs = task("r-0", "r", cpu=1, node="n")
    scene.put(replace(runs, terminating=True), task("g-0", "g", cpu=1), task("g-1", "g", cpu=1))
    session, outcome = scene.open(*PLUGINS), Outcome()
    one = asked(session)
    assert one is not None
    assert one.refusal(outcome) is None
    assert session.tasks.status["r-0"] is Status.RELEASING
