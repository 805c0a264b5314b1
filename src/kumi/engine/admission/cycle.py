"""Cycle: the steps of admission, and no rule of its own.

    1  what could have been helped since is brought back                        requeue.py
    2  what must stop is evicted                                                stops.py
    3  claims whose time has come are taken up                                  live.py
    4  the head of every open queue                                             ../queues.py, order.py
    5     is nominated: flavors, quota and nodes, or who would have to go       nominate.py, flavors.py, victims.py
    6  the entries, in order, each by its profile's way                         entries.py, snapshot.py, live.py
    7     one that can't start waits, with its record                           requeue.py, records.py
       `once` is this much; `decide` goes on with 1 and 3 until no queue has a head that may get another answer
    8  those who come in line and were not tried are told where they stand      records.py
       who was told more than one thing on the way is told the last

Fixed point   every attempt admits a workload, evicts one that was not evicted yet, or sets one aside, but for those of a search
              that goes on with other flavors, which ends (../queues.py). What is only told is no step: who stays is tried again
              after one that is. The loop ends, and another cycle without input between them decides nothing.
Waiting       in a BestEffortFIFO queue smaller workloads pass a large one that can't start, again and again; where that is
              not wanted, StrictFIFO keeps its place.
Cost          O(attempts x (log n + an attempt)).
Source        Kueue: the scheduling cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING

from kumi.engine.admission import exact, live, records, requeue, snapshot, stops
from kumi.engine.admission.assignment import Assignment
from kumi.engine.admission.entries import Entry
from kumi.engine.admission.nominate import nominate
from kumi.engine.admission.verdicts import Outcome, Verdict
from kumi.engine.claims import Claim
from kumi.engine.decisions import Admit, Decision, Evict, Finish, Hold, last_words
from kumi.engine.model import ClusterQueue, Workload
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Reason

if TYPE_CHECKING:
    from kumi.engine.state import State

WAYS: dict[str, Callable[[State, list[Entry]], Iterator[Verdict]]] = {
    "kumi": live.process,
    "volcano": live.process,
    "kueue": snapshot.process,
}
"""by the profile's name"""


@dataclass(slots=True)
class Cycle:
    """What one cycle came to."""

    decided: list[Decision] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


def decide(state: State, now_ms: int) -> list[Decision]:
    """Everything that admission has to say now: each decision is assumed."""
    if not (state.workloads or state.to_check):
        state.bring_back(now_ms)
        return []
    with state.claims.promised(state):
        requeue.bring_back(state, now_ms)
        decided: list[Decision] = [*stops.evictions(state), *_take_up(state)]
        while (heads := _heads(state)) or state.queues.freed:
            decided += _run(state, heads, now_ms).decided if heads else []
            if state.queues.freed:
                requeue.bring_back(state, now_ms)
                decided += _take_up(state)
    decided += records.tell(state, now_ms)
    return last_words(decided, Hold, attrgetter("workload"))


def once(state: State, now_ms: int) -> Cycle:
    """One cycle, for the head of every open queue, whether it was tried before or not."""
    with state.claims.promised(state):
        requeue.bring_back(state, now_ms)
        taken = _take_up(state)
        cycle = _run(state, _heads(state, again=True), now_ms)
    cycle.decided = [*taken, *cycle.decided, *records.tell_kept_out(state, now_ms)]
    return cycle


def _take_up(state: State) -> list[Decision]:
    decided: list[Decision] = []
    for preemptor, assignment in live.take_up(state):
        decided += _admit(state, state.workloads[preemptor], assignment)
    return decided


def _heads(state: State, *, again: bool = False) -> list[tuple[Workload, ClusterQueue]]:
    """One workload a queue. `again`: also those who were tried, and for whom nothing has happened since."""
    heads = []
    queues = state.queues
    for name in sorted(queues.lanes if again else queues.hot):
        queue = state.catalog.cluster_queues.get(name)
        key = _head(state, queue) if queue is not None and not state.catalog.closed(name) else None
        if queue is None or key is None or (not again and key in queues.tried.get(name, ())):
            queues.cool(name)
        else:
            heads.append((state.workloads[key], queue))
    return heads


def _head(state: State, queue: ClusterQueue) -> str | None:
    """The queue's head; those who are passed make room for the next."""
    key = state.queues.head(queue.name, queue.strategy)
    while key is not None and _is_passed(state, key, queue):
        key = state.queues.head(queue.name, queue.strategy)
    return key


