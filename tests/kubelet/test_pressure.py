"""Whether the machine runs short."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.api.core import Node
from kumi.kubelet import pressure
from kumi.kubelet.pressure import MEMORY_BYTES, Reading, read, verdicts
from kumi.kubelet.settings import NodeSettings
from tests.kubelet.stage import Cluster

FINE = Reading(MEMORY_BYTES, 5, 100, 5, 100)


def short(reading: Reading | None) -> list[str]:
    return [verdict.type for verdict in verdicts(reading) if verdict.status == "True"]


def test_what_reaches_the_threshold_is_enough() -> None:
    assert short(FINE) == short(None) == []


def test_each_thing_that_runs_short_is_told_alone() -> None:
    assert short(FINE._replace(memory_free_bytes=MEMORY_BYTES - 1)) == ["MemoryPressure"]
    assert short(FINE._replace(disk_free_bytes=4)) == ["DiskPressure"]
    assert short(FINE._replace(pids_free=4)) == ["PIDPressure"]


def test_reasons_are_those_that_scripts_know() -> None:
    assert [v.reason for v in verdicts(FINE)] == [
        "KubeletHasSufficientMemory",
        "KubeletHasNoDiskPressure",
        "KubeletHasSufficientPID",
    ]
    assert [v.reason for v in verdicts(Reading(0, 0, 100, 0, 100))] == [
        "KubeletHasInsufficientMemory",
        "KubeletHasDiskPressure",
        "KubeletHasInsufficientPID",
    ]


def test_a_machine_can_be_read(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert 0 < found.disk_free_bytes <= found.disk_bytes
    assert 0 < found.pids_free < found.pids


@pytest.mark.process
async def test_a_node_tells_that_its_machine_runs_short_and_that_it_does_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings(heartbeat_ms=10)})
    now = {"reading": FINE}
    monkeypatch.setattr(pressure, "read", lambda _: now["reading"])
    await cluster.start()

    async def told() -> dict[str, str]:
        node = await cluster.get("n1", Node)
        assert node is not None
        return {c["type"]: c["status"] for c in node["status"]["conditions"]}

    async def becomes(status: str) -> None:
        for _ in range(2_000):
            if (await told())["MemoryPressure"] == status:
                return
            await cluster.clock.sleep_ms(5)
        raise AssertionError(f"MemoryPressure never was {status}")

    try:
        await becomes("False")
        now["reading"] = FINE._replace(memory_free_bytes=0)
        await becomes("True")
        assert (await told())["Ready"] == "True"
        now["reading"] = FINE
        await becomes("False")
    finally:
        await cluster.crash()
        cluster.end()
