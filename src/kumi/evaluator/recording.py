"""Recording: what changes in a cluster, written down as it happens, for the time machine to play.

The rule   all kinds that decisions depend on, and jobs, are listed, one after the other; then they are watched from there on. A
           watch that is lost is taken up again; where its revision is compacted, the kind is listed again, and what is different
           is written
           a recording that is there goes on: each kind from where it was; what went meanwhile is written as deleted
Kinds      a cluster that doesn't have one (404), or doesn't show it (403), is recorded without it: `missing` says which
Written    a line at a time, at once: whoever is killed loses the line that he was writing, and nothing else. One writer a file.
Times      from the clock, never going back.
Not here   the lines themselves: traces/lines.py; the command: kumi.cli.record.
"""

from __future__ import annotations

import asyncio  # noqa: TID251  watches are coroutines; what is written is what the cluster says
import fcntl
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from kumi.api import kueue
from kumi.api.errors import ApiError, KumiError
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME, Kind
from kumi.api.wire import JsonObject, WatchEvent
from kumi.bridge.into import AROUND, TYPES, volumeclaim
from kumi.evaluator.traces import lines
from kumi.jobs import QUEUED
from kumi.runtime.client import Reader
from kumi.runtime.clock import Clock

RECORDED: tuple[type[Object], ...] = (
    *AROUND,
    *volumeclaim.TYPES,
    *TYPES[:-2],
    kueue.WorkloadPriorityClass,
    *(queued.view_type for queued in QUEUED),
    *TYPES[-2:],
)
"""what is recorded, those that others refer to first"""
RETRY_FIRST_MS, RETRY_LAST_MS = 200, 30_000
NOT_HERE = (403, 404)


