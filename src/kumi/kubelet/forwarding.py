"""kubectl port-forward: a connection to a port that a pod's own processes listen on.

The rule   of all sockets of the machine that listen on the port, only one that a process below the pod's guardians holds is
           connected to, at its own address; one that listens on all addresses at the pod's. IPv4 before IPv6.
Why        pods have the machine's network: without that look, who may forward a port of one pod would reach everything
           that listens on the machine.
Cost       a look into the pod's processes a connection, in a thread.
Source     Kubernetes: kubectl port-forward; proc_pid_net(5).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import psutil

from kumi.api.errors import KumiError

_ANY = ("0.0.0.0", "::")


async def connect(
    guardians: Sequence[int], address: str, port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection. `guardians`: the pod's shims; `address`: the pod's. KumiError: nothing of the pod listens there."""
    for host in await asyncio.to_thread(listening, guardians, port):
        try:
            return await asyncio.open_connection(address if host in _ANY else host, port)
        except OSError:
            continue
    raise KumiError(f"connection refused: nothing in the pod listens on port {port}")


def listening(guardians: Sequence[int], port: int) -> list[str]:
    """The addresses at which processes below the guardians listen on a port, IPv4 first."""
    found: set[str] = set()
    for guardian in guardians:
        try:
            below = psutil.Process(guardian).children(recursive=True)
        except psutil.Error:
            continue
        for process in below:
            found |= _listens(process, port)
    return sorted(found, key=lambda host: (":" in host, host))


def _listens(process: psutil.Process, port: int) -> set[str]:
    try:
        sockets = process.net_connections("tcp")
    except psutil.Error:
        return set()  # it has ended
    return {s.laddr.ip for s in sockets if s.status == psutil.CONN_LISTEN and s.laddr and s.laddr.port == port}
