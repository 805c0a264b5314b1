"""Loads of another shape: fewer nodes, faster arrivals, more jobs, no departures. Each takes a Load and gives one.

    scale_nodes     keeps a part of the nodes            gpu_nodes       keeps those that have GPUs
    compress_time   brings the arrivals closer           no_departures   jobs never end
    sample          keeps some of the jobs               drop_waiting    who doesn't start at once is gone
    resample        draws the jobs anew, at the times at which some came
    inflate         shuffles the jobs, and tops them up  packing         the packing run of the openb trace's paper

Pure       nothing is read or decided before the load is played; with the same arguments it is the same load, each time.
Chance     NumPy's default generator, from the seed that is given; equal seeds give equal loads on any machine.
Names      a load's name stays: the report says what was done to it. The objects in which somebody wrote it don't.
Not here   what is in a load: traces/, generators.py, scenarios/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import inf

import numpy as np

from kumi.api.errors import KumiError
from kumi.engine.model import Delta, Node, NodeUsage, NumaTopology, Put, Remove, VolumeLimits
from kumi.evaluator.model import Arrive, Cancel, Change, Event, Job, Load

GPU = "nvidia.com/gpu"
CPU = "cpu"
APART_MS = 1000
"""between two arrivals that have no times of their own"""


def part(text: str) -> float | int:
    """How many nodes people mean: `1%` and `0.01` are a part of them, `15` is so many. KumiError."""
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return float(text) if "." in text or "e" in text.lower() else int(text)
    except ValueError:
        raise KumiError(f"{text!r} says nothing of nodes: write a part (1% or 0.01), or how many (15)") from None


def scale_nodes(load: Load, keep: float | int, seed: int | None = None) -> Load:
    """The load on some of its nodes: `keep` a part of them above 0 and up to 1 (a float), or how many (an int).

    The nodes are put in line by kind (what they have, and their labels but for the host's own), as they come within a kind,
    and every so many-th is kept: each kind keeps its share, up to one node. At least one node stays. `seed` moves where the
    counting starts, which otherwise is in the middle of the first step. KumiError for an amount that can't be."""
    nodes = [noun for noun in load.setting if isinstance(noun, Node)]
    wanted = max(1, round(keep * len(nodes))) if isinstance(keep, float) else keep
    if not keep > 0 or wanted > len(nodes):
        raise KumiError(
            f"can't keep {keep} of {len(nodes)} nodes: write a part above 0 and up to 1, or up to {len(nodes)}"
        )
    start = 0.5 if seed is None else float(np.random.default_rng(seed).random())
    line = sorted(range(len(nodes)), key=lambda i: (_kind(nodes[i]), i))
    kept = {line[int((i + start) * len(nodes) / wanted)] for i in range(wanted)}
    return _without(load, frozenset(node.name for i, node in enumerate(nodes) if i not in kept))


def gpu_nodes(load: Load) -> Load:
    """The load on those of its nodes that have any GPU."""
    return _without(
        load,
        frozenset(n.name for n in load.setting if isinstance(n, Node) and not dict(n.allocatable).get(GPU)),
    )


def compress_time(load: Load, factor: float) -> Load:
    """Everything that comes, comes `factor` times as fast from the load's start on; jobs run as long as they did, and keep the
    span from their arrival to their deadline. A factor below 1 stretches. KumiError for one that is not above 0."""
    if not 0 < factor < inf:
        raise KumiError(f"time can't be compressed by {factor}: write a factor above 0")
    return replace(load, events=_Compressed(load, factor).events, written=None)


def no_departures(load: Load) -> Load:
    """Jobs run until the end of the run, and nobody cancels them; what they say of their length stays."""
    return replace(load, events=_Edited(load, _endless).events, written=None)


def sample(load: Load, jobs: int, seed: int) -> Load:
    """So many of the load's jobs, drawn without putting back, at their own times; what else happens stays. KumiError if it
    has fewer."""
    return replace(load, events=_Sampled(load, jobs, seed).events, size=None, written=None)


def resample(load: Load, seed: int) -> Load:
    """At each time at which a job of the load comes, any of its jobs, drawn with putting back: as busy a load, of other jobs. So
    a trace, which there is once, has noise that differences can be held against (the bootstrap). Keys are as inflate makes
    them; Cancels are left out: whom they meant is another now."""
    return replace(load, events=_Resampled(load, seed).events, written=None)


def inflate(load: Load, ratio: float, seed: int, apart_ms: int = APART_MS) -> Load:
    """The load's jobs in an order of chance, then jobs drawn from them anew, until all together ask for at least `ratio` of the
    GPUs of the setting's nodes (of their cpus, where no node has a GPU). They come one by one, `apart_ms` apart, from the
    load's start on. One that is drawn again has `-` and a number after its key. Changes and Cancels are left out: their times
    have lost their meaning. KumiError for a ratio that is not above 0, nodes that have neither, jobs that ask for none."""
    if not 0 < ratio < inf:
        raise KumiError(f"jobs can't be inflated to {ratio} of the cluster: write a part above 0, such as 1.3")
    return replace(load, events=_Inflated(load, ratio, seed, apart_ms).events, size=None, written=None)


def drop_waiting(load: Load) -> Load:
    """Nobody waits: a job that has not started at its arrival is cancelled a millisecond later. It is tried once."""
    return replace(load, events=_Dropped(load).events, size=None if load.size is None else 2 * load.size, written=None)


def packing(load: Load, ratio: float, seed: int) -> Load:
    """The packing run: on the nodes with GPUs, jobs in an order of chance up to `ratio` of the GPUs, arrivals only, no second
    try. How much is allocated in the end tells how well a policy packs."""
    return drop_waiting(no_departures(inflate(gpu_nodes(load), ratio, seed)))


def _kind(node: Node) -> tuple[object, ...]:
    return node.allocatable, tuple(label for label in node.labels if label[1] != node.name)


def _without(load: Load, gone: frozenset[str]) -> Load:
    """The load without these nodes, and without what is said of them later."""
    setting = tuple(noun for noun in load.setting if _node_of(noun) not in gone)
    return replace(load, setting=setting, events=_Fewer(load, gone).events, written=None)


def _node_of(noun: object) -> str | None:
    if isinstance(noun, Node):
        return noun.name
    return noun.node if isinstance(noun, NodeUsage | NumaTopology | VolumeLimits) else None


def _endless(event: Event) -> Event | None:
    match event:
        case Arrive(job):
            return Arrive(_another(job, job.key, job.arrives_ms, None))
        case Cancel():
            return None
    return event


@dataclass(frozen=True, slots=True)
class _Edited:
    """Each event as `edit` makes it; None: it is left out."""

    load: Load
    edit: Callable[[Event], Event | None]

    def events(self) -> Iterator[Event]:
        for event in self.load.events():
            edited = self.edit(event)
            if edited is not None:
                yield edited


@dataclass(frozen=True, slots=True)
class _Fewer:
    """Without what is said of nodes that are gone."""

    load: Load
    gone: frozenset[str]

    def events(self) -> Iterator[Event]:
        for event in self.load.events():
            if not isinstance(event, Change):
                yield event
            elif deltas := tuple(delta for delta in event.deltas if not self._is_gone(delta)):
                yield replace(event, deltas=deltas)

    def _is_gone(self, delta: Delta) -> bool:
        match delta:
            case Put(noun):
                return _node_of(noun) in self.gone
            case Remove(type, key):
                return issubclass(type, Node | NodeUsage | NumaTopology | VolumeLimits) and key in self.gone
        return False


@dataclass(frozen=True, slots=True)
class _Compressed:
    """Each event at its share of the time since the start."""

    load: Load
    factor: float

    def events(self) -> Iterator[Event]:
        for event in self.load.events():
            at_ms = self._at(event.at_ms)
            if not isinstance(event, Arrive):
                yield replace(event, at_ms=at_ms)
                continue
            yield Arrive(_another(event.job, event.job.key, at_ms, event.job.runs_ms))

    def _at(self, at_ms: int) -> int:
        return self.load.start_ms + round((at_ms - self.load.start_ms) / self.factor)


@dataclass(frozen=True, slots=True)
class _Sampled:
    """Some jobs, by chance."""

    load: Load
    jobs: int
    seed: int

    def events(self) -> Iterator[Event]:
        there = sum(isinstance(event, Arrive) for event in self.load.events())
        if not 0 <= self.jobs <= there:
            raise KumiError(f"can't draw {self.jobs} of {there} jobs: draw fewer, or inflate the load")
        drawn = np.zeros(there, dtype=bool)
        drawn[np.random.default_rng(self.seed).choice(there, self.jobs, replace=False)] = True
        left: set[str] = set()
        numbers = count()
        for event in self.load.events():
            match event:
                case Arrive(job) if not drawn[next(numbers)]:
                    left.add(job.key)
                case Cancel(key=key) if key in left:
                    left.discard(key)
                case _:
                    yield event


@dataclass(frozen=True, slots=True)
class _Resampled:
    """Jobs by chance, at the times at which some come."""

    load: Load
    seed: int

    def events(self) -> Iterator[Event]:
        jobs = [event.job for event in self.load.events() if isinstance(event, Arrive)]
        drawn = iter(np.random.default_rng(self.seed).integers(len(jobs), size=len(jobs)).tolist() if jobs else ())
        keys = _Keys(frozenset(job.key for job in jobs))
        for event in self.load.events():
            if isinstance(event, Arrive):
                job = jobs[next(drawn)]
                yield Arrive(_another(job, keys.next(job.key), event.at_ms, job.runs_ms))
            elif isinstance(event, Change):
                yield event


@dataclass(frozen=True, slots=True)
class _Inflated:
    """Jobs in an order of chance, up to a part of the cluster."""

    load: Load
    ratio: float
    seed: int
    apart_ms: int

    def events(self) -> Iterator[Event]:
        resource, target = self._target()
        jobs = [event.job for event in self.load.events() if isinstance(event, Arrive)]
        asked = [_asked(job, resource) for job in jobs]
        if not any(asked):
            raise KumiError(
                f"no job of {self.load.name} asks for any {resource}: they can't be inflated to a part of it"
            )
        keys = _Keys(frozenset(job.key for job in jobs))
        reached = 0
        for number, i in enumerate(self._order(len(jobs))):
            if reached >= target:
                return
            reached += asked[i]
            job = jobs[i]
            at_ms = self.load.start_ms + number * self.apart_ms
            yield Arrive(_another(job, keys.next(job.key), at_ms, job.runs_ms))

    def _order(self, jobs: int) -> Iterator[int]:
        """All once, then any."""
        rng = np.random.default_rng(self.seed)
        yield from rng.permutation(jobs).tolist()
        while True:
            yield from rng.integers(jobs, size=1024).tolist()

    def _target(self) -> tuple[str, float]:
        """What is counted, and how much of it is to be asked for."""
        nodes = [dict(noun.allocatable) for noun in self.load.setting if isinstance(noun, Node)]
        for resource in (GPU, CPU):
            if have := sum(node.get(resource, 0) for node in nodes):
                return resource, self.ratio * have
        raise KumiError(f"no node of {self.load.name} has any {GPU} or {CPU}: there is nothing to inflate jobs to")


def _asked(job: Job, resource: str) -> int:
    return sum(role.count * dict(role.shape.requests).get(resource, 0) for role in job.roles)


def _another(job: Job, key: str, at_ms: int, runs_ms: int | None) -> Job:
    """The job under this key, at this time, with its span until its deadline. All is named: a third of what `replace` takes."""
    return Job(
        key,
        at_ms,
        job.roles,
        runs_ms,
        job.via,
        job.queue,
        job.least,
        job.tenant,
        job.priority,
        job.said_ms,
        None if job.deadline_ms is None else at_ms + job.deadline_ms - job.arrives_ms,
        job.checkpoint_ms,
        job.labels,
        job.renews,
        job.kind,
    )


class _Keys:
    """A key for each drawing: the job's own, then with a number that makes it another's than all there are."""

    def __init__(self, own: frozenset[str]) -> None:
        self._own = own
        self._drawn: dict[str, int] = {}

    def next(self, key: str) -> str:
        """The key for this drawing of the job."""
        number = self._drawn[key] = self._drawn.get(key, 0) + 1
        if number == 1:
            return key
        while (made := f"{key}-{number}") in self._own:
            number = self._drawn[key] = number + 1
        return made


@dataclass(frozen=True, slots=True)
class _Dropped:
    """After each arrival, what becomes of those that found no place."""

    load: Load

    def events(self) -> Iterator[Event]:
        waiting: list[Cancel] = []
        for event in self.load.events():
            if waiting and (waiting[0].at_ms, 1) <= (event.at_ms, 0 if isinstance(event, Change) else 1):
                yield from waiting
                waiting.clear()
            yield event
            if isinstance(event, Arrive):
                waiting.append(Cancel(event.at_ms + 1, event.job.key, only_waiting=True))
        yield from waiting
