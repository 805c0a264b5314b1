"""Roles: who of a gang with roles is tried first, and who may go."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import Phase, PriorityClass
from kumi.engine.model import Pod
from kumi.engine.placement import rounds, ways
from kumi.engine.placement.customs import KUMI as KUMI_CUSTOMS
from kumi.engine.placement.heap import Line
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.roles import EACH, GANG_ONLY
from kumi.engine.placement.ways import KUMI, VOLCANO, Ways
from kumi.engine.reasons import Code
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, Tier, conf, gang, line, task

MINIMA = (("m", 1), ("w", 2))


def run(scene: Scene, way: Ways, actions: str, *tiers: Tier | str) -> rounds.Round:
    return rounds.run(scene.around, conf(*tiers, actions=tuple(actions.split())), PLUGINS, way)


def elastic(cpus: int, roles: str, least: int = 3) -> Scene:
    """A gang that needs a master and two workers, and a queue that has so many cpus for it."""
    made = Scene(line(capability={"cpu": cpus}), node("n", cpu=99), gang("g", least=least, least_of=MINIMA))
    made.put(*(task(f"g-x-{n}", "g", cpu=1, role=role) for n, role in enumerate(roles)))
    return made


@given(st.text("mwx", max_size=8), st.integers(0, 4))
def test_of_each_role_as_many_go_first_as_it_lacks(roles: str, more: int) -> None:
    scene = elastic(9, roles, 3 + more)
    tasks = [scene.pod(f"g-x-{n}") for n in range(len(roles))]
    first = EACH.first(scene.job("g"), tasks) if tasks else {}
    assert Counter(scene.pod(uid).member.role for uid in first) == Counter(
        {role: min(least, roles.count(role)) for role, least in MINIMA if role in roles}
    )
    assert list(first) == [task.uid for task in tasks if task.uid in first]
    assert GANG_ONLY.first(Scene(gang("g")).job("g"), tasks) == {}


@pytest.mark.parametrize("roles", ["mwww", "wwwm", "wwmw"])
def test_with_kumis_way_a_gang_with_room_for_its_minimum_starts_whatever_the_order_of_its_tasks(roles: str) -> None:
    scene = elastic(3, roles)
    done = run(scene, KUMI, "enqueue allocate", "gang", "proportion")
    bound = [uid for uid, _ in done.outcome.binds]
    assert sorted(scene.pod(uid).member.role for uid in bound) == ["m", "w", "w"]


def test_with_volcanos_way_those_that_come_first_take_the_room_and_only_those_that_help_are_counted() -> None:
    done = run(elastic(3, "wwwm"), VOLCANO, "enqueue allocate", "gang", "proportion")
    assert done.outcome.binds == []
    short = done.reasons["ns/g"][0]
    assert (short.code, short.have, short.need, short.pods) == (Code.GANG_SHORT, 2, 3, 1)


@given(st.integers(0, 2), st.lists(st.sampled_from("mw"), min_size=3, max_size=6))
def test_the_line_of_a_gang_has_each_of_its_tasks_once(ready: int, roles: list[str]) -> None:
    scene = elastic(9, "".join(roles))
    scene.put(*(replace(scene.pod(f"g-x-{n}"), node="n", phase="Running") for n in range(ready)))
    framework = scene.open("gang", "task-topology")
    framework.customs = KUMI_CUSTOMS
    waiting = [scene.pod(f"g-x-{n}") for n in range(ready, len(roles))]
    taken: list[Pod] = []
    turn = framework.line_of(scene.job("g"), waiting)
    while len(turn):
        taken.append(turn.pop())
    assert Counter(pod.uid for pod in taken) == Counter(pod.uid for pod in waiting)
    first = EACH.first(scene.job("g"), framework.sorted_tasks(waiting))
    assert [pod.uid in first for pod in taken] == sorted((pod.uid in first for pod in taken), reverse=True)


def busy(least: int) -> Scene:
    """A gang of one master and two workers, each on a node of its own; somebody who matters more wants a node."""
    made = Scene(line(), *(PriorityClass(f"p{n}", n) for n in (1, 9)), *(node(f"n{n}", cpu=1) for n in range(3)))
    made.put(gang("g", least=least, least_of=(("m", 1), ("w", 1)), priority_class="p1", phase=Phase.RUNNING))
    made.put(*(task(f"g-{n}", "g", cpu=1, role=role, node=f"n{n}") for n, role in enumerate("mww")))
    made.put(gang("v", priority_class="p9", phase=Phase.INQUEUE), task("v-0", "v", cpu=1))
    return made


def victims(scene: Scene, way: Ways) -> list[str]:
    return [uid for uid, _ in run(scene, way, "preempt", "priority", "gang", "predicates").outcome.evictions]


def test_with_kumis_way_a_gang_never_gives_the_only_one_of_a_role() -> None:
    only_there = replace(busy(2).pod("v-0").shape, node_selector=(("on", "n0"),))
    for way, gone in ((VOLCANO, ["g-0"]), (KUMI, [])):
        scene = busy(2)
        scene.put(node("n0", cpu=1, labels={"on": "n0"}), replace(scene.pod("v-0"), shape=only_there))
        assert victims(scene, way) == gone
    assert victims(busy(2), KUMI) in (["g-1"], ["g-2"])
    assert victims(busy(3), KUMI) == []


def test_what_a_gang_can_spare_is_counted_by_role() -> None:
    scene = busy(2)
    job = scene.job("g")
    assert EACH.spare(job) == {"m": 0, "w": 1}
    assert GANG_ONLY.spare(job) == {}
    everybody = [scene.pod(f"g-{n}") for n in range(3)]
    framework = scene.open("gang")
    framework.customs = KUMI_CUSTOMS
    assert [pod.uid for pod in framework.preemptable(scene.pod("v-0"), everybody)] == ["g-1"]


def test_the_line_stays_one_where_nothing_moves() -> None:
    scene = elastic(9, "wwm")
    framework = scene.open("gang")
    framework.customs = KUMI_CUSTOMS
    assert isinstance(framework.line_of(scene.job("g"), [scene.pod(f"g-x-{n}") for n in range(3)]), Line)


@pytest.mark.parametrize("profile", ["kumi", "kueue", "volcano"])
def test_a_profile_has_its_way(profile: str) -> None:
    assert ways.of(profile).customs.roles is (GANG_ONLY if profile == "volcano" else EACH)
