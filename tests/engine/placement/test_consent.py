"""Consent: who lets itself be evicted, as pods and gangs say."""

from __future__ import annotations

import pytest

from kumi.engine.gangs import Phase, PriorityClass
from kumi.engine.placement import consent, rounds
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.ways import KUMI, VOLCANO, Ways
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, conf, gang, line, task

SAID = (None, True, False)


@pytest.mark.parametrize("of_gang", SAID)
@pytest.mark.parametrize("of_pod", SAID)
def test_as_kumi_has_it_the_pod_decides_else_its_gang(of_pod: bool | None, of_gang: bool | None) -> None:
    wanted = of_pod if of_pod is not None else of_gang is not False
    asked = task("a-0", "a", preemptable=of_pod), gang("a", preemptable=of_gang)
    assert consent.KUMI.one_by_one(*asked) is consent.KUMI.by_gangs(*asked) is wanted


@pytest.mark.parametrize("of_gang", SAID)
@pytest.mark.parametrize("of_pod", SAID)
def test_as_volcano_has_it_gangs_are_asked_by_gangs_alone(of_pod: bool | None, of_gang: bool | None) -> None:
    asked = task("a-0", "a", preemptable=of_pod), gang("a", preemptable=of_gang)
    assert consent.VOLCANO.one_by_one(*asked) is (of_pod is not False)
    assert consent.VOLCANO.by_gangs(*asked) is (False not in (of_pod, of_gang))


def test_a_pod_whose_gang_is_not_there_decides_alone() -> None:
    for rules in (consent.KUMI, consent.VOLCANO):
        for rule in (rules.one_by_one, rules.by_gangs):
            assert [rule(task("a-0", "a", preemptable=said), None) for said in SAID] == [True, True, False]


def gone(action: str, ways: Ways, *, pod_says: bool | None) -> int:
    """How many of two tasks, of a gang that says it isn't to be stopped, go for one that matters more, or is owed a share."""
    scene = Scene(line(), line("r"), PriorityClass("high", 9), node("n", cpu=2))
    scene.put(gang("a", least=0, phase=Phase.RUNNING, preemptable=False))
    scene.put(*(task(f"a-{n}", "a", cpu=1, node="n", preemptable=pod_says) for n in range(2)))
    queue = "r" if "reclaim" in action else "q"
    scene.put(gang("h", queue, phase=Phase.INQUEUE, priority_class="high"), task("h-0", "h", cpu=1))
    plugins = ("priority", "gang", "predicates", "proportion", "bundle-shares")
    done = rounds.run(scene.around, conf(*plugins, actions=(action,)), PLUGINS, ways)
    return len(done.outcome.evictions)


@pytest.mark.parametrize("action", ["preempt", "gangpreempt", "reclaim", "gangreclaim"])
def test_a_gang_that_says_it_is_not_to_be_stopped_is_not_by_whichever_action(action: str) -> None:
    assert gone(action, KUMI, pod_says=None) == 0
    assert gone(action, KUMI, pod_says=True) == 1
    assert gone(action, VOLCANO, pod_says=None) == (0 if action.startswith("gang") else 1)
