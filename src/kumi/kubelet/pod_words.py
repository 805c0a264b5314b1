"""The words of a pod's life: what it hears (events) and what it says (orders), as values.

An event or an order about a container names the attempt that it is about: 0, 1, ...; one about another attempt than the last
is old news. Times are milliseconds since the epoch.

Not here   what follows from them: pod_state.py. Who obeys: worker.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kumi.kubelet.pod_plan import HookKind
from kumi.kubelet.probes import ProbeKind


@dataclass(frozen=True)
class Exit:
    """How an attempt ended. `lost`: the node itself cut it short (it stopped, or the machine went down)."""

    code: int
    signal: int = 0
    reason: str = ""
    message: str = ""
    started_ms: int = 0
    finished_ms: int = 0
    lost: bool = False


@dataclass(frozen=True)
class Prepared:
    """The pod has its address, volumes and devices."""


@dataclass(frozen=True)
class Unprepared:
    """It does not yet; tried again later."""

    message: str


@dataclass(frozen=True)
class Found:
    """After a restart: the last attempt of a container, running or (an Exited follows) ended meanwhile. `cut_short`: how many
    attempts before it were lost. `started`, `ready`: what the API says of this attempt."""

    container: str
    attempt: int
    started_ms: int
    previous: Exit | None = None
    cut_short: int = 0
    started: bool = False
    ready: bool = False


@dataclass(frozen=True)
class Started:
    """The process is there."""

    container: str
    attempt: int
    started_ms: int


@dataclass(frozen=True)
class Refused:
    """The attempt did not begin, and will be tried again (`after_ms` from now, or as Backoff says)."""

    container: str
    attempt: int
    reason: str
    message: str
    after_ms: int | None = None


@dataclass(frozen=True)
class Exited:
    """The attempt is over, and nothing of it is alive."""

    container: str
    attempt: int
    exit: Exit


@dataclass(frozen=True)
class Hooked:
    """A hook has come to its end; `trouble`: why it failed, "" if it did not."""

    container: str
    attempt: int
    hook: HookKind
    trouble: str = ""


@dataclass(frozen=True)
class Probed:
    """A probe has an answer."""

    container: str
    attempt: int
    probe: ProbeKind
    ok: bool


@dataclass(frozen=True)
class Remove:
    """The pod is being deleted, with that grace from now."""

    grace_ms: int


@dataclass(frozen=True)
class Fail:
    """The pod is to end as Failed, with that reason: refused by the node, or evicted."""

    reason: str
    message: str


@dataclass(frozen=True)
class Halt:
    """The node stops: end every process, but the pod is not over; it goes on at the node's next start."""

    grace_ms: int


@dataclass(frozen=True)
class Tick:
    """Time went by."""


Told: TypeAlias = Found | Started | Refused | Exited | Hooked | Probed
"""what is about one container"""
Event: TypeAlias = Prepared | Unprepared | Told | Remove | Fail | Halt | Tick


@dataclass(frozen=True)
class Prepare:
    """Get the address, volumes and devices; answer Prepared or Unprepared."""


@dataclass(frozen=True)
class Start:
    """Start that attempt; answer Started, Refused or Exited."""

    container: str
    attempt: int


@dataclass(frozen=True)
class Stop:
    """SIGTERM to the container, or with `kill` SIGKILL to all of it."""

    container: str
    attempt: int
    kill: bool


@dataclass(frozen=True)
class Hook:
    """Run that hook; answer Hooked."""

    container: str
    attempt: int
    hook: HookKind


@dataclass(frozen=True)
class Probe:
    """Ask that probe once; answer Probed."""

    container: str
    attempt: int
    probe: ProbeKind


@dataclass(frozen=True)
class Tell:
    """An event for people; it is no warning."""

    reason: str
    message: str


@dataclass(frozen=True)
class Gone:
    """Nothing is left of a pod that was to be removed: delete it from the API. Said once."""


Order: TypeAlias = Prepare | Start | Stop | Hook | Probe | Tell | Gone
