"""Node loads: means in percent of what nodes have, and nothing lost by what can't be read."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.core import Node, NodeStatus
from kumi.api.errors import KumiError
from kumi.api.meta import ObjectMeta, format_time
from kumi.api.metrics import NodeLoad
from kumi.api.wire import JsonObject
from kumi.runtime.cache import Cache
from kumi.runtime.node_loads import PERIOD, PERIOD_MS, Averages, Load, Loads, Value, joined, node_loads

NOW = 1_800_000_000_000


def node(name: str, cpu: str = "4", memory: str = "8Gi") -> Node:
    return Node(metadata=ObjectMeta(name=name), status=NodeStatus(capacity={"cpu": cpu, "memory": memory}))


def said(name: str, cpu: str = "1", memory: str = "2Gi", at_ms: int = NOW) -> JsonObject:
    return {"metadata": {"name": name}, "timestamp": format_time(at_ms), "usage": {"cpu": cpu, "memory": memory}}


class Api:
    """The resource metrics API."""

    def __init__(self) -> None:
        self.items: list[JsonObject] = []
        self.averages = Averages(self.list)

    async def list(self) -> Sequence[JsonObject]:
        return self.items

    async def ask(self, *items: JsonObject, now_ms: int = NOW, nodes: Sequence[Node] = ()) -> Loads:
        self.items = list(items)
        return await self.averages(nodes or [node("n1"), node("n2")], now_ms)


class Scene:
    """A source over an `ask` whose answers are `says`, with the nodes that are there."""

    def __init__(self, *names: str) -> None:
        self.says: Loads | Exception = Loads({})
        self.view = Cache([Node])
        self.asked = 0
        for name in names:
            self.view.set(node(name))
        self.source = node_loads("the system", self.ask, 30_000)

    async def ask(self, nodes: Sequence[Node], now_ms: int) -> Loads:
        self.asked += 1
        if isinstance(self.says, Exception):
            raise self.says
        return self.says

    async def read(self, now_ms: int = NOW, **loads: Load) -> dict[str, tuple[float | None, float | None, int]]:
        self.says = Loads(loads)
        return shown(await self.source.read(self.view, now_ms))


def shown(objects: Sequence[object]) -> dict[str, tuple[float | None, float | None, int]]:
    loads = [one for one in objects if isinstance(one, NodeLoad)]
    return {one.metadata.name: (one.cpu, one.memory, one.measured_ms) for one in loads}


# averages of the resource metrics API


@given(st.lists(st.tuples(st.integers(1, 900), st.integers(0, 4000)), min_size=1, max_size=20))
def test_a_load_is_the_mean_of_what_was_measured_in_the_last_minutes(steps: list[tuple[int, int]]) -> None:
    async def run() -> None:
        api, now, told = Api(), NOW, list[tuple[int, int]]()
        for seconds, millis in steps:
            now += seconds * 1000
            told = [(at, used) for at, used in told if now - at <= PERIOD_MS] + [(now, millis)]
            loads = await api.ask(said("n1", f"{millis}m", at_ms=now), now_ms=now)
            assert loads.by_node["n1"].cpu == pytest.approx(sum(used for _, used in told) / len(told) / 40)
            assert loads.by_node["n1"].at_ms == now

    asyncio.run(run())


async def test_it_is_in_percent_of_what_the_node_has() -> None:
    loads = await Api().ask(said("n1", "1", "2Gi"), said("n2", "250m", "1Gi"))
    assert loads == Loads({"n1": Load(25.0, 25.0, NOW), "n2": Load(6.25, 12.5, NOW)}, [])


async def test_a_measurement_counts_once_however_often_it_is_told() -> None:
    api = Api()
    await api.ask(said("n1", "4", at_ms=NOW - 60_000))
    for _ in range(3):
        loads = await api.ask(said("n1", "0"))
    assert loads.by_node["n1"].cpu == 50.0


async def test_what_is_too_old_is_no_load() -> None:
    api = Api()
    assert (await api.ask(said("n1", at_ms=NOW - PERIOD_MS - 1000))).by_node == {}
    assert (await api.ask(said("n1", at_ms=NOW - PERIOD_MS))).by_node["n1"].at_ms == NOW - PERIOD_MS


async def test_a_time_that_is_still_to_come_is_now() -> None:
    assert (await Api().ask(said("n1", at_ms=NOW + 10**9))).by_node["n1"].at_ms == NOW


async def test_a_node_that_is_gone_is_forgotten() -> None:
    api = Api()
    await api.ask(said("n1", "4", at_ms=NOW - 60_000), said("n2"))
    await api.ask(nodes=[node("n2")])
    assert (await api.ask(said("n1", "0"))).by_node["n1"].cpu == 0.0


async def test_without_capacity_what_can_be_given_counts() -> None:
    only = Node(metadata=ObjectMeta(name="n1"), status=NodeStatus(allocatable={"cpu": "2", "memory": "4Gi"}))
    assert (await Api().ask(said("n1"), nodes=[only])).by_node["n1"] == Load(50.0, 50.0, NOW)


async def test_a_resource_that_is_not_told_is_not_known() -> None:
    item = said("n1") | {"usage": {"cpu": "1"}}
    assert (await Api().ask(item)).by_node["n1"] == Load(25.0, None, NOW)


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (said("n1", cpu="much"), "'much' is not a quantity"),
        (said("n1") | {"timestamp": ""}, "doesn't say when"),
        (said("n1") | {"timestamp": "noon"}, "noon"),
        (said("n1") | {"timestamp": "2027-01-15T08:00:00"}, "is not a time"),
        (said("n1") | {"usage": 3}, "Expected `object`"),
        ({"metadata": None}, "Expected `object`"),
    ],
)
async def test_what_cant_be_read_of_one_node_leaves_out_that_alone(item: JsonObject, why: str) -> None:
    loads = await Api().ask(item, said("n2"))
    assert loads.by_node == {"n2": Load(25.0, 25.0, NOW)}
    assert len(loads.wrong) == 1
    assert why in loads.wrong[0]


@pytest.mark.parametrize("capacity", [{}, {"cpu": "0", "memory": "0"}])
async def test_a_node_without_capacity_has_no_load(capacity: dict[str, str | int | float]) -> None:
    empty = Node(metadata=ObjectMeta(name="n1"), status=NodeStatus(capacity=capacity))
    loads = await Api().ask(said("n1"), said("n2"), nodes=[empty, node("n2")])
    assert (set(loads.by_node), len(loads.wrong)) == ({"n2"}, 1)


# the source


async def test_a_node_of_which_nothing_is_said_keeps_what_was_said() -> None:
    scene = Scene("n1", "n2")
    await scene.read(n1=Load(1.0, 2.0, NOW), n2=Load(3.0, 4.0, NOW), stranger=Load(9.0, 9.0, NOW))
    later = await scene.read(NOW + 60_000, n2=Load(5.0, 6.0, NOW + 60_000))
    assert later == {"n1": (1.0, 2.0, NOW), "n2": (5.0, 6.0, NOW + 60_000)}
    scene.view.remove(Node, "n1")
    assert (await scene.read()).keys() == {"n2"}
    scene.view.set(node("n1"))
    assert (await scene.read()).keys() == {"n2"}, "who comes back is new"


@pytest.mark.parametrize(
    ("value", "load"), [(-1.0, 0.0), (100.1, 100.0), (50.0, 50.0), (math.nan, None), (math.inf, None), (None, None)]
)
async def test_a_load_is_a_percentage_or_nothing(value: float | None, load: float | None) -> None:
    assert await Scene("n1").read(n1=Load(value, value, NOW + 5)) == {"n1": (load, load, NOW)}


async def test_what_changes_is_another_version() -> None:
    scene = Scene("n1")
    scene.says = Loads({"n1": Load(1.0, 1.0, NOW)})
    first, again = [await scene.source.read(scene.view, NOW + later) for later in (0, 1)]
    scene.says = Loads({"n1": Load(1.0, 1.0, NOW + 1)})
    assert first == again != await scene.source.read(scene.view, NOW + 1)


async def test_nobody_is_asked_where_there_are_no_nodes() -> None:
    scene = Scene()
    assert await scene.read(n1=Load(1.0, 1.0, NOW)) == {}
    assert scene.asked == 0


async def test_what_is_wrong_is_told_once_as_long_as_it_is_the_same(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene("n1")
    with caplog.at_level(logging.WARNING):
        for wrong in (["a"], ["a", "b"], ["b"], ["b"], [], ["a"]):
            scene.says = Loads({}, wrong)
            await scene.source.read(scene.view, NOW)
    assert [record.getMessage() for record in caplog.records] == [f"the system: {one}" for one in "aba"]


async def test_a_failure_of_the_system_is_for_whoever_asks() -> None:
    scene = Scene("n1")
    scene.says = KumiError("down")
    with pytest.raises(KumiError, match="down"):
        await scene.source.read(scene.view, NOW)


def test_what_is_known_of_the_one_and_of_the_other_goes_together() -> None:
    assert joined({"a": Value(1.0, 5), "b": Value(2.0, 6)}, {"b": Value(3.0, 4), "c": Value(4.0, 7)}) == {
        "a": Load(1.0, None, 5),
        "b": Load(2.0, 3.0, 6),
        "c": Load(None, 4.0, 7),
    }


def test_both_ways_of_writing_the_period_are_the_same() -> None:
    assert int(PERIOD.removesuffix("m")) * 60_000 == PERIOD_MS
