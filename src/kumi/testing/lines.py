"""Lines: jobs that come, wait, start and end, played on an engine's state alone, for tests of who goes first and who may pass.

play([Lined("a", 0, 4, cpu=3), ...], nodes, profile)     when each started, and the first time that was promised to it
    a job comes at `at`, runs `runs` once it starts, and says that it runs `said` (the same where nothing is written, None:
    nothing) `pods` of it, one after the other as pods on their own (1), or as a gang (`gang=True`)
    a gang starts with `least` of its pods (0: all of them), and whole it ends
At one instant ends come first, then arrivals, then decisions until nothing is decided. Times are seconds; the clock starts at
1000.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.decisions import Bind, Decision, EvictPod
from kumi.engine.gangs import Member, PodGroup, Queue
from kumi.engine.model import Node, Noun, Pod, Profile, Put, Remove
from kumi.engine.placement import session
from kumi.engine.state import State
from kumi.testing.builders import shape

START_S = 1000
SAME = -1


@dataclass(frozen=True)
class Lined:
    """A job, see the module. `asks`: what each pod asks for; `share`: so many thousandths are of one GPU, which others share."""

    name: str
    at: int
    runs: int
    said: int | None = SAME
    pods: int = 1
    priority: int = 0
    deadline: int | None = None
    namespace: str = "ns"
    gang: bool = False
    least: int = 0
    asks: dict[str, Any] = field(default_factory=lambda: {"cpu": 1})
    share: int = 0

    @property
    def key(self) -> str:
        """namespace/name"""
        return f"{self.namespace}/{self.name}"

    @property
    def starts_with(self) -> int:
        """So many of its pods."""
        return self.least or self.pods


@dataclass
class Played:
    """What happened. Seconds since the start. `promised`: the first reservation of each that got one; `evicted`: how often;
    `decided`: when, and what, in order."""

    started: dict[str, int] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)
    evicted: dict[str, int] = field(default_factory=dict)
    decided: list[tuple[int, Decision]] = field(default_factory=list)
    state: State | None = None


class _Play:
    def __init__(self, jobs: Sequence[Lined], nodes: Iterable[Node], profile: Profile, check: bool) -> None:
        self.state, self.check = State(profile), check
        self.jobs = {job.key: job for job in jobs}
        self.played = Played(state=self.state)
        self.events: list[tuple[int, int, int, str]] = []
        self.running: dict[str, dict[str, Pod]] = {}
        self.run_of: dict[str, int] = {}
        nouns: list[Noun] = [Queue("default"), *nodes]
        for noun in nouns:
            self.state.apply(Put(noun))
        for number, job in enumerate(jobs):
            heappush(self.events, (job.at, 1, number, job.key))

    def all(self) -> Played:
        """To the end."""
        while self.events or self._woken() is not None:
            wake = self._woken()
            times = [self.events[0][0]] if self.events else []
            now = min(times if wake is None else [*times, wake])
            while self.events and self.events[0][0] == now:
                _, kind, run, key = heappop(self.events)
                if kind == 1:
                    self._come(self.jobs[key], now)
                elif self.run_of.get(key) == run:
                    self._end(key, now)
            self._decide(now)
        return self.played

    def _woken(self) -> int | None:
        """The next time at which the engine wants to be asked, while anything is still to come."""
        wake = self.state.wake_at_ms()
        return None if wake is None or not self.events else -(-wake // 1000) - START_S

    def _come(self, job: Lined, now: int) -> None:
        said = job.runs if job.said == SAME else job.said
        said_ms = None if said is None else said * 1000
        due = None if job.deadline is None else (START_S + job.deadline) * 1000
        created = (START_S + now) * 1000
        member = Member(group=job.key if job.gang else "", deadline_ms=due, execution_ms=None if job.gang else said_ms)
        if job.gang:
            group = PodGroup(job.key, "default", created, least=job.starts_with, deadline_ms=due, execution_ms=said_ms)
            self.state.apply(Put(group))
        asked = replace(shape(**job.asks), share=job.share)
        for n in range(job.pods):
            pod = Pod(f"{job.key}-{n}", f"{job.key}-{n}", asked, created, job.priority, member=member)
            self.state.apply(Put(pod))

    def _end(self, key: str, now: int) -> None:
        self.played.ended[key] = now
        for uid, pod in self.running.pop(key).items():
            self.state.apply(Put(replace(pod, finished=True, phase="Succeeded")))
            self.state.apply(Remove(Pod, uid))
        for n in range(self.jobs[key].pods):  # of a gang that ran without them
            self.state.apply(Remove(Pod, f"{key}-{n}"))
        if self.jobs[key].gang:
            self.state.apply(Remove(PodGroup, key))

    def _decide(self, now: int) -> None:
        now_ms = (START_S + now) * 1000
        for _ in range(100):
            decided = [*cycle.decide(self.state, now_ms), *session.decide(self.state, now_ms)]
            self._promises(now_ms)
            if self.check:
                invariants.check(self.state)
            if not decided:
                return
            self.played.decided += [(now, decision) for decision in decided]
            for decision in decided:
                self.state.settle(decision, True)
            for decision in decided:
                self._follow(decision, now)
        raise AssertionError(f"it does not come to rest at {now}")

    def _follow(self, decision: Decision, now: int) -> None:
        if isinstance(decision, EvictPod):
            self._evict(decision.pod, now)
        if not isinstance(decision, Bind):
            return
        key = decision.pod.rpartition("-")[0]
        pod = self.state.pods.by_uid[decision.pod]
        runs = replace(
            pod, node=decision.node, devices=decision.devices, phase="Running", started_ms=(START_S + now) * 1000
        )
        self.state.apply(Put(runs))
        self.running.setdefault(key, {})[pod.uid] = runs
        job = self.jobs[key]
        if len(self.running[key]) == job.starts_with:
            self.played.started[key] = now
            self.run_of[key] = self.run_of.get(key, 0) + 1
            heappush(self.events, (now + job.runs, 0, self.run_of[key], key))

    def _evict(self, uid: str, now: int) -> None:
        """The pod goes at once, and a new one waits in its place; its job, with too few of them, has to begin anew."""
        key = uid.rpartition("-")[0]
        pod = self.state.pods.by_uid[uid]
        self.played.evicted[key] = self.played.evicted.get(key, 0) + 1
        self.running.get(key, {}).pop(uid, None)
        if len(self.running.get(key, ())) < self.jobs[key].starts_with:
            self.run_of[key] = self.run_of.get(key, 0) + 1
        self.state.apply(Remove(Pod, uid))
        self.state.apply(Put(replace(pod, node="", phase="Pending", started_ms=0, terminating=False)))

    def _promises(self, now_ms: int) -> None:
        kept = {uid: r.at_ms for uid, r in self.state.pods.waiting.reservations.items()}
        kept |= {key: held[0].at_ms for key, held in self.state.answers.reserved.items()}
        for key, at_ms in kept.items():
            name = key if key in self.jobs else key.rpartition("-")[0]
            self.played.promised.setdefault(name, -(-at_ms // 1000) - START_S)


def play(jobs: Sequence[Lined], nodes: Iterable[Node], profile: Profile | None = None, *, check: bool = True) -> Played:
    """See the module."""
    return _Play(jobs, nodes, profile or Profile(), check).all()
