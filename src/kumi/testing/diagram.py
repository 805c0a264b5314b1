"""Diagram: a cluster drawn in letters, and driven a step at a time.

    n1 | A A . .
    n2 | B . x .    zone=a

A row is a node, a cell one of its GPUs: `.` is free, a capital is a place that the workload of that letter holds, `x` a pod
that is no workload's. What follows are labels (`zone=a`), taints (`!dedicated`, effect NoSchedule), `cordoned`, `down`.

    cluster = Cluster.drawn(text)       the nodes, workloads that hold what is drawn, and a queue for 1,000 GPUs
    cluster.submit("C", 4)              a workload of four pods of a GPU
    cluster.run()                       decides, writes everything down as it was decided, until nothing more is decided
    cluster.draw()                      the cluster as it is now

The workload of letter C is `ns/c`. After every step the invariants are checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.admission.order import Kind
from kumi.engine.admission.quota import Quotas
from kumi.engine.catalog import Catalog
from kumi.engine.decisions import Admit, Bind, Decision, Evict, Finish
from kumi.engine.holdings import Holdings
from kumi.engine.model import Admission, Node, Noun, Pod, PodSetAssigned, Profile, Put, Remove, Taint, Workload
from kumi.engine.placement import session
from kumi.engine.placement.nodes import Nodes
from kumi.engine.pods import Pods
from kumi.engine.queues import Queues
from kumi.engine.reservations import Reservations
from kumi.engine.state import State
from kumi.testing.builders import GPU, door, flavor, node, pod, pods_of, queue, workload

GPU_UNIT = 1000
FREE, ALIEN = ".", "x"
_ROUNDS_AT_MOST = 100


@dataclass
class Drawing:
    """What was drawn: nodes, and who holds how many cells of which, in the order of the rows."""

    nodes: list[Node] = field(default_factory=list)
    holders: dict[str, dict[str, int]] = field(default_factory=dict)


def parse(text: str) -> Drawing:
    """Reads a drawing. ValueError: a row without a bar, a cell that is no letter, dot or x."""
    drawing = Drawing()
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, bar, rest = line.partition("|")
        if not bar:
            raise ValueError(f"{line!r}: a row is a node's name, a bar and its cells")
        words = rest.split()
        cells = [word for word in words if len(word) == 1]
        drawing.nodes.append(_node(name.strip(), len(cells), [word for word in words if len(word) > 1]))
        for cell in cells:
            if cell not in (FREE, ALIEN) and not (cell.isalpha() and cell.isupper()):
                raise ValueError(f"{line!r}: {cell!r} is no cell")
            if cell != FREE:
                held = drawing.holders.setdefault(cell, {})
                held[name.strip()] = held.get(name.strip(), 0) + 1
    return drawing


def _node(name: str, gpus: int, words: list[str]) -> Node:
    labels = dict(word.split("=", 1) for word in words if "=" in word)
    taints = tuple(Taint(word[1:], "", "NoSchedule") for word in words if word.startswith("!"))
    cordoned, down = "cordoned" in words, "down" in words
    return node(name, labels, gpu=gpus, taints=taints, unschedulable=cordoned, ready=not down)


def render(state: State) -> str:
    """The cluster as letters: the first letter of the workload's name for each GPU that it holds on a node."""
    rows = []
    for name in state.nodes.names():
        has = state.nodes.node_by_name[name]
        cells = _held(state, name)
        gpus = dict(has.allocatable).get(GPU, 0) // GPU_UNIT
        marks = [FREE] * (gpus - len(cells)) + ["cordoned"] * has.unschedulable + ["down"] * (not has.ready)
        rows.append(f"{name} | {' '.join([*cells, *marks])}")
    return "\n".join(rows)


