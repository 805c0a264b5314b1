"""kubectl logs: reads what shims write.

Form       see log_files.py: fixed bytes (time, stream, F or P), then the text. A time is shown once per line of the
           program, however many entries the line has; a last line without a newline comes out without one.
Files      all that rotation has kept of the attempt are read as one, from the oldest on; while following, from one to the
           next. They are opened at once, so that none is lost to a reader that takes its time; one that is slower than
           all of them together misses what went meanwhile.
End        with `follow` it ends when the attempt has its `.exit` record and everything before it was sent: the shim makes
           the record after the last byte.
Cost       as many open files as are kept; `tail` reads back from the end; everything else is read in pieces of 64 KiB.
Errors     as kubectl's users know them, ApiError 400: no such container, which of several, still waiting, no previous.
Source     Kubernetes: kubectl logs, the pod log endpoint.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import BinaryIO

from kumi.api.errors import ApiError, bad_request
from kumi.api.meta import EPOCH
from kumi.api.wire import JsonObject
from kumi.kubelet.log_files import PREFIX_BYTES, files_of, path_of, split_name
from kumi.kubelet.pod_record import home_of
from kumi.runtime.clock import Clock
from kumi.runtime.streams import LogOptions

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
KEPT = 2
"""logs kept of a container: the last attempt's and the one before"""
_PIECE = 1 << 16
_POLL_MS = 50
_TIME_BYTES = 30
_TAG = 38


class ProcessLogs:
    """The logs of all pods of a machine (a runtime.streams.LogSource)."""

    def __init__(self, data_dir: Path, clock: Clock) -> None:
        self._data_dir, self._clock = data_dir, clock

    async def logs(self, pod: JsonObject, options: LogOptions) -> AsyncIterator[bytes]:
        """See LogSource; of a pod that has no node yet there is nothing."""
        if not pod["spec"].get("nodeName"):
            return
        container = container_of(pod, options.container)
        stem = self._stem(pod, container, options.previous)
        show = _Show(options)
        with _Files(stem) as files:
            if options.tail_lines is not None:
                files.skip_to(_tail_offset(files, options.tail_lines))
            while True:
                ended = not options.follow or _has_ended(stem)
                for piece in show.pieces(files):
                    yield piece
                if show.full or ended:
                    return
                await self._clock.sleep_ms(_POLL_MS)

    def _stem(self, pod: JsonObject, container: str, previous: bool) -> str:
        home = home_of(self._data_dir, pod) / container
        try:
            attempts = sorted({int(of) for of, _ in map(split_name, os.listdir(home)) if of})
        except OSError:
            attempts = []
        wanted = attempts[-2:-1] if previous and _runs(pod, container, home, attempts) else attempts[-1:]
        if previous and not wanted:
            name = pod["metadata"]["name"]
            raise bad_request(f'previous terminated container "{container}" in pod "{name}" not found')
        if not wanted:
            self._refuse_waiting(pod, container)
            return str(home / "none")
        return str(home / str(wanted[0]))

    @staticmethod
    def _refuse_waiting(pod: JsonObject, container: str) -> None:
        status = next((s for s in _statuses(pod) if s.get("name") == container), {})
        waiting = (status.get("state") or {}).get("waiting") or {}
        if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed") and not waiting:
            return
        reason = waiting.get("reason") or "ContainerCreating"
        detail = f": {waiting['message']}" if waiting.get("message") and reason != "ContainerCreating" else ""
        raise bad_request(
            f'container "{container}" in pod "{pod["metadata"]["name"]}" is waiting to start: {reason}{detail}'
        )


def container_of(pod: JsonObject, wanted: str) -> str:
    """The container whose log is asked for. ApiError 400."""
    meta, spec = pod["metadata"], pod["spec"]
    names = [str(c["name"]) for c in spec["containers"]]
    inits = [str(c["name"]) for c in spec.get("initContainers") or ()]
    default = str((meta.get("annotations") or {}).get(DEFAULT_CONTAINER, ""))
    if wanted:
        if wanted not in names and wanted not in inits:
            raise bad_request(f"container {wanted} is not valid for pod {meta['name']}")
        return wanted
    if default in names or default in inits:
        return default
    if len(names) == 1:
        return names[0]
    message = f"a container name must be specified for pod {meta['name']}, choose one of: [{' '.join(names)}]"
    if inits:
        message += f" or one of the init containers: [{' '.join(inits)}]"
    raise bad_request(message)


def drop_old(directory: Path, attempt: int) -> None:
    """Removes the files of a container's attempts that nobody can ask for once `attempt` is made."""
    old = attempt - KEPT
    if old >= 0:
        for number, _ in files_of(str(directory / str(old))):
            Path(path_of(str(directory / str(old)), number)).unlink(missing_ok=True)
        for suffix in ("run", "exit", "message", "attach"):
            (directory / f"{old}.{suffix}").unlink(missing_ok=True)


