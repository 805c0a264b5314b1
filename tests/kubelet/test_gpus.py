"""Real GPUs, with a driver library that is none."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.core import Event, Node
from kumi.api.errors import KumiError
from kumi.kubelet import gpus
from kumi.kubelet.gpus import Card, Health, Nvml, find, labels_of, load_nvml, shares_of
from kumi.kubelet.settings import NodeSettings
from tests.kubelet.stage import Cluster, container, pod

GIB = 1 << 30
GPU = "nvidia.com/gpu"


class FakeNvml:
    """The functions of pynvml that are used. `lost`, `events`, `broken` are what the test says."""

    nvmlEventTypeXidCriticalError = 8  # noqa: N815

    class NVMLError(Exception):
        """As NVML's."""

    def __init__(self, *cards: Card, speaks_bytes: bool = False, broken: bool = False) -> None:
        self.cards, self.lost, self.broken = list(cards), set[int](), broken
        self.events: list[tuple[str, int]] = []
        self.registered: list[int] = []
        self._text: Any = str.encode if speaks_bytes else str

    def nvmlInit(self) -> None:  # noqa: N802
        if self.broken:
            raise self.NVMLError("Driver Not Loaded")

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Card:  # noqa: N802
        if index in self.lost:
            raise self.NVMLError("GPU is lost")
        return self.cards[index]

    def nvmlDeviceGetUUID(self, card: Card) -> Any:  # noqa: N802
        return self._text(card.uuid)

    def nvmlDeviceGetName(self, card: Card) -> Any:  # noqa: N802
        return self._text(card.model)

    def nvmlDeviceGetMemoryInfo(self, card: Card) -> Any:  # noqa: N802
        return SimpleNamespace(total=card.memory_bytes)

    def nvmlDeviceGetMinorNumber(self, card: Card) -> int:  # noqa: N802
        return card.minor

    def nvmlDeviceGetMigMode(self, card: Card) -> list[int]:  # noqa: N802
        if "A100" not in card.model:
            raise self.NVMLError("Not Supported")
        return [int(card.mig), int(card.mig)]

    def nvmlEventSetCreate(self) -> str:  # noqa: N802
        return "events"

    def nvmlDeviceRegisterEvents(self, card: Card, kind: int, events: str) -> None:  # noqa: N802
        assert (kind, events) == (8, "events")
        self.registered.append(card.minor)

    def nvmlEventSetWait_v2(self, events: str, wait_ms: int) -> Any:  # noqa: N802
        assert wait_ms == 0, "nobody waits for an error"
        if not self.events:
            raise self.NVMLError("Timeout")
        uuid, xid = self.events.pop(0)
        return SimpleNamespace(device=next(c for c in self.cards if c.uuid == uuid), eventData=xid)


def card(number: int, model: str = "NVIDIA A100-SXM4-80GB", gib: int = 80, **more: Any) -> Card:
    return Card(f"GPU-{number:08d}-beef", model, gib * GIB, number, **more)


@pytest.mark.parametrize("speaks_bytes", [False, True])
def test_cards_are_found_with_model_memory_and_device_node(speaks_bytes: bool) -> None:
    nvml = FakeNvml(card(0), card(5, "Tesla T4", 16), speaks_bytes=speaks_bytes)
    assert find(Nvml(nvml), None) == ([card(0), card(5, "Tesla T4", 16)], [])
    assert nvml.registered == [0, 5]


def test_a_driver_that_is_not_there_is_told_with_what_to_do() -> None:
    with pytest.raises(KumiError, match=r"Driver Not Loaded.*nvidia-smi must work.*--gpus N"):
        Nvml(FakeNvml(broken=True))


def test_a_binding_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(gpus.importlib, "import_module", missing)
    with pytest.raises(KumiError, match="pip install nvidia-ml-py"):
        load_nvml()


def test_mig_cards_and_cards_that_do_not_answer_are_left_alone_and_told_of() -> None:
    nvml = FakeNvml(card(0, mig=True), card(1), card(2))
    nvml.lost = {2}
    found = find(Nvml(nvml), None)
    assert found.cards == [card(1)]
    assert "GPU 0 (NVIDIA A100-SXM4-80GB) is in MIG mode" in found.left_alone[0]
    assert "GPU 2 does not answer (GPU is lost)" in found.left_alone[1]


def test_no_card_to_offer_is_an_error_that_says_why() -> None:
    with pytest.raises(KumiError, match=r"no GPU to offer; GPU 0 .* MIG mode"):
        find(Nvml(FakeNvml(card(0, mig=True))), None)


@pytest.mark.parametrize(
    ("visible", "wanted"),
    [("2,0", [2, 0]), ("GPU-00000001", [1]), ("1,7,0", [1]), ("0, 2", [0, 2]), ("1,no", [1])],
)
def test_only_what_kumi_itself_may_use_is_offered(visible: str, wanted: list[int]) -> None:
    found = find(Nvml(FakeNvml(card(0), card(1), card(2))), visible)
    assert [c.minor for c in found.cards] == wanted