def _is_passed(state: State, key: str, queue: ClusterQueue) -> bool:
    """Brought back, and others have taken what could have helped: set aside again."""
    spot = state.queues.spot[key]
    before = state.queues.woken.get(queue.name, {}).get(spot.kind)
    if before is None or state.queues.position(key) == 1 or exact.may_fit(state, queue.name, before):
        return False
    state.queues.park(queue.name, spot.kind, before)
    return True


def _run(state: State, heads: list[tuple[Workload, ClusterQueue]], now_ms: int) -> Cycle:
    cycle = Cycle()
    state.journal.swap(state.queues, "cycles", state.queues.cycles + 1)
    entries = []
    for workload, queue in heads:
        state.claims.drop(state, workload.key)
        unfit = state.catalog.unfit(workload, queue)
        if unfit is None:
            entries.append(nominate(state, workload, queue))
        else:
            cycle.decided += _set_aside(state, workload.key, unfit, now_ms)
    for verdict in WAYS[state.profile.name](state, entries):
        cycle.verdicts.append(verdict)
        cycle.decided += _carry_out(state, verdict, now_ms)
    _stir(state, cycle)
    return cycle


def _carry_out(state: State, verdict: Verdict, now_ms: int) -> list[Decision]:
    entry = verdict.entry
    if verdict.outcome is Outcome.ADMITTED:
        return _admit(state, entry.workload, entry.assignment)
    decided: list[Decision] = []
    goes_on = verdict.outcome is not Outcome.PENDING and entry.assignment.pending_flavors
    state.queues.go_on(entry.key, entry.assignment.resume if goes_on else None)
    if verdict.outcome is Outcome.PENDING:
        for target in entry.targets:
            if not state.is_stopping(target.workload):
                evict = Evict(target.workload, "Preempted", cause=target.cause, by=entry.key)
                state.assume(evict)
                decided.append(evict)
        if entry.plan is not None:
            victims = tuple(target.workload for target in entry.targets)
            state.claims.make(state, entry.key, Claim(entry.plan.admission(), entry.plan, victims))
    parked = records.parked(state, verdict)
    requeue.settle(state, entry.key, verdict.outcome, parked)
    return [*decided, *records.hold(state, entry.key, records.in_line(state, entry.key, parked), now_ms)]


def _set_aside(state: State, key: str, unfit: Reason, now_ms: int) -> list[Decision]:
    """The queue would never take it as it is."""
    outcome = Outcome.NAMESPACE if unfit.code is Code.NAMESPACE_NOT_SELECTED else Outcome.OTHER
    met = Parked(unfit)
    requeue.settle(state, key, outcome, met)
    return [*records.hold(state, key, records.in_line(state, key, met), now_ms)]


def _admit(state: State, workload: Workload, assignment: Assignment) -> list[Decision]:
    admission = assignment.admission()
    decided: list[Decision] = []
    if workload.replaces in state.holdings.admission:
        finish = Finish(workload.replaces, "WorkloadSliceReplaced", workload.key)
        state.assume(finish)
        decided.append(finish)
    admit = Admit(workload.key, admission, _checks(state, workload, admission.cluster_queue, assignment))
    state.assume(admit)
    return [*decided, admit]


def _checks(state: State, workload: Workload, queue: str, assignment: Assignment) -> tuple[str, ...]:
    """The admission checks that it needs, or is being asked for already, and that are not ready."""
    given = {chosen.flavor for one in assignment.pod_sets for chosen in one.flavors.values()}
    rules = state.catalog.cluster_queues[queue].checks
    needed = [rule.name for rule in rules if not rule.flavors or given & set(rule.flavors)]
    said = {check.name: check.state for check in workload.checks}
    return tuple(name for name in dict.fromkeys([*needed, *said]) if said.get(name) != "Ready")


def _stir(state: State, cycle: Cycle) -> None:
    """Heads that stayed may be tried again where something was decided in their tree."""
    acted = {d.workload if isinstance(d, Admit) else d.by for d in cycle.decided if isinstance(d, Admit | Evict)}
    roots = {state.quotas.root(v.entry.queue.name) for v in cycle.verdicts if v.entry.key in acted}
    for queue in sorted(state.queues.tried) if roots else ():
        if state.quotas.root(queue) in roots:
            state.queues.stir(queue)
