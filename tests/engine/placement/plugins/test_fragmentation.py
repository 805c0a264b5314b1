"""Fragmentation: the definition of the paper, node by node, task by task."""

from __future__ import annotations

from fractions import Fraction
from math import exp, floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.decisions import Bind
from kumi.engine.model import Node, Pod, PodShape, Profile, Put
from kumi.engine.placement import session
from kumi.engine.placement.conf import Arguments, Option
from kumi.engine.placement.devices import WHOLE
from kumi.engine.placement.plugins.fragmentation import Fragmentation
from kumi.engine.placement.plugins.typical import MODEL, Table, Typical, models, to_text
from kumi.engine.state import State
from kumi.testing.builders import GPU, node, pod

Devices = tuple[int, ...]
"""thousandths that are free of each"""


def asking(cpu: int, share: int = 0, gpus: int = 0) -> PodShape:
    return PodShape((("cpu", cpu), (GPU, share or gpus * WHOLE)), share=share)


SHAPES = (asking(1000, 300), asking(2000, 500), asking(0, 700), asking(4000, 0, 1), asking(0, 0, 2), asking(3000))
TABLE: Table = (
    Typical(0, 0, 1, (), 4),
    Typical(1000, 300, 0, (), 5),
    Typical(2000, 0, 0, (), 3),
    Typical(2000, 500, 0, ("A10",), 2),
    Typical(4000, 0, 2, (), 1),
    Typical(6000, 700, 0, ("A10", "T4"), 2),
)


def fragment(free: Devices, cpu: int, model: str, table: Table) -> Fraction:
    """The expected fragment of a node, as the paper writes it."""
    total = Fraction(0)
    for task in table:
        need = task.share or WHOLE
        enough = task.cpu <= cpu and (not task.models or model in task.models)
        if task.share:
            enough = enough and max(free, default=0) >= need
        elif task.gpus:
            enough = enough and sum(f == WHOLE for f in free) >= task.gpus
        else:
            enough = False
        lost = sum(f for f in free if f < need) if enough else sum(free)
        total += Fraction(task.weight * lost, sum(t.weight for t in table))
    return total


def after(free: Devices, shape: PodShape) -> list[Devices]:
    """What may be free once such a pod has come, one for each way."""
    if shape.share:
        return [(*free[:d], f - shape.share, *free[d + 1 :]) for d, f in enumerate(free) if f >= shape.share]
    count, left = dict(shape.requests)[GPU] // WHOLE, list(free)
    for device in [d for d, f in enumerate(free) if f == WHOLE][:count]:
        left[device] = 0
    return [tuple(left)]


def state_with(found: list[Node], there: list[PodShape], table: Table | None = TABLE) -> State:
    arguments = {"scoring": "fragmentation"} | ({"typical": to_text(table)} if table is not None else {})
    state = State(Profile(arguments=arguments))
    for each in found:
        state.apply(Put(each))
    for number, shape in enumerate(there):
        state.apply(Put(pod(f"ns/{number}", shape=shape, created_ms=number)))
        for decision in session.decide(state, 0):
            state.settle(decision, ok=True)
    return state


def free_of(state: State, row: int) -> Devices:
    free, _ = state.nodes.devices.free(np.array([row]))
    count = int(state.nodes.allocatable[state.nodes.line_by_resource[GPU], row]) // WHOLE
    return tuple(free[:count, 0].tolist())


some_nodes = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 9), st.sampled_from(["A10", "T4"])), min_size=1, max_size=4
).map(lambda found: [node(f"n{i}", {MODEL: model}, gpu=gpus, cpu=cpu) for i, (gpus, cpu, model) in enumerate(found)])


