"""Ports: one free port of this machine for each job, where a fixed one would collide.

The rule   pods of one (group, injected port) get one port; the search starts at a hash of the group and takes the first
           that no other group has and that can be bound now on all addresses; the port is given back with the last pod.
Why        a job kind injects the same port for every job, and a listener on 0.0.0.0 (as most frameworks open) collides
           with the next job's on the same machine, whatever addresses the pods have.
Range      below the kernel's ephemeral ports, from which every outgoing connection takes at random; above them where
           there is too little room below.
Restart    a group's port is in its pods' records.
"""

from __future__ import annotations

import errno
import socket
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kumi.api.errors import KumiError

_LOWEST, _ROOM = 20_000, 1_000
_HIGHEST = 65_535


class Group(NamedTuple):
    """Whose port it is: a job's uid, and the port that its kind meant."""

    uid: str
    port: int


def port_range(ephemeral: tuple[int, int]) -> range:
    """Where ports are taken from, given the kernel's ephemeral range."""
    low, high = ephemeral
    if low - _LOWEST >= _ROOM:
        return range(_LOWEST, low)
    if _HIGHEST - high >= _ROOM:
        return range(high + 1, _HIGHEST + 1)
    return range(1024, low) if low - 1024 >= _ROOM else range(_LOWEST, _HIGHEST + 1)


def ephemeral_range() -> tuple[int, int]:
    """The kernel's ephemeral ports (first, last)."""
    try:
        first, last = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 32_768, 60_999
    return int(first), int(last)


def is_free(port: int) -> bool:
    """Whether the port can be bound now on all addresses."""
    for family, anywhere in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind((anywhere, port))
        except OSError as error:
            if family == socket.AF_INET6 and not isinstance(error, PermissionError) and error.errno != errno.EADDRINUSE:
                continue
            return False
    return True


class Ports:
    """Which group has which port, and which pods hold it."""

    def __init__(self, candidates: range, free: Callable[[int], bool] = is_free) -> None:
        self._candidates, self._free = candidates, free
        self._port_by_group: dict[Group, int] = {}
        self._pods_by_group: dict[Group, set[str]] = {}
        self._group_by_pod: dict[str, Group] = {}

    def take(self, group: Group, pod: str) -> int:
        """The group's port, held by `pod` until it releases. KumiError when none is free."""
        port = self._port_by_group.get(group)
        if port is None:
            port = self._search(group)
        self.restore(group, pod, port)
        return port

    def restore(self, group: Group, pod: str, port: int) -> None:
        """The pod has held this port of the group since before the restart."""
        self._port_by_group[group] = port
        self._pods_by_group.setdefault(group, set()).add(pod)
        self._group_by_pod[pod] = group

    def release(self, pod: str) -> None:
        """The pod is gone; with the last one the port is free."""
        group = self._group_by_pod.pop(pod, None)
        if group is None:
            return
        pods = self._pods_by_group[group]
        pods.discard(pod)
        if not pods:
            del self._pods_by_group[group], self._port_by_group[group]

    def _search(self, group: Group) -> int:
        taken = set(self._port_by_group.values())
        count = len(self._candidates)
        start = zlib.crc32(f"{group.uid}/{group.port}".encode()) % count
        for step in range(count):
            port = self._candidates[(start + step) % count]
            if port not in taken and self._free(port):
                return port
        raise KumiError("no port of this machine is free for another job")
