"""Last words: the message of a container that has ended, as its status shows it.

The rule:
    file       what the container wrote to its terminationMessagePath, at most FILE_BYTES (the last of them)
    log        nothing there, the policy is FallbackToLogsOnError and it failed: the end of its log, at most LOG_LINES lines
               and LOG_BYTES
    neither    what the node itself has to say, or nothing
File       <attempt>.message beside its log, mounted at the path where private views work. The default path, in /dev, is
           not provided: a mount there would hide the machine's devices from every container, for what few ever write.
Source     Kubernetes: determine the reason for pod failure.
Not here   mounting it: outfit.py.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from kumi.api.wire import JsonObject
from kumi.kubelet.pod_words import Exit
from kumi.kubelet.shim import PREFIX_BYTES

DEFAULT_PATH = "/dev/termination-log"
FILE_BYTES, LOG_BYTES, LOG_LINES = 4096, 2048, 80


def path_of(container: JsonObject) -> str:
    """Where the container's file is to appear; "" for nowhere."""
    path = str(container.get("terminationMessagePath") or DEFAULT_PATH)
    return "" if path == DEFAULT_PATH else path


def make_file(stem: str) -> str:
    """Makes the file of an attempt, for any user of the container to write."""
    path = f"{stem}.message"
    Path(path).parent.mkdir(exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    os.fchmod(descriptor, 0o666)
    os.close(descriptor)
    return path


def with_last_words(exit: Exit, container: JsonObject, stem: str) -> Exit:
    """The same end with the container's own message, if it left one."""
    text = _end_of(f"{stem}.message", FILE_BYTES)
    if not text and exit.code != 0 and container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
        entries = _end_of(f"{stem}.log", LOG_BYTES + 2 * LOG_LINES * PREFIX_BYTES).splitlines(keepends=True)
        lines = [entry[PREFIX_BYTES:] for entry in entries[-LOG_LINES:]]
        text = b"".join(lines)[-LOG_BYTES:]
    return replace(exit, message=text.decode(errors="replace")) if text else exit


def _end_of(path: str, most: int) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most))
            return file.read(most)
    except OSError:
        return b""
