"""What a run is given, and what is told of it: plain values and two protocols.

    Load       a setting (what is there at the start) and events in the order of time; it can be played any number of times
    Policy     what decides: a profile of the engine, and whether jobs come as pods, gangs or workloads of queues
    Observer   hears what happens in a run, at engine speed and at stack speed alike

Units      times are int milliseconds since the epoch on the run's virtual clock, which starts at `Load.start_ms`; spans are int
           milliseconds; amounts are int64 in base units (kumi.engine.model).
Order      events come by time; at one instant: what runs out ends first, then Change, Cancel, Arrive, each in the order in which
           the load gives them; then the engine decides, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol, TypeAlias

from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject
from kumi.engine.decisions import Decision
from kumi.engine.model import Delta, Noun, PodShape, Profile
from kumi.engine.placement.conf import Arguments, Option

START_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z: where a virtual clock starts that nobody sets"""


MOST = 2**53
"""Times in milliseconds and amounts in base units are below it: sums of them must have room in 64 bits."""
SAME_NAME = "each needs a name of its own: give a kind of `jobs` another `name`, a trace a `prefix`"
RANDOM = "random"
"""the plug-in that draws"""


class Via(Enum):
    """How a job comes to the engine: as pods on their own, as a pod group with its pods, as a Workload of a queue."""

    POD = "pod"
    GANG = "gang"
    WORKLOAD = "workload"


@dataclass(frozen=True, slots=True)
class Role:
    """Equal pods of a job."""

    name: str
    count: int
    shape: PodShape


@dataclass(frozen=True, slots=True)
class Job:
    """A job as a trace or a scenario has it. `key`: `namespace/name`, unique in a load, also after it is gone.

    `runs_ms`: how long it runs, from when its pods run until they end; None: until it is deleted. `said_ms`: how long its owner
    says that it runs, all that a policy may know, 1 or more as in the API; None: nobody says. `least`: so many of its pods run,
    or none (gangs); None: all. `checkpoint_ms`: a run that is cut short resumes from the last whole such span; None: from
    zero."""

    key: str
    arrives_ms: int
    roles: tuple[Role, ...]
    runs_ms: int | None
    via: Via = Via.POD
    queue: str = ""
    """its LocalQueue's name (workloads), or its Queue's (gangs)"""
    least: int | None = None
    tenant: str = ""
    """whose it is, where fairness is measured; "": its namespace"""
    priority: int = 0
    said_ms: int | None = None
    deadline_ms: int | None = None
    checkpoint_ms: int | None = None
    labels: tuple[tuple[str, str], ...] = ()
    """of its pods"""
    renews: bool = False
    """its Workload goes with its pods, and another one comes with the next: pods that are in a queue by themselves"""
    kind: str = "Job"
    """of the object that it is, for people"""

    @property
    def namespace(self) -> str:
        """The first part of its key."""
        return self.key.partition("/")[0]

    @property
    def owner(self) -> str:
        """Whose it is."""
        return self.tenant or self.namespace

    @property
    def pods(self) -> int:
        """How many in all."""
        return self.roles[0].count if len(self.roles) == 1 else sum(role.count for role in self.roles)


@dataclass(frozen=True, slots=True)
class Arrive:
    """The job is submitted, at its `arrives_ms`."""

    job: Job

    @property
    def at_ms(self) -> int:
        """When."""
        return self.job.arrives_ms


@dataclass(frozen=True, slots=True)
class Cancel:
    """Its owner deletes the job, whether it runs, waits, or is done. `only_waiting`: unless it runs or is done: it gives up."""

    at_ms: int
    key: str
    only_waiting: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """The cluster changes: nodes come, go, fail or are cordoned, queues change. Pods on a node that goes, or is not ready,
    are lost."""

    at_ms: int
    deltas: tuple[Delta, ...]


Event: TypeAlias = Arrive | Cancel | Change

Act: TypeAlias = tuple[str, JsonObject]
"""create, update (by a merge patch) or delete an object: the verb and the manifest, which is never changed"""


