"""DRF: the smaller dominant share goes first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task


def scene(**cpus: list[int]) -> Scene:
    """Gangs whose running tasks have so many cpus each, on 20 cpus."""
    made = Scene(line(), node("n", cpu=20, memory="10Gi", pods=1000))
    for name, each in cpus.items():
        made.put(gang(name), *(task(f"{name}-{n}", name, cpu=cpu, node="n") for n, cpu in enumerate(each)))
    return made


@given(st.lists(st.integers(1, 4), max_size=2), st.lists(st.integers(1, 4), max_size=2))
def test_the_gang_with_less_of_what_it_has_most_of_goes_first(a: list[int], b: list[int]) -> None:
    made = scene(b=b, a=a)
    at = made.open("drf")
    if sum(a) != sum(b):
        assert at.job_less(made.job("a"), made.job("b")) == (sum(a) < sum(b))
    else:
        assert at.job_less(made.job("a"), made.job("b"))


def test_the_share_is_that_of_the_resource_of_which_it_is_largest() -> None:
    made = scene(a=[4])
    made.put(gang("b"), task("b-0", "b", memory="3Gi", node="n"))
    assert made.open("drf").job_less(made.job("a"), made.job("b"))


def test_a_task_takes_from_gangs_that_stay_ahead_of_its_own() -> None:
    made = scene(a=[2], b=[2, 2, 2, 2])
    made.put(task("a-new", "a", cpu=2))
    crowd = [made.pod(f"b-{n}") for n in range(4)]
    victims = made.open("drf").preemptable(made.pod("a-new"), crowd)
    assert [pod.uid for pod in victims] == ["b-0", "b-1"]  # 4 cpus against 6, then 4; the third would leave it 2


def test_tasks_that_were_passed_over_count_as_gone() -> None:
    made = scene(a=[1], b=[6, 1])
    made.put(task("a-new", "a", cpu=2))
    crowd = [made.pod("b-0"), made.pod("b-1")]
    assert made.open("drf").preemptable(made.pod("a-new"), crowd) == []
    assert made.open("drf").preemptable(made.pod("a-new"), crowd[::-1]) == [made.pod("b-1")]


def test_queues_are_compared_over_their_tree_with_the_switch_alone() -> None:
    made = scene(a=[4, 4])
    made.put(
        line("q", hierarchy=("root", "x"), weights=(1.0, 1.0)), line("r", hierarchy=("root", "y"), weights=(1.0, 1.0))
    )
    made.put(gang("b", "r"), task("b-0", "b", cpu=1), task("b-1", "b", cpu=1))
    made.put(task("a-more", "a", cpu=1))
    assert made.open("drf").queue_less(made.queue("q"), made.queue("r"))
    assert made.open(option("drf", hierarchy=True)).queue_less(made.queue("r"), made.queue("q"))
    assert made.open("drf").reclaimable(made.pod("b-0"), [made.pod("a-0")]) == []
    assert made.open(option("drf", hierarchy=True)).reclaimable(made.pod("b-0"), [made.pod("a-0")]) == [made.pod("a-0")]
