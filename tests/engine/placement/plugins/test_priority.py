"""Priority: who matters more goes first, and may take from who matters less."""

from __future__ import annotations

import pytest

from kumi.engine.gangs import PriorityClass
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


@pytest.fixture
def scene() -> Scene:
    made = Scene(line(), node("n", cpu=9), PriorityClass("high", 100), PriorityClass("low", 1))
    made.put(*(gang(name, priority_class=name) for name in ("high", "low")), gang("plain"))
    made.put(gang("equal", priority_class="low"), task("equal-1", "equal", cpu=1, node="n"))
    for name in ("high", "low", "plain"):
        made.put(*(task(f"{name}-{n}", name, cpu=1, node="n", priority=n) for n in (1, 2)))
    return made


def test_the_higher_priority_goes_first(scene: Scene) -> None:
    at = scene.open("priority")
    assert at.job_less(scene.job("high"), scene.job("low"))
    assert at.job_less(scene.job("low"), scene.job("plain"))
    assert at.task_less(scene.pod("low-2"), scene.pod("low-1"))


@pytest.mark.parametrize(
    ("preemptor", "victims"),
    [
        ("high-1", ["equal-1", "low-1", "low-2", "plain-1", "plain-2"]),
        ("high-2", ["equal-1", "high-1", "low-1", "low-2", "plain-1", "plain-2"]),
        ("low-1", ["plain-1", "plain-2"]),
        ("plain-1", []),
    ],
)
def test_a_task_takes_from_lower_gangs_and_from_lower_tasks_of_its_own(
    scene: Scene, preemptor: str, victims: list[str]
) -> None:
    crowd = [pod for uid, pod in sorted(scene.state.tasks.pods.items()) if uid != preemptor]
    assert [p.uid for p in scene.open("priority").preemptable(scene.pod(preemptor), crowd)] == victims


def test_a_whole_gang_takes_from_lower_ones_and_from_other_queues_from_anybody(scene: Scene) -> None:
    at, crowd = scene.open("priority"), list(scene.state.tasks.pods.values())
    within = at.evictable(scene.job("low"), crowd, reclaim=False)
    assert [p.uid for p in within] == ["plain-1", "plain-2"]
    assert at.evictable(scene.job("low"), crowd, reclaim=True) == crowd


def test_a_gang_is_starving_until_all_of_its_tasks_have_a_place(scene: Scene) -> None:
    assert not scene.open("priority").job_starving(scene.job("low"))
    scene.put(task("low-3", "low", cpu=1))
    assert scene.open("priority").job_starving(scene.job("low"))
