from __future__ import annotations

from typing import Any

import pytest

from kumi.engine.gangs import Phase
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task


def let_in(scene: Scene, needs: dict[str, Any] | None, **arguments: Any) -> bool:
    scene.put(gang("new", needs=needs))
    return scene.open(option("overcommit", **arguments)).job_enqueueable(scene.job("new"))


def hall() -> Scene:
    return Scene(line(), node("n", cpu=10))


@pytest.mark.parametrize(("factor", "most"), [(None, 12), ("1.5", 15), (1, 10), (0.5, 12), ("x", 12)])
def test_gangs_are_let_in_up_to_the_cluster_times_a_factor(factor: object, most: int) -> None:
    arguments = {} if factor is None else {"overcommit-factor": factor}
    assert let_in(hall(), {"cpu": most}, **arguments)
    assert not let_in(hall(), {"cpu": most + 1}, **arguments)


def test_what_is_used_is_not_free_also_by_pods_of_no_gang() -> None:
    scene = hall()
    scene.put(gang("old", least=0), task("old-0", "old", cpu=2, node="n"))
    assert let_in(scene, {"cpu": 10})
    assert not let_in(scene, {"cpu": 11})


def test_gangs_that_were_let_in_have_a_claim_on_all_they_need() -> None:
    scene = hall()
    scene.put(gang("old", needs={"cpu": 4}, phase=Phase.INQUEUE))
    assert let_in(scene, {"cpu": 8})
    assert not let_in(scene, {"cpu": 9})


def test_those_that_run_claim_what_they_have_not_got() -> None:
    scene = hall()
    scene.put(gang("old", needs={"cpu": 4}, phase=Phase.RUNNING), task("old-0", "old", cpu=1, node="n"))
    assert let_in(scene, {"cpu": 8})
    assert not let_in(scene, {"cpu": 9})
    scene.put(gang("old", needs={"cpu": 4}, phase=Phase.RUNNING, least=2))
    assert let_in(scene, {"cpu": 11})  # it lost its minimum: it claims nothing


def test_a_gang_that_is_let_in_now_counts_for_the_next() -> None:
    scene = hall()
    scene.put(gang("a", needs={"cpu": 7}), gang("b", needs={"cpu": 7}))
    at = scene.open("overcommit")
    at.job_enqueued(scene.job("a"))
    assert not at.job_enqueueable(scene.job("b"))


def test_a_gang_that_does_not_say_what_it_needs_is_let_in() -> None:
    scene = hall()
    scene.put(gang("old", needs={"cpu": 99}, phase=Phase.INQUEUE))
    assert let_in(scene, None)
