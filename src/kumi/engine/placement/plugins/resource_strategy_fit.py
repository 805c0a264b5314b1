"""Resource strategy fit: for each resource its own wish, full nodes or empty ones.

The rule
    fit           100 * weight * sum of w(r) * part(r) over the sum of w(r), for the resources that the pod asks for and that
                  are listed: part(r) is what is used after the pod came (MostAllocated) or what stays free (LeastAllocated),
                  of allocatable; 0 in all where one of them would not fit
    sra           (if enabled) plus 100 * sra.weight * (1 - w of the listed resources that the node has / w of all listed); 0
                  where the node has none of something that the pod asks for: scarce nodes are left to those who need them
    proportional  (if enabled) a pod that asks for none of the listed resources must leave, of cpu and memory, for what is
                  idle of each of them so much as <resource>.cpu (cores) and <resource>.memory (GB) say a unit; else evicting
                  doesn't help
Listed            a name that ends in `*` lists all that begin so; the longest that fits counts, an exact one before them.
Arguments         resourceStrategyFitWeight 10; resources {name: {type, weight}}, cpu and memory LeastAllocated 1 where there
                  are none; sra {enable, resources "a,b", weight, resourceWeight {name: w}}; proportional {enable, resources
                  "a,b", resourceProportion {a.cpu: 8, a.memory: 8}}
Units             0 to 100 times the weights.
Cost              O(resources asked x nodes).
Source            Volcano: resource-strategy-fit plug-in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.hooks import Fit, Fits
from kumi.engine.placement.nodes import HAS_AT_MOST, NOWHERE, PODS, Ints, Nodes, Scores
from kumi.engine.placement.plugins.loads import Seen
from kumi.engine.placement.plugins.ordering import Ordering

if TYPE_CHECKING:
    from kumi.engine.placement.conf import Arguments, Option
    from kumi.engine.placement.framework import Framework

MOST, LEAST = "MostAllocated", "LeastAllocated"
GIGABYTE = 10**9
WHOLE = "must be a whole number"


@dataclass(frozen=True, slots=True)
class Wish:
    """Of one resource. `full`: nodes that have little left are better."""

    full: bool
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Scarce:
    """sra: see the module. `resources`: their weights."""

    weight: int
    resources: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Reserve:
    """proportional: see the module. (resource, cores a unit, GB a unit)"""

    resources: tuple[tuple[str, float, float], ...]


_USUAL = (("cpu", Wish(False)), ("memory", Wish(False)))


@dataclass(frozen=True, slots=True)
class ResourceStrategyFit:
    """See the module."""

    weight: int = 10
    wishes: tuple[tuple[str, Wish], ...] = _USUAL
    scarce: Scarce | None = None
    reserve: Reserve | None = None

    @classmethod
    def configured(cls, option: Option) -> ResourceStrategyFit:
        """See hooks.Configured."""
        arguments = option.arguments
        weight, written = arguments.whole("resourceStrategyFitWeight", 10), arguments.nested("resources")
        wishes = tuple((name, _wish(written.nested(name))) for name in written.raw if _is_name(name))
        sra, proportional = arguments.nested("sra"), arguments.nested("proportional")
        scarce, reserve = _scarce(sra), _reserve(proportional)
        return cls(
            weight if weight >= 0 else 10,
            wishes if written.raw else _USUAL,
            scarce if sra.switch("enable", default=False) else None,
            reserve if proportional.switch("enable", default=False) else None,
        )

    def open(self, session: Framework) -> _ResourceStrategyFit:
        """See hooks.Plugin."""
        return _ResourceStrategyFit(self, session)

    def by_load(self, nodes: Nodes, seen: Seen, pod: Pod, rows: Ints, placed: Ints) -> Scores:
        """`fit` of the module, were placed[i] more such pods on row i."""
        total, over, known = np.zeros(rows.size, dtype=np.float64), np.zeros(rows.size, dtype=np.bool_), 0
        for resource, amount in pod.shape.requests:
            wish = self._wish(resource) if amount and resource != PODS else None
            if wish is None:
                continue
            known += wish.weight
            line = nodes.line_by_resource.get(resource, NOWHERE)
            if line == NOWHERE:
                continue
            have = nodes.allocatable[line][rows]
            used = seen(line, rows) + (placed + 1) * amount
            over |= (used > have) & (have > 0)
            part = used if wish.full else have - used
            total += np.divide(part * wish.weight, have, out=np.zeros(rows.size), where=have > 0)
        scores = np.where(over, 0.0, total / known if known else 0.0)
        answer: Scores = scores * (100 * self.weight)
        return answer

    def _wish(self, resource: str) -> Wish | None:
        best: tuple[int, Wish] | None = None
        for name, wish in self.wishes:
            if name == resource:
                return wish
            if name.endswith("*") and resource.startswith(name[:-1]) and (best is None or len(name) > best[0]):
                best = len(name), wish
        return best[1] if best is not None else None


@dataclass(frozen=True, slots=True)
class _ResourceStrategyFit:
    rule: ResourceStrategyFit
    session: Framework

    def node_order(self, task: Pod, rows: Ints, placed: Ints) -> Scores:
        """See hooks.NodeOrder."""
        scores = Ordering(self.rule, self.session).node_order(task, rows, placed)
        if self.rule.scarce is None or self.rule.scarce.weight <= 0:
            return scores
        return scores + self._spared(self.rule.scarce, task, rows)

    def predicate(self, task: Pod) -> Fits:
        """See hooks.Predicate."""
        nodes = self.session.nodes
        fits = np.zeros(nodes.used.shape[1], dtype=np.int8)
        asked = dict(task.shape.requests)
        listed = self.rule.reserve.resources if self.rule.reserve is not None else ()
        if any(asked.get(name) for name, _, _ in listed):
            return fits
        left = {name: self._idle(name) - asked.get(name, 0) for name in ("cpu", "memory")}
        for name, cores, gigabytes in listed:
            idle = self._idle(name) / 1000
            short = (left["cpu"] < idle * cores * 1000) | (left["memory"] < idle * gigabytes * GIGABYTE)
            fits[short & self._has(name)] = Fit.UNRESOLVABLE
        return fits

    def steady(self, task: Pod) -> bool:
        """See hooks.Predicate."""
        return True

    def most(self, task: Pod) -> Ints | None:
        """See hooks.Predicate."""
        asked = dict(task.shape.requests)
        listed = self.rule.reserve.resources if self.rule.reserve is not None else ()
        if not listed or any(asked.get(name) for name, _, _ in listed):
            return None
        most = np.full(self.session.nodes.used.shape[1], HAS_AT_MOST, dtype=np.int64)
        for name, cores, gigabytes in listed:
            idle, has = self._idle(name) / 1000, self._has(name)
            for resource, kept in (("cpu", idle * cores * 1000), ("memory", idle * gigabytes * GIGABYTE)):
                if asked.get(resource):
                    pods = np.floor((self._idle(resource) - kept) / asked[resource]).astype(np.int64)
                    most = np.where(has, np.minimum(most, pods), most)
        return most

    def _spared(self, scarce: Scarce, task: Pod, rows: Ints) -> Scores:
        serves = np.ones(rows.size, dtype=np.bool_)
        for name, amount in task.shape.requests:
            if amount and name != PODS:
                serves &= self._has(name)[rows]
        total = sum(weight for _, weight in scarce.resources)
        has = sum((weight * self._has(name)[rows] for name, weight in scarce.resources), np.zeros(rows.size))
        answer: Scores = np.where(serves, 1.0 - has / total if total else has, 0.0) * (100 * scarce.weight)
        return answer

    def _has(self, resource: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        nodes = self.session.nodes
        line = nodes.line_by_resource.get(resource)
        found: np.ndarray[tuple[int], np.dtype[np.bool_]] = (
            nodes.allocatable[line] > 0 if line is not None else np.zeros(nodes.used.shape[1], dtype=np.bool_)
        )
        return found

    def _idle(self, resource: str) -> Ints:
        nodes = self.session.nodes
        line = nodes.line_by_resource.get(resource)
        if line is None:
            return np.zeros(nodes.used.shape[1], dtype=np.int64)
        idle: Ints = nodes.allocatable[line] - nodes.used[line]
        return idle


def _is_name(written: str) -> bool:
    """A resource, or the beginning of some with a `*` at its end."""
    return "*" not in written[:-1] and written != "*"


def _wish(said: Arguments) -> Wish:
    kind = said.value("type", lambda v: v if v in (MOST, LEAST) else None, LEAST, f"must be {MOST} or {LEAST}")
    weight = said.value("weight", _exact, 1, WHOLE)
    return Wish(kind == MOST, weight if weight > 0 else 1)


def _names(said: Arguments) -> list[str]:
    return said.value("resources", _listed, [], "must be names with commas between")


def _listed(written: Any) -> list[str] | None:
    parts = written.split(",") if isinstance(written, str) else written
    if not isinstance(parts, list):
        return None
    return [name for name in (str(part).strip() for part in parts) if name]


def _scarce(said: Arguments) -> Scarce:
    weights = said.nested("resourceWeight")
    resources = tuple((name, _weight(weights.value(name, _exact, 1, WHOLE))) for name in _names(said))
    return Scarce(said.value("weight", _exact, 0, WHOLE), resources)


def _reserve(said: Arguments) -> Reserve:
    rates = said.nested("resourceProportion")

    def rate(name: str) -> float:
        return rates.value(name, _rate, 1.0, "must be a number, 0 or more")

    return Reserve(tuple((name, rate(f"{name}.cpu"), rate(f"{name}.memory")) for name in _names(said)))


def _exact(written: Any) -> int | None:
    return written if isinstance(written, int) and not isinstance(written, bool) else None


def _weight(written: int) -> int:
    return written if written >= 0 else 1


def _rate(written: Any) -> float | None:
    is_number = isinstance(written, int | float) and not isinstance(written, bool)
    return float(written) if is_number and written >= 0 else None
