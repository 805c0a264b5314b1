"""PDB: budgets are never overdrawn."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import DisruptionBudget
from kumi.engine.model import Pod, Requirement
from kumi.engine.placement.plugins.pdb import means
from kumi.testing.gangs import Scene, gang, line, task


def budget(
    name: str, allowed: int, namespace: str = "ns", granted: tuple[str, ...] = (), **labels: str
) -> DisruptionBudget:
    wanted = tuple(Requirement(key, "In", (value,)) for key, value in labels.items())
    return DisruptionBudget(f"{namespace}/{name}", wanted, allowed, granted)


def labelled(name: str, **labels: str) -> Pod:
    return replace(task(name, "a"), labels=tuple(labels.items()))


def victims(crowd: list[Pod], *budgets: DisruptionBudget) -> list[str]:
    scene = Scene(line(), gang("me"), task("me-0", "me"), *budgets)
    at, me = scene.open("pdb"), scene.pod("me-0")
    found = at.preemptable(me, crowd)
    assert at.reclaimable(me, crowd) == at.victim_tasks(crowd) == found
    return [pod.uid for pod in found]


some = st.lists(st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["x", "y"]), max_size=2), max_size=8)


@given(some, st.integers(0, 3), st.integers(0, 3))
def test_no_budget_is_overdrawn(labels: list[dict[str, str]], first: int, second: int) -> None:
    crowd = [labelled(f"p{n}", **said) for n, said in enumerate(labels)]
    budgets = [budget("one", first, app="x"), budget("two", second, tier="y")]
    gone = [pod for pod in crowd if pod.uid in victims(crowd, *budgets)]
    for one in budgets:
        assert sum(means(one, pod) for pod in gone) <= one.allowed


def test_one_that_may_not_go_costs_its_budgets_all_the_same() -> None:
    crowd = [labelled("p0", app="x", tier="y"), labelled("p1", app="x"), labelled("p2", app="x")]
    assert victims(crowd, budget("one", 2, app="x"), budget("none", 0, tier="y")) == ["p1"]


def test_a_pod_without_labels_never_goes() -> None:
    assert victims([labelled("p0"), labelled("p1", app="x")]) == ["p1"]


def test_an_eviction_that_was_granted_costs_nothing_more() -> None:
    assert victims([labelled("p0", app="x")], budget("b", 0, app="x", granted=("p0",))) == ["p0"]


def test_budgets_mean_pods_of_their_namespace_that_they_select() -> None:
    crowd = [labelled("p0", app="x")]
    assert victims(crowd, budget("b", 0, namespace="other", app="x")) == ["p0"]
    assert victims(crowd, budget("b", 0, app="y")) == ["p0"]
    assert victims(crowd, budget("b", 0, app="x")) == []


def test_a_budget_without_a_selector_or_with_an_empty_one_means_nobody() -> None:
    crowd = [labelled("p0", app="x")]
    assert victims(crowd, DisruptionBudget("ns/b", None, 0), DisruptionBudget("ns/c", (), 0)) == ["p0"]