class File:
    """The file of a recording, open for its only writer. KumiError if somebody else writes it, or it is no recording."""

    def __init__(self, path: Path, now_ms: int) -> None:
        self.path = path
        self.written = 0
        """changes, by this writer"""
        self.revisions: dict[str, str] = {}
        """resource -> how far it is recorded"""
        self.there: dict[str, dict[str, JsonObject]] = {}
        """resource -> uid -> what is there, as the recording has it"""
        self.resumed = path.exists() and path.stat().st_size > 0 and lines.whole(path) > 0
        self._last_ms = now_ms
        self._file = path.open("r+b" if path.exists() else "w+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self.resumed:
                self._take_up()
            else:
                self._file.truncate(0)
                self._write(lines.head(now_ms))
        except OSError as error:
            self._file.close()
            raise KumiError(f"{path} is being written by another `kumi record`") from error
        except KumiError:
            self._file.close()
            raise

    def __enter__(self) -> File:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _take_up(self) -> None:
        """Reads what is there, and drops a torn last line."""
        self._file.truncate(lines.whole(self.path))
        self._file.seek(0)
        self._last_ms = max(self._last_ms, lines.started_ms(self.path, self._file))
        for line in lines.lines(self.path, self._file):
            self._last_ms = max(self._last_ms, line.at_ms)
            if line.type == lines.REACHED:
                self.revisions[_resource(line.said["group"], line.said["plural"])] = line.said["revision"]
            elif line.type in lines.CHANGES:
                self._note(line.type, line.said["object"])
        self._file.seek(0, 2)

    def change(self, now_ms: int, type_: str, obj: JsonObject) -> None:
        """Writes a change."""
        meta = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
        self._note(type_, obj)
        self.written += 1
        self._write(lines.written(self._at(now_ms), type_, object={**obj, "metadata": meta}))

    def reached(self, now_ms: int, kind: Kind, revision: str) -> None:
        """Writes how far a kind is."""
        self.revisions[kind.resource] = revision
        said = {"group": kind.group, "plural": kind.plural, "revision": revision}
        self._write(lines.written(self._at(now_ms), lines.REACHED, **said))

    def mark(self, now_ms: int, type_: str) -> None:
        """Writes a line that says nothing else."""
        self._write(lines.written(self._at(now_ms), type_))

    def _note(self, type_: str, obj: JsonObject) -> None:
        kind, meta = SCHEME.of_object(obj), obj["metadata"]
        if kind is None:
            return
        there = self.there.setdefault(kind.resource, {})
        if type_ == "DELETED":
            there.pop(meta.get("uid", ""), None)
        else:
            there[meta.get("uid", "")] = obj
        if meta.get("resourceVersion"):
            self.revisions[kind.resource] = meta["resourceVersion"]

    def _at(self, now_ms: int) -> int:
        self._last_ms = max(self._last_ms, now_ms)
        return self._last_ms

    def _write(self, line: bytes) -> None:
        self._file.write(line)
        self._file.flush()


def _resource(group: str, plural: str) -> str:
    return f"{plural}.{group}" if group else plural


class Recorder:
    """Records a cluster into a file, until it is cancelled. `missing`: the kinds that the cluster hasn't, or doesn't show."""

    def __init__(self, reader: Reader, file: File, clock: Clock, told: Callable[[str], None]) -> None:
        self.missing: list[str] = []
        self._reader, self._file, self._clock, self._told = reader, file, clock, told

    async def run(self) -> None:
        """Until it is cancelled. ApiError, ConnectionError: the first lists can't be had."""
        now_ms = self._clock.now_ms()
        if self._file.resumed:
            self._file.mark(now_ms, lines.RESUMED)
        kinds = [SCHEME.of(type_) for type_ in RECORDED]
        here = [kind for kind in kinds if await self._begin(kind, now_ms)]
        if not self._file.resumed:
            self._file.mark(now_ms, lines.BEGUN)
        async with asyncio.TaskGroup() as group:
            for kind in here:
                group.create_task(self._follow(kind))

    async def _begin(self, kind: Kind, now_ms: int) -> bool:
        """Its list, where the recording has nothing of it. Whether the cluster has it."""
        if kind.resource in self._file.revisions:
            return True
        try:
            await self._list(kind, now_ms)
        except ApiError as error:
            if error.code not in NOT_HERE:
                raise
            self.missing.append(kind.resource)
            return False
        return True

    async def _list(self, kind: Kind, now_ms: int) -> None:
        """What is different from what is recorded."""
        page = await self._reader.list(kind)
        before = dict(self._file.there.get(kind.resource, {}))
        for item in page.items:
            obj = {"apiVersion": kind.api_version, "kind": kind.kind, **item}
            old = before.pop(obj["metadata"].get("uid", ""), None)
            if old is None or old["metadata"].get("resourceVersion") != obj["metadata"].get("resourceVersion"):
                self._file.change(now_ms, "ADDED" if old is None else "MODIFIED", obj)
        for gone in before.values():
            self._file.change(now_ms, "DELETED", gone)
        self._file.reached(now_ms, kind, page.revision)

    async def _follow(self, kind: Kind) -> None:
        failures, listed = 0, True
        while True:
            try:
                if not listed:
                    await self._list(kind, self._clock.now_ms())
                    listed = True
                async for event in self._reader.watch(kind, revision=self._file.revisions.get(kind.resource, "")):
                    failures = 0
                    self._seen(kind, event)
            except ApiError as error:
                listed = False
                if error.code != 410:
                    failures += 1
                    self._told(f"{kind.resource}: {error}; trying again")
            except (OSError, TimeoutError) as error:
                failures += 1
                if failures == 1:
                    self._told(f"{kind.resource}: the connection was lost ({error}); trying again")
            await self._clock.sleep_ms(min(RETRY_FIRST_MS * 2 ** min(failures, 20), RETRY_LAST_MS))

    def _seen(self, kind: Kind, event: WatchEvent) -> None:
        now_ms = self._clock.now_ms()
        if event.type == "BOOKMARK":
            self._file.reached(now_ms, kind, event.object["metadata"]["resourceVersion"])
            return
        self._file.change(now_ms, event.type, {"apiVersion": kind.api_version, "kind": kind.kind, **event.object})
