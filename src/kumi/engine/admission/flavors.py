"""Flavors: which kind of capacity each pod set of a workload gets, and what would have to happen first.

The rule       a profile's way to search (WAYS) gives options, the best first; each is an assignment that fits, or that could if
               workloads were evicted, or the answer no
                   kueue    one option: pod set after pod set, no choice is taken back (in_turn.py); nodes are not asked
                   kumi     all options: combinations of flavors, quota and nodes together (combinations.py)
               What an option adds is on top of what the state's quotas hold when it is asked for.
The reason     to tell of several is the first that can still change, of the deepest layer; only if none can change is the
               answer permanent.
Cost           that of the way.
Source         Kueue: flavor assignment. The second way is Kumi's own.
Not here       how one flavor does: question.py; fewer pods: partial.py; keeping what was found: cycle.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kumi.engine.admission import combinations, in_turn
from kumi.engine.admission.assignment import Assignment, Mode, Oracle
from kumi.engine.admission.question import ALL, NOBODY, Aim, Question
from kumi.engine.model import Admission, ClusterQueue, PodSet, Workload
from kumi.engine.placement import gang
from kumi.engine.reasons import Code, Reason

if TYPE_CHECKING:
    from kumi.engine.state import State

WAYS: dict[str, Callable[[Question], Iterator[Assignment]]] = {
    "kueue": in_turn.options,
    "kumi": combinations.options,
    "volcano": combinations.options,
}
"""by the profile's name"""


@dataclass(frozen=True, slots=True)
class Refused:
    """No. `reasons` in the order in which they were met; `looked_for`: pod sets, as their pods would be with one choice of
    flavors, for which nodes were looked for; `open_ended`: not all was tried."""

    reasons: tuple[Reason, ...]
    looked_for: tuple[PodSet, ...] = ()
    open_ended: bool = False


def options(
    state: State, workload: Workload, queue: ClusterQueue, oracle: Oracle = NOBODY, aim: Aim = ALL
) -> Iterator[Assignment]:
    """What the workload could get, in order of preference; worked out as it is asked for. The state is left as it was."""
    return WAYS[state.profile.name](Question(state, workload, queue, oracle, aim))


def assign(state: State, workload: Workload, queue: ClusterQueue) -> Admission | Refused:
    """What the workload would get now if nobody is evicted, or why nothing. The state is left as it was."""
    found = None
    for found in options(state, workload, queue):
        if found.mode is Mode.FIT:
            return found.admission()
    return Refused((), ()) if found is None else Refused(found.reasons, found.looked_for, found.open_ended)


def seat(state: State, workload: Workload, queue: ClusterQueue, wanted: Assignment) -> Assignment | Reason:
    """The assignment as it fits now, placed where Kumi places; or the first no of quota or nodes."""
    for fr, amount in wanted.usage.items():
        available = state.quotas.available(queue.name, fr)
        if amount > max(0, available):
            said = {"flavor": fr[0], "resource": fr[1], "need": amount, "have": max(0, available)}
            return Reason(Code.QUOTA_IN_USE, where=queue.name, **said)  # type: ignore[arg-type]
    nodes: tuple[gang.Places, ...] = ((),) * len(wanted.pod_sets)
    if state.profile.places:
        question = Question(state, workload, queue, aim=Aim(counts=tuple(p.count for p in wanted.pod_sets)))
        choices = [tuple((r, c.flavor) for r, c in p.flavors.items()) for p in wanted.pod_sets]
        pods = [combinations.with_flavors(question, at, choice) for at, choice in enumerate(choices)]
        found = gang.place(state.site, pods)
        if isinstance(found, Reason):
            return found
        kept = [question.slice[p.name].nodes if p.name in question.slice else () for p in wanted.pod_sets]
        nodes = tuple(old + new for old, new in zip(kept, found, strict=True))
    pod_sets = tuple(
        replace(
            one,
            mode=Mode.FIT,
            nodes=places,
            flavors={r: replace(chosen, mode=Mode.FIT) for r, chosen in one.flavors.items()},
        )
        for one, places in zip(wanted.pod_sets, nodes, strict=True)
    )
    return replace(wanted, mode=Mode.FIT, pod_sets=pod_sets)


def told(reasons: tuple[Reason, ...]) -> tuple[Reason, tuple[Reason, ...]]:
    """The reason to tell, and the others in their order."""
    best = min(range(len(reasons)), key=lambda i: (reasons[i].permanent, -reasons[i].code.layer, i))
    return reasons[best], reasons[:best] + reasons[best + 1 :]
