"""Logs of a pod: what the API server asks of whoever runs it. The kubelet implements it, the command line wires it."""

from __future__ import annotations

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
