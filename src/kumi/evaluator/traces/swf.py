"""The standard workload format of parallel machines (SWF 2.2): one log as a Load.

The rule   machine     MaxNodes nodes that share MaxProcs processors, as evenly as it goes; one node of MaxProcs where no nodes
                       are named, MaxNodes of one processor where no processors are. A file of nodes, if given, takes their
                       place: it has openb's columns
           job         a gang of as many pods of one processor as it asked for, of as many as it got where it doesn't say;
                       `processors=pod`: one pod with all of them, on a machine that is one node
           arrives     submit time, seconds from UnixStartTime (from the usual start of a load where the log doesn't say)
           runs        run time; its owner says the requested time, and where he doesn't, what is true
           memory      requested, per processor, where the header has MaxMemory: a node has that for each of its processors
           tenant      `user-<number>`
           queue       all jobs are in one line; `queues=log`: each queue number is a queue of its own, `queue-<number>`
Left out   lines that are no job of their own (status 2, 3, 4: parts of one), jobs whose run time isn't known or that were
           cancelled before they ran, jobs of no processors, and jobs that ask for more than the machine has: each with a
           count in the load's notes.
Comments   may be in any code; jobs' lines are UTF-8.
Unknown    -1, as the format has it.
Order      of submit times, as the format demands.
Checked    the whole log, when it is read; then it is read again, as a stream, each time that it is played.
Cost       O(lines) each.
Source     Feitelson: "The Standard Workload Format", version 2.2.
Not here   wait times and statuses of the original run, dependencies on preceding jobs and think times: the policy decides anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kumi.api.kueue import HOST_LEVEL
from kumi.engine.gangs import Queue
from kumi.engine.model import Node, PodShape
from kumi.evaluator.model import START_MS, Arrive, Event, Job, Load, Role, Via
from kumi.evaluator.traces.base import LARGEST, NO_TEXT, Format, TraceError, opened
from kumi.evaluator.traces.openb import NAME_FIELD, PODS, read_nodes

FIELDS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
JOB, SUBMIT, RUN, ALLOCATED, REQUESTED, TIME, MEMORY, STATUS, USER, QUEUE = 0, 1, 3, 4, 7, 8, 9, 10, 11, 14
PARTS = ("2", "3", "4")
CANCELLED = "5"
PROCESSORS = ("gang", "pod")
QUEUES = ("one", "log")
ONE_QUEUE = "default"
CPU = 1000
KIB = 1024
MOST_IN_HEADER = {"MaxNodes": 10**6, "MaxProcs": 10**9, "MaxMemory": LARGEST, "UnixStartTime": LARGEST}
"""what is above it is a mistake"""
KEPT = "surrogateescape"
"""comments may be in any code: they are not data; a job's line must be text"""
HEADER = re.compile(r";\s*(\w+)\s*:\s*(-?\d+)")

NO_RUN = "whose run time isn't known, or that were cancelled before they ran"
NO_PROCESSORS = "that ask for no processors"
TOO_LARGE = "that ask for more than the machine has"
PART = "lines that are parts of a job"


def read(nodes: Path | None, jobs: Path, *, processors: str = "gang", queues: str = "one") -> Load:
    """The log's load; see the module. TraceError: for the whole log at once, at the first line that is wrong."""
    for name, word, words in (("processors", processors, PROCESSORS), ("queues", queues, QUEUES)):
        if word not in words:
            raise TraceError(jobs, f"can't be read with {name} {word!r}: write {' or '.join(words)}")
    header = _header(jobs)
    together = processors == "pod"
    machine = tuple(read_nodes(nodes)) if nodes is not None else _machine(jobs, header, together)
    log = _Log(jobs, header, _Room.of(machine, together), together, queues == "log")
    survey = log.survey()
    lines = tuple(Queue(name) for name in sorted(survey.queues or {ONE_QUEUE}))
    return Load(
        name=jobs.name,
        setting=(*lines, *machine),
        events=log.events,
        start_ms=log.start_ms,
        size=survey.jobs,
        notes=tuple(f"{jobs.name}: left out {n} {_what(why)}" for why, n in sorted(survey.left_out.items())),
    )