def parse_log_time(text: bytes) -> int:
    """Milliseconds since the epoch of an entry's time; 0 for what is none."""
    try:
        moment = dt.datetime.strptime(text[:26].decode("ascii"), "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=dt.UTC)
        return (moment - EPOCH) // dt.timedelta(milliseconds=1)
    except (ValueError, ApiError):
        return 0


class _Files:
    """What is kept of an attempt's log, as one file that may grow. Offsets count from the oldest that was there at first."""

    def __init__(self, stem: str) -> None:
        self._stem = stem
        self._last = -1
        self._files: list[BinaryIO] = []
        self._find()
        self._sizes = [os.fstat(file.fileno()).st_size for file in self._files]

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()

    @property
    def size(self) -> int:
        """Of all that was there at first."""
        return sum(self._sizes)

    def at(self, offset: int, count: int) -> bytes:
        """So many bytes from there on; before anything else is read."""
        found = b""
        for file, size in zip(self._files, self._sizes, strict=True):
            if offset < size and count:
                piece = os.pread(file.fileno(), min(count, size - offset), offset)
                found += piece
                count -= len(piece)
            offset = max(0, offset - size)
        return found

    def skip_to(self, offset: int) -> None:
        """Goes on from there; before anything else is read."""
        for size in self._sizes[:-1]:
            if offset < size:
                break
            offset -= size
            self._files.pop(0).close()
        if self._files:
            self._files[0].seek(offset)

    def read(self, count: int) -> bytes:
        """The next bytes; b"" where there is nothing more for now."""
        while True:
            if self._files and (data := self._files[0].read(count)):
                return data
            if len(self._files) > 1:
                self._files.pop(0).close()
            elif not self._find():
                return b""

    def _find(self) -> bool:
        """Opens the files that were made since."""
        before = len(self._files)
        for number, path in files_of(self._stem):
            if number > self._last:
                with contextlib.suppress(FileNotFoundError):
                    self._files.append(open(path, "rb"))  # noqa: SIM115  closed when it is left
                    self._last = number
        return len(self._files) > before


class _Show:
    """Entries as the caller wants to see them. `full`: the limit is reached."""

    def __init__(self, options: LogOptions) -> None:
        self._times = options.timestamps
        self._since_ms = options.since_ms
        self._left = options.limit_bytes
        self._part = b""
        self._at_line_start = True
        self.full = False

    def pieces(self, files: _Files) -> Iterator[bytes]:
        """What was added to the files since the last call."""
        while not self.full and (data := files.read(_PIECE)):
            entries = (self._part + data).split(b"\n")
            self._part = entries.pop()
            text = b"".join(self._one(e) for e in entries)
            if self._left is not None:
                text = text[: self._left]
                self._left -= len(text)
                self.full = self._left <= 0
            if text:
                yield text

    def _one(self, entry: bytes) -> bytes:
        if self._since_ms is not None:
            if parse_log_time(entry) < self._since_ms:
                return b""
            self._since_ms = None
        whole = entry[_TAG : _TAG + 1] == b"F"
        text = entry[PREFIX_BYTES:] + (b"\n" if whole else b"")
        if self._times and self._at_line_start:
            text = entry[: _TIME_BYTES + 1] + text
        self._at_line_start = whole
        return text


def _tail_offset(files: _Files, lines: int) -> int:
    """Where the last `lines` lines of the program begin."""
    position, text, piece = files.size, b"", _PIECE
    while position > 0:
        step, piece = min(piece, position), piece * 2
        position -= step
        text = files.at(position, step) + text
        found = _line_starts(text, position == 0)
        if len(found) > lines:
            break
    starts = _line_starts(text, position == 0)
    if lines <= 0:
        return files.size
    return position + starts[-lines] if len(starts) >= lines else position + (starts[0] if starts else 0)


def _line_starts(text: bytes, from_start: bool) -> list[int]:
    """Offsets of the entries that begin a line of the program: those after a whole one."""
    starts = [0] if from_start and text else []
    offset = 0 if from_start else text.find(b"\n") + 1
    known = from_start
    while offset < len(text):
        end = text.find(b"\n", offset)
        if end < 0:
            break
        whole = text[offset + _TAG : offset + _TAG + 1] == b"F"
        offset = end + 1
        if whole and offset < len(text):
            starts.append(offset)
        known = True
    return starts if known else []


def _has_ended(stem: str) -> bool:
    return os.path.exists(f"{stem}.exit") or not os.path.exists(f"{stem}.run")


def _statuses(pod: JsonObject) -> list[JsonObject]:
    status = pod.get("status") or {}
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def _runs(pod: JsonObject, container: str, home: Path, attempts: list[int]) -> bool:
    """Whether the last attempt is the present one: while a container waits to run again, its last is the previous."""
    status = next((s for s in _statuses(pod) if s.get("name") == container), {})
    waits = "waiting" in (status.get("state") or {})
    return not (waits and attempts and (home / f"{attempts[-1]}.exit").exists())
