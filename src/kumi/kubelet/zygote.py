"""The zygote: a small process, ready to fork, that turns each request into a shim.

Why        starting an interpreter costs 15 ms and more, forking a warm one 1 or 2. It is small (the standard library
           and the shim), so that a fork copies little, and it has one thread, so that a fork is safe.
Protocol   on a socket of packets: a packet with two descriptors, the request (a file in memory, JSON) and the report
           pipe's end; for `inside` the three standard streams follow. Packet `shim` forks
           a shim (shim.py says what it reports), `inside` a command in a container (inside.py); `view` reports the best
           isolation that works here: {"isolation": "mount" | "user" | "none"}; `trial` whether a sandbox can be had:
           {"failed": why not}. End of file: it leaves; shims stay.
Not here   who speaks to it: process.py.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
from typing import NoReturn

from kumi.kubelet import bubblewrap, inside, mounts, shim
from kumi.kubelet.sandbox_view import Plan

SHIM, VIEW, INSIDE, TRIAL = b"shim", b"view", b"inside", b"trial"


def serve(descriptor: int) -> None:
    """Serves requests on an inherited socket until it is closed."""
    connection = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    mounts.set_name("kumi-zygote")
    gc.collect()
    gc.disable()
    gc.freeze()
    while True:
        packet, descriptors, _, _ = socket.recv_fds(connection, 64, 5)
        if not packet:
            return
        for received in descriptors:
            os.set_inheritable(received, False)
        request, report, *streams = descriptors
        try:
            child = os.fork()
        except OSError as error:
            child = -1
            _say(report, {"failed": f"can't fork: {error.strerror}"})
        if child == 0:
            _serve_one(connection, packet, request, report, streams)
        for received in descriptors:
            os.close(received)


def _serve_one(connection: socket.socket, packet: bytes, request: int, report: int, streams: list[int]) -> NoReturn:
    try:
        connection.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with open(request, "rb") as file:
            file.seek(0)
            asked = json.loads(file.read())
        if packet == SHIM:
            shim.run(shim.Request(**asked), report)
        if packet == INSIDE:
            inside.run(inside.Request(**asked), streams, report)
        if packet == TRIAL:
            trouble = bubblewrap.trial(Plan(*asked["plan"]))
            _say(report, {"failed": trouble} if trouble else {})
        else:
            _say(report, {"isolation": best_isolation(asked["staging"])})
    finally:
        os._exit(0)


def best_isolation(staging: str) -> str:
    """The strongest private view that can be had here, found by trying each in a fork. `staging`: an empty directory."""
    wanted = os.path.join(staging, "file")
    with open(wanted, "w", encoding="ascii"):
        pass
    for isolation in (mounts.MOUNT, mounts.USER) if os.geteuid() == 0 else (mounts.USER,):
        child = os.fork()
        if child == 0:
            code = 1
            with contextlib.suppress(BaseException):
                found = [mounts.Mount(wanted, "/etc/hosts"), mounts.Mount(wanted, "/etc/kumi-view/file")]
                mounts.enter(mounts.View(isolation, "kumi", found, [], staging))
                code = 0 if os.path.exists("/etc/kumi-view/file") else 1
            os._exit(code)
        if os.waitpid(child, 0)[1] == 0:
            return isolation
    return mounts.NONE


def _say(report: int, what: dict[str, str]) -> None:
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(what).encode() + b"\n")
