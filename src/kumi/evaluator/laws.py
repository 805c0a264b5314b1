"""Laws: what holds in every run, whatever the load and the policy; an observer that is part of each.

The rule   time        never goes back; at one instant ends come before starts, but for jobs that take no time
           life        a job arrives before anything else happens to it, starts when it doesn't run, and stops, is lost or ends
                       in the manner of one that runs or waits; one that finished has run for exactly its time
           rest        at one instant a job is stopped STOPS_AT_MOST times at most
           gangs       one that runs holds at least its minimum
           capacity    nobody is placed where more would be used than there is, of any resource he asks for, pods included
           Little      the number of jobs in the system, summed over time, is the sum of their times in it: exactly, in integers
           work        where the line is open, no pod on its own waits that would fit a node when the engine has come to rest
Capacity   a node may shrink under those who are on it: this is nobody's placement.
Work       is looked at in proportion to what a look costs: after every instant of a small cluster, after every hundredth or so
           of a large one. Pods that look at others, or at volumes, and clusters in which room is kept for somebody are left out.
Errors     InvariantError: what, when, which job. It is a bug of Kumi's own. But who writes the actions and tiers of a scheduler
           file may have it that gangs take each other's place for ever: no rest is a RunError then.
Cost       O(resources) an event.
Source     J. D. C. Little, "A proof for the queuing formula L = lambda W".
Not here   what must hold in the engine's state: kumi.engine.invariants, which tests run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kumi.api.errors import InvariantError
from kumi.engine.decisions import Bind, Decision
from kumi.engine.model import Amounts, Delta, Node, Pod, PodShape, Put
from kumi.engine.placement.nodes import ONE_POD, PODS
from kumi.engine.settings import Discipline
from kumi.engine.state import State
from kumi.evaluator.failures import RunError
from kumi.evaluator.model import Job, Places, Via, What

LOOKS_AN_INSTANT = 32
"""rows of nodes and pods in line that are looked at for each instant, on the average"""
STOPS_AT_MOST = 100
"""more often a job isn't stopped at one instant, unless it goes on for ever"""
ANY_NUMBER = 2**60
"""of pods: what a node takes that doesn't say how many"""
ENDS = (What.FINISHED, What.CANCELLED, What.REFUSED)
STOPS = (What.PREEMPTED, What.LOST)


@dataclass(slots=True, eq=False)
class _Known:
    """A job in the system."""

    arrived_ms: int
    least: int
    holds: int = 0
    """of its pods, how many have a node"""
    started_ms: int | None = None
    kept_ms: int = 0


@dataclass(slots=True)
class _Little:
    """Both sides of the law."""

    jobs: int = 0
    since_ms: int = 0
    area: int = 0
    times: int = 0

    def turn(self, now_ms: int, more: int) -> None:
        """So many more jobs are in the system from now on (negative: fewer)."""
        self.area += self.jobs * (now_ms - self.since_ms)
        self.since_ms = now_ms
        self.jobs += more


@dataclass(slots=True)
class _Foreign:
    """A pod of nobody's job."""

    node: str
    shape: PodShape


@dataclass(slots=True)
class _Nodes:
    """What is there, and what is left of it: negative where a node shrank, or went, under those who are on it."""

    allocatable: dict[str, Amounts] = field(default_factory=dict)
    room: dict[str, Amounts] = field(default_factory=dict)
    foreign: dict[str, _Foreign] = field(default_factory=dict)

    def become(self, name: str, allocatable: Amounts) -> None:
        """The node has this now; nothing: it is gone."""
        before, room = self.allocatable.get(name, {}), self.room.setdefault(name, {})
        for resource in {**before, **allocatable}:
            more = allocatable.get(resource, 0) - before.get(resource, 0)
            room[resource] = room.get(resource, 0) + more
        self.allocatable[name] = allocatable

    def use(self, node: str, shape: PodShape, times: int) -> str:
        """So many more such pods are on the node (negative: fewer). The resource that it then lacks; "" none."""
        room = self.room.get(node)
        if room is None:
            room = self.room[node] = {}
        short = ""
        for resource, amount in shape.requests:
            if resource != PODS:
                left = room.get(resource, 0) - amount * times
                room[resource] = left
                if left < 0 < amount:
                    short = resource
        left = room.get(PODS, 0) - ONE_POD * times
        room[PODS] = left
        return PODS if left < 0 else short


