"""What a node decided for a pod, on disk: it must be the same after a restart of Kumi.

    pods/<namespace>_<name>_<uid>/pod.json

Not here   the attempts of its containers: records.py names their files.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from kumi.api.wire import JsonObject
from kumi.kubelet import records
from kumi.kubelet.devices import Given


class PodRecord(msgspec.Struct, kw_only=True):
    """Of one pod. `port`: what stands in for the injected `group_port` of the job `group`, 0 for none.

    `halted_ms`: when the node last stopped with the pod alive; what ended since then did not end by itself.
    `claims`: uid of a claim that it uses -> who else may (kubelet.claims); `read_only`: volumes that it may not write.
    `cut_short`: container -> attempts that did not. `settled`: whether it has had its room and its devices: one that hasn't
    waits until others are dead."""

    node: str
    namespace: str
    name: str
    uid: str
    started_ms: int
    address: str
    group: str = ""
    group_port: int = 0
    port: int = 0
    devices: Given = {}
    places: dict[str, str] = {}
    prepared: bool = False
    halted_ms: int = 0
    cut_short: dict[str, list[int]] = {}
    claims: dict[str, str] = {}
    read_only: list[str] = []
    settled: bool = True


def home_of(data_dir: Path, pod: JsonObject) -> Path:
    """A pod's directory."""
    meta = pod["metadata"]
    return data_dir / "pods" / f"{meta.get('namespace', '')}_{meta['name']}_{meta['uid']}"


def load(home: Path) -> PodRecord | None:
    """The record of a pod's directory, None if there is none that can be read."""
    found = records.read(home / "pod.json")
    try:
        return None if found is None else msgspec.convert(found, PodRecord)
    except msgspec.ValidationError:
        return None


def save(home: Path, record: PodRecord) -> None:
    """Writes it as a whole."""
    records.write(home / "pod.json", msgspec.to_builtins(record))
