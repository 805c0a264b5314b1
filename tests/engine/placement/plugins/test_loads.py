"""Loads: the scores of the Kubernetes scheduler for how full nodes are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Node, PodShape
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.loads import balanced, least, most
from kumi.testing.builders import GPU, amounts, node, pod, shape

LITTLE = (100, 200 * 2**20)


def table(*found: Node) -> Nodes:
    nodes = Nodes(Journal())
    for each in found:
        nodes.put(each)
    return nodes


def whole(asked: dict[str, int]) -> PodShape:
    """A shape of one container with what it counts for."""
    scored = (asked.get("cpu") or LITTLE[0], asked.get("memory") or LITTLE[1])
    same = scored == (asked.get("cpu", 0), asked.get("memory", 0))
    return PodShape(tuple(asked.items()), scored=None if same else scored)


def plain_part(have: int, used: int, *, free: bool) -> int:
    if free:
        return 0 if used > have else 100 * (have - used) // have
    return 100 * min(used, have) // have


def plain_mean(have: dict[str, int], used: dict[str, int], *, free: bool) -> int:
    parts = [plain_part(have[r], used[r], free=free) for r in ("cpu", "memory") if have.get(r)]
    return sum(parts) // len(parts) if parts else 0


def plain_even(have: dict[str, int], used: dict[str, int], names: tuple[str, ...]) -> int:
    parts = [min(used[r] / have[r], 1.0) for r in names if have.get(r)]
    if len(parts) == 2:
        deviation = abs(parts[0] - parts[1]) / 2
    elif parts:
        mean = sum(parts) / len(parts)
        deviation = math.sqrt(sum((p - mean) * (p - mean) for p in parts) / len(parts))
    else:
        deviation = 0.0
    return int((1 - deviation) * 100)


asks = st.fixed_dictionaries(
    {"cpu": st.sampled_from([0, 500, 2000]), "memory": st.sampled_from([0, 2**28, 2**31])},
    optional={GPU: st.sampled_from([0, 1000, 2000])},
)
has = st.fixed_dictionaries(
    {"cpu": st.sampled_from([0, 3000, 8000])},
    optional={"memory": st.sampled_from([2**30, 2**33]), GPU: st.sampled_from([0, 4000])},
)


@given(st.lists(has, min_size=1, max_size=4), st.lists(asks, max_size=4), asks, st.integers(0, 2))
def test_the_scores_are_the_rule_for_each_node(
    found: list[dict[str, int]], there: list[dict[str, int]], asked: dict[str, int], placed: int
) -> None:
    nodes = table(*(Node(f"n{at}", (), tuple(each.items())) for at, each in enumerate(found)))
    for at, each in enumerate(there):
        name, made = f"n{at % len(found)}", whole(each)
        nodes.use(name, made.requests, 1)
        nodes.residents.seat(pod(f"ns/{at}", shape=made), name, 1)
    one, rows = whole(asked), nodes.by_name()
    ahead = np.full(rows.size, placed)
    for at, have in enumerate(found):
        counted, real = dict.fromkeys(("cpu", "memory"), 0), dict.fromkeys(("cpu", "memory", GPU), 0)
        for other in there[at :: len(found)]:
            for name, little in zip(("cpu", "memory"), LITTLE, strict=True):
                counted[name] += other.get(name) or little
            for name in real:
                real[name] += other.get(name, 0)
        for name, little in zip(("cpu", "memory"), LITTLE, strict=True):
            counted[name] += (asked.get(name) or little) * (placed + 1)
        without = {name: real[name] + asked.get(name, 0) * placed for name in real}
        with_it = {name: without[name] + asked.get(name, 0) for name in real}
        names = ("cpu", "memory", GPU) if asked.get(GPU) else ("cpu", "memory")
        gain = plain_even(have, with_it, names) - plain_even(have, without, names)
        even = 50 + int((50 + gain) / 2) if any(asked.values()) else 0
        assert int(least(nodes, nodes.seen, one, rows, ahead)[at]) == plain_mean(have, counted, free=True)
        assert int(most(nodes, nodes.seen, one, rows, ahead)[at]) == plain_mean(have, counted, free=False)
        assert int(balanced(nodes, nodes.seen, one, rows, ahead)[at]) == even


@pytest.mark.parametrize(("score", "expected"), [(least, 75), (most, 25), (balanced, 75)])
def test_an_even_share_of_an_empty_node(score: object, expected: int) -> None:
    nodes = table(Node("n", (), amounts(cpu=4, memory="4Gi")))
    made = score(nodes, nodes.seen, shape(cpu=1, memory="1Gi"), nodes.by_name(), np.zeros(1, dtype=np.int64))  # type: ignore[operator]
    assert made.tolist() == [expected]


def test_a_node_that_has_neither_cpu_nor_memory_says_nothing() -> None:
    nodes = table(node("n"))
    rows, none = nodes.by_name(), np.zeros(1, dtype=np.int64)
    assert least(nodes, nodes.seen, shape(gpu=1), rows, none).tolist() == [0]
    assert balanced(nodes, nodes.seen, shape(gpu=1), rows, none).tolist() == [75]
