"""Pressure: whether the machine runs short of what its pods share.

The rule, of one reading:
    MemoryPressure   less than MEMORY_BYTES can be had
    DiskPressure     less than DISK_SHARE of the disk with the data directory is free
    PIDPressure      less than PID_SHARE of the process ids is free
A reading that can't be taken tells of no pressure.
Source     Kubernetes: node-pressure eviction (the signals; its disk threshold of 10 % is too early for a disk that is not
           the node's own).
Not here   what follows: nothing does by itself; conditions tell people and controllers.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import psutil

MEMORY_BYTES = 100 << 20
DISK_SHARE, PID_SHARE = 0.05, 0.05


class Reading(NamedTuple):
    """What is free, and of how much."""

    memory_free_bytes: int
    disk_free_bytes: int
    disk_bytes: int
    pids_free: int
    pids: int


class Verdict(NamedTuple):
    """A condition of the node."""

    type: str
    status: str
    reason: str
    message: str


def read(data_dir: Path) -> Reading:
    """The machine as it is now."""
    disk = shutil.disk_usage(data_dir)
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
        most = int(file.read())
    used = sum(1 for name in os.listdir("/proc") if name.isdigit())
    return Reading(psutil.virtual_memory().available, disk.free, disk.total, most - used, most)


def verdicts(reading: Reading | None) -> tuple[Verdict, ...]:
    """The conditions that follow; None: it could not be read."""
    short = (False, False, False)
    if reading is not None:
        short = (
            reading.memory_free_bytes < MEMORY_BYTES,
            reading.disk_free_bytes < reading.disk_bytes * DISK_SHARE,
            reading.pids_free < reading.pids * PID_SHARE,
        )
    memory, disk, pids = short
    return (
        _verdict("MemoryPressure", memory, "InsufficientMemory", "SufficientMemory", "memory available"),
        _verdict("DiskPressure", disk, "DiskPressure", "NoDiskPressure", "disk"),
        _verdict("PIDPressure", pids, "InsufficientPID", "SufficientPID", "PID available"),
    )


def _verdict(type_: str, short: bool, bad: str, good: str, what: str) -> Verdict:
    if what == "disk":
        words = "kubelet has disk pressure" if short else "kubelet has no disk pressure"
    else:
        words = f"kubelet has {'insufficient' if short else 'sufficient'} {what}"
    return Verdict(type_, str(short), f"KubeletHas{bad if short else good}", words)
