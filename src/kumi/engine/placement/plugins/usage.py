"""Usage: nodes by how busy they really are.

The rule, for a node whose usage was measured in the last five minutes:
    taken     its cpu usage is at most thresholds.cpu (80), its memory usage at most thresholds.mem (80), in percent
    score     100 * usage.weight (5) * the mean of 1 - usage / 100 over cpu and memory, by cpu.weight (1) and memory.weight (1); 0
              where one of the two isn't known
Otherwise     it is taken, and scores 0: nobody knows.
Not taken     evicting doesn't help: usage is not what pods ask for.
Wakes         when what is known of a node that isn't taken is too old to count.
Cost          O(nodes), a session once in plain Python, else as arrays.
Source        Volcano: usage plug-in (averages of ten minutes).
Not here      where the numbers come from: ../../measuring.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.hooks import Fit, Fits
from kumi.engine.placement.nodes import Ints, Mask, Scores

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Arguments, Option
    from kumi.engine.placement.framework import Framework

FRESH_MS = 5 * 60_000


@dataclass(frozen=True, slots=True)
class Usage:
    """See the module."""

    weight: int = 5
    cpu_weight: int = 1
    memory_weight: int = 1
    cpu_most: float = 80.0
    memory_most: float = 80.0

    @classmethod
    def configured(cls, option: Option) -> Usage:
        """See hooks.Configured."""
        whole, most = option.arguments.whole, option.arguments.nested("thresholds")
        return cls(
            whole("usage.weight", 5),
            whole("cpu.weight", 1),
            whole("memory.weight", 1),
            _threshold(most, "cpu"),
            _threshold(most, "mem"),
        )

    def open(self, session: Framework) -> _Usage:
        """See hooks.Plugin."""
        return _Usage(self, session)


class _Known(NamedTuple):
    """What is known of each row that counts; NaN where it isn't."""

    cpu: Scores
    memory: Scores
    measured_ms: Ints


@dataclass(frozen=True, slots=True)
class _Usage:
    rule: Usage
    session: Framework

    def predicate(self, task: Pod) -> Fits:
        """See hooks.Predicate."""
        return np.where(self._busy(), Fit.UNRESOLVABLE, Fit.OK).astype(np.int8)

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """See hooks.NodeOrder."""
        rule, weights, known = self.rule, self.rule.cpu_weight + self.rule.memory_weight, self._known()
        if not weights:
            return np.zeros(rows.size)
        cpu = (100 - known.cpu[rows]) / 100 * rule.cpu_weight
        memory = (100 - known.memory[rows]) / 100 * rule.memory_weight
        scores = (cpu + memory) / weights * (100 * rule.weight)
        return np.where(np.isnan(scores), 0.0, scores)

    def wake_ms(self) -> int | None:
        """See hooks.Timed."""
        until = self._known().measured_ms[self._busy()] + FRESH_MS + 1
        return int(until.min()) if until.size else None

    def _busy(self) -> Mask:
        known = self._known()
        busy: Mask = (known.cpu > self.rule.cpu_most) | (known.memory > self.rule.memory_most)
        return busy

    def _known(self) -> _Known:
        return self.session.once("usage of nodes", self._read)

    def _read(self) -> _Known:
        nodes, now = self.session.nodes, self.session.around.now_ms
        size = nodes.used.shape[1]
        known = _Known(np.full(size, np.nan), np.full(size, np.nan), np.zeros(size, dtype=np.int64))
        for name, usage in nodes.usage.items():
            row = nodes.row_by_name.get(name)
            if row is not None and now - usage.measured_ms <= FRESH_MS:
                known.measured_ms[row] = usage.measured_ms
                for values, value in ((known.cpu, usage.cpu), (known.memory, usage.memory)):
                    values[row] = np.nan if value is None else value
        return known


def _threshold(most: Arguments, name: str) -> float:
    """One that can't be read is 0, as in Volcano."""
    return float(most.value(name, _percent, 0 if name in most.raw else 80, "must be a whole number, not in quotes"))


def _percent(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
