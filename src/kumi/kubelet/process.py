"""Containers as processes: started through the zygote, held by a process descriptor, found again after a crash.

    launcher = Launcher(isolation)      one for all nodes of a machine
    await launcher.launch(request)      a Process, or Refused with the reason
    Process.find(stem)                  the shim of an attempt, if it still runs (after a restart of Kumi)
    process.ended()                     returns when the shim is gone; `exit_of(stem)` then says how it ended

Why        a process descriptor names one process for ever, so a signal never hits a stranger that got the id; and it
           works for processes that are nobody's children, which is what all containers are after a restart.
Never      a container outlives its shim unnoticed: `sweep` finds what is left by the variable KUMI_CONTAINER.
Not here   when to start and stop: pod_state.py. What runs inside: shim.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kumi.api.errors import KumiError
from kumi.kubelet import inside, mounts, records, shim, zygote
from kumi.kubelet.pod_words import Exit
from kumi.kubelet.sandbox import refusal
from kumi.kubelet.sandbox_view import Plan

MARK = "KUMI_CONTAINER"
"""the variable that every process of a container carries: the stem of its attempt"""
LOST_CODE = 137
_SOURCE = str(Path(__file__).resolve().parents[2])
_LOAD = "import sys; sys.path.append(sys.argv[1]); from kumi.kubelet.zygote import serve; serve(int(sys.argv[2]))"


class Refused(KumiError):
    """The container could not be started. `attempted`: an attempt was used up, and exit_of tells how it ended."""

    def __init__(self, message: str, attempted: bool) -> None:
        super().__init__(message)
        self.attempted = attempted


class Process:
    """A shim and the container below it. `descriptor` -1: it is gone already."""

    def __init__(self, descriptor: int, who: records.Who, started_ms: int) -> None:
        self._descriptor = descriptor
        self.who, self.started_ms = who, started_ms

    @classmethod
    def find(cls, stem: str) -> Process | None:
        """The shim that owns an attempt, if it runs. Blocking a start that is under way, if there is one: see records."""
        if records.claim(f"{stem}.run", {"taken": True}):
            return None
        record = records.read(f"{stem}.run")
        if record is None or "pid" not in record:
            return None
        return cls.of(records.Who(record["pid"], record["ticks"], record["boot"]), record["started_ms"])

    @classmethod
    def of(cls, who: records.Who, started_ms: int) -> Process | None:
        """That very process, if it runs."""
        try:
            descriptor = os.pidfd_open(who.pid)
        except OSError:
            return None
        if who.runs():
            return cls(descriptor, who, started_ms)
        os.close(descriptor)
        return None

    async def ended(self) -> None:
        """Returns when the shim is gone; call it once."""
        if self._descriptor < 0:
            return
        loop = asyncio.get_running_loop()
        gone: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._descriptor, _resolve, gone)
        try:
            await gone
        finally:
            loop.remove_reader(self._descriptor)
            self.close()

    def close(self) -> None:
        """Lets go of it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def terminate(self) -> None:
        """SIGTERM to the container's process group."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to everything below the shim, also if somebody has stopped the shim (SIGSTOP)."""
        self._signal(shim.KILL_ALL)
        self._signal(signal.SIGCONT)

    def destroy(self) -> None:
        """SIGKILL to the shim itself, for one that does not answer; sweep afterwards."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self._descriptor >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)


class Launcher:
    """Speaks to a zygote; makes a new one when it is gone."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._zygote: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self.isolation = ""

    async def start(self, sandbox: Plan | None = None) -> None:
        """Makes the zygote and finds out which isolation works; with a sandbox that this works. KumiError: it does not."""
        if sandbox is not None:
            said = await self._ask(zygote.TRIAL, {"plan": list(sandbox)})
            if "failed" in said:
                raise refusal(str(said["failed"]))
            self.isolation = mounts.SANDBOX
            return
        staging = self._scratch / "view"
        staging.mkdir(parents=True, exist_ok=True)
        said = await self._ask(zygote.VIEW, {"staging": str(staging)})
        self.isolation = str(said.get("isolation", "none"))

    async def launch(self, request: shim.Request) -> Process:
        """Starts a container. Refused."""
        said = await self._ask(zygote.SHIM, request._asdict())
        if "pid" in said:
            who = records.Who(said["pid"], said["ticks"], said["boot"])
            return Process.of(who, said["started_ms"]) or Process(-1, who, said["started_ms"])
        if "taken" in said:
            found = Process.find(request.stem)
            if found is not None:
                return found
        message = str(said.get("failed", "the shim ended without a word"))
        raise Refused(message, attempted=records.read(f"{request.stem}.run") is not None)

    async def run_inside(self, request: inside.Request, streams: list[int]) -> int:
        """Runs a command in a container to its end: its exit code. `streams`: its stdin, stdout and stderr, closed here once
        they are handed over. Cancelled, it kills the command. Refused: it could not be started."""
        said = await self._ask(zygote.INSIDE, request._asdict(), streams)
        if "code" not in said:
            raise Refused(str(said.get("failed", "the command ended with its container")), attempted=False)
        return int(said["code"])

    async def stop(self) -> None:
        """The zygote leaves; containers go on."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._zygote is not None:
            self._zygote.kill()
            await asyncio.to_thread(self._zygote.wait)
            self._zygote = None

    async def _ask(self, packet: bytes, asked: dict[str, Any], handed_over: Sequence[int] = ()) -> dict[str, Any]:
        read_end, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        paper = os.memfd_create("request", os.MFD_CLOEXEC)
        try:
            _write_all(paper, json.dumps(asked).encode())
            os.set_blocking(write_end, True)
            await self._send(packet, [paper, write_end, *handed_over])
        except BaseException:
            os.close(read_end)
            raise
        finally:
            for descriptor in {paper, write_end, *handed_over}:
                os.close(descriptor)
        said = await _read_to_end(read_end)
        try:
            found = json.loads(said) if said else {}
        except ValueError:
            found = {}
        return found if isinstance(found, dict) else {}

    async def _send(self, packet: bytes, descriptors: list[int]) -> None:
        for last in (False, True):
            connection = self._connection()
            while True:
                try:
                    socket.send_fds(connection, [packet], descriptors)
                    return
                except BlockingIOError:
                    await asyncio.sleep(0.001)
                except OSError:
                    if last:
                        raise
                    self._forget()
                    break

    def _connection(self) -> socket.socket:
        if self._socket is not None and self._zygote is not None and self._zygote.poll() is None:
            return self._socket
        self._forget()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._zygote = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _LOAD, _SOURCE, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd="/",
            )
        ours.setblocking(False)
        self._socket = ours
        return ours

    def _forget(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._zygote is not None:
            self._zygote.kill()
            self._zygote.wait()
            self._zygote = None


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def exit_of(stem: str, now_ms: int) -> Exit:
    """How an attempt whose shim is gone ended; without a record (killed, or the machine went down) that it was lost."""
    record = records.read(f"{stem}.exit")
    if record is not None:
        return Exit(
            record["code"],
            record["signal"],
            record["reason"],
            record["message"],
            record["started_ms"],
            record["finished_ms"],
        )
    began = records.read(f"{stem}.run") or {}
    message = "The container could not be located: its guardian process is gone, or the machine was restarted"
    return Exit(LOST_CODE, 0, "ContainerStatusUnknown", message, began.get("started_ms", now_ms), now_ms, lost=True)


def sweep(stem_prefix: str) -> int:
    """Kills every process that carries a mark which starts so: what a killed shim left. How many; call until none."""
    wanted = f"\0{MARK}={stem_prefix}".encode()
    count = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                carries = wanted in b"\0" + file.read()
            if carries:
                os.kill(int(name), signal.SIGKILL)
                count += 1
        except OSError:
            continue
    return count


def stems(directory: Path) -> list[str]:
    """The attempts of one container's directory that were ever to run, oldest first, without their suffix."""
    found = {int(p.stem) for p in directory.glob("*.run") if p.stem.isdigit()}
    return [str(directory / str(attempt)) for attempt in sorted(found)]


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


async def _read_to_end(descriptor: int) -> bytes:
    """Everything until the other end is closed."""
    loop = asyncio.get_running_loop()
    said = bytearray()
    done: asyncio.Future[None] = loop.create_future()

    def ready() -> None:
        try:
            chunk = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        said.extend(chunk)
        if not chunk:
            _resolve(done)

    loop.add_reader(descriptor, ready)
    try:
        await done
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return bytes(said)
