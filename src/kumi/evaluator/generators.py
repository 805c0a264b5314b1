"""Generators: jobs that nobody wrote down, by chance from a seed, as a stream of any length.

The rule   arrivals   Poisson: gaps are exponential; Diurnal: the same with a rate that swings as a cosine over a day, by
                      thinning; Regular: equal gaps. All with `per_hour` jobs an hour in the mean
           a job      one of the kinds, one of the tenants, by weight; its length from its kind's spread
           key        <tenant>/<kind>-<number>, numbers from 0
           said       the owner says `says` times the true length; None: nobody says
           deadline   arrival + `slack` times the true length; None: there is none
Rate       `per_hour(kinds, utilization, nodes)`: so many jobs an hour keep that part of the scarcest resource busy, if all can be
           placed: utilization x what there is / what a job uses of it in the mean.
Chance     each of arrivals, lengths, kinds and tenants has a stream of its own, drawn in blocks: another tenant weight changes
           no arrival. NumPy's default generator: the same on every machine.
Cost       O(1) memory; some microseconds a job.
Source     Lewis, Shedler: thinning. Feitelson: "Workload Modeling".
Not here   spreads of lengths: spreads.py; jobs from manifests: scenarios/.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import pi
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kumi.api.errors import KumiError
from kumi.engine.model import Node
from kumi.evaluator.model import START_MS, Arrive, Event, Job, Role, Via
from kumi.evaluator.spreads import Spread

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
BLOCK = 4096


class Arrivals(Protocol):
    """When jobs come."""

    def times(self, rng: np.random.Generator) -> Iterator[float]:
        """Milliseconds from the start, rising, without end."""
        ...


@dataclass(frozen=True, slots=True)
class Poisson:
    """Jobs come independently of each other."""

    per_hour: float

    def __post_init__(self) -> None:
        _rate(self.per_hour)

    def times(self, rng: np.random.Generator) -> Iterator[float]:
        """See Arrivals."""
        for block in _poisson(rng, self.per_hour):
            yield from block.tolist()


@dataclass(frozen=True, slots=True)
class Diurnal:
    """More at one time of the period, less at another: rate x (1 + swing x cos(2 pi (t - peak) / period)), swing from 0 to 1."""

    per_hour: float
    swing: float = 0.5
    period_ms: float = DAY_MS
    peak_ms: float = 14 * HOUR_MS

    def __post_init__(self) -> None:
        _rate(self.per_hour)
        if not 0 <= self.swing <= 1:
            raise KumiError(f"the swing of arrivals must be from 0 to 1, not {self.swing}")
        if not self.period_ms > 0:
            raise KumiError(f"the period of arrivals must be above 0, not {self.period_ms} ms")

    def times(self, rng: np.random.Generator) -> Iterator[float]:
        """See Arrivals."""
        for block in _poisson(rng, self.per_hour * (1 + self.swing)):
            rate = 1 + self.swing * np.cos(2 * pi * (block - self.peak_ms) / self.period_ms)
            yield from block[rng.random(len(block)) * (1 + self.swing) < rate].tolist()


@dataclass(frozen=True, slots=True)
class Regular:
    """One after the other in equal steps, the first at the start."""

    per_hour: float

    def __post_init__(self) -> None:
        _rate(self.per_hour)

    def times(self, rng: np.random.Generator) -> Iterator[float]:
        """See Arrivals."""
        number = 0
        while True:
            yield number * HOUR_MS / self.per_hour
            number += 1


@dataclass(frozen=True, slots=True)
class Kind:
    """Jobs that are alike but for their length. `weight`: how often they come, against the others'."""

    name: str
    roles: tuple[Role, ...]
    runs: Spread
    weight: float = 1.0
    via: Via = Via.POD
    queue: str = ""
    priority: int = 0

    def uses(self, resource: str) -> int:
        """What all its pods ask for."""
        return sum(role.count * dict(role.shape.requests).get(resource, 0) for role in self.roles)