def _held(state: State, name: str) -> list[str]:
    """A letter for each GPU that is used on the node."""
    cells = []
    for (key, pod_set), places in sorted(state.reservations.open.items()):
        requests = dict(state.reservations.requests[key, pod_set])
        cells += [_letter(key)] * (places.get(name, 0) * requests.get(GPU, 0) // GPU_UNIT)
    for uid in sorted(state.pods.on_node.get(name, ())):
        found = state.pods.by_uid[uid]
        letter = _letter(found.workload) if found.workload else ALIEN
        cells += [letter] * (dict(found.shape.requests).get(GPU, 0) // GPU_UNIT)
    return sorted(cells)


def _letter(key: str) -> str:
    return key.partition("/")[2][:1].upper()


def _key(letter: str) -> str:
    return f"ns/{letter.lower()}"


class Cluster:
    """A state, the objects as their owner has them, and the hands that write decisions down."""

    def __init__(self, nouns: Iterable[Noun] = (), profile: Profile | None = None) -> None:
        self.state = State(profile)
        self.now_ms = 0
        self.workloads: dict[str, Workload] = {}
        self.pods: dict[str, Pod] = {}
        self.put(*nouns)

    @classmethod
    def drawn(cls, text: str, gpus: int = 1000, profile: Profile | None = None, **fields: Any) -> Cluster:
        """The cluster of a drawing, with ClusterQueue `cq` of so many GPUs (`fields` are its other fields) behind
        LocalQueue `ns/lq`."""
        drawing = parse(text)
        made = cls([flavor(), queue("cq", {"default": {"gpu": gpus}}, **fields), door("ns/lq", "cq")], profile)
        made.put(*drawing.nodes)
        for letter in sorted(drawing.holders):
            places = tuple(drawing.holders[letter].items())
            count = sum(n for _, n in places)
            if letter == ALIEN:
                for number, name in enumerate(n for n, times in places for _ in range(times)):
                    made.put(pod(f"ns/x-{number}", gpu=1, node=name))
                continue
            usage = ((GPU, GPU_UNIT * count),)
            given = Admission("cq", (PodSetAssigned("main", count, ((GPU, "default"),), usage, places),))
            made.put(workload(_key(letter), count, gpu=1, admission=given))
        return made

    def put(self, *nouns: Noun) -> None:
        """These objects are there now."""
        for noun in nouns:
            if isinstance(noun, Workload):
                self.workloads[noun.key] = noun
            if isinstance(noun, Pod):
                self.pods[noun.uid] = noun
            self.state.apply(Put(noun))
            invariants.check(self.state)

    def remove(self, type_: Any, key: str) -> None:
        """This object is gone."""
        self.workloads.pop(key, None)
        self.pods.pop(key, None)
        self.state.apply(Remove(type_, key))
        invariants.check(self.state)

    def submit(self, letter: str, count: int = 1, **fields: Any) -> Workload:
        """A workload; of pods of one GPU unless amounts are given."""
        made = workload(_key(letter), count, **({"gpu": 1} | fields if "pod_sets" not in fields else fields))
        self.put(made)
        return made

    def decide(self) -> list[Decision]:
        """What admission decides, not written down yet."""
        decided = cycle.decide(self.state, self.now_ms)
        invariants.check(self.state)
        return decided

    def bind(self) -> list[Decision]:
        """What placement decides, not written down yet."""
        decided = session.decide(self.state, self.now_ms)
        invariants.check(self.state)
        return decided

    def write(self, decided: Iterable[Decision]) -> None:
        """Every decision is acknowledged and seen."""
        for decision in decided:
            self.state.settle(decision, True)
            match decision:
                case Admit():
                    seen = self.workloads[decision.workload]
                    self.put(replace(seen, admission=decision.admission, evicted=False))
                case Evict():
                    self.put(replace(self.workloads[decision.workload], evicted=True))
                case Finish():
                    self.put(replace(self.workloads[decision.workload], finished=True))
                case Bind():
                    self.put(replace(self.pods[decision.pod], node=decision.node))
            invariants.check(self.state)

    def refuse(self, decided: Iterable[Decision]) -> None:
        """Every decision is refused."""
        for decision in decided:
            self.state.settle(decision, False)
            invariants.check(self.state)

    def run(self) -> list[Decision]:
        """Decides and writes until nothing more is decided; everything that was. AssertionError: it never comes to rest."""
        every: list[Decision] = []
        for _ in range(_ROUNDS_AT_MOST):
            decided = [*self.decide(), *self.bind()]
            if not decided:
                return every
            self.write(decided)
            every += decided
        raise AssertionError(f"no fixed point; decided last: {decided}")

    def start(self, letter: str, run: int = 0) -> list[Pod]:
        """The job of the workload makes its pods."""
        made = pods_of(self.workloads[_key(letter)], run)
        self.put(*made)
        return made

    def finish(self, letter: str) -> None:
        """The workload and its pods have ended."""
        key = _key(letter)
        for found in [p for p in self.pods.values() if p.workload == key and not p.finished]:
            self.put(replace(found, finished=True))
        self.put(replace(self.workloads[key], finished=True))

    def unadmit(self, letter: str) -> None:
        """Its pods are gone, and its admission is taken away."""
        key = _key(letter)
        for uid in [p.uid for p in self.pods.values() if p.workload == key]:
            self.remove(Pod, uid)
        self.put(replace(self.workloads[key], admission=None, evicted=True))

    def holding(self) -> str:
        """The letters of the workloads that hold an admission."""
        return "".join(sorted(_letter(key) for key in self.state.holdings.admission))

    def draw(self) -> str:
        """The cluster as it is now."""
        return render(self.state)


def picture(state: State) -> str:
    """The whole state as text, in an order of its own: two states of equal picture are equal. Caches are left out."""
    return "\n".join(f"{name}: {_plain(part)}" for name, part in sorted(_parts(state).items()))


_NOT_STATE = ("best", "crowd", "journal", "site", "profile", "touched", "lendable", "version", "versions")


def _parts(thing: object) -> dict[str, object]:
    return {k: v for k, v in vars(thing).items() if not k.startswith("_") and k not in _NOT_STATE}


def _plain(thing: object) -> str:
    if isinstance(thing, dict):
        return "{" + ", ".join(sorted(f"{_plain(k)}: {_plain(v)}" for k, v in thing.items())) + "}"
    if isinstance(thing, list):
        return "[" + ", ".join(_plain(item) for item in thing) + "]"
    if isinstance(thing, np.ndarray):
        return f"{thing.dtype}{thing.shape}{thing.tobytes().hex()}"
    if isinstance(thing, Kind):
        return f"Kind({thing.priority}, {thing.pod_sets!r})"
    if isinstance(thing, Catalog | Holdings | Nodes | Pods | Queues | Quotas | Reservations):
        return _plain(_parts(thing))
    return repr(thing)
