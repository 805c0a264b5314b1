"""Alone: pods on their own, one at a time: the nodes that take the shape and have room, the best score, the smallest name.

Said once     equal shapes that find no room are looked for once a session.
Order         by priority, creation, key, uid.
Cost          O(nodes) a pod that waits; they are looked at again only when a node gained room.
Source        Kubernetes: the scheduling cycle.
Not here      room by pods that matter less: preempting.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.decisions import Decision
from kumi.engine.model import Pod
from kumi.engine.placement.seats import bind, unplaced
from kumi.engine.pods import turn
from kumi.engine.reasons import Reason

if TYPE_CHECKING:
    from kumi.engine.state import State


def decide(state: State, stuck: list[Pod]) -> list[Decision]:
    """Places pods on their own. `stuck`: gets those that found no room."""
    seen = state.nodes.changed  # a pod that is bound below may be who one before it waits for
    turns = state.pods.alone
    if state.nodes_seen == state.nodes.changed:
        turns = sorted(turn(state.pods.by_uid[uid]) for uid in state.newcomers)
    decided: list[Decision] = []
    full: dict[tuple[object, ...], tuple[Reason, ...]] = {}
    for _, _, _, uid in list(turns):
        pod = state.pods.by_uid[uid]
        if uid in state.nominations.node_of:
            continue
        said = _single(state, pod, full)
        if uid not in state.pods.node_of:
            stuck.append(pod)
        decided += said
    for uid in list(state.newcomers):
        state.journal.drop(state.newcomers, uid)
    state.journal.swap(state, "nodes_seen", seen)
    return decided


def _single(state: State, pod: Pod, full: dict[tuple[object, ...], tuple[Reason, ...]]) -> list[Decision]:
    """Binds a pod on its own to the best node. `full`: such pods as found no room in this session, where nothing but room and who
    is there already stands in the way."""
    nodes, plugins = state.nodes, state.site.plugins
    key = (pod.shape, nodes.residents.heeds(pod))
    if key not in full:
        fits = nodes.fits(pod.shape.requests, plugins.filter.mask(nodes, pod))
        rows = nodes.by_name()
        rows = rows[fits[rows] > 0]
        if rows.size:
            scores = plugins.score.score(nodes, pod, rows, np.zeros(rows.size, dtype=np.int64))
            return [bind(state, pod, nodes.name_by_row()[int(rows[np.argmax(scores)])])]
        refusals = plugins.filter.refusals(nodes, pod)
        if pod.shape.neighbours is not None:
            return [*unplaced(state, pod, refusals)]
        full[key] = refusals
    return [*unplaced(state, pod, full[key])]