def sized(kind: Kind, sizes: dict[int, float]) -> tuple[Kind, ...]:
    """The kind once for each number of pods, with that number's share of its weight, named <kind>-<pods>."""
    if not sizes or any(size < 1 for size in sizes):
        raise KumiError(f"{kind.name}: sizes of gangs must be 1 or more, not {sorted(sizes)}")
    shares = _shares(list(sizes.values()), f"the sizes of {kind.name}")
    return tuple(
        Kind(
            f"{kind.name}-{size}",
            tuple(Role(role.name, role.count * size, role.shape) for role in kind.roles),
            kind.runs,
            kind.weight * float(share),
            kind.via,
            kind.queue,
            kind.priority,
        )
        for size, share in zip(sizes, shares, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """What comes. It ends after `jobs`, or at `until_ms` from the start, whichever is first; with neither it has no end.
    `tenants`: name -> weight. See the module for the rest."""

    arrivals: Arrivals
    kinds: tuple[Kind, ...]
    jobs: int | None = None
    until_ms: int | None = None
    tenants: tuple[tuple[str, float], ...] = (("default", 1.0),)
    says: float | None = 1.0
    slack: float | None = None
    checkpoint_ms: int | None = None

    def __post_init__(self) -> None:
        if not self.kinds:
            raise KumiError("a plan needs a kind of job at least")
        _shares([kind.weight for kind in self.kinds], "kinds")
        _shares([weight for _, weight in self.tenants], "tenants")


@dataclass(frozen=True, slots=True)
class Generated:
    """A plan with a seed: Load.events."""

    plan: Plan
    seed: int
    start_ms: int = START_MS

    def events(self) -> Iterator[Event]:
        """The arrivals, by time."""
        plan = self.plan
        times, lengths, kinds, tenants = (np.random.default_rng(s) for s in np.random.SeedSequence(self.seed).spawn(4))
        which = _chosen(kinds, [kind.weight for kind in plan.kinds])
        whose = _chosen(tenants, [weight for _, weight in plan.tenants])
        runs = [_drawn(kind.runs, rng) for kind, rng in zip(plan.kinds, lengths.spawn(len(plan.kinds)), strict=True)]
        for number, at_ms in enumerate(plan.arrivals.times(times)):
            if (plan.jobs is not None and number >= plan.jobs) or (
                plan.until_ms is not None and at_ms >= plan.until_ms
            ):
                return
            chosen = next(which)
            yield Arrive(
                self._job(number, int(at_ms), plan.kinds[chosen], next(runs[chosen]), plan.tenants[next(whose)][0])
            )

    def _job(self, number: int, at_ms: int, kind: Kind, runs_ms: int, tenant: str) -> Job:
        plan, arrives_ms = self.plan, self.start_ms + at_ms
        return Job(
            key=f"{tenant}/{kind.name}-{number}",
            arrives_ms=arrives_ms,
            roles=kind.roles,
            runs_ms=runs_ms,
            via=kind.via,
            queue=kind.queue,
            priority=kind.priority,
            said_ms=None if plan.says is None else max(1, round(runs_ms * plan.says)),
            deadline_ms=None if plan.slack is None else arrives_ms + round(runs_ms * plan.slack),
            checkpoint_ms=plan.checkpoint_ms,
        )


def per_hour(kinds: Sequence[Kind], utilization: float, nodes: Sequence[Node]) -> float:
    """How many jobs an hour make a load of `utilization` (1.0: all that there is) on the nodes. KumiError if the jobs use
    nothing of what nodes have, or something that none has."""
    if not utilization > 0:
        raise KumiError(f"the load must be above 0, not {utilization}")
    has: dict[str, int] = {}
    for node in nodes:
        for resource, amount in node.allocatable:
            has[resource] = has.get(resource, 0) + amount
    shares = _shares([kind.weight for kind in kinds], "kinds")
    busiest = 0.0
    for resource in sorted({name for kind in kinds for role in kind.roles for name, _ in role.shape.requests}):
        work = sum(
            float(share) * kind.uses(resource) * kind.runs.mean_ms for share, kind in zip(shares, kinds, strict=True)
        )
        if work and not has.get(resource):
            raise KumiError(f"jobs ask for {resource}, and no node has any: there is no rate for a load of it")
        busiest = max(busiest, work / has[resource] if work else 0.0)
    if not busiest:
        raise KumiError("jobs ask for nothing: there is no rate for a load of it")
    return utilization / busiest * HOUR_MS


def _rate(per_hour: float) -> None:
    if not 0 < per_hour < float("inf"):
        raise KumiError(f"jobs an hour must be above 0, not {per_hour}")


def _poisson(rng: np.random.Generator, per_hour: float) -> Iterator[NDArray[np.float64]]:
    now = 0.0
    while True:
        block = now + np.cumsum(rng.exponential(HOUR_MS / per_hour, BLOCK))
        now = float(block[-1])
        yield block


def _drawn(runs: Spread, rng: np.random.Generator) -> Iterator[int]:
    """Lengths, one by one, of a millisecond at least."""
    while True:
        yield from np.maximum(1, np.rint(runs.draw(rng, BLOCK))).astype(np.int64).tolist()


def _chosen(rng: np.random.Generator, weights: Sequence[float]) -> Iterator[int]:
    """Places of the weights, each as often as it weighs."""
    edges = np.cumsum(_shares(weights, "weights"))[:-1]
    while True:
        yield from np.searchsorted(edges, rng.random(BLOCK), side="right").tolist()


def _shares(weights: Sequence[float], what: str) -> NDArray[np.float64]:
    """The weights as parts of 1."""
    found = np.array(weights, dtype=np.float64)
    if not len(found) or not np.all(np.isfinite(found)) or np.any(found < 0) or not found.sum() > 0:
        raise KumiError(f"the weights of {what} must be 0 or more, and not all 0: {list(weights)}")
    shares: NDArray[np.float64] = found / found.sum()
    return shares
