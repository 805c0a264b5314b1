"""Connections to what a pod listens on."""

from __future__ import annotations

import asyncio
import sys

import pytest

from kumi.api.errors import KumiError
from kumi.kubelet.commands import ProcessCommands
from kumi.kubelet.forwarding import listening
from tests.kubelet.stage import Cluster, container, eventually, pod, state

pytestmark = pytest.mark.process
SERVER = """
import socket, sys
listener = socket.create_server((sys.argv[1], 0), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
open(sys.argv[2], "w").write(str(listener.getsockname()[1]))
while True:
    peer, _ = listener.accept()
    while data := peer.recv(100):
        peer.sendall(data.upper())
    peer.close()
"""


async def listening_pod(cluster: Cluster, host: str) -> tuple[dict[str, object], int, ProcessCommands]:
    """A pod with a server, its port, and the way to it."""
    there = cluster.data_dir / "port"
    script = {"command": [sys.executable, "-c", SERVER, host, str(there)]}
    await cluster.run(pod("p", {**container(""), **script}))
    found = await cluster.until("p", lambda p: "running" in state(p), "running")
    await eventually(lambda: there.exists() and there.read_text(), "it listens")
    commands = ProcessCommands()
    commands.serve(cluster.machine)
    return found, int(there.read_text()), commands


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_a_connection_goes_both_ways(cluster: Cluster, host: str) -> None:
    found, port, commands = await listening_pod(cluster, host)
    reader, writer = await commands.connect(found, port)
    writer.write(b"hello")
    assert await reader.readexactly(5) == b"HELLO"
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()


async def test_what_others_listen_on_is_out_of_reach(cluster: Cluster) -> None:
    found, port, commands = await listening_pod(cluster, "127.0.0.1")
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    other = server.sockets[0].getsockname()[1]
    for wrong in (other, 1 if port != 1 else 2):
        with pytest.raises(KumiError, match=f"nothing in the pod listens on port {wrong}"):
            await commands.connect(found, wrong)
    server.close()


async def test_a_pod_that_runs_elsewhere_is_out_of_reach(cluster: Cluster) -> None:
    commands = ProcessCommands()
    elsewhere = pod("q", "true", node="other", meta={"uid": "x"})
    with pytest.raises(KumiError, match="does not run here"):
        await commands.connect(elsewhere, 80)
    commands.serve(cluster.machine)
    with pytest.raises(KumiError, match="nothing in the pod"):
        await commands.connect(elsewhere, 80)


def test_guardians_that_are_gone_hold_nothing() -> None:
    assert listening([1 << 22], 80) == []
