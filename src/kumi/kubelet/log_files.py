"""The log of a container as files: written in entries, rotated, bounded.

Form       `<RFC 3339 time, ns> stdout|stderr F|P <bytes>\\n`; F ends a line of the program, P is a part that the next entry
           of its stream goes on with: a line of more than LINE_BYTES, output that ended without a newline, or what has
           waited for its newline for PART_MS (progress bars, prompts), so that who follows sees it.
           All PREFIX_BYTES before the text are fixed.
Rotation   an attempt writes `<stem>.log`, then `<stem>.1.log`, `<stem>.2.log` ...; a file is written once, to at most
           `bytes` (one entry that is longer has a file of its own), and never renamed; before a file more than `files` is
           made, the oldest is removed. So at most bytes x files are on disk.
           Who reads one to its end and then finds a later one has read all of it.
Full disk  loses lines, never the container: what fits only in part is taken back, so every entry that is there is whole.
           The oldest file has gone by then, and the log goes on where there is room again.
Source     the CRI log format; Kubernetes: log rotation (containerLogMaxSize, containerLogMaxFiles).
Not here   reading: logs.py. Standard library only: the shim loads it.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import NamedTuple

PREFIX_BYTES = 40
LINE_BYTES = 16 * 1024
PART_MS = 200


class Limits(NamedTuple):
    """How much of a container's log is kept: `files` of at most `bytes` each."""

    bytes: int = 10 * 1024 * 1024
    files: int = 5


LIMITS = Limits()
"""as kubelets have them"""


class Log:
    """The log of one attempt, for the one who writes it."""

    def __init__(self, stem: str, limits: Limits = LIMITS) -> None:
        self._stem, self._limits = stem, limits
        there = files_of(stem)
        self._kept = [number for number, _ in there] or [0]
        self._file, self._size = -1, 0
        self._open()
        self._parts = {"stdout": b"", "stderr": b""}
        self._due_ns: dict[str, int] = {}
        """when what a stream waits with is shown"""
        self._second, self._second_text = -1, b""

    def take(self, stream: str, data: bytes) -> None:
        """Writes the whole lines, keeps the rest until its newline comes, it is long, or its time is over."""
        data = self._parts[stream] + data
        end = data.rfind(b"\n") + 1
        entries, rest = [], data[end:]
        head = self._head(stream)
        if end:
            entries = [head + b"F " + line + b"\n" for line in data[: end - 1].split(b"\n")]
        while len(rest) >= LINE_BYTES:
            entries.append(head + b"P " + rest[:LINE_BYTES] + b"\n")
            rest = rest[LINE_BYTES:]
        self._parts[stream] = rest
        if not rest:
            self._due_ns.pop(stream, None)
        elif entries or stream not in self._due_ns:
            self._due_ns[stream] = time.monotonic_ns() + PART_MS * 1_000_000
        self._write(entries)

    def wait_ms(self) -> int | None:
        """How long until `show` has something to show; None: nothing waits."""
        if not self._due_ns:
            return None
        return max(0, -(-(min(self._due_ns.values()) - time.monotonic_ns()) // 1_000_000))

    def show(self) -> None:
        """Writes what has waited for its newline long enough."""
        now_ns = time.monotonic_ns()
        for stream in [stream for stream, due_ns in self._due_ns.items() if due_ns <= now_ns]:
            self._part(stream)

    def close(self) -> None:
        """Writes what is left without a newline."""
        for stream in list(self._due_ns):
            self._part(stream)
        self._shut()

    def _part(self, stream: str) -> None:
        del self._due_ns[stream]
        rest, self._parts[stream] = self._parts[stream], b""
        self._write([self._head(stream) + b"P " + rest + b"\n"])

    def _write(self, entries: list[bytes]) -> None:
        """As many entries at once as the file takes."""
        start = 0
        while start < len(entries):
            end, size = start, 0
            while end < len(entries) and (
                self._size + size + len(entries[end]) <= self._limits.bytes or not (self._size or size)
            ):
                size += len(entries[end])
                end += 1
            if end > start:
                self._append(b"".join(entries[start:end]))
            elif not self._rotate():
                return
            start = end

    def _append(self, text: bytes) -> None:
        if self._file < 0 and not self._open():
            return
        written = 0
        try:
            while written < len(text):
                written += os.write(self._file, text[written:])
        except OSError:
            kept = text[:written].rfind(b"\n") + 1
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size + kept)
            written = kept
        self._size += written

    def _rotate(self) -> bool:
        """Goes on in a new file; False where none can be made: what comes until then is lost."""
        self._shut()
        for number in self._kept[: max(0, len(self._kept) + 1 - max(1, self._limits.files))]:
            with contextlib.suppress(OSError):
                os.unlink(path_of(self._stem, number))
        self._kept = [*self._kept, self._kept[-1] + 1][-max(1, self._limits.files) :]
        return self._open()

    def _open(self) -> bool:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._file = os.open(path_of(self._stem, self._kept[-1]), flags, 0o640)
        except OSError:
            self._size = 0
            return False
        self._size = os.fstat(self._file).st_size
        return True

    def _shut(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _head(self, stream: str) -> bytes:
        second, ns = divmod(time.time_ns(), 10**9)
        if second != self._second:
            self._second = second
            self._second_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)).encode()
        return b"%b.%09dZ %b " % (self._second_text, ns, stream.encode())


def path_of(stem: str, number: int) -> str:
    """The file of that number of an attempt."""
    return f"{stem}.{number}.log" if number else f"{stem}.log"


def files_of(stem: str) -> list[tuple[int, str]]:
    """(number, path) of the files that are there of an attempt, the oldest first."""
    directory, attempt = os.path.split(stem)
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            of, number = split_name(name)
            if of == attempt:
                found.append((number, os.path.join(directory, name)))
    return sorted(found)


def split_name(name: str) -> tuple[str, int]:
    """(attempt, number) of a log's file name; ("", 0) for the name of anything else."""
    words = name.split(".")
    if words[-1] != "log" or not 2 <= len(words) <= 3 or not all(w.isascii() and w.isdigit() for w in words[:-1]):
        return "", 0
    return words[0], int(words[1]) if len(words) == 3 else 0
