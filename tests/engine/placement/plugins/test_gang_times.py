"""Gang times: what a gang and its pods say."""

from __future__ import annotations

from kumi.engine.placement.plugins.gang_times import deadline_ms, execution_ms
from kumi.testing.gangs import Scene, gang, line, task


def test_the_pod_group_counts_before_the_earliest_and_the_longest_of_its_pods() -> None:
    pods = (task("a-0", "a", deadline_ms=9, execution_ms=3), task("a-1", "a", deadline_ms=7, execution_ms=5))
    scene = Scene(line(), gang("a"), *pods)
    tasks, job = scene.state.tasks, scene.job("a")
    assert (deadline_ms(tasks, job), execution_ms(tasks, job)) == (7, 5)
    scene.put(gang("a", deadline_ms=100, execution_ms=1))
    assert (deadline_ms(tasks, scene.job("a")), execution_ms(tasks, scene.job("a"))) == (100, 1)


def test_nobody_says_anything() -> None:
    scene = Scene(line(), gang("a"), task("a-0", "a"))
    assert (deadline_ms(scene.state.tasks, scene.job("a")), execution_ms(scene.state.tasks, scene.job("a"))) == (
        None,
        None,
    )
