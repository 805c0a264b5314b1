"""Utilization: the most used share."""

from __future__ import annotations

import numpy as np

from kumi.engine.placement.conf import Option
from kumi.engine.placement.plugins.utilization import Utilization
from kumi.testing.builders import GPU, node, pod, shape

from .test_binpack import table


def scores(*asked: int, placed: int = 0) -> list[float]:
    nodes = table(node("a", cpu=8, gpu=8), node("b", cpu=4, gpu=0), node("c", cpu=4, gpu=1))
    nodes.use("a", (("cpu", 2000), (GPU, 6000)), 1)
    nodes.use("b", (("cpu", 3000),), 1)
    one = pod("ns/p", shape=shape(cpu=asked[0], gpu=asked[1]))
    found = Utilization().by_load(nodes, nodes.seen, one, nodes.by_name(), np.full(3, placed))
    return [float(score) for score in found]


def test_it_is_the_mean_of_what_is_used_before_the_pod_comes() -> None:
    assert scores(1, 1) == [(25 + 75) / 2, 75, 0]


def test_a_resource_that_is_not_asked_for_or_not_there_is_not_counted() -> None:
    assert scores(1, 0) == [25, 75, 0]
    assert scores(0, 1) == [75, 0, 0]


def test_those_placed_before_count() -> None:
    assert scores(1, 0, placed=1) == [37.5, 100, 25]


def test_it_has_no_arguments() -> None:
    assert Utilization.configured(Option("utilization")) == Utilization()
