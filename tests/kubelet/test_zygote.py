"""The zygote's packets, spoken by hand."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from kumi.kubelet import zygote

pytestmark = pytest.mark.process


@pytest.fixture
def connection() -> Any:
    """A zygote in a fork; it must leave by itself when the connection is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        ours.close()
        try:
            zygote.serve(theirs.detach())
        finally:
            os._exit(0)
    theirs.close()
    yield ours
    ours.close()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def ask(connection: socket.socket, packet: bytes, asked: dict[str, Any]) -> dict[str, Any]:
    read_end, write_end = os.pipe()
    paper = os.memfd_create("request")
    os.write(paper, json.dumps(asked).encode())
    socket.send_fds(connection, [packet], [paper, write_end])
    os.close(paper)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        found: dict[str, Any] = json.loads(pipe.read())
    return found


def test_it_finds_an_isolation_and_starts_a_shim(connection: socket.socket, tmp_path: Path) -> None:
    staging = tmp_path / "staging"
    staging.mkdir()
    assert ask(connection, zygote.VIEW, {"staging": str(staging)})["isolation"] in ("none", "mount", "user")
    asked = {"stem": str(tmp_path / "0"), "argv": ["/bin/true"], "environment": {}, "working_dir": "/"}
    assert ask(connection, zygote.SHIM, asked)["pid"] > 0
