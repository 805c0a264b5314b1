"""What the engine decides, as data. Each is assumed on the state at once; the decider settles it when its write is
acknowledged (ok) or refused (the assumption is undone and the thing is decided again)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from kumi.engine.gangs import Phase
from kumi.engine.model import Admission
from kumi.engine.reasons import Reason, Record


@dataclass(frozen=True, slots=True)
class Admit:
    """The workload gets this; quota and (where Kumi places) nodes are held for it from now on. `checks`: admission checks that
    are not ready yet: it may start only when they are."""

    workload: str
    admission: Admission
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hold:
    """The workload waits, and why. Only decided anew when the record differs from the one before."""

    workload: str
    record: Record


@dataclass(frozen=True, slots=True)
class Evict:
    """The workload must stop; it keeps its quota until its pods are gone. `why` is the condition's reason
    (ClusterQueueStopped, LocalQueueStopped, Deactivated, NodeFailures, Preempted ...). `cause`: by which rule it is preempted,
    the reason of the condition Preempted; `by`: the workload for which."""

    workload: str
    why: str
    reason: Reason | None = None
    cause: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """The workload has had its day: its quota is another's (`by`) at once, its pods go on as that one's. `why` is the reason of
    the condition Finished (WorkloadSliceReplaced)."""

    workload: str
    why: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Bind:
    """This pod on that node. `devices`: the numbers of its GPUs there, where it matters which (somebody shares some)."""

    pod: str
    node: str
    devices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unplaced:
    """The pod can't be placed now, and why. Only decided anew when the reasons differ."""

    pod: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class EvictPod:
    """This pod must go. `by`: the uid of the pod, or the key of the gang, that it makes room for; "" for none."""

    pod: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Nominate:
    """That node is cleared for this pod: others are leaving it, and nobody else gets the place."""

    pod: str
    node: str


@dataclass(frozen=True, slots=True)
class GangPhase:
    """How a pod group stands: its phase, how many of its pods run, have succeeded, have failed, and why it isn't placed; no
    reasons: it is, or nobody has tried. Only decided anew when this differs."""

    group: str
    phase: Phase
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    reasons: tuple[Reason, ...] = ()


Decision: TypeAlias = Admit | Hold | Evict | Finish | Bind | Unplaced | EvictPod | Nominate | GangPhase
Assumable: TypeAlias = Admit | Evict | Finish | Bind | EvictPod | Nominate | GangPhase


Word = TypeVar("Word", Hold, Unplaced)


def last_words(decided: list[Decision], kind: type[Word], of: Callable[[Word], str]) -> list[Decision]:
    """Of what is said of one thing more than once, as it is looked at again, the last counts. `of`: of which thing."""
    told = [(number, of(one)) for number, one in enumerate(decided) if isinstance(one, kind)]
    last = {key: number for number, key in told}
    if len(last) == len(told):
        return decided
    dropped = {number for number, key in told if last[key] != number}
    return [one for number, one in enumerate(decided) if number not in dropped]


@dataclass(frozen=True, slots=True)
class Assumed:
    """A decision that counts though its object doesn't show it yet."""

    decision: Assumable
    settled: bool = False
    revision: int = 0
