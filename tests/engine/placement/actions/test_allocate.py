"""Allocate: nodes for gangs, whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase, PodGroup
from kumi.engine.placement.actions import allocate
from kumi.engine.placement.actions.allocate import can_go_on
from kumi.engine.placement.heap import Line
from kumi.engine.placement.rounds import Round
from kumi.engine.placement.tasks import READY, Status
from kumi.testing.builders import node, shape
from kumi.testing.gangs import Scene, gang, line, option, task

USUAL = ("priority", "gang", "predicates", "proportion")


SHAPES = [shape(cpu=cpu) for cpu in range(3)]
"""as one object each: that is how equal ones are told"""


def ready(name: str, queue: str = "q", **fields: Any) -> PodGroup:
    return gang(name, queue, phase=Phase.INQUEUE, **fields)


def slots(count: int) -> Scene:
    """So many nodes of one cpu."""
    return Scene(line(), *(node(f"n{n}", cpu=1) for n in range(count)))


def members(name: str, count: int, **fields: Any) -> list[Any]:
    return [task(f"{name}-x-{n}", name, **({"cpu": 1} | fields)) for n in range(count)]


def bound(done: Round) -> dict[str, int]:
    """How many tasks of each gang."""
    counts: dict[str, int] = {}
    for uid, _ in done.outcome.binds:
        counts[uid[0]] = counts.get(uid[0], 0) + 1
    return counts


@given(
    st.integers(0, 6),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=4),
)
@settings(max_examples=60)
def test_every_gang_has_its_minimum_or_nothing_and_no_slot_is_left_that_one_could_use(
    count: int, gangs: list[tuple[int, int, int]]
) -> None:
    scene = slots(count)
    for name, (size, least, age) in zip("abcd", gangs, strict=False):
        scene.put(ready(name, least=least, created_ms=age), *members(name, size))
    done = scene.run("allocate", *USUAL)
    got = bound(done)
    for name, (size, least, _) in zip("abcd", gangs, strict=False):
        assert got.get(name, 0) == 0 or least <= got[name] <= size
        free = count - sum(got.values())
        missing = max(least, 1) - got.get(name, 0)
        if least <= size and got.get(name, 0) < size:
            assert free < max(missing, 1)


def test_a_gang_past_its_minimum_gets_a_task_a_turn() -> None:
    scene = slots(4)
    scene.put(ready("a", least=1), *members("a", 4), ready("b", least=2, created_ms=1), *members("b", 2))
    assert bound(scene.run("allocate", *USUAL)) == {"a": 2, "b": 2}


def test_queues_take_turns_by_their_shares() -> None:
    scene = Scene(line("q"), line("r"), *(node(f"n{n}", cpu=1) for n in range(4)))
    scene.put(ready("a", least=0), *members("a", 4), ready("b", "r", least=0), *members("b", 4))
    assert bound(scene.run("allocate", *USUAL)) == {"a": 2, "b": 2}


def test_a_queue_that_has_had_its_share_gives_way_for_good() -> None:
    scene = Scene(line("q", capability={"cpu": 1, "pods": 1}), *(node(f"n{n}", cpu=1) for n in range(4)))
    scene.put(ready("a", least=0), *members("a", 4))
    unbound = option("proportion", without=("enabledAllocatable",))
    assert bound(scene.run("allocate", "gang", "predicates", unbound)) == {"a": 1}


def test_what_is_leaving_is_promised_and_not_used() -> None:
    scene = slots(1)
    scene.put(ready("old"), replace(task("old-0", "old", cpu=1, node="n0"), terminating=True))
    scene.put(ready("a"), *members("a", 1), ready("b", created_ms=1), *members("b", 1))
    done = scene.run("allocate", *USUAL)
    assert done.outcome.binds == []
    assert [done.status[f"{name}-x-0"] for name in "ab"] == [Status.PIPELINED, Status.PENDING]


def test_a_gang_that_is_only_promised_places_keeps_them_uncommitted() -> None:
    scene = slots(2)
    scene.put(ready("old"), replace(task("old-0", "old", cpu=1, node="n0"), terminating=True))
    scene.put(ready("a", least=2), *members("a", 2), ready("b", created_ms=1), *members("b", 1))
    done = scene.run("allocate", *USUAL)
    assert done.outcome.binds == []
    assert sorted(done.status[f"a-x-{n}"].name for n in range(2)) == ["ALLOCATED", "PIPELINED"]


def test_gangs_that_are_not_let_in_wait_unless_nobody_lets_in() -> None:
    scene = slots(1)
    scene.put(gang("a", phase=Phase.PENDING, needs={"cpu": 9}), *members("a", 1))
    assert bound(scene.run("enqueue allocate", *USUAL)) == {}
    assert bound(scene.run("allocate", *USUAL)) == {"a": 1}


def test_tasks_that_are_held_back_or_ask_for_nothing_are_not_placed_here() -> None:
    scene = slots(3)
    scene.put(ready("a", least=0), replace(members("a", 1)[0], gated=True), task("a-free", "a"))
    assert bound(scene.run("allocate", *USUAL)) == {}


def test_a_task_that_its_queue_may_not_have_stops_no_other() -> None:
    scene = Scene(line("q", capability={"cpu": 2}), node("n", cpu=9))
    scene.put(ready("a", least=0), task("a-x-0", "a", cpu=3), task("a-x-1", "a", cpu=1))
    assert scene.run("allocate", *USUAL).outcome.binds == [("a-x-1", "n")]


def test_a_node_that_was_cleared_for_a_task_comes_first() -> None:
    scene = slots(3)
    scene.put(ready("a"), task("a-x-0", "a", cpu=1, nominated="n2"), task("a-x-1", "a", cpu=1, nominated="gone"))
    assert scene.run("allocate", *USUAL).outcome.binds == [("a-x-0", "n2"), ("a-x-1", "n0")]


def test_where_a_role_failed_others_are_tried_while_they_can_make_up_the_minimum() -> None:
    scene = slots(2)
    scene.put(ready("a", least=2, least_of=(("big", 1), ("w", 2))))
    scene.put(task("a-x-0", "a", cpu=5, role="big"), *(task(f"a-x-{n}", "a", cpu=1, role="w") for n in (1, 2)))
    assert bound(scene.run("allocate", *USUAL)) == {"a": 2}
    scene.put(ready("a", least=3, least_of=(("big", 1), ("w", 2))))
    assert bound(scene.run("allocate", *USUAL)) == {}


@pytest.mark.parametrize(
    ("least", "least_of", "failed", "goes_on"),
    [
        (3, (), ["w"], False),  # all of its tasks
        (2, (), ["w"], True),
        (2, (("w", 2), ("v", 1)), ["v"], True),  # two w are left
        (2, (("w", 2), ("v", 1)), ["w"], False),
        (2, (("w", 1),), ["w"], False),  # w hasn't its own minimum
        (2, (("v", 1),), ["w"], True),
    ],
)
def test_when_a_gang_may_do_without(
    least: int, least_of: tuple[tuple[str, int], ...], failed: list[str], goes_on: bool
) -> None:
    scene = slots(0)
    scene.put(ready("a", least=least, least_of=least_of))
    scene.put(*(task(f"a-x-{n}", "a", cpu=1, role=role) for n, role in enumerate("wwv")))
    assert can_go_on(scene.job("a"), dict.fromkeys(failed)) is goes_on
    assert scene.job("a").count(*READY) == 0


def test_a_run_ends_where_its_gang_is_ready() -> None:
    """A task that asks for nothing counts, so two of the three are enough; the third waits for its turn."""
    scene = Scene(line(), node("n", cpu=3), ready("a", least=3), ready("b", least=1, created_ms=1))
    scene.put(task("a-free", "a"), *(replace(one, shape=SHAPES[1]) for one in (*members("a", 3), *members("b", 1))))
    assert bound(scene.run("allocate", *USUAL)) == {"a": 2, "b": 1}


@pytest.mark.parametrize(("capability", "expected"), [(2, {}), (3, {"a": 3})])
def test_a_run_ends_where_its_queue_may_have_no_more(capability: int, expected: dict[str, int]) -> None:
    scene = Scene(line("q", capability={"cpu": capability}), node("n", cpu=9), ready("a", least=3))
    scene.put(*(replace(one, shape=SHAPES[1]) for one in members("a", 3)))
    assert bound(scene.run("allocate", *USUAL)) == expected


@st.composite
def mixed(draw: st.DrawFn) -> Scene:
    """Gangs of tasks of few shapes and roles, in queues that may not have all that they ask for."""
    made = Scene(line("q", capability={"cpu": draw(st.integers(1, 6)), "pods": 20}), line("r"))
    made.put(*(node(f"n{n}", cpu=draw(st.integers(1, 4)), memory="8Gi", pods=9) for n in range(3)))
    for age, name in enumerate(draw(st.permutations("abc"))):
        size = draw(st.integers(1, 5))
        least_of = draw(st.sampled_from([(), (("w", 1),), (("w", 1), ("v", 1))]))
        least = draw(st.integers(0, size))
        made.put(ready(name, draw(st.sampled_from("qr")), least=least, least_of=least_of, created_ms=age))
        for number in range(size):
            role, cpu = draw(st.sampled_from(["w", "w", "w", "v"])), draw(st.sampled_from([1, 1, 1, 2, 0]))
            made.put(replace(task(f"{name}-x-{number}", name, role=role), shape=SHAPES[cpu]))
    if draw(st.booleans()):
        made.put(task("run", "c", cpu=1, node="n0", terminating=True))
    return made


@given(mixed())
@settings(max_examples=120)
def test_a_run_at_once_leads_to_what_its_tasks_one_by_one_lead_to(made: Scene) -> None:
    at_once = made.run("allocate backfill", *USUAL, "nodeorder", "binpack")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Line, "next_like", lambda self, like, most: [])
        patch.setattr(allocate, "_run", lambda framework, job, tasks: 1)
        assert made.run("allocate backfill", *USUAL, "nodeorder", "binpack") == at_once