@dataclass(frozen=True, slots=True)
class Written:
    """An event as somebody wrote it: what is done with which objects, in order. `roles`: of an Arrive, the role of each object
    that is one of the job's pods, "" of others. `bare`: of a Change, the deltas that nobody wrote as objects. A Change may have
    no deltas: what it does means nothing to the engine."""

    event: Event
    acts: tuple[Act, ...] = ()
    roles: tuple[str, ...] = ()
    bare: tuple[Delta, ...] = ()


@dataclass(frozen=True, slots=True)
class Load:
    """`events()` gives the same events each time it is called. `size`: how many they are, for progress; None: nobody knows."""

    name: str
    setting: tuple[Noun, ...]
    events: Callable[[], Iterator[Event]]
    start_ms: int = START_MS
    size: int | None = None
    notes: tuple[str, ...] = ()
    """what was left out or filled in when it was read, as sentences for people"""
    written: Callable[[], Iterator[Written]] | None = None
    """the same events, and before them the setting as a Change where there is one, for stack speed; None: nobody wrote objects"""
    whence: Callable[[str], Sequence[str]] | None = None
    """where the first two jobs of a key come from, for people; None: nobody knows"""

    def same_name(self, key: str) -> KumiError:
        """What is told where two jobs of that key are there at one time."""
        places = self.whence(key) if self.whence is not None else ()
        whose = f": one comes from {places[0]}, the other from {places[1]}" if len(places) > 1 else ""
        return KumiError(f"{self.name} has two jobs {key} at one time{whose}; {SAME_NAME}")


@dataclass(frozen=True, slots=True)
class Policy:
    """`as_gangs`: jobs that come as pods are pod groups of the scheduler's file instead. `nouns`: queues and flavors that take
    the place of the setting's nouns of the same types."""

    name: str
    profile: Profile = field(default_factory=Profile)
    as_gangs: bool = False
    nouns: tuple[Noun, ...] = ()

    def seeded(self, seed: int) -> Profile:
        """The profile for a run with that seed: what is left to chance draws by it, where the policy names no seed of its own."""
        profile = self.profile
        tiers = tuple(tuple(_seeded(option, seed) for option in tier) for tier in profile.conf.tiers)
        return replace(
            profile, arguments={"seed": str(seed), **profile.arguments}, conf=replace(profile.conf, tiers=tiers)
        )


class What(Enum):
    """What happens to a job. STARTED: its pods run (of a gang, its minimum). PREEMPTED, LOST (its node went): it runs no longer,
    and waits anew. REFUSED: it can't be in this cluster at all."""

    ARRIVED = "arrived"
    STARTED = "started"
    FINISHED = "finished"
    PREEMPTED = "preempted"
    LOST = "lost"
    CANCELLED = "cancelled"
    REFUSED = "refused"


Places: TypeAlias = Sequence[tuple[int, str]]
"""of pods of one job: (number of the role, node)"""


class Observer(Protocol):
    """Hears of a run, in the order in which it happens: times never go back."""

    def happened(self, now_ms: int, what: What, job: Job, kept_ms: int) -> None:
        """`kept_ms`: of what it had run when this happened, how much it need not do again (all of it, when it finished)."""
        ...

    def placed(self, now_ms: int, job: Job, places: Places) -> None:
        """These pods of it hold these nodes from now on."""
        ...

    def left(self, now_ms: int, job: Job, places: Places) -> None:
        """These pods of it hold these nodes no longer."""
        ...

    def changed(self, now_ms: int, delta: Delta) -> None:
        """The cluster changes; also told of the whole setting, at the start."""
        ...

    def decided(self, now_ms: int, decision: Decision) -> None:
        """The engine decided this. It counts from now on."""
        ...

    def closed(self, now_ms: int, waiting: Sequence[tuple[str, str]]) -> None:
        """The run is over. `waiting`: jobs that never ran to their end: (key, why, as a sentence)."""
        ...


def _seeded(option: Option, seed: int) -> Option:
    if option.name != RANDOM:
        return option
    return replace(option, arguments=Arguments({f"{RANDOM}.seed": seed, **option.arguments.raw}))
