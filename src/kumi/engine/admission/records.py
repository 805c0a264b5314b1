"""Records: what is said of a workload that waits.

The rule       a record has the reason to tell and every other no (flavors.py), who holds what is wanted, the workload's place
               in line and who stands ahead. It is decided (Hold) when it differs, its time aside, from what was said last.
Who is told    a workload that was attempted; and once, when it comes in line, or its queue closes or opens, one that wasn't:
               it gets the answer that its kind got, or BEHIND_HEAD where the order of the queue is strict. Its place in
               line goes on; ../foresight/explain.py tells it at any time.
Holders        for quota: workloads that hold the same flavor-resource of the queue. For nodes: workloads and pods on their
               own that hold the resource on a node that the shape may use. The largest first, three at most.
Why            one write a workload and event that concerns it, however long the line is.
Cost           O(log n) a record; holders are looked up in ordered indexes.
Not here       sentences: kumi.bridge.messages.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.admission.flavors import Refused, told
from kumi.engine.decisions import Hold
from kumi.engine.model import Strategy, Workload
from kumi.engine.queues import Parked
from kumi.engine.reasons import Ahead, Code, Layer, Reason, Record

if TYPE_CHECKING:
    from kumi.engine.holdings import Holder
    from kumi.engine.placement.nodes import Mask
    from kumi.engine.state import State

NAMED_AT_MOST = 3
_LOOKED_AT_MOST = 64


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
    parked = state.queues.parked.get(spot.queue, {}).get(spot.kind)
    return None if parked is None else in_line(state, key, parked)


def in_line(state: State, key: str, parked: Parked) -> Record:
    """The record of a workload in line."""
    ahead = tuple(Ahead(k, state.workloads[k].job) for k in state.queues.before(key, NAMED_AT_MOST))
    return Record(parked.reason, parked.others, parked.holders, ahead, state.queues.position(key))


def parked(state: State, workload: Workload, queue: str, refused: Refused) -> Parked:
    """What an attempt met, with those who hold what is wanted."""
    reason, others = told(refused.reasons)
    holders = _holders(state, queue, reason, refused)
    return Parked(reason, others, holders, refused.looked_for, refused.open_ended)


def _holders(state: State, queue: str, reason: Reason, refused: Refused) -> tuple[Ahead, ...]:
    if reason.code is Code.QUOTA_IN_USE:
        index = state.holdings.by_quota.get((queue, (reason.flavor, reason.resource)), [])
        return tuple(_ahead(state, holder) for holder in index[:NAMED_AT_MOST])
    if reason.code.layer < Layer.GANG or reason.permanent:
        return ()
    masks = [state.site.mask(pods) for pods in refused.looked_for]
    usable = np.logical_or.reduce(masks)
    index = state.holdings.by_resource.get(reason.resource, [])[:_LOOKED_AT_MOST]
    found = islice((holder for holder in index if _in_the_way(state, holder, usable)), NAMED_AT_MOST)
    return tuple(_ahead(state, holder) for holder in found)


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