class Laws:
    """See the module and model.Observer. `places`: Kumi places pods in this run. `as_gangs`: jobs that come as pods are gangs."""

    def __init__(self, places: bool = True, as_gangs: bool = False) -> None:
        self._places, self._as_gangs = places, as_gangs
        self._jobs: dict[str, _Known] = {}
        self._little = _Little()
        self._nodes = _Nodes()
        self._now_ms = 0
        self._placed_ms = -1
        """when somebody was last placed"""
        self._credit = 0
        self._stops: dict[str, int] = {}
        """key of a job -> how often it was stopped at this instant"""

    # what is heard

    def happened(self, now_ms: int, what: What, job: Job, kept_ms: int) -> None:
        """See Observer."""
        self._pass(now_ms, job)
        if what is What.ARRIVED:
            if job.key in self._jobs:
                raise _broken(now_ms, job, "arrives twice")
            self._jobs[job.key] = _Known(now_ms, self._least(job))
            self._little.turn(now_ms, 1)
            return
        known = self._jobs.get(job.key)
        if known is None:
            raise _broken(now_ms, job, f"has not arrived, and is {what.value}")
        if what is What.STARTED:
            self._started(now_ms, job, known, kept_ms)
        elif what in STOPS:
            if known.started_ms is None:
                raise _broken(now_ms, job, f"does not run, and is {what.value}")
            known.started_ms = None
            self._stopped(now_ms, job)
        elif what in ENDS:
            if what is What.FINISHED:
                self._finished(now_ms, job, known)
            self._little.turn(now_ms, -1)
            self._little.times += now_ms - known.arrived_ms
            del self._jobs[job.key]

    def placed(self, now_ms: int, job: Job, places: Places) -> None:
        """See Observer."""
        self._pass(now_ms, job)
        known = self._jobs.get(job.key)
        if known is None:
            raise _broken(now_ms, job, "has not arrived, and is placed")
        known.holds += len(places)
        self._placed_ms = now_ms
        for number, node in places:
            short = self._nodes.use(node, job.roles[number].shape, 1)
            if short:
                raise _broken(now_ms, job, f"is placed on node {node}, which has too little {short} left")

    def left(self, now_ms: int, job: Job, places: Places) -> None:
        """See Observer."""
        self._pass(now_ms, job)
        for number, node in places:
            self._nodes.use(node, job.roles[number].shape, -1)
        known = self._jobs.get(job.key)
        if known is not None:
            known.holds -= len(places)
            if known.started_ms is not None and known.holds < known.least:
                raise _broken(now_ms, job, f"runs with {known.holds} pods of at least {known.least}")

    def changed(self, now_ms: int, delta: Delta) -> None:
        """See Observer."""
        if isinstance(delta, Put):
            if isinstance(delta.noun, Node):
                self._nodes.become(delta.noun.name, {PODS: ANY_NUMBER, **dict(delta.noun.allocatable)})
            elif isinstance(delta.noun, Pod):
                pod = delta.noun
                self._forget(pod.uid)
                self._nodes.foreign[pod.uid] = _Foreign("" if pod.finished else pod.node, pod.shape)
                if pod.node and not pod.finished:
                    self._nodes.use(pod.node, pod.shape, 1)
        elif delta.type is Node:
            self._nodes.become(delta.key, {})
        elif delta.type is Pod:
            self._forget(delta.key)

    def decided(self, now_ms: int, decision: Decision) -> None:
        """See Observer."""
        if self._nodes.foreign and isinstance(decision, Bind):
            pod = self._nodes.foreign.get(decision.pod)
            if pod is not None:
                pod.node = decision.node
                self._nodes.use(pod.node, pod.shape, 1)

    def closed(self, now_ms: int, waiting: Sequence[tuple[str, str]]) -> None:
        """See Observer."""
        self._little.turn(now_ms, 0)
        times = self._little.times + sum(now_ms - known.arrived_ms for known in self._jobs.values())
        if self._little.area != times:
            raise InvariantError(
                f"at {now_ms} ms, the end: jobs in the system over time are {self._little.area} ms, "
                f"and their times in it {times} ms"
            )
        if [key for key, _ in waiting] != list(self._jobs):
            raise InvariantError(
                f"at {now_ms} ms, the end: those who are said to wait are not those who have not ended"
            )

    def rested(self, now_ms: int, state: State) -> None:
        """The engine has nothing more to say at this instant."""
        line = state.pods.waiting.line
        if not line or not self._places or state.profile.settings.line is not Discipline.OPEN:
            return
        self._credit += LOOKS_AN_INSTANT
        if self._credit < len(line) + 4 * len(self._nodes.allocatable):
            return
        self._credit = 0
        fits = idle_fit(state)
        if fits is not None:
            raise InvariantError(f"at {now_ms} ms pod {fits.key} waits, and would fit a node")

    # one by one

    def _pass(self, now_ms: int, job: Job) -> None:
        if now_ms < self._now_ms:
            raise _broken(now_ms, job, f"is heard of after {self._now_ms} ms")
        if now_ms > self._now_ms and self._stops:
            self._stops.clear()
        self._now_ms = now_ms

    def _least(self, job: Job) -> int:
        pods = job.pods
        if job.least is None or job.least >= pods:
            return pods
        if job.via is Via.POD:
            return job.least if self._as_gangs else pods
        return job.least if job.via is Via.GANG or len(job.roles) == 1 else pods

    def _started(self, now_ms: int, job: Job, known: _Known, kept_ms: int) -> None:
        if known.started_ms is not None:
            raise _broken(now_ms, job, "starts while it runs")
        if self._places and known.holds < known.least:
            raise _broken(now_ms, job, f"starts with {known.holds} pods of at least {known.least}")
        known.started_ms, known.kept_ms = now_ms, kept_ms

    def _stopped(self, now_ms: int, job: Job) -> None:
        stops = self._stops[job.key] = self._stops.get(job.key, 0) + 1
        if stops <= STOPS_AT_MOST:
            return
        if not self._as_gangs:
            raise _broken(now_ms, job, f"is stopped {stops} times")
        raise RunError(
            f"at {now_ms} ms the policy places {job.key} and takes its place away again without end: "
            "its actions and tiers let it go for others, and others for it"
        )

    def _finished(self, now_ms: int, job: Job, known: _Known) -> None:
        if known.started_ms is None:
            raise _broken(now_ms, job, "finishes and does not run")
        if known.started_ms < now_ms == self._placed_ms:
            raise _broken(now_ms, job, "ends after somebody was placed at the same instant")
        ran_ms = known.kept_ms + now_ms - known.started_ms
        if job.runs_ms is not None and ran_ms != max(job.runs_ms, known.kept_ms):
            raise _broken(now_ms, job, f"finishes after {ran_ms} of {job.runs_ms} ms")
        known.started_ms = None

    def _forget(self, uid: str) -> None:
        gone = self._nodes.foreign.pop(uid, None)
        if gone is not None and gone.node:
            self._nodes.use(gone.node, gone.shape, -1)


def idle_fit(state: State) -> Pod | None:
    """A pod on its own that waits and would fit a node as things are; None: there is none, or room is kept for somebody."""
    if state.answers.promised or state.nominations.node_of or state.claims.of:
        return None
    seen: dict[int, None] = {}
    for turn in state.pods.waiting.line:
        pod = state.pods.by_uid[turn[-1]]
        shape = pod.shape
        if id(shape) in seen or shape.neighbours is not None or shape.volume_claims:
            continue
        seen[id(shape)] = None
        fits = state.nodes.places(shape, state.site.plugins.filter.mask(state.nodes, pod))
        if fits.any():
            return pod
    return None


def _broken(now_ms: int, job: Job, what: str) -> InvariantError:
    return InvariantError(f"at {now_ms} ms job {job.key} {what}")
