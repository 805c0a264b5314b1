"""Usage: nodes by how busy they really are.

The rule, for a node whose usage was measured in the last five minutes:
    taken     its cpu usage is at most thresholds.cpu (80), its memory usage at most thresholds.mem (80), in percent
    score     100 * usage.weight (5) * the mean of 1 - usage / 100 over cpu and memory, by cpu.weight (1) and memory.weight (1); 0
              where one of the two isn't known
Otherwise     it is taken, and scores 0: nobody knows.
Not taken     evicting doesn't help: usage is not what pods ask for.
Cost          O(nodes).
Source        Volcano: usage plug-in (averages of ten minutes).
Not here      where the numbers come from: model.NodeUsage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.model import NodeUsage, Pod
from kumi.engine.placement.hooks import Fit, Fits
from kumi.engine.placement.nodes import Ints, Scores

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Option
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
        whole, written = option.arguments.whole, option.arguments.raw.get("thresholds")
        most = written if isinstance(written, Mapping) else {}
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


@dataclass(frozen=True, slots=True)
class _Usage:
    rule: Usage
    session: Framework

    def predicate(self, task: Pod) -> Fits:
        """See hooks.Predicate."""
        fits = np.zeros(self.session.nodes.used.shape[1], dtype=np.int8)
        for row, usage in self._fresh():
            busy = (usage.cpu or 0.0) > self.rule.cpu_most or (usage.memory or 0.0) > self.rule.memory_most
            fits[row] = Fit.UNRESOLVABLE if busy else Fit.OK
        return fits

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """See hooks.NodeOrder."""
        scores = np.zeros(self.session.nodes.used.shape[1], dtype=np.float64)
        rule, weights = self.rule, self.rule.cpu_weight + self.rule.memory_weight
        for row, usage in self._fresh():
            if usage.cpu is not None and usage.memory is not None and weights:
                cpu = (100 - usage.cpu) / 100 * rule.cpu_weight
                memory = (100 - usage.memory) / 100 * rule.memory_weight
                scores[row] = (cpu + memory) / weights * (100 * rule.weight)
        answer: Scores = scores[rows]
        return answer

    def _fresh(self) -> list[tuple[int, NodeUsage]]:
        """The rows whose usage is known, and it."""
        nodes, now = self.session.nodes, self.session.around.now_ms
        return [
            (nodes.row_by_name[name], usage)
            for name, usage in sorted(nodes.usage.items())
            if name in nodes.row_by_name and now - usage.measured_ms <= FRESH_MS
        ]


def _threshold(written: Mapping[str, object], name: str) -> float:
    value = written.get(name, 80)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else 0.0
