"""The machine's real GPUs, found through NVML: what they are, and whether they are well.

    library = load_nvml()                     KumiError: no driver, or no library
    found = find(library, visible)            the cards to offer, and why others are left alone
    shares_of(found.cards, nodes)             the cards of each node: as many each as can be, the first nodes one more
    health = Health(library, found.cards); health.look()        uuid -> what is wrong; call it now and then

The rule:
    offered    every card that NVML lists; where Kumi itself was started with CUDA_VISIBLE_DEVICES, those in it, in its order
    left alone a card in MIG mode (its parts are not handed out here), and one that does not answer
    unhealthy  a card that NVML has lost, or with a critical error (XID) that is not its program's own fault (PROGRAMS_OWN).
               The first passes when it answers again, the second stays until Kumi is started again
    labels     of the node: what GPU feature discovery calls the model and memory, where all cards are alike, and each
               card's own model and UUID
Source     NVML; NVIDIA's device plugin (which XIDs are the program's fault); GPU feature discovery (labels).
Not here   which container gets which: devices.py. What follows for the node: node.py.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from kumi.api.errors import KumiError

RESOURCE = "nvidia.com/gpu"
PROGRAMS_OWN = frozenset({13, 31, 43, 45, 68, 109})
LABELS = ("nvidia.com/gpu.", "kumi.dev/gpu-")
"""what the labels begin with"""


class Card(NamedTuple):
    """A GPU. `minor`: its device node is /dev/nvidia<minor>; `mig`: it is in MIG mode."""

    uuid: str
    model: str
    memory_bytes: int
    minor: int
    mig: bool = False


class Lost(KumiError):
    """A card does not answer; the text says what NVML said."""


class GpuLibrary(Protocol):
    """What is asked of NVML."""

    def count(self) -> int:
        """How many cards there are."""
        ...

    def card(self, index: int) -> Card:
        """One of them. Lost."""
        ...

    def errors(self) -> list[tuple[str, int]]:
        """The critical errors since the last call: (UUID, XID)."""
        ...


class Found(NamedTuple):
    """`left_alone`: sentences."""

    cards: list[Card]
    left_alone: list[str]


class Nvml:
    """NVML through its Python binding, which is `module` (a GpuLibrary)."""

    def __init__(self, module: Any) -> None:
        self._nvml = module
        try:
            module.nvmlInit()
        except module.NVMLError as error:
            raise KumiError(
                f"--gpus auto: NVIDIA's driver does not answer ({error}); nvidia-smi must work for this user. "
                "Or say how many GPUs there are to be: --gpus N"
            ) from error
        self._events: Any = None
        with contextlib.suppress(module.NVMLError):  # some virtual GPUs have none
            self._events = module.nvmlEventSetCreate()
            for index in range(self.count()):
                self._register(index)

    def count(self) -> int:
        """See GpuLibrary."""
        return int(self._nvml.nvmlDeviceGetCount())

    def card(self, index: int) -> Card:
        """See GpuLibrary."""
        nvml = self._nvml
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            mig = False
            with contextlib.suppress(nvml.NVMLError):  # most models know no MIG
                mig = bool(nvml.nvmlDeviceGetMigMode(handle)[0])
            return Card(
                _text(nvml.nvmlDeviceGetUUID(handle)),
                _text(nvml.nvmlDeviceGetName(handle)),
                int(nvml.nvmlDeviceGetMemoryInfo(handle).total),
                int(nvml.nvmlDeviceGetMinorNumber(handle)),
                mig,
            )
        except nvml.NVMLError as error:
            raise Lost(str(error)) from error

    def errors(self) -> list[tuple[str, int]]:
        """See GpuLibrary."""
        nvml, found = self._nvml, []
        if self._events is None:
            return []
        while True:
            try:
                event = nvml.nvmlEventSetWait_v2(self._events, 0)
                found.append((_text(nvml.nvmlDeviceGetUUID(event.device)), int(event.eventData)))
            except nvml.NVMLError:
                return found  # none is left: it is told as a time-out

    def _register(self, index: int) -> None:
        nvml = self._nvml
        with contextlib.suppress(nvml.NVMLError):
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            nvml.nvmlDeviceRegisterEvents(handle, nvml.nvmlEventTypeXidCriticalError, self._events)


def load_nvml() -> GpuLibrary:
    """NVML of this machine. KumiError."""
    try:
        module = importlib.import_module("pynvml")
    except ImportError as error:
        raise KumiError("--gpus auto needs the Python package nvidia-ml-py: pip install nvidia-ml-py") from error
    return Nvml(module)


def find(library: GpuLibrary, visible: str | None) -> Found:
    """The cards to offer. `visible`: Kumi's own CUDA_VISIBLE_DEVICES. KumiError: there is none."""
    cards: list[Card | None] = []
    left_alone = []
    for index in range(library.count()):
        try:
            card = library.card(index)
        except Lost as error:
            left_alone.append(f"GPU {index} does not answer ({error}): it is not offered")
            cards.append(None)
            continue
        if card.mig:
            left_alone.append(f"GPU {index} ({card.model}) is in MIG mode: it and its parts are not offered")
        cards.append(None if card.mig else card)
    offered = [card for card in _visible(cards, visible) if card is not None]
    if not offered:
        raise KumiError("; ".join(["--gpus auto: there is no GPU to offer", *left_alone]))
    return Found(offered, left_alone)


