"""Probes of one container: when to ask, and what the answers in a row mean.

The rule:
    asked      `delay_ms` after the container began, then every `period_ms`; never while the last answer is awaited
    passes     after `successes` good answers in a row            fails    after `failures` bad ones in a row
    startup    until it passed, the container is not started and no other probe is asked; then it is asked no more
    liveness   passes until it fails
    readiness  fails until it passes; without one, a container is ready once it is started
    a startup or liveness probe that fails is the end of this attempt: nothing is asked any more
    while the pod is ending only readiness is asked
Units      milliseconds since the epoch.
Cost       O(1).
Source     Kubernetes: container probes.
Not here   asking (handlers.py); killing a container whose probe failed (pod_state.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from kumi.api.wire import JsonObject


class ProbeKind(Enum):
    """What a probe is for; the value begins the name of its field."""

    STARTUP = "startup"
    LIVENESS = "liveness"
    READINESS = "readiness"


@dataclass(frozen=True)
class ProbePlan:
    """The numbers of a probe. `grace_ms`: of a container that it ends, None for the pod's."""

    delay_ms: int = 0
    period_ms: int = 10_000
    successes: int = 1
    failures: int = 3
    grace_ms: int | None = None


Plans = Mapping[ProbeKind, ProbePlan]


def plans_of(container: JsonObject) -> dict[ProbeKind, ProbePlan]:
    """A container's probes; what is not given has Kubernetes' defaults."""
    return {kind: _plan_of(spec) for kind in ProbeKind if (spec := container.get(f"{kind.value}Probe")) is not None}


@dataclass
class _Series:
    """One probe's answers."""

    plan: ProbePlan
    due_ms: int
    passed: bool
    asked: bool = False
    ok: bool = False
    in_a_row: int = 0


class Probing:
    """The probes of one attempt that began at `began_ms`. `started`, `ready`: how it stood before, when it is taken over."""

    def __init__(self, plans: Plans, began_ms: int, started: bool = False, ready: bool = False) -> None:
        passed = {ProbeKind.STARTUP: started, ProbeKind.LIVENESS: True, ProbeKind.READINESS: ready}
        self._series = {kind: _Series(p, began_ms + p.delay_ms, passed[kind]) for kind, p in plans.items()}
        self._failed = False

    @property
    def started(self) -> bool:
        """Whether it has started up."""
        return self._passed(ProbeKind.STARTUP)

    @property
    def ready(self) -> bool:
        """Whether it is ready to serve."""
        return self.started and self._passed(ProbeKind.READINESS)

    def ask(self, now_ms: int, ending: bool) -> list[ProbeKind]:
        """The probes to ask now; each is answered by `take`."""
        found = [kind for kind in self._open(ending) if self._series[kind].due_ms <= now_ms]
        for kind in found:
            series = self._series[kind]
            series.asked = True
            series.due_ms = now_ms + series.plan.period_ms
        return found

    def wake_at(self, ending: bool) -> int | None:
        """When the next one is to be asked."""
        return min((self._series[kind].due_ms for kind in self._open(ending)), default=None)

    def take(self, kind: ProbeKind, ok: bool) -> ProbePlan | None:
        """An answer. The plan of the probe if this ends the attempt."""
        series = self._series.get(kind)
        if series is None or not series.asked:
            return None
        series.asked = False
        series.in_a_row = series.in_a_row + 1 if series.ok is ok else 1
        series.ok = ok
        if series.in_a_row < (series.plan.successes if ok else series.plan.failures):
            return None
        series.passed = ok
        if ok or kind is ProbeKind.READINESS:
            return None
        self._failed = True
        return series.plan

    def _open(self, ending: bool) -> list[ProbeKind]:
        if self._failed:
            return []
        if not self.started:
            kinds = [ProbeKind.STARTUP]
        else:
            kinds = [ProbeKind.LIVENESS, ProbeKind.READINESS]
        if ending:
            kinds = [kind for kind in kinds if kind is ProbeKind.READINESS]
        return [kind for kind in kinds if kind in self._series and not self._series[kind].asked]

    def _passed(self, kind: ProbeKind) -> bool:
        return kind not in self._series or self._series[kind].passed


def _plan_of(spec: JsonObject) -> ProbePlan:
    grace = spec.get("terminationGracePeriodSeconds")
    return ProbePlan(
        int(spec.get("initialDelaySeconds") or 0) * 1000,
        int(spec.get("periodSeconds") or 10) * 1000,
        int(spec.get("successThreshold") or 1),
        int(spec.get("failureThreshold") or 3),
        None if grace is None else int(grace) * 1000,
    )
