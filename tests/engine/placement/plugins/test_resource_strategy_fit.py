"""Resource strategy fit: a wish for each resource."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import Phase
from kumi.engine.model import Node
from kumi.engine.placement.conf import Arguments, Option
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.plugins.resource_strategy_fit import (
    Reserve,
    ResourceStrategyFit,
    Scarce,
    Wish,
)
from kumi.testing.builders import GPU, node
from kumi.testing.gangs import Scene, gang, line, option, task


def made_of(**arguments: Any) -> ResourceStrategyFit:
    return ResourceStrategyFit.configured(Option("resource-strategy-fit", arguments=Arguments(arguments)))


def scene(*nodes: Node, **asked: Any) -> Scene:
    made = Scene(*nodes, line(), gang("g", phase=Phase.INQUEUE), gang("r"))
    made.put(task("t", "g", **asked))
    return made


def scores(made: Scene, placed: int = 0, **arguments: Any) -> list[float]:
    session = made.open(option("resource-strategy-fit", **arguments))
    rows = session.nodes.by_name()
    return session.node_scores(made.pod("t"), rows, np.full(rows.size, placed, dtype=np.int64)).tolist()


def test_arguments_are_read_as_far_as_they_make_sense() -> None:
    assert made_of() == ResourceStrategyFit()
    assert made_of(resourceStrategyFitWeight=-1).weight == 10
    assert made_of(resourceStrategyFitWeight=0).weight == 0
    wishes = {
        "a/*": {"type": "MostAllocated", "weight": 2},
        "*": {},
        "a*b": {},
        "c": {"type": "x", "weight": 0},
        "d": 1,
    }
    assert made_of(resources=wishes).wishes == (("a/*", Wish(True, 2)), ("c", Wish(False)), ("d", Wish(False)))
    assert made_of(resources={"*": {}}).wishes == ()
    sra = {"enable": True, "resources": "a, b,", "weight": 5, "resourceWeight": {"a": 2, "b": -1}}
    assert made_of(sra=sra).scarce == Scarce(5, (("a", 2), ("b", 1)))
    assert made_of(sra={**sra, "enable": False}).scarce is None
    kept = {"enable": True, "resources": ["a"], "resourceProportion": {"a.cpu": 8, "a.memory": -1}}
    assert made_of(proportional=kept).reserve == Reserve((("a", 8.0, 1.0),))


def test_full_and_empty_are_weighed_by_resource() -> None:
    made = scene(node("n1", cpu=4, gpu=4), cpu=1, gpu=1)
    made.put(task("x", "r", node="n1", cpu=1, gpu=2))
    wishes = {"cpu": {"type": "LeastAllocated", "weight": 1}, GPU: {"type": "MostAllocated", "weight": 3}}
    assert scores(made, resources=wishes, resourceStrategyFitWeight=2) == pytest.approx([200 * (2 / 4 + 3 * 3 / 4) / 4])
    assert scores(made, placed=1, resources=wishes, resourceStrategyFitWeight=2) == pytest.approx(
        [200 * (1 / 4 + 3) / 4]
    )
    assert scores(made, placed=2, resources=wishes) == [0.0]


def test_the_longest_beginning_decides_and_an_exact_name_before_it() -> None:
    made = scene(node("n1", gpu=4), gpu=1)
    full, empty = {"type": "MostAllocated"}, {"type": "LeastAllocated"}
    assert scores(made, resources={"nvidia*": empty, "nvidia.com/*": full}) == [250.0]
    assert scores(made, resources={"nvidia.com/*": full, GPU: empty}) == [750.0]
    assert scores(made, resources={"amd.com/*": full}) == [0.0]


def test_nodes_with_scarce_resources_are_spared() -> None:
    made = scene(node("n1", cpu=4), node("n2", cpu=4, gpu=4), node("n3", gpu=4), cpu=1)
    sra = {"enable": True, "resources": f"{GPU},other/x", "weight": 5, "resourceWeight": {GPU: 3}}
    assert scores(made, resourceStrategyFitWeight=0, sra=sra) == [500.0, 125.0, 0.0]
    assert scores(made, resourceStrategyFitWeight=0, sra={**sra, "weight": 0}) == [0.0, 0.0, 0.0]


KEPT = {"enable": True, "resources": GPU, "resourceProportion": {f"{GPU}.cpu": 2, f"{GPU}.memory": 1}}


def test_what_idle_devices_need_is_left_for_them() -> None:
    made = scene(node("n1", cpu=8, memory="8G", gpu=2), node("n2", cpu=5, memory="8G", gpu=2), node("n3", cpu=2), cpu=2)
    made.put(task("u", "g", cpu=2, gpu=1), task("v", "g", cpu=1, memory="7G"))
    session = made.open(option("resource-strategy-fit", proportional=KEPT))
    rows = session.nodes.by_name()
    assert session.predicate(made.pod("t"))[rows].tolist() == [Fit.OK, Fit.UNRESOLVABLE, Fit.OK]
    assert session.predicate(made.pod("u"))[rows].tolist() == [Fit.OK] * 3
    assert session.predicate(made.pod("v"))[rows].tolist() == [Fit.UNRESOLVABLE, Fit.UNRESOLVABLE, Fit.OK]
    assert session.most(made.pod("u")) is None


@given(st.integers(1, 16), st.integers(0, 3), st.integers(1, 3))
def test_as_many_fit_as_it_says(cpu: int, gpu: int, asked: int) -> None:
    made = scene(node("n1", cpu=cpu, memory="100G", gpu=gpu), cpu=asked)
    session = made.open(option("resource-strategy-fit", proportional=KEPT))
    row = session.nodes.row_by_name["n1"]
    most = session.most(made.pod("t"))
    assert most is not None
    fitting = 0
    with session.journal.trial():
        while fitting < 20 and session.predicate(made.pod("t"))[row] == Fit.OK and fitting * asked <= cpu:
            session.nodes.use("n1", made.pod("t").shape.requests, 1)
            fitting += 1
    said = max(0, int(most[row]))
    assert said == fitting if gpu else said >= cpu // asked
