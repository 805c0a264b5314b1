"""Outages: nodes that fail, spot nodes that are taken back after a notice, nodes that are maintained.

    failures:                           # without a word before
      - nodes: [big-0]                  # names, or patterns like big-*
        at: 3h
        for: 30m                        # then it is back; left out: it never is
      - nodes: big-*
        every: 200h                     # each of them, by chance, so long in the mean after it came (back)
        for: {exponential: 1h}
    spot:                               # with a notice before (2m): from then on the node takes nothing new
      - {nodes: spot-*, every: 24h, for: 10m, notice: 2m}
    maintenance:                        # planned: `every` is no chance but a plan
      - {nodes: big-1, at: 8h, for: 2h, notice: 1h}

The rule   at its notice a node is unschedulable; when it goes it is deleted, and its pods are lost; back, it is as it was
Chance     `every: 200h` of failures and spot nodes is exponential; each node has a stream of its own, from the run's seed; it
           ends at `until`, or at the `until` of the scenario.
Not here   nodes that come and go by manifests: arrivals.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from heapq import merge
from operator import attrgetter

import numpy as np

from kumi.api.wire import JsonObject
from kumi.evaluator.scenarios.document import Part
from kumi.evaluator.scenarios.lengths import spread
from kumi.evaluator.scenarios.steps import Moment, Step, seed_of
from kumi.evaluator.spreads import Exponential, Fixed, Spread

NOTICE_MS = {"failures": 0, "spot": 120_000, "maintenance": 0}
SECTIONS = tuple(NOTICE_MS)
FOR_EVER_MS = 2**62


@dataclass(frozen=True, slots=True)
class Outage:
    """Of these nodes. `every` None: once, `at_ms` after the scenario's start; else again and again until `until_ms`. `length`
    None: it never comes back."""

    nodes: tuple[JsonObject, ...]
    place: str
    number: int
    start_ms: int
    at_ms: int
    every: Spread | None
    length: Spread | None
    notice_ms: int
    until_ms: int

    def steps(self, seed: int) -> Iterator[Step]:
        """What is done with the nodes, by time."""
        return merge(
            *(self._node(node, seed_of(seed, self.number, i)) for i, node in enumerate(self.nodes)),
            key=attrgetter("at_ms"),
        )

    def _node(self, node: JsonObject, seed: int) -> Iterator[Step]:
        rng = np.random.default_rng(seed)
        whom: JsonObject = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node["metadata"]["name"]}}
        back_ms = self.start_ms
        while True:
            gone_ms = self._gone_ms(back_ms, rng)
            if gone_ms >= self.until_ms:
                return
            if self.notice_ms:
                warned_ms = max(back_ms, gone_ms - self.notice_ms)
                yield Step(warned_ms, "update", {**whom, "spec": {"unschedulable": True}}, self.place)
            yield Step(gone_ms, "delete", whom, self.place)
            if self.length is None:
                return
            back_ms = gone_ms + max(1, round(float(self.length.draw(rng, 1)[0])))
            yield Step(back_ms, "create", node, self.place)
            if self.every is None:
                return

    def _gone_ms(self, back_ms: int, rng: np.random.Generator) -> int:
        if self.every is None:
            return self.start_ms + self.at_ms
        return back_ms + max(1, round(float(self.every.draw(rng, 1)[0])))


@dataclass(frozen=True, slots=True)
class Outages:
    """All of them. A node that is out for two reasons is back when both are over."""

    all: tuple[Outage, ...]

    def steps(self, seed: int) -> Iterator[Moment]:
        """What is done with the nodes, by time."""
        out: dict[str, int] = {}
        for step in merge(*(outage.steps(seed) for outage in self.all), key=attrgetter("at_ms")):
            name = step.object["metadata"]["name"]
            before = out.get(name, 0)
            out[name] = now = before + {"delete": 1, "create": -1, "update": 0}[step.verb]
            if (before == 0 and now >= 0) or (before == 1 and now == 0):
                yield step


def outages(
    sections: Sequence[tuple[str, Part]], there: Sequence[Step], start_ms: int, until_ms: int | None
) -> Outages:
    """The outages of all sections. `there`: what the cluster starts with."""
    nodes = [step.object for step in there if step.object.get("kind") == "Node"]
    found: list[Outage] = []
    for section, whole in sections:
        for part in whole.items():
            found.append(_outage(section, part, nodes, len(found), (start_ms, until_ms)))
    return Outages(tuple(found))


def _outage(
    section: str, part: Part, nodes: Sequence[JsonObject], number: int, times: tuple[int, int | None]
) -> Outage:
    fields = part.fields("nodes", "at", "every", "for", "notice", "until")
    start_ms, scenario_until_ms = times
    chosen: dict[str, JsonObject] = {}
    for pattern in fields["nodes"].items():
        met = [n for n in nodes if fnmatchcase(n["metadata"]["name"], pattern.text())]
        if not met:
            pattern.wrong(f"no node of the cluster is called {pattern.text()!r}")
        chosen |= {node["metadata"]["name"]: node for node in met}
    if not fields["nodes"]:
        fields["nodes"].wrong("says which nodes: names, or patterns like big-*")
    every = spread(fields["every"])
    if bool(fields["at"]) == bool(fields["every"]):
        part.wrong("needs one of `at` (once) and `every` (by chance)")
    until = start_ms + fields["until"].span_ms(least=1) if fields["until"] else scenario_until_ms
    if every is not None and until is None:
        part.wrong("goes on for ever: say `until` here, or in the scenario")
    return Outage(
        nodes=tuple(chosen.values()),
        place=part.path,
        number=number,
        start_ms=start_ms,
        at_ms=fields["at"].span_ms(),
        every=Exponential(every.length_ms) if isinstance(every, Fixed) and section != "maintenance" else every,
        length=spread(fields["for"]),
        notice_ms=fields["notice"].span_ms(NOTICE_MS[section]),
        until_ms=until if until is not None else FOR_EVER_MS,
    )
