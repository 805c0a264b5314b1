"""The lines of a recording (`kumi record`): what changed in a cluster, one JSON object a line.

    {"kumi": "recording", "version": 1, "started_ms": ...}                                 the first line
    {"at_ms": ..., "type": "ADDED", "object": {...}}                                       also MODIFIED, DELETED
    {"at_ms": ..., "type": "REACHED", "group": "", "plural": "pods", "revision": "..."}    of this kind all is here up to there
    {"at_ms": ..., "type": "BEGUN"}                                                        all that was there at the start is here
    {"at_ms": ..., "type": "RESUMED"}                                                      it was stopped, and goes on

Objects    whole, without metadata.managedFields, in the version that Kumi stores.
Times      when it was seen, milliseconds since the epoch; none is below the one before it.
Torn       a last line that was not written to its end, as kill -9 or a full disk leave it, is not there; a reader says so.
Not here   who writes them: kumi.evaluator.recording; what they mean as a load: record.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import orjson

from kumi.api.wire import JsonObject
from kumi.evaluator.traces.base import TraceError

VERSION = 1
HEAD = "recording"
CHANGES = ("ADDED", "MODIFIED", "DELETED")
REACHED, BEGUN, RESUMED = "REACHED", "BEGUN", "RESUMED"
TYPES = (*CHANGES, REACHED, BEGUN, RESUMED)
TORN = "TORN"
"""what stands for a torn last line when it is read; nobody writes it"""


class Line(NamedTuple):
    """A line: its number, when, of which type, and all that it says. The head is no Line."""

    number: int
    at_ms: int
    type: str
    said: JsonObject


def head(started_ms: int) -> bytes:
    """The first line."""
    return orjson.dumps({"kumi": HEAD, "version": VERSION, "started_ms": started_ms}) + b"\n"


def written(at_ms: int, type_: str, **said: object) -> bytes:
    """Any other line."""
    return orjson.dumps({"at_ms": at_ms, "type": type_, **said}) + b"\n"


def started_ms(path: Path, text: IO[bytes] | IO[str]) -> int:
    """When it began; reads the first line. TraceError."""
    try:
        said = orjson.loads(text.readline())
        if said["kumi"] == HEAD and said["version"] == VERSION:
            return int(said["started_ms"])
        version = said["version"]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        raise TraceError(path, "is no recording of `kumi record`: its first line must say so", 1) from None
    raise TraceError(path, f"is a recording of version {version}, this Kumi reads version {VERSION}", 1)


def lines(path: Path, text: IO[bytes] | IO[str]) -> Iterator[Line]:
    """The lines after the first; a torn last one as TORN. TraceError for one that can't be read."""
    last_ms = 0
    rows: Iterable[str | bytes] = text
    for number, raw in enumerate(rows, 2):
        if raw[-1:] not in ("\n", b"\n"):
            yield Line(number, last_ms, TORN, {})
            return
        if not raw.strip():
            continue
        try:
            said = orjson.loads(raw)
            line = Line(number, int(said["at_ms"]), str(said["type"]), said)
            if line.type in CHANGES:
                _ = said["object"]["metadata"]["name"], said["object"]["kind"]
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise TraceError(path, f"is no line of a recording ({error}): the file was changed", number) from None
        if line.type not in TYPES:
            raise TraceError(path, f"a line of type {line.type!r} is not known: is it of a newer Kumi?", number)
        if line.at_ms < last_ms:
            raise TraceError(
                path, f"is earlier than the line before it ({line.at_ms} after {last_ms})", number, "at_ms"
            )
        last_ms = line.at_ms
        yield line


def whole(path: Path) -> int:
    """How many bytes of the file are whole lines."""
    with path.open("rb") as text:
        at = text.seek(0, 2)
        while at > 0:
            step = min(at, 65536)
            at -= step
            text.seek(at)
            found = text.read(step).rfind(b"\n")
            if found >= 0:
                return at + found + 1
    return 0
