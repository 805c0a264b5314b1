"""The meter: rates over the time between two looks, by container, pod and node."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.metrics import Usage, Used
from kumi.kubelet.meter import LEAST_MS, SOON_MS, Meter, Running
from kumi.kubelet.process_trees import Tree
from kumi.testing.clock import START_MS, VirtualClock
from tests.kubelet.stage import Cluster, container, eventually, pod

CORE_MS = 10**6
"""nanoseconds of one processor in a millisecond"""
A = Running("n1", "pod-1", "a", 100, START_MS - 10**6)
B = Running("n1", "pod-1", "b", 101, START_MS - 10**6)
OTHER = Running("n2", "pod-2", "a", 102, START_MS - 10**6)


class Scene:
    """A meter, and what its containers had used in all, in milliseconds of one processor."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.meter = Meter(self.clock)

    async def look(self, used_ms: Mapping[Running, int], after_ms: int = 10_000, memory: int = 1024) -> None:
        await self.clock.advance(after_ms)
        trees = {one.guardian: Tree(ms * CORE_MS, memory) for one, ms in used_ms.items()}
        self.meter.take(("n1", "n2"), list(used_ms), trees)

    def cpu(self, pod: str, container: str = "a") -> int | None:
        """Thousandths of a processor."""
        found = self.meter.pod(pod)
        return found.used[container].cpu_nano // 10**6 if found is not None else None


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(LEAST_MS, 10**6)), min_size=1))
def test_all_windows_together_make_all_the_time_that_was_used(steps: list[tuple[int, int]]) -> None:
    async def run() -> None:
        scene, used_ms, told = Scene(), 0, 0.0
        await scene.look({A: 0})
        for more_ms, window_ms in steps:
            used_ms += more_ms
            await scene.look({A: used_ms}, window_ms)
            found = scene.meter.pod("pod-1")
            assert found is not None
            assert found.window_ms == window_ms
            told += found.used["a"].cpu_nano * window_ms / 10**9
        assert told == pytest.approx(used_ms, abs=len(steps))

    asyncio.run(run())


async def test_what_was_used_before_the_first_look_is_of_no_time() -> None:
    scene = Scene()
    await scene.look({A: 5_000_000})
    assert scene.meter.pod("pod-1") is None
    assert scene.meter.node("n1") is None
    await scene.look({A: 5_005_000})
    assert scene.meter.pod("pod-1") == Usage(START_MS + 20_000, 10_000, {"a": Used(500_000_000, 1024)})
    assert scene.meter.node("n1") == Usage(START_MS + 20_000, 10_000, Used(500_000_000, 1024))
    assert scene.meter.node("n2") == Usage(START_MS + 20_000, 10_000, Used())
    assert scene.meter.node("n3") is None


async def test_one_that_began_since_the_look_before_had_used_nothing_then() -> None:
    scene = Scene()
    await scene.look({})
    young = Running("n1", "young", "a", 7, START_MS + 10_000 + 6_000)
    await scene.look({young: 3_000})
    assert scene.meter.pod("young") == Usage(START_MS + 20_000, 4_000, {"a": Used(750_000_000, 1024)})


async def test_too_short_a_time_waits_for_the_next_look() -> None:
    scene = Scene()
    await scene.look({})
    young = Running("n1", "young", "a", 7, START_MS + 20_000 - LEAST_MS + 1)
    await scene.look({young: 400})
    assert scene.meter.pod("young") is None
    await scene.look({young: 400}, 301)
    assert scene.cpu("young") == 500
    await scene.look({young: 999_999}, LEAST_MS - 1)
    assert scene.cpu("young") == 500, "what was measured before stays"


async def test_a_pod_is_measured_when_all_its_containers_are() -> None:
    scene = Scene()
    await scene.look({A: 0})
    await scene.look({A: 1000, B: 10**6})
    assert scene.cpu("pod-1") is None
    await scene.look({A: 2000, B: 10**6 + 3000})
    assert (scene.cpu("pod-1"), scene.cpu("pod-1", "b")) == (100, 300)
    await scene.look({B: 10**6 + 3000})
    found = scene.meter.pod("pod-1")
    assert found is not None
    assert found.used == {"b": Used(0, 1024)}


async def test_a_node_is_the_sum_of_its_own() -> None:
    scene = Scene()
    await scene.look({A: 0, B: 0, OTHER: 0})
    await scene.look({A: 1000, B: 2000, OTHER: 4000})
    nodes = [scene.meter.node(name) for name in ("n1", "n2")]
    assert [found and found.used for found in nodes] == [Used(300_000_000, 2048), Used(400_000_000, 1024)]


async def test_who_is_gone_is_forgotten_and_one_of_its_name_is_another() -> None:
    scene = Scene()
    await scene.look({A: 0})
    await scene.look({A: 1000})
    await scene.look({})
    assert scene.meter.pod("pod-1") is None
    again = A._replace(guardian=200, started_ms=START_MS + 35_000)
    await scene.look({again: 1000})
    assert scene.cpu("pod-1") == 200


