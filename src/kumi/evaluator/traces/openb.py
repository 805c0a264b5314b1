"""Alibaba's GPU cluster trace of 2023 (openb): a CSV of nodes and one of tasks, as a Load.

The rule   node    sn, cpu_milli, memory_mib, gpu (how many), model ("" for none) -> cpu, memory, nvidia.com/gpu; its model is the
                   label kumi.dev/gpu-model; so many pods as come
           task    one pod, `openb/<name>`, from creation_time on (seconds; 0 is the load's start)
           GPUs    num_gpu of them, whole; one of less than 1000 gpu_milli is a share of one GPU
           models  gpu_spec, `|` between them: a node affinity In on kumi.dev/gpu-model
           tenant  qos
           runs    runs_from "creation": deletion_time - creation_time; "scheduled": deletion_time - scheduled_time, and from
                   creation_time for a task that has no scheduled_time: it never ran in the trace. No deletion_time: until
                   the run is over. Its owner says what is true: said_ms is runs_ms
Order      of creation_time, then as written. A file that is in this order is read as a stream; another one is read whole and
           sorted. Columns are found by their names: their order is free, and others may be there.
Units      thousandths, MiB and seconds in the files; thousandths, bytes and milliseconds in the load.
Cost       O(rows) a play, some microseconds each; equal shapes are one object.
Source     "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023) and
           the trace published with it.
Not here   pod_phase: how the tasks ended there plays no part.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import IO, NamedTuple

from kumi.engine.model import Node, PodShape, Requirement
from kumi.engine.placement.plugins.spread import HOST
from kumi.evaluator.model import START_MS, Arrive, Event, Job, Load, Role
from kumi.evaluator.traces.base import LARGEST, Format, TraceError, opened

GPU = "nvidia.com/gpu"
MODEL = "kumi.dev/gpu-model"
"""the label of a node that says which GPUs it has"""
NAME_FIELD = "metadata.name"
WHOLE = 1000
MIB = 2**20
PODS = 100_000 * 1000
"""so many pods a node takes, in base units: the trace knows no limit"""
NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
TASK_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos")
TIME_COLUMNS = ("creation_time", "deletion_time", "scheduled_time")
STARTS = ("creation", "scheduled")


def read(nodes: Path | None, jobs: Path, *, runs_from: str = "creation") -> Load:
    """The load of both files; see the module. TraceError; of a task's own row, when it is its turn."""
    if nodes is None:
        raise TraceError(jobs, "names no nodes: give the trace's file of nodes as well")
    if runs_from not in STARTS:
        raise TraceError(jobs, f"can't be read with runs_from {runs_from!r}: write {' or '.join(STARTS)}")
    tasks = _Tasks(jobs, runs_from == "scheduled")
    return Load(jobs.name, tuple(read_nodes(nodes)), tasks.events, size=tasks.survey())


FORMAT = Format(read, "Alibaba's GPU cluster trace of 2023 (openb)", nodes=True, options={"runs_from": STARTS})


def read_nodes(path: Path) -> Iterator[Node]:
    """The nodes of a file, in its order. TraceError."""
    known: dict[str, int] = {}
    with opened(path) as text:
        table = _Table(path, text, NODE_COLUMNS)
        for row in table:
            name, cpu, memory, gpus, model = row
            if not name:
                raise table.wrong("sn", "is empty: a node needs a name")
            if known.setdefault(name, table.line) != table.line:
                raise table.wrong("sn", f"{name!r} is there already, on line {known[name]}: names of nodes must differ")
            offered = {
                "cpu": table.count("cpu_milli", cpu),
                "memory": table.count("memory_mib", memory) * MIB,
                "pods": PODS,
            }
            if count := table.count("gpu", gpus):
                offered[GPU] = count * WHOLE
            labels = {HOST: name, NAME_FIELD: name} | ({MODEL: model} if model else {})
            yield Node(name, tuple(sorted(labels.items())), tuple(sorted(offered.items())))
    if not known:
        raise TraceError(path, "has no nodes: nothing could run")


