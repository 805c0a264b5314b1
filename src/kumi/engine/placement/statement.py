"""Statement: what one attempt does, at once, and what comes of it when it is committed.

The rule   allocate    the task holds room on the node                      Allocated
           pipeline    the task is promised room that others are leaving    Pipelined
           evict       a task that holds room is leaving                    Releasing
           spare       one that was to leave stays after all
All of them act on the tables immediately, inside a trial of the journal: leaving the trial without committing it takes them back.
commit     issues the evictions, and a Bind for each task that the statement allocated (Binding). What is Pipelined stays promised
           until the session ends.
Kept       a gang that is pipelined and not ready keeps its places, uncommitted, until the session ends: nobody else gets them
           in between, and nothing is written.
Source     Volcano: statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.line.asking import Held
from kumi.engine.placement.tasks import Status
from kumi.engine.reasons import Code, Reason


@dataclass(frozen=True, slots=True)
class Refusal:
    """What kept a gang's next task from a place, and how many of the gang had one by then."""

    placed: int
    why: tuple[Reason, ...]


@dataclass(slots=True)
class Outcome:
    """What a session leads to, in the order in which it was decided."""

    binds: list[tuple[str, str]] = field(default_factory=list)
    """(pod uid, node)"""
    devices: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """pod uid -> its GPUs there, where it matters which"""
    evictions: list[tuple[str, str]] = field(default_factory=list)
    """(pod uid, the uid of the pod or the key of the gang that it makes room for, "" for none)"""
    refusals: dict[str, Refusal] = field(default_factory=dict)
    """gang -> the last one"""
    turned_away: dict[str, Code] = field(default_factory=dict)
    """gang -> who has no room for what it needs, of those that weren't let in"""
    held: dict[str, Reason] = field(default_factory=dict)
    """gang -> why the line holds it back (actions/lined.py)"""
    reserved: dict[str, Held] = field(default_factory=dict)
    """gang -> what is kept for it"""
    wake_ms: int | None = None
    """when another session may end otherwise although nothing came; None: as far as the actions know, not by itself"""
    explained: dict[tuple[str, PodShape], tuple[Reason, ...]] = field(default_factory=dict)
    """queue and shape of tasks that found no room, and what the nodes said"""
    untried: dict[tuple[str, PodShape], tuple[Reason, ...]] = field(default_factory=dict)
    """queue and shape of the next tasks of gangs whose turn didn't come, and why, at the end of the session"""
    sizes: dict[PodShape, bool] = field(default_factory=dict)
    """of shapes that a queue may not have more of: would a node have room for one, were it empty?"""


