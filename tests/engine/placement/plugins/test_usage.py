"""Usage: busy nodes take nobody, idle ones are better."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumi.engine.gangs import Phase
from kumi.engine.model import NodeUsage, Remove
from kumi.engine.placement.conf import Arguments, Option
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.plugins.usage import FRESH_MS, Usage
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

NOW = 10**9


def scene(*usages: NodeUsage) -> Scene:
    made = Scene(node("n1"), node("n2"), line(), gang("g", phase=Phase.INQUEUE), *usages, now_ms=NOW)
    made.put(task("t", "g"))
    return made


def said(made: Scene, **arguments: object) -> tuple[list[int], list[float]]:
    session = made.open(option("usage", **arguments))
    rows = session.nodes.by_name()
    fits = session.predicate(made.pod("t"))[rows].tolist()
    return fits, session.node_scores(made.pod("t"), rows, np.zeros(rows.size, dtype=np.int64)).tolist()


@pytest.mark.parametrize(
    ("cpu", "memory", "fit"), [(80.0, 80.0, Fit.OK), (80.1, 0.0, Fit.UNRESOLVABLE), (0.0, 80.1, Fit.UNRESOLVABLE)]
)
def test_what_is_above_a_threshold_takes_nobody(cpu: float, memory: float, fit: Fit) -> None:
    fits, scores = said(scene(NodeUsage("n1", cpu, memory, NOW)))
    assert fits == [fit, Fit.OK]
    assert scores == pytest.approx([500 * (200 - cpu - memory) / 200, 0.0])


@pytest.mark.parametrize(("age", "known"), [(FRESH_MS, True), (FRESH_MS + 1, False)])
def test_old_news_is_no_news(age: int, known: bool) -> None:
    fits, scores = said(scene(NodeUsage("n1", 90.0, 90.0, NOW - age)))
    assert (fits[0], scores[0]) == ((Fit.UNRESOLVABLE, pytest.approx(50.0)) if known else (Fit.OK, 0.0))


def test_weights_and_thresholds_are_arguments() -> None:
    made = scene(NodeUsage("n1", 50.0, 10.0, NOW), NodeUsage("gone", 99.0, 99.0, NOW))
    told = {"usage.weight": 2, "cpu.weight": 3, "memory.weight": 1, "thresholds": {"cpu": 40, "mem": 90}}
    fits, scores = said(made, **told)
    assert fits == [Fit.UNRESOLVABLE, Fit.OK]
    assert scores == pytest.approx([200 * (0.5 * 3 + 0.9) / 4, 0.0])
    assert Usage.configured(Option("usage")) == Usage()
    assert Usage.configured(Option("usage", arguments=Arguments({"thresholds": {"cpu": "x"}}))).cpu_most == 0.0


def test_half_of_the_news_scores_nothing() -> None:
    assert said(scene(NodeUsage("n1", 50.0, None, NOW))) == ([Fit.OK, Fit.OK], [0.0, 0.0])


def test_what_is_not_known_any_more_counts_no_more() -> None:
    made = scene(NodeUsage("n1", 90.0, 0.0, NOW))
    made.state.apply(Remove(NodeUsage, "n1"))
    assert said(made)[0] == [Fit.OK, Fit.OK]


def test_it_answers_otherwise_when_what_keeps_a_node_closed_is_too_old() -> None:
    calm, busy, later = NodeUsage("n1", 10.0, 10.0, NOW - 9000), NodeUsage("n2", 90.0, 0.0, NOW - 60_000), NOW - 30_000
    assert scene(calm).open(option("usage")).wake_ms() is None
    assert scene(calm, busy).open(option("usage")).wake_ms() == NOW - 60_000 + FRESH_MS + 1
    both = scene(replace(calm, cpu=99.0, measured_ms=later), busy)
    assert both.open(option("usage")).wake_ms() == NOW - 60_000 + FRESH_MS + 1
    assert scene(replace(busy, measured_ms=NOW - FRESH_MS - 1)).open(option("usage")).wake_ms() is None