FORMAT = Format(read, "the standard workload format (SWF 2.2)", options={"processors": PROCESSORS, "queues": QUEUES})


def _is_text(line: str) -> bool:
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True


def _what(why: str) -> str:
    return why if why == PART else f"jobs {why}"


def _header(path: Path) -> dict[str, int]:
    """The numbers of the header's comments, by label; of one that is there twice the first."""
    found: dict[str, int] = {}
    with opened(path, KEPT) as text:
        for line in text:
            if line.strip() and not line.lstrip().startswith(";"):
                break
            if match := HEADER.match(line.strip()):
                found.setdefault(match[1], int(match[2]))
    for label, most in MOST_IN_HEADER.items():
        if found.get(label, -1) > most:
            raise TraceError(path, f"its header says {label}: {found[label]}, and may say {most} at most")
    return found


def _machine(path: Path, header: dict[str, int], together: bool) -> tuple[Node, ...]:
    nodes, cpus = header.get("MaxNodes", -1), header.get("MaxProcs", -1)
    if nodes < 1 and cpus < 1:
        raise TraceError(
            path, "its header names neither MaxNodes nor MaxProcs: add one (; MaxProcs: 128), or give a file of nodes"
        )
    cpus = cpus if cpus > 0 else nodes
    count = 1 if together or nodes < 1 else min(nodes, cpus)
    each, more = divmod(cpus, count)
    memory = header.get("MaxMemory", -1) * KIB
    return tuple(_node(f"node-{i:0{len(str(count))}}", each + (i < more), memory) for i in range(count))


def _node(name: str, cpus: int, memory: int) -> Node:
    offered = {"cpu": cpus * CPU, "pods": PODS} | ({"memory": memory * cpus} if memory > 0 else {})
    return Node(name, ((HOST_LEVEL, name), (NAME_FIELD, name)), tuple(sorted(offered.items())))


