"""Last words: the message of a container that has ended, as its status shows it.

The rule:
    file       what the container wrote to its terminationMessagePath, at most FILE_BYTES (the last of them)
    log        nothing there, the policy is FallbackToLogsOnError and it failed: the end of its log, at most LOG_LINES lines
               and LOG_BYTES
    neither    what the node itself has to say, or nothing
File       <attempt>.message beside its log, mounted at the path where private views work. The default path, in /dev, is
           provided in a sandbox only, whose /dev is its own: elsewhere a mount there would hide the machine's devices from
           every container, for what few ever write.
Source     Kubernetes: determine the reason for pod failure.
Not here   mounting it: outfit.py.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from kumi.api.wire import JsonObject
from kumi.kubelet.log_files import PREFIX_BYTES, files_of
from kumi.kubelet.pod_words import Exit

DEFAULT_PATH = "/dev/termination-log"
FILE_BYTES, LOG_BYTES, LOG_LINES = 4096, 2048, 80
_TAG = 38


def path_of(container: JsonObject, *, machine_s_dev: bool = True) -> str:
    """Where the container's file is to appear; "" for nowhere. `machine_s_dev`: its /dev is the machine's."""
    path = str(container.get("terminationMessagePath") or DEFAULT_PATH)
    return "" if path == DEFAULT_PATH and machine_s_dev else path


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
        text = _end_of_log(stem)
    return replace(exit, message=text.decode(errors="replace")) if text else exit


def _end_of_log(stem: str) -> bytes:
    """The last lines of the log, from as many of its files as they are in."""
    most = LOG_BYTES + 2 * LOG_LINES * PREFIX_BYTES
    end = b""
    for _, path in reversed(files_of(stem)):
        end = _end_of(path, most - len(end)) + end
        if len(end) >= most:
            break
    lines = _program_lines(end, cut=len(end) >= most)
    return b"".join(lines[-LOG_LINES:])[-LOG_BYTES:]


def _program_lines(text: bytes, *, cut: bool) -> list[bytes]:
    """The program's lines from the entries of its log, parts put together. `cut`: the first entry may lack its
    beginning; as many bytes of it are left out as what comes before a text has."""
    lines: list[bytes] = []
    goes_on = False
    for number, entry in enumerate(text.split(b"\n")[:-1]):
        whole = (cut and number == 0) or entry[_TAG : _TAG + 1] == b"F"
        line = entry[PREFIX_BYTES:] + (b"\n" if whole else b"")
        if goes_on:
            line = lines.pop() + line
        lines.append(line)
        goes_on = not whole
    return lines


def _end_of(path: str, most: int) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most))
            return file.read(most)
    except OSError:
        return b""
