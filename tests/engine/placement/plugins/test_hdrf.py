"""HDRF: a hierarchy of queues shares a level at a time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.model import Node
from kumi.engine.placement.plugins.hdrf import Hierarchy, is_saturated
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

PATHS = {"a": ("root", "x"), "b": ("root", "y", "p"), "c": ("root", "y", "q")}


def hall(weights: dict[str, tuple[float, ...]] | None = None, on: Node | None = None) -> Scene:
    """The queues of PATHS, each with a gang of its name."""
    scene = Scene(on or node("n", cpu=10, memory="10Gi", pods=1000))
    for name, path in PATHS.items():
        said = (weights or {}).get(name, ())
        scene.put(line(name, hierarchy=path, weights=(*said, *[1.0] * (len(path) - len(said)))), gang(name, name))
    return scene


def opened(scene: Scene) -> Hierarchy:
    at = scene.open()
    return Hierarchy.of(at, at.total())


def first(scene: Scene, one: str, other: str) -> int:
    return opened(scene).compare(scene.queue(one), scene.queue(other))


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 3), max_size=3)))
@settings(max_examples=40)
def test_the_order_of_queues_has_two_sides_and_a_level_never_has_more_than_the_cluster(
    said: dict[str, list[int]],
) -> None:
    scene = hall()
    for name, cpus in said.items():
        scene.put(*(task(f"{name}-{n}", name, cpu=1, node="n" if cpu < 2 else "") for n, cpu in enumerate(cpus)))
    tree = opened(scene)
    for one in "abc":
        for other in "abc":
            assert tree.compare(scene.queue(one), scene.queue(other)) == -tree.compare(
                scene.queue(other), scene.queue(one)
            )
    assert 0 <= tree.root.share <= 1
    for branch in (tree.root, *tree.root.branches.values()):
        below = sum(b.allocated.get("cpu", 0) for b in branch.branches.values())
        below += sum(job.allocated.get("cpu", 0) for job in branch.leaves)
        assert branch.allocated.get("cpu", 0) <= below + 0.001


def test_a_queue_that_wants_more_goes_before_one_that_has_all() -> None:
    scene = hall()
    scene.put(task("a-0", "a", cpu=1, node="n"))
    scene.put(task("b-0", "b", cpu=5, node="n"), task("b-1", "b", cpu=1))
    assert first(scene, "b", "a") < 0


def test_the_smaller_share_by_weight_goes_first_at_the_level_where_paths_part() -> None:
    scene = hall({"a": (1.0, 4.0)})
    scene.put(task("a-0", "a", cpu=2, node="n"), task("a-1", "a", cpu=1))
    scene.put(task("b-0", "b", cpu=1, node="n"), task("b-1", "b", cpu=1))
    assert first(scene, "a", "b") < 0  # 0.2 / 4 against 0.1
    scene.put(task("c-0", "c", cpu=1))
    assert first(scene, "c", "b") < 0


def test_a_branch_counts_as_its_poorest_child_that_wants_more() -> None:
    scene = hall()
    scene.put(task("a-0", "a", cpu=3, node="n"), task("a-1", "a", cpu=1))
    scene.put(task("b-0", "b", cpu=4, node="n"), task("b-1", "b", cpu=1))
    scene.put(task("c-0", "c", cpu=1, node="n"), task("c-1", "c", cpu=1))
    tree = opened(scene)
    assert tree.compare(scene.queue("b"), scene.queue("a")) < 0
    assert tree.root.branches["y"].allocated["cpu"] == 2000  # b's 4 count as 1, like c's


def test_a_saturated_child_does_not_hold_its_branch_down() -> None:
    scene = hall()
    scene.put(task("b-0", "b", cpu=4, node="n"), task("b-1", "b", cpu=1), task("c-0", "c", cpu=1, node="n"))
    tree = opened(scene)
    tree.compare(scene.queue("b"), scene.queue("a"))
    assert tree.root.branches["y"].allocated["cpu"] == 5000


def test_what_a_saturated_child_has_is_not_scaled() -> None:
    scene = hall()
    scene.put(task("b-0", "b", cpu=4, node="n"))
    scene.put(task("c-0", "c", cpu=1, node="n"), task("c-1", "c", cpu=1))
    tree = opened(scene)
    tree.compare(scene.queue("b"), scene.queue("a"))
    assert tree.root.branches["y"].allocated["cpu"] == 5000
    assert not tree.root.branches["y"].saturated


def test_a_gang_is_saturated_with_all_of_something_or_some_of_what_is_gone() -> None:
    assert is_saturated({"cpu": 2}, {"cpu": 2, "gpu": 1}, {"cpu", "gpu"})
    assert is_saturated({"cpu": 1}, {"cpu": 2}, set())
    assert not is_saturated({"cpu": 1}, {"cpu": 2}, {"cpu"})
    assert not is_saturated({}, {"cpu": 2}, set())
    assert not is_saturated({"pods": 1000}, {"cpu": 2}, set())


def test_shares_follow_what_is_placed_and_taken_back() -> None:
    scene = hall()
    scene.put(task("a-0", "a", cpu=1), task("b-0", "b", cpu=1), task("b-1", "b", cpu=1))
    tree, a, b = opened(scene), scene.queue("a"), scene.queue("b")
    assert tree.compare(a, b) == 0
    with scene.state.journal.trial():
        scene.state.tasks.move("b-0", Status.ALLOCATED, "n")
        assert tree.compare(a, b) < 0
    assert tree.compare(a, b) == 0


def test_a_task_takes_while_its_queue_stays_first() -> None:
    scene = hall()
    scene.put(*(task(f"a-{n}", "a", cpu=2, node="n") for n in range(3)), task("a-3", "a", cpu=1))
    scene.put(task("b-0", "b", cpu=2, node="n"), task("b-1", "b", cpu=1), task("b-3", "b", cpu=3))
    at = scene.open(option("drf", hierarchy=True))
    crowd = [scene.pod(f"a-{n}") for n in range(3)]
    assert at.reclaimable(scene.pod("b-1"), crowd) == crowd  # 3 against 4, each by itself
    assert at.reclaimable(scene.pod("b-3"), crowd) == []  # 5 against 4


def test_weights_are_those_of_the_first_queue_on_the_path() -> None:
    scene = hall({"b": (1.0, 3.0), "c": (1.0, 5.0)})
    assert opened(scene).root.branches["y"].weight == 3.0