class TestLaw:
    @given(some_nodes, st.lists(st.sampled_from(SHAPES), max_size=8), st.sampled_from(SHAPES))
    def test_scores_and_devices_are_those_of_the_definition(
        self, found: list[Node], there: list[PodShape], asked: PodShape
    ) -> None:
        state = state_with(found, [SHAPES[0], *there])
        nodes, rule = state.nodes, Fragmentation(TABLE)
        rows = nodes.by_name()
        rows = rows[nodes.places(asked, np.ones(nodes.used.shape[1], dtype=np.bool_))[rows] > 0]
        scores = rule.by_load(nodes, nodes.seen, pod("ns/x", shape=asked), rows, np.zeros(rows.size, dtype=np.int64))
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            each = nodes.node_by_name[nodes.name_by_row()[row]]
            model = dict(each.labels)[MODEL]
            cpu = nodes.room(nodes.line_by_resource["cpu"], row)
            free = free_of(state, row)
            before = fragment(free, cpu, model, TABLE)
            left = cpu - dict(asked.requests)["cpu"]
            grown = [fragment(way, left, model, TABLE) - before for way in after(free, asked)]
            exact = 100 / (1 + exp(min(grown) / WHOLE))
            assert score == floor(exact) or score == pytest.approx(exact)
            if asked.share:
                ways = [d for d, f in enumerate(free) if f >= asked.share]
                assert rule.devices(nodes, pod("ns/x", shape=asked), row) == (ways[grown.index(min(grown))],)

    @given(st.lists(st.sampled_from(SHAPES), max_size=6), st.sampled_from(SHAPES[:4]), st.integers(0, 3))
    def test_several_on_one_node_score_as_one_after_the_other(
        self, there: list[PodShape], asked: PodShape, placed: int
    ) -> None:
        found = [node("n", {MODEL: "A10"}, gpu=4, cpu=32)]
        state = state_with(found, [SHAPES[0], *there])
        nodes, rule, row = state.nodes, Fragmentation(TABLE), state.nodes.by_name()
        if int(nodes.places(asked, np.ones(nodes.used.shape[1], dtype=np.bool_))[row[0]]) <= placed:
            return
        at_once = rule.by_load(nodes, nodes.seen, pod("ns/x", shape=asked), row, np.array([placed]))
        for number in range(placed):
            state.apply(Put(pod(f"ns/more-{number}", shape=asked, created_ms=99)))
            session.decide(state, 0)
        single = rule.by_load(nodes, nodes.seen, pod("ns/x", shape=asked), row, np.array([0]))
        assert at_once.tolist() == single.tolist()

    @given(some_nodes, st.lists(st.sampled_from(SHAPES), max_size=6), st.sampled_from(SHAPES))
    def test_a_row_asked_alone_gets_the_same_bits(
        self, found: list[Node], there: list[PodShape], asked: PodShape
    ) -> None:
        nodes, rule = state_with(found, [SHAPES[0], *there]).nodes, Fragmentation(TABLE)
        one, rows = pod("ns/x", shape=asked), nodes.by_name()
        zeros = np.zeros(rows.size, dtype=np.int64)
        alone = [rule.by_load(nodes, nodes.seen, one, rows[i : i + 1], zeros[:1])[0] for i in range(rows.size)]
        assert rule.by_load(nodes, nodes.seen, one, rows, zeros).tolist() == alone


def where(state: State, one: Pod) -> tuple[str, tuple[int, ...]]:
    state.apply(Put(one))
    (bound,) = [d for d in session.decide(state, 0) if isinstance(d, Bind)]
    return bound.node, bound.devices


class TestCases:
    def test_a_rest_that_somebody_wants_is_left_rather_than_one_that_nobody_wants(self) -> None:
        """On a half-full GPU best fit leaves 200, of no use to tasks that want 500 or a whole GPU."""
        table = (Typical(0, 0, 1, (), 1), Typical(0, 500, 0, (), 9))
        state = state_with([node("n", gpu=2)], [asking(0, 500)], table)
        assert where(state, pod("ns/x", shape=asking(0, 300), created_ms=9)) == ("n", (1,))
        best = state_with([node("n", gpu=2)], [asking(0, 500)], (Typical(0, 0, 1, (), 9), Typical(0, 500, 0, (), 1)))
        assert where(best, pod("ns/x", shape=asking(0, 300), created_ms=9)) == ("n", (0,))

    def test_cpu_that_goes_makes_gpus_useless(self) -> None:
        table = (Typical(4000, 0, 1, (), 1),)
        found = [node("a", gpu=4, cpu=16), node("b", gpu=1, cpu=5)]
        assert where(state_with(found, [], table), pod("ns/x", shape=PodShape((("cpu", 2000),)))) == ("a", ())

    def test_without_a_table_it_is_what_is_known_now(self) -> None:
        state = state_with([node("n", gpu=2)], [asking(0, 500)], None)
        for number in range(4):
            state.apply(Put(pod(f"ns/w{number}", shape=asking(64_000, 500), created_ms=5, gated=True)))
        rule = Fragmentation()
        assert not rule.is_local(state.nodes, pod("ns/x"))
        assert state.nodes.devices.mix is not None
        assert sorted(state.nodes.devices.mix.values()) == [1, 4]
        assert where(state, pod("ns/x", shape=asking(0, 300), created_ms=9)) == ("n", (1,))

    def test_the_scheduler_file_names_the_table(self) -> None:
        written = [{"cpu": "4", "gpus": 1, "weight": 3}]
        option = Option("fragmentation", arguments=Arguments({"fragmentation.typical": written}))
        assert Fragmentation.configured(option).table == (Typical(4000, 0, 1, (), 3),)
        assert Fragmentation.configured(Option("fragmentation")).table is None

    def test_a_task_may_have_the_models_that_its_pods_may(self) -> None:
        assert models(PodShape((), node_selector=((MODEL, "T4"),))) == ("T4",)
