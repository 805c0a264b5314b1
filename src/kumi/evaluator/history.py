"""A history: the Observer that keeps what happens in a run, by only appending to columns.

Rule       nothing is summed up while the run goes on; what is kept are the logs of facts.py. Jobs, pods and nodes stand there by
           number; shapes, roles and names are kept once.
Lost work  when a run is cut short, what the job had run (kept from before, and this run) without what it keeps.
Devices    which GPUs a pod has is decided before it is told that it is placed: the two are matched by node and by how many they
           are, in order.
Errors     KumiError for times and amounts that columns have no room for.
Cost       some appends a call, about a microsecond; about 210 bytes a one-pod job, its key included.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kumi.api.errors import KumiError
from kumi.engine.decisions import Bind, Decision
from kumi.engine.model import Delta, Node, PodShape, Put
from kumi.engine.placement.devices import WHOLE
from kumi.engine.placement.devices import asked as milli
from kumi.evaluator.facts import NONE, OVER, Facts, Ints, Jobs, Kind, NodeChange, Runs, Spans
from kumi.evaluator.model import MOST, Job, Places, Role, What

BLOCK = 1024
"""jobs for which room is made at a time, at least"""

V = TypeVar("V")


class Interned(Generic[V]):
    """Values by number, each kept once."""

    __slots__ = ("number_of", "values")

    def __init__(self) -> None:
        self.number_of: dict[object, int] = {}
        self.values: list[V] = []

    def number(self, key: object, value: V) -> int:
        """Of the value, which `key` identifies."""
        found = self.number_of.get(key)
        if found is None:
            found = self.number_of[key] = len(self.values)
            self.values.append(value)
        return found


class History:
    """Keeps what happens in a run. `facts` when the run is closed; one history hears one run."""

    def __init__(self) -> None:
        self._row: dict[str, int] = {}
        """jobs that aren't over"""
        self._open: dict[str, list[int]] = {}
        """job -> spans that are not over"""
        self._arrival, self._work, self._said, self._deadline = array("q"), array("q"), array("q"), array("q")
        self._kind, self._tenant, self._queue, self._priority = array("i"), array("i"), array("i"), array("q")
        self._jobs, self._room = 0, 0
        """how many came, and for how many the columns that follow have room"""
        self._first, self._last, self._end, self._run = array("q"), array("q"), array("q"), array("q")
        """`run`: the number of its current run; all are NONE at first"""
        self._preempted, self._evicted, self._over = array("i"), array("i"), array("b")
        self._lost, self._wasted, self._kept = array("q"), array("q"), array("q")
        self._keys, self._key_ends = bytearray(), array("q", [0])
        self._run_job, self._run_at, self._run_to = array("q"), array("q"), array("q")
        self._span_job, self._span_at, self._span_to = array("q"), array("q"), array("q")
        self._span_shape, self._span_node, self._span_devices = array("i"), array("i"), array("i")
        self._shapes: Interned[PodShape] = Interned()
        self._kinds: Interned[Kind] = Interned()
        self._tenants: Interned[str] = Interned()
        self._queues: Interned[str] = Interned()
        self._nodes: Interned[str] = Interned()
        self._device_sets: Interned[tuple[int, ...]] = Interned()
        self._named: dict[str, list[tuple[int, ...]]] = {}
        """node -> devices that were decided and not placed yet"""
        self._node_changes: list[NodeChange] = []
        self._decided: dict[type, int] = {}
        self._why: dict[int, str] = {}
        self._closed_ms = NONE

    def happened(self, now_ms: int, what: What, job: Job, kept_ms: int) -> None:
        """An event of a job."""
        if what is What.ARRIVED:
            self._arrived(now_ms, job)
        elif what is What.STARTED:
            self._started(now_ms, self._row[job.key])
        elif what is What.PREEMPTED or what is What.LOST:
            row = self._row[job.key]
            (self._preempted if what is What.PREEMPTED else self._evicted)[row] += 1
            lost = self._stopped(now_ms, row, kept_ms)
            self._lost[row] += lost
            self._wasted[row] += lost
        else:
            row = self._row.pop(job.key, NONE)
            if row != NONE:
                self._end[row] = now_ms
                self._over[row] = OVER[what]
                if self._run[row] != NONE:
                    self._wasted[row] += self._stopped(now_ms, row, kept_ms)

    def placed(self, now_ms: int, job: Job, places: Places) -> None:
        """Pods hold nodes from now on."""
        row = self._row[job.key]
        kind = self._kinds.values[self._kind[row]]
        spans = self._open.setdefault(job.key, [])
        for role, node in places:
            spans.append(len(self._span_job))
            self._span_job.append(row)
            self._span_shape.append(kind.shapes[role])
            self._span_node.append(self._nodes.number(node, node))
            self._span_at.append(now_ms)
            self._span_to.append(NONE)
            self._span_devices.append(self._devices(kind.shapes[role], node) if self._named else NONE)

    def left(self, now_ms: int, job: Job, places: Places) -> None:
        """Pods hold them no longer."""
        spans = self._open[job.key]
        if len(places) == len(spans):
            for span in spans:
                self._span_to[span] = now_ms
            del self._open[job.key]
            return
        kind = self._kinds.values[self._kind_number(job.roles)]
        for role, node in places:
            meant = (kind.shapes[role], self._nodes.number(node, node))
            at = next(i for i, s in enumerate(spans) if (self._span_shape[s], self._span_node[s]) == meant)
            self._span_to[spans.pop(at)] = now_ms

    def changed(self, now_ms: int, delta: Delta) -> None:
        """Of the cluster, its nodes count here."""
        if isinstance(delta, Put):
            if isinstance(delta.noun, Node):
                node = delta.noun
                _refuse_large(f"node {node.name} has", node.allocatable)
                self._node_changes.append(NodeChange(now_ms, self._nodes.number(node.name, node.name), node))
        elif delta.type is Node:
            self._node_changes.append(NodeChange(now_ms, self._nodes.number(delta.key, delta.key), None))

    def decided(self, now_ms: int, decision: Decision) -> None:
        """One more of its kind."""
        kind = type(decision)
        self._decided[kind] = self._decided.get(kind, 0) + 1
        if isinstance(decision, Bind) and decision.devices:
            self._named.setdefault(decision.node, []).append(decision.devices)

    def closed(self, now_ms: int, waiting: Sequence[tuple[str, str]]) -> None:
        """The run is over."""
        self._closed_ms = now_ms
        for key, why in waiting:
            row = self._row.get(key)
            if row is not None:
                self._why[row] = why

    def _arrived(self, now_ms: int, job: Job) -> None:
        if self._jobs == self._room:
            self._make_room()
        if max(now_ms, job.runs_ms or 0, job.said_ms or 0, abs(job.deadline_ms or 0)) >= MOST:
            raise KumiError(f"job {job.key}: its times are too large to count with ({MOST} ms are)")
        self._row[job.key] = self._jobs
        self._jobs += 1
        self._arrival.append(now_ms)
        self._work.append(NONE if job.runs_ms is None else job.runs_ms)
        self._said.append(NONE if job.said_ms is None else job.said_ms)
        self._deadline.append(NONE if job.deadline_ms is None else job.deadline_ms)
        self._kind.append(self._kind_number(job.roles))
        owner = job.owner
        self._tenant.append(self._tenants.number(owner, owner))
        self._queue.append(self._queues.number(job.queue, job.queue))
        self._priority.append(job.priority)
        self._keys += job.key.encode()
        self._key_ends.append(len(self._keys))

    def _make_room(self) -> None:
        """For more jobs in the columns that begin the same for all."""
        more = max(BLOCK, self._room // 8)
        self._room += more
        for column in (self._first, self._last, self._end, self._run):
            column.extend(array("q", [NONE]) * more)
        for column in (self._lost, self._wasted, self._kept):
            column.frombytes(bytes(8 * more))
        for column in (self._preempted, self._evicted):
            column.frombytes(bytes(4 * more))
        self._over.frombytes(bytes(more))

    def _started(self, now_ms: int, row: int) -> None:
        if self._first[row] == NONE:
            self._first[row] = now_ms
        self._last[row] = now_ms
        self._run[row] = len(self._run_job)
        self._run_job.append(row)
        self._run_at.append(now_ms)
        self._run_to.append(NONE)

    def _stopped(self, now_ms: int, row: int, kept_ms: int) -> int:
        """The job runs no longer; how much of what it had run it does not keep."""
        run = self._run[row]
        if run == NONE:
            return 0
        self._run[row] = NONE
        self._run_to[run] = now_ms
        had = self._kept[row] + now_ms - self._run_at[run]
        self._kept[row] = kept_ms
        return max(0, had - kept_ms)

    def _devices(self, shape: int, node: str) -> int:
        """Those of the pod of this shape that is placed there: the first decided ones that are as many as it has."""
        named = self._named.get(node, ())
        asked = self._shapes.values[shape]
        many = 1 if asked.share else milli(asked) // WHOLE
        for at, devices in enumerate(named):
            if len(devices) == many:
                del self._named[node][at]
                if not self._named[node]:
                    del self._named[node]
                return self._device_sets.number(devices, devices)
        return NONE

    def _kind_number(self, roles: tuple[Role, ...]) -> int:
        if len(roles) == 1:
            (role,) = roles
            shape = self._shape_number(role.shape)
            alone = (role.name, role.count, shape)
            number = self._kinds.number_of.get(alone)
            return self._kinds.number(alone, Kind((role.name,), (role.count,), (shape,))) if number is None else number
        shapes = tuple([self._shape_number(role.shape) for role in roles])
        names = tuple([role.name for role in roles])
        counts = tuple([role.count for role in roles])
        key = (names, counts, shapes)
        found = self._kinds.number_of.get(key)
        return self._kinds.number(key, Kind(*key)) if found is None else found

    def _shape_number(self, shape: PodShape) -> int:
        key = (shape.requests, shape.affinity, shape.node_selector, shape.share)
        if key not in self._shapes.number_of:
            _refuse_large("a pod asks for", shape.requests)
        return self._shapes.number(key, shape)

    @cached_property
    def facts(self) -> Facts:
        """What was kept; the history must be closed."""
        if self._closed_ms == NONE:
            raise ValueError("the run is not closed yet: its figures would be those of no moment")
        many = self._jobs
        return Facts(
            jobs=Jobs(
                arrival=_ints(self._arrival),
                first_start=_ints(self._first)[:many],
                last_start=_ints(self._last)[:many],
                end=_ints(self._end)[:many],
                over=np.array(self._over, dtype=np.int8)[:many],
                work=_ints(self._work),
                said=_ints(self._said),
                deadline=_ints(self._deadline),
                kind=_small(self._kind),
                tenant=_small(self._tenant),
                queue=_small(self._queue),
                priority=_ints(self._priority),
                preempted=_small(self._preempted)[:many],
                evicted=_small(self._evicted)[:many],
                lost=_ints(self._lost)[:many],
                wasted=_ints(self._wasted)[:many],
                key_bytes=bytes(self._keys),
                key_ends=_ints(self._key_ends),
            ),
            runs=Runs(_ints(self._run_job), _ints(self._run_at), _ints(self._run_to)),
            spans=Spans(
                _ints(self._span_job),
                _small(self._span_shape),
                _small(self._span_node),
                _ints(self._span_at),
                _ints(self._span_to),
                _small(self._span_devices),
            ),
            shapes=tuple(self._shapes.values),
            kinds=tuple(self._kinds.values),
            tenants=tuple(self._tenants.values),
            queues=tuple(self._queues.values),
            nodes=tuple(self._nodes.values),
            device_sets=tuple(self._device_sets.values),
            node_changes=tuple(self._node_changes),
            why=dict(self._why),
            decisions={kind.__name__: self._decided[kind] for kind in sorted(self._decided, key=lambda k: k.__name__)},
            closed_ms=self._closed_ms,
        )


def _ints(column: array[int]) -> Ints:
    return np.frombuffer(column, dtype=np.int64) if len(column) else np.empty(0, dtype=np.int64)


def _small(column: array[int]) -> NDArray[np.int32]:
    return np.frombuffer(column, dtype=np.int32) if len(column) else np.empty(0, dtype=np.int32)


def _refuse_large(who: str, amounts: tuple[tuple[str, int], ...]) -> None:
    """KumiError for an amount that can't be counted with."""
    for resource, amount in amounts:
        if amount >= MOST:
            raise KumiError(f"{who} {amount} {resource} in base units: {MOST} or more can't be counted with")
