from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.placement.actions.dry_run import Found, Limits, cheapest, victims_on
from kumi.engine.placement.actions.victims import enough
from kumi.engine.placement.conf import Arguments
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


@pytest.mark.parametrize(
    ("said", "nodes", "tried"),
    [
        ({}, 5, 1),
        ({}, 200, 20),
        ({}, 5000, 100),
        ({"minCandidateNodesAbsolute": 4}, 10, 4),
        ({"minCandidateNodesAbsolute": 40}, 10, 10),
        ({"minCandidateNodesPercentage": 50}, 10, 5),
        ({"maxCandidateNodesAbsolute": 3}, 5000, 3),
    ],
)
def test_so_many_nodes_are_tried(said: dict[str, int], nodes: int, tried: int) -> None:
    assert Limits.configured(Arguments(said)).of(nodes) == tried


def found(name: str, *victims: tuple[int, int]) -> Found:
    made = (task(f"{name}-{n}", "a", priority=p) for n, (p, _) in enumerate(victims))
    return Found(name, tuple(replace(p, created_ms=at) for p, (_, at) in zip(made, victims, strict=True)))


@pytest.mark.parametrize(
    "better",
    [
        [((1, 0), (1, 0)), ((2, 0),)],
        [((2, 0),), ((2, 0), (1, 0))],
        [((2, 0), (2, 0)), ((2, 0), (2, 0), (0, 0))],
        [((2, 9),), ((2, 5),)],
        [((2, 5),), ((2, 5),)],
    ],
    ids=["top", "sum", "count", "age", "first"],
)
def test_the_cheapest_node_is_taken(better: list[tuple[tuple[int, int], ...]]) -> None:
    one, other = (found(name, *said) for name, said in zip("ab", better, strict=True))
    best = cheapest([one, other])
    assert best is not None
    assert best.node == "a"
    assert cheapest([]) is None


def tried(*cpus: int, need: int, free: int = 0) -> list[str] | None:
    scene = Scene(line(), node("n", cpu=sum(cpus) + free), gang("p"), gang("a"), task("p-0", "p", cpu=need))
    scene.put(*(task(f"a-{n}", "a", cpu=c, node="n", priority=n) for n, c in enumerate(cpus)))
    at, mine = scene.open("priority"), scene.pod("p-0")
    before = dict(at.tasks.status)
    candidates = [scene.pod(uid) for uid in sorted(scene.job("a").tasks)]
    one = victims_on(at, mine, "n", candidates, lambda: enough(at, "n", mine, []))
    assert at.tasks.status == before
    return None if one is None else [pod.uid for pod in one.victims]


def test_those_stay_who_need_not_go_after_all() -> None:
    assert tried(1, 4, need=4) == ["a-1"]
    assert tried(1, 2, 2, need=3) == ["a-0", "a-1"]


def test_a_node_where_nobody_has_to_go_or_all_are_not_enough_is_none() -> None:
    assert tried(1, need=1, free=1) is None
    assert tried(1, 1, need=3) is None
