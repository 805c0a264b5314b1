"""kubectl exec, attach and port-forward: ways into the containers of this machine.

    commands = ProcessCommands()          what the API server is given
    commands.serve(machine)               once there is one; until then no pod runs here

A command has pipes or a terminal. It runs with the container's environment, directory and private view (inside.py); its
terminal, if it is to have one, is made on this side. What it said before its end can be read after it; what it left in the
background is not waited for.

Not here   the protocol with clients: the API server's routes. A container's own streams: attaching.py; ports: forwarding.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import struct
import termios
from collections.abc import Callable
from typing import Any

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject
from kumi.kubelet import forwarding, inside
from kumi.kubelet.attaching import Attached
from kumi.kubelet.console import END_OF_INPUT
from kumi.kubelet.logs import container_of
from kumi.kubelet.machine import Machine
from kumi.kubelet.process import Launcher
from kumi.runtime.streams import ExecOptions

_PIECE = 1 << 16


class ProcessCommands:
    """The ways into the pods of a machine (a runtime.streams.ExecSource)."""

    def __init__(self) -> None:
        self._machine: Machine | None = None

    def serve(self, machine: Machine) -> None:
        """From now on the pods are that machine's."""
        self._machine = machine

    async def execute(self, pod: JsonObject, options: ExecOptions) -> ProcessCommand:
        """See ExecSource. ApiError 404, 400."""
        name = container_of(pod, options.container)
        if self._machine is None:
            raise ApiError(404, "NotFound", f'container not found ("{name}")')
        request = await self._machine.joining(pod, name)
        environment = request.environment
        if options.terminal:
            environment = {"TERM": "xterm", **environment}
        asked = request._replace(argv=list(options.command), environment=environment, terminal=options.terminal)
        return ProcessCommand(self._machine.launcher, asked, options.stdin)

    async def attach(self, pod: JsonObject, container: str, stdin: bool) -> Attached:
        """See ExecSource. ApiError 404, 400."""
        name = container_of(pod, container)
        gone = ApiError(404, "NotFound", f'container not found ("{name}")')
        if self._machine is None:
            raise gone
        request = await self._machine.joining(pod, name)
        try:
            return await Attached.to(request.stem, stdin)
        except OSError as error:
            raise gone from error

    async def connect(self, pod: JsonObject, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """See ExecSource. KumiError."""
        if self._machine is None:
            raise ApiError(404, "NotFound", "the pod does not run here")
        address = (pod.get("status") or {}).get("podIP") or "127.0.0.1"
        return await forwarding.connect(self._machine.guardians(pod), address, port)


class ProcessCommand:
    """One of them (a runtime.streams.Command); it starts at once."""

    def __init__(self, launcher: Launcher, request: inside.Request, wants_input: bool) -> None:
        self._terminal = request.terminal
        self._ends: dict[str, int] = {}
        handed_over = self._open_terminal() if self._terminal else self._open_pipes(wants_input)
        self._run = asyncio.create_task(launcher.run_inside(request, handed_over))

    async def read(self, stream: str) -> bytes:
        """See Command."""
        descriptor = self._ends.get(stream, -1)
        while descriptor >= 0:
            try:
                return os.read(descriptor, _PIECE)
            except BlockingIOError:
                if self._run.done():
                    break
            except OSError:
                break  # a terminal that nobody has open any more
            loop = asyncio.get_running_loop()
            await self._until(loop.add_reader, loop.remove_reader, descriptor)
        return b""

    async def write(self, data: bytes) -> None:
        """See Command."""
        view = memoryview(data)
        while view and (descriptor := self._ends.get("stdin", -1)) >= 0 and not self._run.done():
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await self._until(loop.add_writer, loop.remove_writer, descriptor)
            except OSError:
                return

    async def close_input(self) -> None:
        """See Command."""
        if self._terminal:
            await self.write(END_OF_INPUT)
        elif "stdin" in self._ends:
            os.close(self._ends.pop("stdin"))

    def resize(self, columns: int, rows: int) -> None:
        """See Command."""
        if self._terminal and "stdout" in self._ends:
            with contextlib.suppress(OSError, struct.error):
                fcntl.ioctl(self._ends["stdout"], termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def code(self) -> int:
        """See Command."""
        return await asyncio.shield(self._run)

    async def close(self) -> None:
        """See Command."""
        self._run.cancel()
        await asyncio.gather(self._run, return_exceptions=True)
        for descriptor in set(self._ends.values()):
            os.close(descriptor)
        self._ends = {}

    def _open_terminal(self) -> list[int]:
        ours, theirs = os.openpty()
        os.set_blocking(ours, False)
        self._ends = {"stdin": ours, "stdout": ours}
        return [theirs, theirs, theirs]

    def _open_pipes(self, wants_input: bool) -> list[int]:
        if wants_input:
            stdin, ours = os.pipe2(os.O_CLOEXEC)
            self._ends["stdin"] = ours
        else:
            stdin = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        theirs = [stdin]
        for stream in ("stdout", "stderr"):
            self._ends[stream], end = os.pipe2(os.O_CLOEXEC)
            theirs.append(end)
        for descriptor in self._ends.values():
            os.set_blocking(descriptor, False)
        return theirs

    async def _until(self, add: Callable[..., None], remove: Callable[[int], bool], descriptor: int) -> None:
        """Until the descriptor is ready or the command has ended."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def tell() -> None:
            if not ready.done():
                ready.set_result(None)

        add(descriptor, tell)
        try:
            waited: list[asyncio.Future[Any]] = [ready, self._run]
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            remove(descriptor)