def shares_of(cards: Sequence[Card], nodes: int) -> list[list[Card]]:
    """The cards of each node, in order."""
    base, more = divmod(len(cards), max(nodes, 1))
    shares, start = [], 0
    for number in range(nodes):
        count = base + (number < more)
        shares.append(list(cards[start : start + count]))
        start += count
    return shares


def labels_of(cards: Sequence[Card]) -> dict[str, str]:
    """The labels of a node with these cards."""
    if not cards:
        return {}
    found = {f"{RESOURCE}.present": "true", f"{RESOURCE}.count": str(len(cards))}
    if len({(card.model, card.memory_bytes) for card in cards}) == 1:
        found[f"{RESOURCE}.product"] = _label(cards[0].model)
        found[f"{RESOURCE}.memory"] = str(cards[0].memory_bytes >> 20)
    for number, card in enumerate(cards):
        found[f"kumi.dev/gpu-{number}.uuid"] = _label(card.uuid)
        found[f"kumi.dev/gpu-{number}.product"] = _label(card.model)
        found[f"kumi.dev/gpu-{number}.memory"] = str(card.memory_bytes >> 20)
    return found


class Health:
    """What is wrong with the cards of a machine."""

    def __init__(self, library: GpuLibrary, cards: Sequence[Card]) -> None:
        self._library, self._cards = library, cards
        self._failed: dict[str, str] = {}

    def look(self) -> dict[str, str]:
        """UUID -> why the card is to be given to nobody. It takes as long as NVML does: call it in a thread."""
        for uuid, xid in self._library.errors():
            if xid not in PROGRAMS_OWN:
                self._failed.setdefault(uuid, f"critical error XID {xid}")
        answering, said = set(), "it is gone"
        for index in range(self._library.count()):
            try:
                answering.add(self._library.card(index).uuid)
            except Lost as error:
                said = str(error)
        lost = {card.uuid: f"it does not answer: {said}" for card in self._cards if card.uuid not in answering}
        return {**lost, **self._failed}


def _visible(cards: Sequence[Card | None], visible: str | None) -> list[Card | None]:
    """As CUDA reads the variable: numbers or beginnings of UUIDs, up to the first that is none."""
    if visible is None:
        return list(cards)
    chosen: list[Card | None] = []
    for word in (w.strip() for w in visible.split(",")):
        named = [c for c in cards if c is not None and len(word) > 4 and c.uuid.startswith(word)]
        if word.isdigit() and int(word) < len(cards):
            chosen.append(cards[int(word)])
        elif named:
            chosen.append(named[0])
        else:
            break
    return chosen


def _label(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:63].strip("-._")


def _text(said: str | bytes) -> str:
    """Older bindings speak bytes."""
    return said.decode() if isinstance(said, bytes) else said
