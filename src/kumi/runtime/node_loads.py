"""Node loads: how busy nodes are, as a source of NodeLoad objects (polling.py), from one of several systems that measure it.

    node_loads(name, ask, every_ms)    the source: of every node that is there what was last known of it
    Averages(measures)                 an `ask` of the resource metrics API

Kept       a node of which nothing is said this time keeps what was said of it before: `measured_ms` tells how old that is. A node
           that is gone is forgotten.
Averages   a node's load is the mean of what the API said of it in the last PERIOD_MS, each measurement once, in percent of the
           node's capacity (its allocatable where it tells none).
Bounds     a load is 0 to 100 percent; a time that is still to come is now.
Wrong      what can't be read of one node (a quantity that is none, a node without capacity) leaves out that node alone; the log
           says so once, as long as it stays the same.
Cost       O(nodes) and their measurements a question; everybody else has their turn in between.
Source     Volcano: usage plug-in (means of ten minutes); Kubernetes: resource metrics pipeline.
Not here   Prometheus, custom metrics: kumi.kube; what becomes of it: kumi.engine.placement.plugins.usage.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from kumi.api.core import Node
from kumi.api.errors import KumiError
from kumi.api.meta import ObjectMeta, parse_time
from kumi.api.metrics import NODE_METRICS, NodeLoad, NodeMetrics
from kumi.api.quantity import nano
from kumi.api.wire import JsonObject
from kumi.runtime.informer import TURN
from kumi.runtime.polling import Source
from kumi.runtime.view import View

log = logging.getLogger(__name__)

PERIOD_MS = 600_000
PERIOD = "10m"
"""the same, as Prometheus writes it"""


class Load(NamedTuple):
    """Of one node, in percent; None: not known."""

    cpu: float | None
    memory: float | None
    at_ms: int


class Value(NamedTuple):
    """A measurement in percent, and as of when."""

    percent: float
    at_ms: int


class Loads(NamedTuple):
    """What a system says: loads by node, and a sentence for each thing of it that can't be read."""

    by_node: Mapping[str, Load]
    wrong: Sequence[str] = ()


Ask: TypeAlias = Callable[[Sequence[Node], int], Awaitable[Loads]]
"""(the nodes that are there, now in ms) -> loads, of other nodes too. KumiError, OSError"""


def node_loads(name: str, ask: Ask, every_ms: int) -> Source:
    """See the module. `name`: that of the system that is asked."""
    return Source(name, NODE_METRICS, NodeLoad, (Node,), every_ms, _NodeLoads(name, ask).read)


def joined(cpu: Mapping[str, Value], memory: Mapping[str, Value]) -> dict[str, Load]:
    """Loads of what is known of the one and of the other, by node."""
    loads = {}
    for name in sorted({**cpu, **memory}):
        values = [each.get(name) for each in (cpu, memory)]
        at_ms = max(value.at_ms for value in values if value is not None)
        used = [value.percent if value is not None else None for value in values]
        loads[name] = Load(used[0], used[1], at_ms)
    return loads


class _NodeLoads:
    """What was last known of each node."""

    def __init__(self, name: str, ask: Ask) -> None:
        self._name, self._ask = name, ask
        self._known: dict[str, Load] = {}
        self._wrong: frozenset[str] = frozenset()

    async def read(self, view: View, now_ms: int) -> Sequence[NodeLoad]:
        """See Source."""
        nodes = view.list(Node)
        if not nodes:
            return ()
        said = await self._ask(nodes, now_ms)
        for sentence in said.wrong:
            if sentence not in self._wrong:
                log.warning("%s: %s", self._name, sentence)
        self._wrong = frozenset(said.wrong)
        known = self._known | dict(said.by_node)
        self._known = {node.metadata.name: known[node.metadata.name] for node in nodes if node.metadata.name in known}
        return [_object(name, load, now_ms) for name, load in self._known.items()]


def _object(name: str, load: Load, now_ms: int) -> NodeLoad:
    at_ms = min(load.at_ms, now_ms)
    meta = ObjectMeta(name=name, resource_version=str(at_ms))
    return NodeLoad(metadata=meta, cpu=_percent(load.cpu), memory=_percent(load.memory), measured_ms=at_ms)


def _percent(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else min(100.0, max(0.0, value))


class Averages:
    """Means of what the resource metrics API says. `measures`: its NodeMetrics, as of now."""

    def __init__(self, measures: Callable[[], Awaitable[Sequence[JsonObject]]]) -> None:
        self._measures = measures
        self._seen: dict[str, dict[int, Load]] = {}
        """node -> when -> what"""

    async def __call__(self, nodes: Sequence[Node], now_ms: int) -> Loads:
        """See Ask."""
        by_name, wrong = {node.metadata.name: node for node in nodes}, []
        for number, raw in enumerate(await self._measures(), 1):
            if number % TURN == 0:
                await asyncio.sleep(0)
            try:
                metrics = msgspec.convert(raw, NodeMetrics)
                node = by_name.get(metrics.metadata.name)
                if node is not None:
                    load = _load(metrics, node, now_ms)
                    self._seen.setdefault(node.metadata.name, {})[load.at_ms] = load
            except (KumiError, ValueError, TypeError, msgspec.ValidationError) as error:
                name = (raw.get("metadata") or {}).get("name", "")
                wrong.append(f"what is said of node {name} can't be read: {error}")
        kept, means = dict[str, dict[int, Load]](), dict[str, Load]()
        for number, (name, seen) in enumerate(self._seen.items(), 1):
            if number % TURN == 0:
                await asyncio.sleep(0)
            fresh = {at: load for at, load in seen.items() if now_ms - at <= PERIOD_MS}
            if fresh and name in by_name:
                kept[name], means[name] = fresh, _mean(list(fresh.values()))
        self._seen = kept
        return Loads(means, wrong)


def _load(metrics: NodeMetrics, node: Node, now_ms: int) -> Load:
    """One measurement. KumiError, ValueError."""
    at_ms = parse_time(metrics.timestamp)
    if at_ms is None:
        raise KumiError("it doesn't say when it was measured")
    return Load(_share(metrics, node, "cpu"), _share(metrics, node, "memory"), min(at_ms, now_ms))


def _share(metrics: NodeMetrics, node: Node, resource: str) -> float | None:
    """In percent of what the node has."""
    used = metrics.usage.get(resource)
    if used is None:
        return None
    has = node.status.capacity.get(resource) or node.status.allocatable.get(resource)
    if has is None or not nano(has):
        raise KumiError(f"it tells no capacity of {resource}")
    return 100 * nano(used) / nano(has)


def _mean(loads: Sequence[Load]) -> Load:
    cpu = [load.cpu for load in loads if load.cpu is not None]
    memory = [load.memory for load in loads if load.memory is not None]
    return Load(_mean_of(cpu), _mean_of(memory), max(load.at_ms for load in loads))


def _mean_of(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
