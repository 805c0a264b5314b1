"""Best fit: the least left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.model import PodShape
from kumi.engine.placement.conf import Option
from kumi.engine.placement.plugins.best_fit import BestFit
from kumi.testing.builders import GPU, node, pod, shape

from .test_binpack import table


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=5),
    st.integers(0, 3),
    st.integers(0, 2),
    st.integers(0, 2),
)
def test_scores_are_the_rule_for_each_node(found: list[tuple[int, int, int]], cpu: int, gpu: int, placed: int) -> None:
    nodes = table(*(node(f"n{i}", cpu=c, gpu=g, memory="1Gi") for i, (c, g, _) in enumerate(found)))
    for i, (_, _, used) in enumerate(found):
        nodes.use(f"n{i}", (("cpu", 500),), used)
    asked = shape(cpu=cpu, gpu=gpu)
    scores = BestFit().by_load(
        nodes, nodes.seen, pod("ns/p", shape=asked), nodes.by_name(), np.full(len(found), placed)
    )
    most_cpu, most_gpu = max(c for c, _, _ in found), max(g for _, g, _ in found)
    for score, (c, g, used) in zip(scores.tolist(), found, strict=True):
        parts = []
        if most_cpu:
            parts.append((c - used * 0.5 - (placed + 1) * cpu) / most_cpu)
        if most_gpu:
            parts.append((g - (placed + 1) * gpu) / most_gpu)
        assert score == pytest.approx(100 * (1 - sum(parts) / len(parts)) if parts else 0)


def test_a_small_empty_node_goes_before_a_large_half_empty_one() -> None:
    nodes = table(node("large", gpu=8, cpu=64), node("small", gpu=2, cpu=16))
    nodes.use("large", ((GPU, 4000), ("cpu", 32_000)), 1)
    one = pod("ns/p", shape=PodShape(((GPU, 1000),)))
    large, small = BestFit().by_load(nodes, nodes.seen, one, nodes.by_name(), np.zeros(2, dtype=np.int64))
    assert small > large


def test_it_has_no_arguments() -> None:
    assert BestFit.configured(Option("bestFit")) == BestFit()
