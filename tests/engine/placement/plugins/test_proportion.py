"""Proportion: queues share by weight, as far as they ask."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase, QueueState
from kumi.engine.placement import amounts
from kumi.engine.placement.plugins.proportion import Proportion
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task

ROOMY = 0.5
CPUS = 8


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Queues that ask for cpus, on one node; some of their tasks run there."""
    scene, left = Scene(node("n", cpu=CPUS, memory="9Gi", pods=50)), CPUS
    for name in draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True)):
        limits: dict[str, Any] = {"weight": draw(st.integers(1, 3))}
        if draw(st.booleans()):
            limits["capability"] = {"cpu": draw(st.integers(1, 6))}
        scene.put(line(name, **limits), gang(name, name))
        for number in range(draw(st.integers(0, 4))):
            cpu = draw(st.integers(1, 4))
            runs = cpu <= left and draw(st.booleans())
            left -= cpu if runs else 0
            scene.put(task(f"{name}-{number}", name, cpu=cpu, node="n" if runs else ""))
    return scene


def deserved(scene: Scene) -> dict[str, dict[str, float]]:
    return Proportion().open(scene.open()).deserved


@given(scenes())
@settings(max_examples=60)
def test_what_is_deserved_is_no_more_than_there_is_and_than_is_asked_for(scene: Scene) -> None:
    found = deserved(scene)
    assert sum(d.get("cpu", 0) for d in found.values()) <= 1000 * CPUS + ROOMY
    for name, amount in found.items():
        assert amount.get("cpu", 0) <= scene.state.tasks.asked.get(name, {}).get("cpu", 0) + ROOMY
        assert amount.get("cpu", 0) <= dict(scene.queue(name).capability).get("cpu", 10**9) + ROOMY


@given(scenes())
@settings(max_examples=60)
def test_who_gets_less_than_it_asks_for_has_no_smaller_part_of_its_weight_than_any_other(scene: Scene) -> None:
    """Weighted max-min fairness."""
    found = {name: d.get("cpu", 0) for name, d in deserved(scene).items()}
    for name, has in found.items():
        queue = scene.queue(name)
        wants = scene.state.tasks.asked.get(name, {}).get("cpu", 0)
        if has < min(wants, dict(queue.capability).get("cpu", 10**9)) - ROOMY:
            assert all(has / queue.weight >= n / scene.queue(o).weight - ROOMY for o, n in found.items())


@given(scenes())
@settings(max_examples=40)
def test_nothing_is_left_over_while_somebody_wants_it(scene: Scene) -> None:
    found = {name: d.get("cpu", 0) for name, d in deserved(scene).items()}
    wants = {
        n: min(scene.state.tasks.asked.get(n, {}).get("cpu", 0), dict(scene.queue(n).capability).get("cpu", 10**9))
        for n in found
    }
    assert abs(sum(found.values()) - min(1000 * CPUS, sum(wants.values()))) <= ROOMY


def two(cpus: int = 4, **fields: Any) -> Scene:
    """Queues a and b that both ask for 4 cpus; a runs so many of them."""
    scene = Scene(
        node("n", cpu=4, memory="9Gi", pods=50), line("a"), line("b", **fields), gang("a", "a"), gang("b", "b")
    )
    scene.put(*(task(f"a-{n}", "a", cpu=1, node="n" if n < cpus else "") for n in range(4)))
    scene.put(*(task(f"b-{n}", "b", cpu=1) for n in range(4)))
    return scene


@pytest.mark.parametrize(("fields", "cpu"), [({}, 2000), ({"weight": 3}, 3000), ({"capability": {"cpu": 1}}, 1000)])
def test_shares_go_by_weight_up_to_the_limit(fields: dict[str, Any], cpu: int) -> None:
    scene = two(**fields)
    assert deserved(scene)["b"]["cpu"] == cpu
    assert deserved(scene)["a"]["cpu"] == 4000 - cpu


def test_a_guarantee_is_deserved_even_if_nobody_asks() -> None:
    scene = two(guarantee={"cpu": 3})
    opened = Proportion().open(scene.open())
    assert opened.deserved["b"]["cpu"] == 3000
    assert opened.real["a"]["cpu"] == 1000


def test_a_zero_of_cpu_or_memory_is_no_limit() -> None:
    assert deserved(two(capability={"cpu": 0}))["b"]["cpu"] == 2000


def test_a_queue_gives_way_once_it_has_its_share_of_everything() -> None:
    scene = two(cpus=2)
    assert not scene.open("proportion").overused(scene.queue("a"))  # pods are left of its share
    scene = two(cpus=4)
    scene.put(*(task(f"a-free-{n}", "a", node="n") for n in range(30)))
    assert scene.open("proportion").overused(scene.queue("a"))
    assert not scene.open("proportion").overused(scene.queue("b"))


def test_a_task_may_be_had_within_what_is_deserved() -> None:
    scene = two(cpus=1)
    at, a, more = scene.open("proportion"), scene.queue("a"), task("x", "a", cpu=2)
    assert at.allocatable(a, scene.pod("a-1"))
    assert not at.allocatable(a, more)
    assert at.preemptive(a, (("cpu", 1000),))
    assert not at.preemptive(a, (("cpu", 1001),))


def test_a_closed_queue_gets_nothing_new() -> None:
    scene = two(cpus=1, state=QueueState.CLOSED)
    at, b = scene.open("proportion"), scene.queue("b")
    assert not at.allocatable(b, scene.pod("b-0"))
    scene.put(gang("b", "b", needs={"cpu": 1}))
    assert not at.job_enqueueable(scene.job("b"))


def test_victims_are_what_a_queue_has_past_its_share() -> None:
    scene = two()
    crowd = [scene.pod(f"a-{n}") for n in range(4)]
    victims = scene.open("proportion").reclaimable(scene.pod("b-0"), crowd)
    assert [pod.uid for pod in victims] == ["a-0", "a-1"]


def test_the_smaller_share_goes_first_and_priority_before_it() -> None:
    scene = two(cpus=1)
    at = scene.open("proportion")
    assert at.queue_less(scene.queue("b"), scene.queue("a"))
    scene.put(line("a", priority=1))
    assert scene.open("proportion").queue_less(scene.queue("a"), scene.queue("b"))


def test_gangs_are_let_in_while_the_queue_may_have_what_they_need() -> None:
    scene = two(cpus=1, capability={"cpu": 2})
    scene.put(gang("x", "b", needs={"cpu": 1}), gang("y", "b", needs={"cpu": 1}), gang("z", "b", needs={"cpu": 1}))
    at = scene.open("proportion")
    for name in "xy":
        assert at.job_enqueueable(scene.job(name))
        at.job_enqueued(scene.job(name))
    assert not at.job_enqueueable(scene.job("z"))


def test_what_a_gang_has_past_its_need_stops_nobody() -> None:
    scene = Scene(node("n", cpu=4, memory="9Gi", pods=50), line("a"))
    scene.put(gang("old", "a", needs={"cpu": 1}, phase=Phase.RUNNING), gang("new", "a", needs={"cpu": 2}))
    scene.put(*(task(f"old-{n}", "old", cpu=1, node="n") for n in range(4)))
    assert scene.open("proportion").job_enqueueable(scene.job("new"))
    assert not amounts.is_empty(scene.state.tasks.allocated["a"])
