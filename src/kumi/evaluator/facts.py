"""Facts: what is known of a run that is over, as columns.

Rule       four logs, in the order in which things happened; every figure is made of them when it is asked for (metrics, shares,
           fragmentation): so each figure is exact, and one that nobody asks for costs nothing.
    jobs       one row a job, in the order of arrival
    runs       one row each time that a job starts; a job that is preempted or loses its node, and starts again, has several
    spans      one row each time that a pod holds a node: the job, the shape, the node, from when to when
    nodes      one row each time that a node changes
Instants   figures look at how things stand when an instant is over, so that a job which starts on the place of one that ends at
           the same time is never counted with it.
Units      times int64 ms on the run's clock (absolute), NONE (-1) where there is none; amounts int64 in base units.
Not here   who writes them: history.py; what they mean in figures: metrics.py, shares.py, fragmentation.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kumi.engine.model import Node, PodShape
from kumi.evaluator.model import What

Ints: TypeAlias = NDArray[np.int64]
NONE = -1
"""no time, no run, no row"""

ENDS = (What.FINISHED, What.CANCELLED, What.REFUSED)
OVER = {what: number for number, what in enumerate(ENDS, start=1)}
"""how a job ended, as the columns have it; 0: it hasn't"""


@dataclass(frozen=True, slots=True)
class Kind:
    """The roles of a job as the logs have them: parallel tuples. Jobs of equal kinds share one."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    shapes: tuple[int, ...]

    @property
    def pods(self) -> int:
        """How many in all."""
        return sum(self.counts)


@dataclass(frozen=True)
class Jobs:
    """Columns, one row a job. `kind`, `tenant`, `queue`: numbers of the tuples in Facts. `over`: how it ended (ENDS, from 1).
    `lost`: of what it had run, how much it had to run again, being preempted or evicted; `wasted`: that, and what a cancelled
    job had run that it does not keep."""

    arrival: Ints
    first_start: Ints
    last_start: Ints
    end: Ints
    over: NDArray[np.int8]
    work: Ints
    said: Ints
    deadline: Ints
    kind: NDArray[np.int32]
    tenant: NDArray[np.int32]
    queue: NDArray[np.int32]
    priority: Ints
    preempted: NDArray[np.int32]
    evicted: NDArray[np.int32]
    """how often its node went"""
    lost: Ints
    wasted: Ints
    key_bytes: bytes
    """all keys, one after the other, UTF-8"""
    key_ends: Ints
    """where each ends in `key_bytes`, after a leading 0"""

    def __len__(self) -> int:
        return len(self.arrival)

    def key(self, row: int) -> str:
        """Of one job."""
        return self.key_bytes[self.key_ends[row] : self.key_ends[row + 1]].decode()

    @cached_property
    def started(self) -> NDArray[np.bool_]:
        """Those that ran at least once."""
        found: NDArray[np.bool_] = self.first_start != NONE
        return found

    @cached_property
    def finished(self) -> NDArray[np.bool_]:
        """Those that ran to their end."""
        found: NDArray[np.bool_] = self.over == OVER[What.FINISHED]
        return found


@dataclass(frozen=True, slots=True)
class Runs:
    """Columns, one row a run of a job, in the order in which they start. `to`: NONE while it runs."""

    job: Ints
    at: Ints
    to: Ints


@dataclass(frozen=True, slots=True)
class Spans:
    """Columns, one row a pod on a node. `to`: NONE while it holds it. `devices`: which of the node's GPUs it has, a number of
    Facts.device_sets, NONE where nobody says."""

    job: Ints
    shape: NDArray[np.int32]
    node: NDArray[np.int32]
    at: Ints
    to: Ints
    devices: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class NodeChange:
    """From then on the node is so; `node` None: gone."""

    at_ms: int
    number: int
    node: Node | None


@dataclass(frozen=True)
class Facts:
    """All that was kept. `why`: row -> why it never ran to its end; `decisions`: kind of decision -> how many."""

    jobs: Jobs
    runs: Runs
    spans: Spans
    shapes: tuple[PodShape, ...]
    kinds: tuple[Kind, ...]
    tenants: tuple[str, ...]
    queues: tuple[str, ...]
    nodes: tuple[str, ...]
    device_sets: tuple[tuple[int, ...], ...]
    node_changes: tuple[NodeChange, ...]
    why: dict[int, str]
    decisions: dict[str, int]
    closed_ms: int

    @cached_property
    def begin_ms(self) -> int:
        """The first arrival; where there is none, when the run was closed."""
        return int(self.jobs.arrival[0]) if len(self.jobs) else self.closed_ms

    @cached_property
    def end_ms(self) -> int:
        """The last thing that happened to a job."""
        times = (self.jobs.arrival, self.runs.at, self.runs.to, self.spans.at, self.spans.to, self.jobs.end)
        return max((int(column.max()) for column in times if len(column)), default=self.closed_ms)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """Resources that jobs ask for and nodes have, by name."""
        wanted = {name for shape in self.shapes for name, amount in shape.requests if amount}
        had = {
            name for change in self.node_changes if change.node for name, amount in change.node.allocatable if amount
        }
        return tuple(sorted(wanted & had))

    def of_shapes(self, resource: str) -> Ints:
        """What a pod of each shape asks of it."""
        return np.array([dict(shape.requests).get(resource, 0) for shape in self.shapes], dtype=np.int64)

    def of_kinds(self, resource: str) -> Ints:
        """What a job of each kind asks of it, in all."""
        pod = self.of_shapes(resource)
        return np.array(
            [sum(int(pod[s]) * n for s, n in zip(kind.shapes, kind.counts, strict=True)) for kind in self.kinds],
            dtype=np.int64,
        )
