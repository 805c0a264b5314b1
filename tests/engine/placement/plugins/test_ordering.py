"""Scores as plug-ins of gangs: what the rule says of pods on their own, on what is used."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.nodes import Ints, Nodes, Scores
from kumi.engine.placement.plugins.loads import Seen
from kumi.engine.placement.plugins.ordering import Choosing, Ordering

TASK = Pod("u", "ns/p", PodShape((("cpu", 1000),)), 0)


class Used:
    """Likes nodes by what is used of the first line; its devices are the row's number."""

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        assert pod is TASK
        return (seen(0, rows) + placed).astype(np.float64)

    def devices(self, nodes: Nodes, pod: Pod, row: int) -> tuple[int, ...]:
        return (row,)


def session() -> Framework:
    nodes = SimpleNamespace(used=np.array([[5, 7, 9]]), pipelined=np.array([[100, 100, 100]]))
    return cast(Any, SimpleNamespace(nodes=nodes))


def test_the_rule_is_asked_about_what_is_used_of_the_rows_and_what_is_placed_besides() -> None:
    rows, placed = np.array([2, 0]), np.array([0, 1])
    for made in (Ordering(Used(), session()), Choosing(Used(), session())):
        assert made.node_order(TASK, rows, placed).tolist() == [9.0, 6.0]


def test_devices_are_the_rules_own_and_others_have_no_say_in_them() -> None:
    assert Choosing(Used(), session()).devices(TASK, 2) == (2,)
    assert not hasattr(Ordering(Used(), session()), "devices")
