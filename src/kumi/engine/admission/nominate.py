"""Nominate: what a head would get now, or who would have to go for it. The state is left as it was.

The rule       options in order (flavors.py), each of them
                   fits now                                        it is nominated
                   fits once those are gone whom others evict      it is kept for later, and nobody is evicted for it
                   could by eviction, and victims are found        it is nominated, with them
               where none is, fewer pods are tried, if the job allows it (partial.py); then the answer is no, for
               what all its pods met and (kumi) the fewest
               Where claims are kept (../claims.py) victims are only good if, with them gone, the workload fits whole, in quota
               and on nodes: what it will get is worked out at once. Nobody is taken who would come back by evicting others
               (reverse.py).
Resume         where a search goes on where the last cycle ended it, that place is kept with the state until something makes it
               stale (requeue.py).
Cost           that of the searches.
Source         Kueue: nominating heads.
Not here       what an option is: flavors.py; who goes: victims.py; what becomes of it: snapshot.py, live.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from kumi.engine.admission import flavors, reverse, victims
from kumi.engine.admission.assignment import Assignment, Mode
from kumi.engine.admission.entries import Entry
from kumi.engine.admission.partial import largest
from kumi.engine.admission.question import Aim
from kumi.engine.model import ClusterQueue, Workload

if TYPE_CHECKING:
    from kumi.engine.state import State


FINDS: dict[str, Callable[[victims.Search, Assignment], victims.Found]] = {
    "kumi": reverse.lasting,
    "volcano": reverse.lasting,
    "kueue": reverse.at_once,
}
"""by the profile's name: who has to go"""


def _with_the_least(full: Entry, least: Entry) -> Entry:
    """The answer, with what the fewest pods met: less than all may help it."""
    if least is full:
        return full
    one, other = full.assignment, least.assignment
    return replace(
        full,
        assignment=replace(
            one,
            reasons=tuple(dict.fromkeys((*one.reasons, *other.reasons))),
            looked_for=tuple(dict.fromkeys((*one.looked_for, *other.looked_for))),
            open_ended=one.open_ended or other.open_ended,
        ),
        considered=full.considered or least.considered,
        evicting=full.evicting or least.evicting,
    )


ANSWERS: dict[str, Callable[[Entry, Entry], Entry]] = {
    "kumi": _with_the_least,
    "volcano": _with_the_least,
    "kueue": lambda full, _: full,
}
"""by the profile's name: the answer of an attempt that failed with all pods, and last with the fewest"""


def nominate(state: State, workload: Workload, queue: ClusterQueue, aim: Aim | None = None) -> Entry:
    """See the module."""
    if aim is None:
        aim = Aim(resume=state.queues.resumed(workload.key))
    full = _try(state, workload, queue, aim)
    if full.fits or full.targets or full.later or not state.profile.settings.partial_admission:
        return full

    failed = [full]

    def fewer(counts: tuple[int, ...]) -> Entry | None:
        found = _try(state, workload, queue, replace(aim, counts=counts))
        if found.fits or found.targets or found.later:
            return found
        failed.append(found)
        return None

    return largest(workload, fewer) or ANSWERS[state.profile.name](full, failed[-1])


def _try(state: State, workload: Workload, queue: ClusterQueue, aim: Aim) -> Entry:
    search = victims.Search(state, workload, queue)
    later: Entry | None = None
    failed: Entry | None = None
    last: Assignment | None = None
    for last in flavors.options(state, workload, queue, search, aim):
        if last.mode is Mode.FIT:
            lacking = state.claims.lacking_now(state, queue.name, last.usage)
            if lacking is None:
                return Entry(workload, queue, last)
            seen = replace(last, reasons=(*last.reasons, lacking))
            later = later or Entry(workload, queue, seen, plan=last, later=True)
        elif last.mode.evicts and later is None:
            found = FINDS[state.profile.name](search, last)
            tried = Entry(workload, queue, last, found.targets, found.plan, found.considered, evicting=True)
            if found.targets:
                return tried
            failed = failed or tried
    if later is not None:
        return later
    assert last is not None
    if failed is None:
        return Entry(workload, queue, last)
    return Entry(workload, queue, last, considered=failed.considered, evicting=True)