class _Table:
    """The rows of a CSV, as tuples of the wanted columns; knows where it is. TraceError."""

    def __init__(self, path: Path, text: IO[str], wanted: tuple[str, ...]) -> None:
        self._path, self._rows = path, csv.reader(text)
        head = [name.strip() for name in self._next() or ()]
        if missing := [name for name in wanted if name not in head]:
            raise TraceError(
                path, f"has no column {', '.join(missing)}: its first line must name {', '.join(wanted)}", 1
            )
        self._pick = itemgetter(*(head.index(name) for name in wanted))
        self._width = len(head)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        pick, width = self._pick, self._width
        while (row := self._next()) is not None:
            if not row:
                continue
            if len(row) != width:
                raise TraceError(self._path, f"has {len(row)} values, the first line names {width} columns", self.line)
            yield pick(row)

    def _next(self) -> list[str] | None:
        try:
            return next(self._rows, None)
        except csv.Error as error:
            raise TraceError(self._path, f"is no CSV: {error}", self.line) from None

    @property
    def line(self) -> int:
        """Where it is, from 1."""
        return self._rows.line_num

    def count(self, column: str, text: str) -> int:
        """A whole number that is not below 0, and can be counted with."""
        try:
            found = int(text)
        except ValueError:
            found = -1
        if found < 0:
            raise self.wrong(column, f"{text!r} is not a whole number of 0 or more")
        if found > LARGEST:
            raise self.wrong(column, f"{text} is too large: write a number up to {LARGEST}")
        return found

    def wrong(self, column: str, what: str) -> TraceError:
        """What is wrong with this row's value."""
        return TraceError(self._path, what, self.line, column)


class _Asked(NamedTuple):
    """What a task asks for, as written."""

    cpu: str
    memory: str
    gpus: str
    milli: str
    models: str


@dataclass(slots=True)
class _Tasks:
    """The tasks of a file, as often as they are asked for."""

    path: Path
    from_scheduled: bool
    ordered: bool = True
    roles: dict[tuple[str, ...], tuple[Role, ...]] = field(default_factory=dict)

    def survey(self) -> int:
        """How many there are; whether they are in order. TraceError for a head that lacks columns, and wrong times."""
        rows, last = 0, 0
        with opened(self.path) as text:
            table = _Table(self.path, text, (*TASK_COLUMNS, *TIME_COLUMNS))
            for row in table:
                created = table.count("creation_time", row[-3])
                self.ordered = self.ordered and created >= last
                last = created
                rows += 1
        return rows

    def events(self) -> Iterator[Event]:
        """Their arrivals, by time."""
        return self._read() if self.ordered else iter(sorted(self._read(), key=attrgetter("at_ms")))

    def _read(self) -> Iterator[Arrive]:
        known: dict[str, int] = {}
        with opened(self.path) as text:
            table = _Table(self.path, text, (*TASK_COLUMNS, *TIME_COLUMNS))
            for name, cpu, memory, gpus, milli, models, qos, *times in table:
                if not name:
                    raise table.wrong("name", "is empty: a task needs a name")
                if known.setdefault(name, table.line) != table.line:
                    raise table.wrong("name", f"{name!r} is there already, on line {known[name]}: names must differ")
                asked = _Asked(cpu, memory, gpus, milli, models)
                roles = self.roles.get(asked)
                if roles is None:
                    roles = self.roles[asked] = (Role("task", 1, _shape(table, asked)),)
                arrives, runs = self._times(table, *times)
                said = None if runs is None else max(1, runs)
                yield Arrive(Job(f"openb/{name}", arrives, roles, runs, tenant=qos, said_ms=said))

    def _times(self, table: _Table, created: str, deleted: str, scheduled: str) -> tuple[int, int | None]:
        """When it arrives, and for how long it runs."""
        arrives = table.count("creation_time", created)
        if not deleted:
            return START_MS + arrives * 1000, None
        start, column = arrives, "creation_time"
        if self.from_scheduled and scheduled:
            start, column = table.count("scheduled_time", scheduled), "scheduled_time"
        runs = table.count("deletion_time", deleted) - start
        if runs < 0:
            raise table.wrong("deletion_time", f"{deleted} is before its {column}, {start}")
        return START_MS + arrives * 1000, runs * 1000


def _shape(table: _Table, asked: _Asked) -> PodShape:
    """What the task asks for; shapes that are written alike are kept by the caller."""
    requests = {"cpu": table.count("cpu_milli", asked.cpu), "memory": table.count("memory_mib", asked.memory) * MIB}
    gpus, share = table.count("num_gpu", asked.gpus), 0
    if gpus:
        requests[GPU] = gpus * WHOLE
    if gpus == 1 and asked.milli:
        milli = table.count("gpu_milli", asked.milli)
        if not 0 < milli <= WHOLE:
            raise table.wrong("gpu_milli", f"{milli} is no share of one GPU: it must be from 1 to {WHOLE}")
        if milli < WHOLE:
            requests[GPU] = share = milli
    models = tuple(dict.fromkeys(model for model in asked.models.split("|") if model))
    affinity = ((Requirement(MODEL, "In", models),),) if models else None
    return PodShape(tuple(sorted(requests.items())), affinity=affinity, share=share)
