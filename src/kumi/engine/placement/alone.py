"""Alone: pods on their own, one at a time: the nodes that take the shape and have room, the best score, the smallest name.

Order         ../waiting.py.
Looked at     who came since the last session; and where a node gained room, whoever may find some. Those of a shape that is full
              (crowd.py) are told so when they come, and passed over until a row changes that takes one.
All           are gone through where who looks for victims has to be seen one by one, or the order moves meanwhile, or pods have
              terms that others must heed: of equal ones the first that finds no room stands for the session's others.
Said once     a pod is told again when it is looked at, and the reasons are others.
Cost          best.py for each that is looked at; O(shapes that wait) a session in which nobody finds room.
Source        Kubernetes: the scheduling cycle.
Not here      room by pods that matter less: preempting.py; who goes before gangs: ahead.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from kumi.engine.decisions import Decision
from kumi.engine.model import Pod
from kumi.engine.placement.seats import bind, unplaced
from kumi.engine.reasons import Reason

if TYPE_CHECKING:
    from kumi.engine.state import State
    from kumi.engine.waiting import Turn


def decide(state: State, stuck: list[Pod]) -> list[Decision]:
    """Places pods on their own. `stuck`: gets those that found no room, and may find some by victims."""
    seen = state.nodes.changed  # a pod that is bound below may be who one before it waits for
    decided = look(state, stuck)
    state.crowd.told(state.pods.waiting.by_shape.values())
    for uid in list(state.newcomers):
        state.journal.drop(state.newcomers, uid)
    state.journal.swap(state, "nodes_seen", seen)
    return decided


def look(state: State, stuck: list[Pod], before: Turn | None = None) -> list[Decision]:
    """One look at those who may find room. `before`: only at those whose turn is before that one."""
    decided: list[Decision] = []
    full: dict[tuple[object, ...], tuple[Reason, ...]] = {}
    for uid in turns(state, before) if state.pods.waiting.line else ():
        pod = state.pods.by_uid[uid]
        if uid in state.nominations.node_of:
            continue
        decided += _single(state, pod, full)
        if uid not in state.pods.node_of:
            stuck.append(pod)
    return decided


def turns(state: State, before: Turn | None = None) -> Iterator[str]:
    """Who is looked at, one after the other. `before`: of those whose turn is before that one."""
    waiting, found = state.pods.waiting, _turns(state, before)
    if before is None or not waiting.is_one_line:
        return found
    return takewhile(lambda uid: waiting.turn(state.pods.by_uid[uid]) < before, found)


def _turns(state: State, before: Turn | None) -> Iterator[str]:
    """The same; where everybody keeps their place those whose turn is later come after these."""
    waiting = state.pods.waiting
    state.crowd.wake(waiting.by_shape.values())
    newcomers = [state.pods.by_uid[uid] for uid in state.newcomers]
    if state.nodes_seen == state.nodes.changed or len(newcomers) == len(waiting.line):
        return waiting.in_order(newcomers, before)
    if not waiting.is_one_line or state.nodes.residents.has_terms or _may_preempt(state):
        return waiting.in_order(before=before)
    return waiting.that_may_fit(newcomers)


def _may_preempt(state: State) -> bool:
    """Is there anybody in line, and anywhere somebody who matters less?"""
    lowest = state.layers.lowest
    return lowest is not None and lowest < -state.pods.waiting.line[0][0]


def _single(state: State, pod: Pod, full: dict[tuple[object, ...], tuple[Reason, ...]]) -> list[Decision]:
    """Binds a pod on its own to the best node. `full`: such pods as found no room in this session, where nothing but room and who
    is there already stands in the way."""
    nodes, alike = state.nodes, state.pods.waiting.by_shape[pod.shape]
    if alike.full or state.crowd.is_full_again(alike):
        return [*unplaced(state, pod, alike.refusals)]
    key = (id(alike), nodes.residents.heeds(pod))
    if key not in full:
        node = state.best.node(pod)
        if node is not None:
            return [bind(state, pod, node)]
        if state.crowd.refuse(alike, pod):
            return [*unplaced(state, pod, alike.refusals)]
        refusals = state.site.plugins.filter.refusals(nodes, pod)
        if pod.shape.neighbours is not None and pod.shape.neighbours.binds:
            return [*unplaced(state, pod, refusals)]
        full[key] = refusals
    return [*unplaced(state, pod, full[key])]
