"""Records: what is said of a workload that waits.

The rule       a record has the reason to tell and every other no (flavors.py), the flavors that were looked at, who was
               considered for eviction and why not, who holds what is wanted, the workload's place in line and who stands ahead.
               It is decided (Hold) when it differs, its time aside, from what was said last.
To tell        of an attempt that found nothing: kumi, the first no that can still change, of the deepest layer; kueue, the first
               of those that its own word for the attempt stands for.
Who is told    a workload that was attempted; and once, when it comes in line, or its queue closes or opens, one that wasn't:
               it gets the answer that its kind got, or BEHIND_HEAD where the order of the queue is strict. Its place in
               line goes on; ../foresight/explain.py tells it at any time.
Holders        for quota: workloads that hold the same flavor-resource of the queue, or else of queues that borrow it. For
               nodes: workloads and pods on their own that hold the resource on a node that the shape may use. The largest
               first, three at most.
Why            one write a workload and event that concerns it, however long the line is.
Cost           O(log n) a record; holders are looked up in ordered indexes.
Not here       sentences: kumi.bridge.messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.admission.assignment import Assignment, NoFit
from kumi.engine.admission.flavors import told
from kumi.engine.admission.verdicts import Outcome, Verdict
from kumi.engine.decisions import Hold
from kumi.engine.model import Strategy
from kumi.engine.queues import Parked
from kumi.engine.reasons import Ahead, Code, Layer, Reason, Record, Tried

if TYPE_CHECKING:
    from kumi.engine.holdings import Holder
    from kumi.engine.placement.nodes import Mask
    from kumi.engine.state import State

NAMED_AT_MOST = 3
_LOOKED_AT_MOST = 64
MODES = ("NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit")
"""words for assignment.Mode"""
REFUSED_UNSEEN = (Code.NAMESPACE_NOT_SELECTED, Code.CHECK_SAID_NO)
WORDS = {
    NoFit.NO_MATCHING_FLAVOR: (Code.RESOURCE_NOT_COVERED, Code.FLAVOR_NOT_MATCHED),
    NoFit.EXCEEDS_MAX_QUOTA: (Code.OVER_QUOTA,),
    NoFit.WAITING_FOR_QUOTA: (Code.QUOTA_IN_USE,),
}
"""which noes Kueue's word for an attempt stands for"""


def hold(state: State, workload: str, record: Record, now_ms: int) -> list[Hold]:
    """The decision that says this, if it is news."""
    state.journal.drop(state.untold, workload)
    if state.records.get(workload) == record:
        return []
    state.journal.put(state.records, workload, record)
    return [Hold(workload, replace(record, at_ms=now_ms))]


def tell(state: State, now_ms: int) -> list[Hold]:
    """What those are told who were not attempted and for whom something is new."""
    decided = []
    for key in sorted(state.untold):
        record = standing(state, key)
        if record is not None:
            decided += hold(state, key, record, now_ms)
        state.journal.drop(state.untold, key)
    return decided


def tell_kept_out(state: State, now_ms: int) -> list[Hold]:
    """What those are told whom an attempt would refuse whatever there is, and who stand in no line therefore."""
    decided = []
    for key in sorted(state.untold):
        aside = state.aside.get(key)
        if aside is not None and (aside.permanent or aside.code in REFUSED_UNSEEN):
            decided += hold(state, key, Record(aside), now_ms)
    return decided


def standing(state: State, key: str) -> Record | None:
    """What is known of a pending workload without an attempt; None: it is free to be attempted, or doesn't wait."""
    aside = state.aside.get(key)
    if aside is not None:
        return Record(aside)
    spot = state.queues.spot.get(key)
    if spot is None:
        return None
    closed = state.catalog.closed(spot.queue)
    if closed is not None:
        return in_line(state, key, Parked(closed))
    queue = state.catalog.cluster_queues[spot.queue]
    if queue.strategy is Strategy.STRICT and state.queues.position(key) > 1:
        return in_line(state, key, Parked(Reason(Code.BEHIND_HEAD, where=spot.queue)))
    parked = state.queues.set_aside(key)
    return None if parked is None else in_line(state, key, parked)


def in_line(state: State, key: str, parked: Parked) -> Record:
    """The record of a workload in line."""
    ahead = tuple(Ahead(k, state.workloads[k].job) for k in state.queues.before(key, NAMED_AT_MOST))
    position = state.queues.position(key)
    return Record(
        parked.reason,
        parked.others,
        parked.holders,
        ahead,
        position,
        tried=parked.tried,
        considered=parked.considered,
    )