@given(st.integers(0, 20), st.integers(1, 6))
def test_cards_are_shared_out_evenly_and_each_once(count: int, nodes: int) -> None:
    cards = [card(number) for number in range(count)]
    shares = shares_of(cards, nodes)
    assert [c for share in shares for c in share] == cards
    assert len(shares) == nodes
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_labels_tell_model_memory_and_uuid_as_labels_can() -> None:
    found = labels_of([card(0), card(1)])
    assert found[f"{GPU}.product"] == "NVIDIA-A100-SXM4-80GB"
    assert found[f"{GPU}.memory"] == str(80 << 10)
    assert found["kumi.dev/gpu-1.uuid"] == "GPU-00000001-beef"
    mixed = labels_of([card(0), card(1, "Tesla T4", 16)])
    assert f"{GPU}.product" not in mixed
    assert mixed["kumi.dev/gpu-1.product"] == "Tesla-T4"
    assert all(re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", v) for v in mixed.values())
    assert labels_of([]) == {}


def test_an_error_that_is_the_program_s_own_is_no_illness_and_another_stays_one() -> None:
    nvml = FakeNvml(card(0), card(1))
    health = Health(Nvml(nvml), [card(0), card(1)])
    nvml.events = [(card(0).uuid, 31), (card(1).uuid, 79)]
    for _ in range(2):
        assert health.look() == {card(1).uuid: "critical error XID 79"}


def test_a_lost_card_is_ill_until_it_answers_again() -> None:
    nvml = FakeNvml(card(0), card(1))
    health = Health(Nvml(nvml), [card(0), card(1)])
    assert health.look() == {}
    nvml.lost = {0}
    assert health.look() == {card(0).uuid: "it does not answer: GPU is lost"}
    nvml.lost = set()
    assert health.look() == {}


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[tuple[Cluster, FakeNvml]]:
    """A node with two cards, which looks at their health all the time."""
    cards = [card(3), card(7)]
    nvml = FakeNvml(*cards)
    health = Health(Nvml(nvml), cards)
    nodes = {"n1": NodeSettings(cards=cards, heartbeat_ms=20)}
    found = Cluster(tmp_path / tmp_path.name, nodes, gpu_health=health.look)
    await found.start()
    yield found, nvml
    await found.crash()
    found.end()


def asks(count: int) -> dict[str, Any]:
    return container("echo $CUDA_VISIBLE_DEVICES; exec sleep 60", resources={"limits": {GPU: str(count)}})


@pytest.mark.process
async def test_an_ill_card_is_not_offered_any_more_and_who_has_it_keeps_it(cluster: tuple[Cluster, FakeNvml]) -> None:
    stage, nvml = cluster
    node = await stage.get("n1", Node)
    assert node is not None
    assert node["status"]["allocatable"][GPU] == "2"
    assert node["metadata"]["labels"]["kumi.dev/gpu-1.uuid"] == card(7).uuid
    await stage.run(pod("has", asks(1)))
    await stage.phase("has", "Running")
    nvml.events = [(card(3).uuid, 48)]
    await offered(stage, "1")
    await stage.run(pod("more", asks(1)))
    assert (await stage.phase("more", "Failed"))["status"]["reason"] == f"OutOf{GPU}"
    assert (await stage.phase("has", "Running"))["status"]["phase"] == "Running"
    told = await stage.client.list(stage.registry.scheme.of(Event))
    assert [e["reason"] for e in told.items if "XID 48" in e["message"]] == ["GPUUnhealthy"]


@pytest.mark.process
async def test_a_container_gets_its_cards_by_uuid(cluster: tuple[Cluster, FakeNvml]) -> None:
    stage, _ = cluster
    await stage.run(pod("p", container("echo $CUDA_VISIBLE_DEVICES", resources={"limits": {GPU: "2"}})))
    await stage.phase("p", "Succeeded")
    assert await stage.log("p") == f"{card(3).uuid},{card(7).uuid}\n"


@pytest.mark.process
async def test_labels_of_cards_that_are_no_more_go_with_the_next_start(cluster: tuple[Cluster, FakeNvml]) -> None:
    stage, _ = cluster
    await stage.stop()
    stage.node_settings = {"n1": NodeSettings()}
    await stage.start()
    node = await stage.get("n1", Node)
    assert node is not None
    assert not [label for label in node["metadata"]["labels"] if label.startswith(gpus.LABELS)]
    assert GPU not in node["status"]["allocatable"]


async def offered(stage: Cluster, wanted: str) -> None:
    for _ in range(1000):
        node = await stage.get("n1", Node)
        if node is not None and node["status"]["allocatable"].get(GPU) == wanted:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"it never offered {wanted}")
