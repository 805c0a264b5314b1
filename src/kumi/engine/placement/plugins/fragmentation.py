"""Fragmentation: the node, and on it the GPU, where a task makes the least of the free GPUs useless to typical tasks.

The rule, with M the table of typical tasks (typical.py), a task m of it as often as weight w(m), on a node with free(d)
thousandths of device d:
    can(m)       the node has the cpu that m asks for, is of a GPU model that m may have, and has its GPUs free: one device with
                 free(d) >= share(m), or so many whole ones
    need(m)      share(m); 1000 for whole devices
    useful(m)    the sum of free(d) over the devices with free(d) >= need(m) if can(m), else 0; 0 for a task that needs no GPU
    F            = sum over m of w(m) / W * (sum of free(d) - useful(m)), W the sum of weights: the expected fragment
    the task goes where F grows least, on the device where it grows least, the lowest number among equals; whole devices are the
    lowest numbers
    score        floor(100 / (1 + e^(growth of F / 1000))), growth in thousandths: a whole number from 0 to 99
Rounded      scores are whole numbers as everywhere in the Kubernetes scheduler, and as in the authors' own simulator: where F
             grows by nearly the same (some 40 thousandths), nodes are equal, and the first by name is filled before the next
             is begun. On the trace of the paper that allocates more than going by the smallest difference.
Several      tasks on one node: the score is of the last of them, after the others went by the same rule.
Why          a rest of 300 thousandths is lost when all tasks want 500, and so is a whole GPU on a node without a cpu left. Best
             fit sees how much is left over, not whether anybody can use it.
M            as the policy gives it (scoringArguments: typical); where it doesn't, the tasks that are known now: running and
             waiting ones, those without GPUs as well.
Memory       plays no part, as in the paper.
Exact        sums are whole numbers: a node's score doesn't depend on which others are asked with it.
Cost         O(devices x kinds of GPU demand x rows); of rows that changed since such a task was last asked for (best.py). Where M
             is what is known now, of all rows.
Source       "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023).
Not here     which devices are free: ../devices.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.devices import WHOLE, asked
from kumi.engine.placement.nodes import Ints, Nodes, Scores
from kumi.engine.placement.plugins import typical
from kumi.engine.placement.plugins.loads import Seen
from kumi.engine.placement.plugins.ordering import Choosing

if TYPE_CHECKING:
    from kumi.api.errors import FieldError
    from kumi.engine.placement.conf import Option
    from kumi.engine.placement.framework import Framework


def _table(written: object) -> typical.Table | None:
    errors: list[FieldError] = []
    table = typical.parse(written, "", errors)
    return None if errors else table


@dataclass(frozen=True, slots=True)
class Fragmentation:
    """`table`: the typical tasks; None: those that are known now."""

    table: typical.Table | None = None

    @classmethod
    def configured(cls, option: Option) -> Fragmentation:
        """See hooks.Configured."""
        must = "must be a list of mappings, each a task of the mix"
        return cls(option.arguments.value("fragmentation.typical", _table, None, must) or None)

    def open(self, session: Framework) -> Choosing:
        """See hooks.Plugin."""
        return Choosing(self, session)

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """See the module, were placed[i] more such pods on row i."""
        mix = self._mix(nodes)
        left = _Left.of(nodes, mix, rows)
        most = int(placed.max(initial=0))
        for number in range(most):
            _, after = left.next(mix, pod.shape)
            left = left.where(placed > number, after)
        kept, _ = left.next(mix, pod.shape)
        answer: Scores = np.searchsorted(_STEPS, asked(pod.shape) + kept / mix.total, side="right").astype(np.float64)
        return answer

    def devices(self, nodes: Nodes, pod: Pod, row: int) -> tuple[int, ...]:
        """The device for a pod that shares one; () for others: the rule of devices.py."""
        if not pod.shape.share:
            return ()
        mix, rows = self._mix(nodes), np.array([row])
        left = _Left.of(nodes, mix, rows)
        options, _ = left.shared(mix, pod.shape)
        at = int(np.argmax(options[:, 0]))
        return (at,) if options[at, 0] > _NEVER else ()

    def is_local(self, nodes: Nodes, pod: Pod) -> bool:
        """See plugins.Score."""
        return self.table is not None

    def _mix(self, nodes: Nodes) -> _Mix:
        table = self.table if self.table is not None else typical.of_shapes((nodes.devices.mix or {}).items())
        last: dict[typical.Table, _Mix] = nodes.cached("fragmentation", dict)
        if table not in last:
            last.clear()  # what is known moves on: an earlier mix doesn't come back
            last[table] = _Mix.of(nodes, table)
        return last[table]


_STEPS = np.array([WHOLE * log(score / (100 - score)) for score in range(1, 100)])
"""by how much F has to fall for a score of 1, 2 ... 99"""
_NEVER = np.iinfo(np.int64).min // 2


@dataclass(frozen=True, slots=True)
class _Mix:
    """The table by kinds of GPU demand (g): the need, how many whole devices, which rows are of a model that will do, and for
    each cpu that a task asks for (n) how many tasks ask for no more, (n + 1, g). `total`: all tasks."""

    need: Ints
    wholes: Ints
    may: NDArray[np.bool_] | None
    cpus: Ints
    weights: Ints
    total: int

    @classmethod
    def of(cls, nodes: Nodes, table: typical.Table) -> _Mix:
        kinds = sorted({(row.share, row.gpus, row.models) for row in table if row.share or row.gpus})
        cpus = sorted({row.cpu for row in table})
        weights = np.zeros((len(cpus) + 1, len(kinds)), dtype=np.int64)
        for row in table:
            if row.share or row.gpus:
                weights[cpus.index(row.cpu) + 1, kinds.index((row.share, row.gpus, row.models))] += row.weight
        return cls(
            np.array([share or WHOLE for share, _, _ in kinds], dtype=np.int64),
            np.array([gpus for _, gpus, _ in kinds], dtype=np.int64),
            _may(nodes, [names for _, _, names in kinds]),
            np.array(cpus, dtype=np.int64),
            np.cumsum(weights, axis=0),
            max(sum(row.weight for row in table), 1),
        )


def _may(nodes: Nodes, wanted: list[tuple[str, ...]]) -> NDArray[np.bool_] | None:
    """(g, rows): is the row's node of one of the models?"""
    if not any(wanted):
        return None
    codes, code_by_value = nodes.column(typical.MODEL)
    asked_for = [[code_by_value[name] for name in names if name in code_by_value] for names in wanted]
    return np.array(
        [np.isin(codes, one) if names else codes >= 0 for names, one in zip(wanted, asked_for, strict=True)]
    )