async def test_a_guardian_that_went_while_it_was_read_is_left_out() -> None:
    scene = Scene()
    await scene.look({A: 0})
    await scene.clock.advance(1000)
    scene.meter.take(("n1",), [A, OTHER], {A.guardian: Tree(0, 5)})
    assert scene.meter.pod("pod-2") is None
    assert scene.cpu("pod-1") == 0


async def test_time_that_falls_is_none() -> None:
    scene = Scene()
    await scene.look({A: 9000})
    await scene.look({A: 1000})
    assert scene.cpu("pod-1") == 0
    await scene.look({A: 2000})
    assert scene.cpu("pod-1") == 100


async def test_a_start_that_is_still_to_come_is_no_beginning() -> None:
    scene = Scene()
    await scene.look({})
    await scene.look({A._replace(started_ms=START_MS + 10**9): 3_000})
    assert scene.meter.pod("pod-1") is None


class Play:
    """A meter that runs: when it looked, and at whom."""

    def __init__(self, scene: Scene, *running: Running) -> None:
        self.scene, self.running = scene, list(running)
        self.looks: list[tuple[int, int]] = []
        self.fails = self.spoils = False

    def read(self, guardians: Sequence[int]) -> dict[int, Tree]:
        self.looks.append((self.scene.clock.now_ms() - START_MS, len(guardians)))
        if self.fails:
            raise OSError("no /proc")
        memory: Any = "much" if self.spoils else 0
        return {pid: Tree(memory if self.spoils else self.looks[-1][0] * CORE_MS, memory) for pid in guardians}

    async def run(self) -> AsyncIterator[Play]:
        task = asyncio.create_task(self.scene.meter.run(("n1",), lambda: list(self.running), 10_000, self.read))
        await self.pass_(0)
        yield self
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def pass_(self, ticks: int) -> None:
        """So many times it may wake."""
        for tick in range(ticks + 1):
            await self.scene.clock.advance(SOON_MS if tick else 0)
            await eventually(lambda: self.scene.clock.next_ms is not None, "it waits")


async def test_it_looks_every_so_often_and_soon_at_who_is_new() -> None:
    async for play in Play(Scene()).run():
        await play.pass_(6)
        assert play.looks == [(0, 0), (2000, 0), (12_000, 0)]
        play.running.append(A._replace(started_ms=START_MS + 12_000 + SOON_MS - LEAST_MS + 1))
        await play.pass_(3)
        assert play.looks[3:] == [(14_000, 1), (16_000, 1)]
        assert play.scene.cpu("pod-1") is not None
        await play.pass_(3)
        assert play.looks[5:] == []
        await play.pass_(1)
        assert play.looks[5:] == [(26_000, 1)]


async def test_looks_that_fail_are_told_once_and_the_next_one_is_soon(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)

    def told() -> int:
        return sum("can't be read" in record.message for record in caplog.records)

    async for play in Play(Scene(), A).run():
        await play.pass_(1)
        play.fails = True
        await play.pass_(6)
        assert play.looks == [(0, 1), (2000, 1), (12_000, 1), (14_000, 1)]
        assert told() == 1
        play.fails = False
        await play.pass_(1)
        assert play.looks[4:] == [(16_000, 1)]
        assert play.scene.cpu("pod-1") == 1000
        play.fails = True
        await play.pass_(5)
        assert told() == 2


async def test_what_makes_no_sense_is_told_like_what_cannot_be_read(caplog: pytest.LogCaptureFixture) -> None:
    async for play in Play(Scene(), A).run():
        await play.pass_(1)
        play.spoils = True
        await play.pass_(6)
        assert sum("can't be read" in record.message for record in caplog.records) == 1
        play.spoils = False
        await play.pass_(1)
        assert play.scene.cpu("pod-1") == 1000


@pytest.mark.process
async def test_real_containers_are_measured(cluster: Cluster) -> None:
    cluster.settings["measure_ms"] = 600
    await cluster.stop()
    await cluster.start()
    burn, rest = container("while :; do :; done", "burn"), container("sleep 1000", "rest")
    await cluster.run(pod("busy", burn, rest), pod("calm", "sleep 1000"))
    uids = {name: (await cluster.phase(name, "Running"))["metadata"]["uid"] for name in ("busy", "calm")}
    meter = cluster.machine.meter
    await eventually(lambda: all(meter.pod(uid) for uid in uids.values()) and meter.node("n1"), "all are measured")
    await eventually(
        lambda: (found := meter.pod(uids["busy"])) and found.used["burn"].cpu_nano > 10**8, "one of them is busy"
    )
    busy, calm, node = meter.pod(uids["busy"]), meter.pod(uids["calm"]), meter.node("n1")
    assert busy is not None
    assert calm is not None
    assert node is not None
    assert busy.used["rest"].cpu_nano < 10**8
    assert calm.used["main"].memory_bytes > 100_000
    assert node.used == Used(
        busy.used["burn"].cpu_nano + busy.used["rest"].cpu_nano + calm.used["main"].cpu_nano,
        sum(one.memory_bytes for found in (busy, calm) for one in found.used.values()),
    )