class _Room(NamedTuple):
    """The most that the machine has: of processors and memory in all (for a gang), or on one node (for a pod)."""

    cpu: int
    memory: int
    pod_memory: int

    @classmethod
    def of(cls, machine: tuple[Node, ...], together: bool) -> _Room:
        has = [dict(node.allocatable) for node in machine]
        cpus, memories = ([node.get(name, 0) for node in has] for name in ("cpu", "memory"))
        if together:
            return cls(max(cpus, default=0), max(memories, default=0), max(memories, default=0))
        return cls(sum(cpu // CPU * CPU for cpu in cpus), sum(memories), max(memories, default=0))


@dataclass(slots=True)
class _Survey:
    """What there is in a log."""

    jobs: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    queues: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Log:
    """The jobs of a log, as often as they are asked for."""

    path: Path
    header: dict[str, int]
    room: _Room
    together: bool
    own_queues: bool
    roles: dict[tuple[int, int], tuple[Role, ...]] = field(default_factory=dict)
    shapes: dict[PodShape, PodShape] = field(default_factory=dict)

    @property
    def start_ms(self) -> int:
        """When its clock starts."""
        start = self.header.get("UnixStartTime", -1)
        return start * 1000 if start > 0 else START_MS

    def survey(self) -> _Survey:
        """Reads all. TraceError."""
        found, last = _Survey(), 0
        known: dict[str, int] = {}
        for number, values in self._lines():
            job = self._job(number, values)
            at = self._ms(number, values, SUBMIT)
            if at < last:
                raise self._wrong(
                    number, SUBMIT, "is earlier than that of the line before: sort the log by submit times"
                )
            last = at
            if isinstance(job, str):
                found.left_out[job] += 1
                continue
            if known.setdefault(values[JOB], number) != number:
                raise self._wrong(number, JOB, f"{values[JOB]} is there already, on line {known[values[JOB]]}")
            found.jobs += 1
            found.queues.add(job.queue)
        return found

    def events(self) -> Iterator[Event]:
        """The arrivals."""
        for number, values in self._lines():
            job = self._job(number, values)
            if not isinstance(job, str):
                yield Arrive(job)

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """The lines that aren't comments, with their numbers."""
        with opened(self.path, KEPT) as text:
            for number, line in enumerate(text, 1):
                values = line.split()
                if not values or values[0].startswith(";"):
                    continue
                if not line.isascii() and not _is_text(line):
                    raise TraceError(self.path, NO_TEXT.format("it has other bytes"), number)
                if len(values) != len(FIELDS):
                    raise TraceError(self.path, f"has {len(values)} values, a job has {len(FIELDS)}", number)
                yield number, values

    def _job(self, number: int, values: list[str]) -> Job | str:
        """The job of a line, or why it is left out."""
        if values[STATUS] in PARTS:
            return PART
        run, cpus = self._ms(number, values, RUN), self._count(number, values)
        if run < 0 or (run == 0 and values[STATUS] == CANCELLED):
            return NO_RUN
        if cpus < 1:
            return NO_PROCESSORS
        memory = self._ms(number, values, MEMORY) // 1000 * KIB if self.header.get("MaxMemory", -1) > 0 else 0
        if not self._fits(cpus, max(memory, 0)):
            return TOO_LARGE
        said = self._ms(number, values, TIME)
        submitted = self._ms(number, values, SUBMIT)
        if submitted < 0:
            raise self._wrong(number, SUBMIT, "is not known: a job must have one")
        return Job(
            key=f"swf/{values[JOB]}",
            arrives_ms=self.start_ms + submitted,
            roles=self._roles(cpus, max(memory, 0)),
            runs_ms=run,
            via=Via.POD if self.together else Via.GANG,
            queue="" if self.together else self._queue(values[QUEUE]),
            tenant="" if values[USER] == "-1" else f"user-{values[USER]}",
            said_ms=max(1, said if said > 0 else run),
        )

    def _queue(self, queue: str) -> str:
        return f"queue-{queue}" if self.own_queues and queue != "-1" else ONE_QUEUE

    def _fits(self, cpus: int, memory: int) -> bool:
        each = memory * cpus if self.together else memory
        return cpus * CPU <= self.room.cpu and memory * cpus <= self.room.memory and each <= self.room.pod_memory

    def _roles(self, cpus: int, memory: int) -> tuple[Role, ...]:
        found = self.roles.get((cpus, memory))
        if found is None:
            pods, each = (1, cpus) if self.together else (cpus, 1)
            requests = {"cpu": each * CPU} | ({"memory": memory * each} if memory else {})
            shape = PodShape(tuple(sorted(requests.items())))
            shape = self.shapes.setdefault(shape, shape)
            found = self.roles[cpus, memory] = (Role("task", pods, shape),)
        return found

    def _count(self, number: int, values: list[str]) -> int:
        asked = self._ms(number, values, REQUESTED) // 1000
        return asked if asked > 0 else self._ms(number, values, ALLOCATED) // 1000

    def _ms(self, number: int, values: list[str], which: int) -> int:
        """A value in thousandths; below 0: unknown."""
        try:
            found = int(values[which]) * 1000
        except ValueError:
            found = self._rounded(number, values[which], which)
        if found > LARGEST * 1000:
            raise self._wrong(number, which, f"{values[which]} is too large: write a number up to {LARGEST}")
        return found

    def _rounded(self, number: int, value: str, which: int) -> int:
        try:
            return round(float(value) * 1000)
        except (ValueError, OverflowError):
            raise self._wrong(number, which, f"{value!r} is no number: write one, or -1 if it isn't known") from None

    def _wrong(self, number: int, which: int, what: str) -> TraceError:
        return TraceError(self.path, what, number, f"{which + 1} ({FIELDS[which]})")