class Statement:
    """One attempt; see the module. Open a trial around it."""

    def __init__(self, framework: Framework, outcome: Outcome) -> None:
        self._framework, self._outcome = framework, outcome
        self._allocated: list[str] = []
        self.placed: list[str] = []
        """uids of those it allocated or pipelined; what a trial took back is in it too"""
        self._evicted: list[tuple[str, str]] = []

    @property
    def evicted(self) -> list[str]:
        """Whom the statement evicts: uids, in their order."""
        return [uid for uid, _ in self._evicted]

    def forget(self, first: int) -> list[str]:
        """Those evicted from number `first` on were taken back by a trial; who they were."""
        undone = self.evicted[first:]
        del self._evicted[first:]
        return undone

    def place_run(self, tasks: Sequence[Pod], rows: Sequence[int], status: Status) -> None:
        """Tasks that wait, of one gang, role, shape and priority, each on its row."""
        framework, nodes = self._framework, self._framework.nodes
        names, at = nodes.name_by_row(), Counter(rows)
        there, counts = np.array(list(at)), np.array(list(at.values()))
        change = nodes.use_rows if status is Status.ALLOCATED else nodes.pipeline_rows
        change(there, tasks[0].shape.requests, counts)
        if nodes.devices.concern(tasks[0].shape):
            for task, row in zip(tasks, rows, strict=True):
                self._seat_devices(task, row, status)
        framework.tasks.seat_run(tasks, status, [names[row] for row in rows])
        framework.seated_run(tasks, rows)
        self.placed += [task.uid for task in tasks]
        if status is Status.ALLOCATED:
            self._allocated += [task.uid for task in tasks]

    def place(self, task: Pod, node: str, status: Status) -> None:
        """Allocated or Pipelined, there."""
        nodes = self._framework.nodes
        if status is Status.ALLOCATED:
            nodes.use(node, task.shape.requests, 1)
        else:
            nodes.pipeline(node, task.shape.requests, 1)
        self._seat_devices(task, nodes.row_by_name[node], status)
        self._framework.tasks.move(task.uid, status, node)
        self._framework.seated(task, node, 1)
        self.placed.append(task.uid)
        if status is Status.ALLOCATED:
            self._allocated.append(task.uid)

    def evict(self, task: Pod, preemptor: str) -> None:
        """It is leaving."""
        tasks = self._framework.tasks
        node = tasks.node[task.uid]
        self._framework.nodes.evict(node, task.shape.requests, 1)
        self._framework.nodes.devices.leave(task.uid, 1)
        tasks.move(task.uid, Status.RELEASING, node)
        self._framework.seated(task, node, -1)
        self._evicted.append((task.uid, preemptor))

    def spare(self, task: Pod, status: Status) -> None:
        """One that the statement evicts stays after all, as it was."""
        tasks = self._framework.tasks
        node = tasks.node[task.uid]
        self._framework.nodes.evict(node, task.shape.requests, -1)
        self._framework.nodes.devices.leave(task.uid, -1)
        tasks.move(task.uid, status, node)
        self._framework.seated(task, node, 1)
        self._evicted = [one for one in self._evicted if one[0] != task.uid]

    def withdraw(self, task: Pod) -> None:
        """A place that was promised to the task isn't any more."""
        node = self._framework.tasks.node[task.uid]
        self._framework.nodes.pipeline(node, task.shape.requests, -1)
        self._framework.nodes.devices.unseat(task.uid)
        self._framework.seated(task, node, -1)
        self._framework.tasks.move(task.uid, Status.PENDING, "")

    def mark_allocated(self) -> int:
        """How many it has allocated by now, to be given to `forget_allocated` when a trial took back what came later."""
        return len(self._allocated)

    def forget_allocated(self, mark: int) -> None:
        """It has allocated just so many."""
        del self._allocated[mark:]

    def mark(self) -> list[tuple[str, str]]:
        """Whom it evicts by now, to be given to `reset` when a trial took back what came later."""
        return list(self._evicted)

    def reset(self, mark: list[tuple[str, str]]) -> None:
        """It evicts just these."""
        self._evicted = mark

    def dispatch(self, uid: str) -> None:
        """A task that another statement allocated and left uncommitted is committed with this one."""
        if uid not in self._allocated:
            self._allocated.append(uid)

    def commit(self) -> None:
        """It is decided. The trial around it is committed by whoever opened it."""
        tasks = self._framework.tasks
        self._outcome.evictions += self._evicted
        pods = [tasks.pods[uid] for uid in self._allocated if tasks.status[uid] is Status.ALLOCATED]
        for _, run in groupby(
            pods, key=lambda pod: (pod.member.group, pod.member.role, id(pod.shape), pod.member.priority)
        ):
            alike = list(run)
            tasks.turn_run(alike, Status.BINDING)
            self._outcome.binds += [(pod.uid, tasks.node[pod.uid]) for pod in alike]
            for pod in alike if self._framework.nodes.devices.concern(alike[0].shape) else ():
                self._outcome.devices[pod.uid] = self._framework.nodes.devices.of(pod.uid)

    def _seat_devices(self, task: Pod, row: int, status: Status) -> None:
        devices, later = self._framework.nodes.devices, status is not Status.ALLOCATED
        if devices.concern(task.shape):
            chosen = () if later else self._framework.devices(task, row)
            devices.seat(
                task.uid, task.shape, row, chosen or devices.choose(task.shape, row, later=later), promised=later
            )