def parked(state: State, verdict: Verdict) -> Parked:
    """What an attempt met, with those who hold what is wanted."""
    entry, found = verdict.entry, verdict.entry.assignment
    queue = entry.queue.name
    reason, others = _why(state, verdict)
    holders = _holders(state, queue, reason, found) if reason in found.reasons else ()
    tried = dict.fromkeys(
        Tried(one.name, attempt.flavor, MODES[attempt.mode], attempt.level)
        for one in found.pod_sets
        for attempt in one.attempts
    )
    return Parked(
        reason,
        others,
        holders,
        found.looked_for,
        found.open_ended,
        tuple(tried),
        entry.considered,
        entry.evicting or entry.later,
    )


def _why(state: State, verdict: Verdict) -> tuple[Reason, tuple[Reason, ...]]:
    """The reason to tell, and the others."""
    entry, found = verdict.entry, verdict.entry.assignment
    own = {
        Outcome.PENDING: Reason(Code.PREEMPTING, where=entry.queue.name),
        Outcome.OUTRUN: Reason(Code.OUTRUN, where=entry.queue.name),
        Outcome.HELD: Reason(Code.PODS_NOT_READY, where=entry.queue.name),
    }.get(verdict.outcome)
    if own is not None:
        return own, found.reasons
    reasons = found.reasons or (Reason(Code.OUTRUN, where=entry.queue.name),)
    return TOLD[state.profile.name](found, reasons)


def _by_word(found: Assignment, reasons: tuple[Reason, ...]) -> tuple[Reason, tuple[Reason, ...]]:
    """Of an attempt that stopped short of nobody to evict, too, Kueue says that it waits for quota."""
    codes = WORDS.get(found.no_fit, WORDS[NoFit.WAITING_FOR_QUOTA])
    best = next((i for i, reason in enumerate(reasons) if reason.code in codes), None)
    return told(reasons) if best is None else (reasons[best], reasons[:best] + reasons[best + 1 :])


TOLD: dict[str, Callable[[Assignment, tuple[Reason, ...]], tuple[Reason, tuple[Reason, ...]]]] = {
    "kumi": lambda _, reasons: told(reasons),
    "volcano": lambda _, reasons: told(reasons),
    "kueue": _by_word,
}
"""by the profile's name"""


def _holders(state: State, queue: str, reason: Reason, found: Assignment) -> tuple[Ahead, ...]:
    if reason.code is Code.QUOTA_IN_USE:
        fr = (reason.flavor, reason.resource)
        index = state.holdings.by_quota.get((queue, fr), [])[:NAMED_AT_MOST]
        if not index:
            index = sorted(_borrowers(state, queue, reason))[:NAMED_AT_MOST]
        return tuple(_ahead(state, holder) for holder in index)
    if reason.code.layer < Layer.GANG or reason.permanent:
        return ()
    masks = [state.site.standing(pods) for pods in found.looked_for]
    usable = np.logical_or.reduce(masks)
    largest = islice(state.holdings.largest(reason.resource), _LOOKED_AT_MOST)
    named = islice((holder for holder in largest if _in_the_way(state, holder, usable)), NAMED_AT_MOST)
    return tuple(_ahead(state, holder) for holder in named)


def _borrowers(state: State, queue: str, reason: Reason) -> list[Holder]:
    """The largest holders of queues that use more than their own, on the way up from this one."""
    fr = (reason.flavor, reason.resource)
    found: list[Holder] = []
    for node in state.quotas.path(queue):
        for child in sorted(state.quotas.borrowers.get(node, {}).get(fr, ()))[:NAMED_AT_MOST]:
            found += state.holdings.by_quota.get((child, fr), [])[:NAMED_AT_MOST]
    return found


def _in_the_way(state: State, holder: Holder, usable: Mask) -> bool:
    """Does the holder hold something on a node that one of the shapes may use?"""
    _, workload, pod = holder
    if pod:
        names = [state.pods.node_of[pod]]
    else:
        given = state.holdings.admission[workload].pod_sets
        names = [node for pods in given for node in state.reservations.promised.get((workload, pods.name), ())]
    rows = state.nodes.row_by_name
    return any(name in rows and bool(usable[rows[name]]) for name in names)


def _ahead(state: State, holder: Holder) -> Ahead:
    amount, workload, pod = holder
    job = f"Pod {state.pods.by_uid[pod].key}" if pod else state.workloads[workload].job
    return Ahead(workload, job, -amount)