@dataclass(frozen=True, slots=True)
class _Left:
    """What is free on some rows: of each device (d, r), of cpu (r). `unknown` (r): whole devices among them that aren't, nobody
    knows which. `may`: (g, r)."""

    free: Ints
    unknown: Ints
    cpu: Ints
    may: NDArray[np.bool_] | None

    @classmethod
    def of(cls, nodes: Nodes, mix: _Mix, rows: Ints) -> _Left:
        free, unknown = nodes.devices.free(rows)
        line = nodes.line_by_resource.get("cpu")
        cpu = np.zeros(rows.size, dtype=np.int64)
        if line is not None:
            cpu = nodes.allocatable[line, rows] - nodes.used[line, rows]
        return cls(free, unknown, cpu, mix.may[:, rows] if mix.may is not None else None)

    def where(self, mask: NDArray[np.bool_], other: _Left) -> _Left:
        """The other's rows where the mask holds."""
        cpu = np.where(mask, other.cpu, self.cpu)
        return _Left(np.where(mask, other.free, self.free), self.unknown, cpu, self.may)

    def next(self, mix: _Mix, shape: PodShape) -> tuple[Ints, _Left]:
        """Of each row, how much less is useful once one more such pod is there by the rule (negative), and what is free then."""
        if shape.share:
            options, after_cpu = self.shared(mix, shape)
            best = np.argmax(options, axis=0) if options.shape[0] else np.zeros(self.cpu.size, dtype=np.int64)
            free = self.free.copy()
            rows = np.arange(self.cpu.size)
            if not options.shape[0]:
                return np.zeros(self.cpu.size, dtype=np.int64), _Left(free, self.unknown, after_cpu, self.may)
            free[best, rows] -= np.where(options[best, rows] > _NEVER, shape.share, 0)
            return options[best, rows], _Left(free, self.unknown, after_cpu, self.may)
        after = self._whole(shape)
        return after.useful(mix) - self.useful(mix), after

    def shared(self, mix: _Mix, shape: PodShape) -> tuple[Ints, Ints]:
        """The same of each device (d, r) for a pod that shares one, _NEVER where it doesn't fit; and the cpu that is left (r)."""
        share, cpu = shape.share, self.cpu - _cpu(shape)
        fits = self.free >= share
        fits &= (self.free < WHOLE) | ((self.free == WHOLE).sum(axis=0) > self.unknown)
        need = mix.need[:, None, None]
        useful, fallen = np.where(self.free >= need, self.free, 0), self.free - share
        before = useful.sum(axis=1) - self.unknown * WHOLE
        high = before[:, None, :] - useful + np.where(fallen >= need, fallen, 0)
        full = (self.free == WHOLE).sum(axis=0) - self.unknown
        can = (high > 0) & (full - (self.free == WHOLE) >= mix.wholes[:, None, None])
        options = (high * can * self._weights(mix, cpu)[:, None, :]).sum(axis=0)
        return np.where(fits, options - self._sum(mix, before, full), _NEVER), cpu

    def useful(self, mix: _Mix) -> Ints:
        """Of each row, the sum over the tasks of what is useful to them."""
        high = np.where(self.free >= mix.need[:, None, None], self.free, 0).sum(axis=1) - self.unknown * WHOLE
        return self._sum(mix, high, (self.free == WHOLE).sum(axis=0) - self.unknown)

    def _sum(self, mix: _Mix, high: Ints, full: Ints) -> Ints:
        """`high` (g, r): the sum of what is free on devices that have enough for one such task; `full` (r): whole ones."""
        can = (high > 0) & (full >= mix.wholes[:, None])
        answer: Ints = (high * can * self._weights(mix, self.cpu)).sum(axis=0)
        return answer

    def _whole(self, shape: PodShape) -> _Left:
        """What is free once such a pod has its whole devices: the lowest numbers."""
        count = -(-asked(shape) // WHOLE)
        is_free = self.free == WHOLE
        taken = is_free & (np.cumsum(is_free, axis=0) <= count)
        return _Left(np.where(taken, 0, self.free), self.unknown, self.cpu - _cpu(shape), self.may)

    def _weights(self, mix: _Mix, cpu: Ints) -> Ints:
        """(g, r): how many tasks find the cpu that they ask for, on nodes of their models."""
        weights: Ints = mix.weights[np.searchsorted(mix.cpus, cpu, side="right")].T
        return weights if self.may is None else weights * self.may


def _cpu(shape: PodShape) -> int:
    return next((amount for resource, amount in shape.requests if resource == "cpu"), 0)
