"""Logs of a pod, commands in it, its own streams and ports: what the API server asks of whoever runs it. The kubelet implements
it, the command line wires it."""

from __future__ import annotations

from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from kumi.api.wire import JsonObject


@dataclass(frozen=True)
class LogOptions:
    """The options of `kubectl logs`. `container` "" is the only one, or the default one."""

    container: str = ""
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    since_ms: int | None = None
    """milliseconds since the epoch: only what is not older"""
    limit_bytes: int | None = None


class LogSource(Protocol):
    """Reads a pod's log."""

    def logs(self, pod: JsonObject, options: LogOptions) -> AsyncIterator[bytes]:
        """Chunks of the log; with `follow` until the container ends. ApiError 400 as the kubelet's users know it
        (`container "x" in pod "y" is waiting to start: ContainerCreating`), 404 for an unknown container."""
        ...


@dataclass(frozen=True)
class ExecOptions:
    """The options of `kubectl exec`. With a terminal there is no stderr of its own."""

    container: str
    command: tuple[str, ...]
    stdin: bool = False
    terminal: bool = False


class Command(Protocol):
    """A command that runs in a container."""

    async def read(self, stream: str) -> bytes:
        """The next bytes of `stdout` or `stderr`; b"" at the end, which is no later than the command's."""
        ...

    async def write(self, data: bytes) -> None:
        """To its stdin; returns when they are taken. What nobody reads any more is lost."""
        ...

    async def close_input(self) -> None:
        """Ends its stdin."""
        ...

    def resize(self, columns: int, rows: int) -> None:
        """The size of its terminal."""
        ...

    async def code(self) -> int:
        """Its exit code, when it has ended. KumiError: it could not be started, or its container ended first."""
        ...

    async def close(self) -> None:
        """Kills it if it runs, and lets go of it."""
        ...


class ExecSource(Protocol):
    """A way into pods that run."""

    async def execute(self, pod: JsonObject, options: ExecOptions) -> Command:
        """Starts a command. ApiError: nobody here runs that pod, or the container is not running."""
        ...

    async def attach(self, pod: JsonObject, container: str, stdin: bool) -> Command:
        """A running container's own streams, as a command that ends when the container does. ApiError: as for `execute`."""
        ...

    async def connect(self, pod: JsonObject, port: int) -> tuple[StreamReader, StreamWriter]:
        """A connection to what the pod listens on. KumiError: nothing of it does, or nobody here runs that pod."""
        ...
