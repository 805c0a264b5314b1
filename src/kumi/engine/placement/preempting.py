"""Preempting: room for a pod on its own by pods that matter less.

The rule   may         a pod that finds no room, unless it says that it never preempts, or a place is kept for it already
           nodes       those that take it whatever pods are there, and have room once pods of lower priorities are gone; of
                       these the ones where the highest priority that has to go is the lowest; of them, by name, the first 16
                       that will do; the next priority where all of these go against a disruption budget
           victims     on a node: pods of a lower priority that let themselves be evicted (consent.py) and are nobody's Workload;
                       of a gang as many as it has past its minimum, or all of it where that is on this node. All of them go;
                       then those stay that may: first those whose eviction a disruption budget doesn't allow, the higher priority
                       first, the older first
           the best    the fewest that a budget doesn't allow; the lowest highest priority; the lowest sum of priorities; the
                       fewest; where the highest victims are the youngest; the first by name
           then        the victims go, with the time that they ask for, and the place is kept for the pod (nominations.py)
           leaving     where those who are leaving anyway make room that nobody was promised, nobody else has to go: the pod waits
Minimal    put any one victim back, and the pod doesn't fit there; and it fits nowhere else as it is.
Kept       a pod with a place is bound as soon as there is room. Where the node no longer takes it, or has lost the room, the
           place is given up, and the pod looks anew.
Workloads  pods of admitted Workloads are taken by admission alone: nobody has two preemptors.
Units      priorities as in the pods; amounts as in nodes.py.
Cost       O(priorities x resources asked x nodes), and O(pods on a node) for each of 16 nodes. Pods with a place: only those on
           whose node something happened.
Source     Kubernetes: pod priority and preemption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.decisions import Decision, EvictPod, Nominate
from kumi.engine.model import Pod
from kumi.engine.placement import ways
from kumi.engine.placement.budgets import guarding, left
from kumi.engine.placement.devices import lent_holder
from kumi.engine.placement.nodes import NOWHERE, Requests
from kumi.engine.placement.seats import bind
from kumi.engine.placement.tasks import HOLDING, READY

if TYPE_CHECKING:
    from kumi.engine.state import State

LOOKED_AT = 16


@dataclass(frozen=True, slots=True)
class Place:
    """A node, and who has to go there. `unallowed`: how many of them a disruption budget doesn't allow."""

    node: str
    victims: tuple[Pod, ...]
    unallowed: int

    def cost(self) -> tuple[int, int, int, int, int, str]:
        """Less is better."""
        top = max((pod.priority for pod in self.victims), default=-(2**62))
        oldest = min((pod.created_ms for pod in self.victims if pod.priority == top), default=0)
        total = sum(pod.priority for pod in self.victims)
        return (self.unallowed, top, total, len(self.victims), -oldest, self.node)


def nominated(state: State) -> list[Decision]:
    """Pods with a place: bound where there is room by now; else the place stays theirs as long as it is good."""
    decided: list[Decision] = []
    nodes = state.nodes
    for uid in state.nominations.stirred():
        pod, name = state.pods.by_uid[uid], state.nominations.node_of[uid]
        row = nodes.row_by_name[name]
        if nodes.places(pod.shape, state.site.plugins.filter.mask(nodes, pod))[row]:
            decided.append(bind(state, pod, name))
        elif not _is_good(state, pod, row):
            state.nominations.drop(uid)
            state.journal.put(state.newcomers, uid, None)
    return decided


def decide(state: State, stuck: list[Pod]) -> list[Decision]:
    """Who goes for these pods that found no room, in their order, and where they are to be."""
    lowest = state.layers.lowest
    if lowest is None or all(pod.priority <= lowest for pod in stuck):
        return []
    decided: list[Decision] = []
    failed: dict[tuple[object, ...], None] = {}
    with _promised(state) as promise:
        for pod in stuck:
            kind = (pod.shape, state.nodes.residents.heeds(pod))
            if kind in failed or pod.member.never_preempts:
                continue
            row = _leaving(state, pod)
            if row is not None:
                promise(pod, row)
            elif not (said := _preempt(state, pod)):
                failed[kind] = None
            else:
                decided += said
    return decided


@contextmanager
def _promised(state: State) -> Iterator[Callable[[Pod, int], None]]:
    """Inside, what gangs are promised counts as promised, and what it is called with, too."""
    nodes, charged, lent = state.nodes, list[tuple[int, Requests]](), list[str]()

    def promise(pod: Pod, row: int) -> None:
        charged.append((row, pod.shape.requests))
        nodes.pipeline_rows(row, pod.shape.requests, 1)
        nodes.devices.seat(lent_holder(pod.uid), pod.shape, row, promised=True)
        lent.append(lent_holder(pod.uid))

    for uid, name in sorted(state.answers.promised.items()):
        if uid in state.pods.by_uid and uid not in state.pods.node_of and name in nodes.row_by_name:
            promise(state.pods.by_uid[uid], nodes.row_by_name[name])
    yield promise
    for row, requests in charged:
        nodes.pipeline_rows(row, requests, -1)
    for holder in lent:
        nodes.devices.unseat(holder)


def _leaving(state: State, pod: Pod) -> int | None:
    """A row where there will be room for the pod once those have left who are leaving anyway."""
    nodes = state.nodes
    standing = state.site.plugins.filter.standing(nodes, pod)
    rows = nodes.by_name()
    rows = rows[nodes.places_later(pod.shape, standing)[rows] > 0]
    return next((int(row) for row in rows if (nodes.releasing[:, row] > 0).any()), None)


def _preempt(state: State, pod: Pod) -> list[Decision]:
    place = min(_places(state, pod), key=Place.cost, default=None)
    if place is None:
        return []
    decided: list[Decision] = []
    for victim in place.victims:
        evict = EvictPod(victim.uid, pod.uid)
        state.assume(evict)
        decided.append(evict)
    nominate = Nominate(pod.uid, place.node)
    state.assume(nominate)
    return [*decided, nominate]


def _is_good(state: State, pod: Pod, row: int) -> bool:
    """Does the node take the pod, and will there be room for all who were promised some?"""
    nodes = state.nodes
    if not state.site.plugins.filter.standing(nodes, pod)[row]:
        return False
    used = nodes.used[:, row] - nodes.releasing[:, row] + nodes.pipelined[:, row]
    if any(used[line] > nodes.allocatable[line, row] for line, _ in nodes.asked(pod.shape.requests)):
        return False
    return not nodes.devices.concern(pod.shape) or not nodes.devices.over(row, later=True)


def _places(state: State, pod: Pod) -> Iterator[Place]:
    nodes = state.nodes
    standing = state.site.plugins.filter.standing(nodes, pod)
    names = nodes.name_by_row()
    for rows in state.layers.mended(pod.shape.requests, standing, pod.priority):
        found: list[Place] = []
        for name in sorted(names[row] for row in rows.tolist()):
            place = on_node(state, pod, name)
            if place is not None and place.victims:
                found.append(place)
                yield place
            if len(found) == LOOKED_AT:
                break
        if any(not place.unallowed for place in found):
            return


def on_node(state: State, pod: Pod, name: str) -> Place | None:
    """What it takes there; None: it isn't enough."""
    row = state.nodes.row_by_name[name]
    candidates = _candidates(state, pod, name)
    over = _unallowed(state, candidates)
    last = sorted(candidates, key=lambda p: (p.uid not in over, -p.priority, p.created_ms, p.uid))
    if _only_room_counts(state, pod):
        victims = _by_room(state, pod, row, last)
    else:
        with state.trial():
            victims = _by_trial(state, pod, row, last)
    if victims is None:
        return None
    victims = _whole_gangs(state, victims, candidates)
    return Place(name, tuple(victims), sum(victim.uid in over for victim in victims))


def _only_room_counts(state: State, pod: Pod) -> bool:
    """Does it make no difference to the pod who is on the node, room aside, and on which devices?"""
    shape = pod.shape
    if state.nodes.devices.concern(shape) or (shape.neighbours is not None and shape.neighbours.binds):
        return False
    return not (shape.ports or shape.volume_claims or state.nodes.residents.heeds(pod))


def _by_room(state: State, pod: Pod, row: int, candidates: list[Pod]) -> list[Pod] | None:
    """All of them go; then each stays that may, in the order given. Who doesn't; None: it isn't enough."""
    nodes = state.nodes
    asked = dict(nodes.asked(pod.shape.requests))
    if NOWHERE in asked:
        return None
    freed = [[(line, a) for line, a in nodes.asked(p.shape.requests) if line in asked] for p in candidates]
    spare = {line: nodes.room_later(line, row) - a for line, a in asked.items()}
    for amounts in freed:
        for line, amount in amounts:
            spare[line] += amount
    if any(left < 0 for left in spare.values()):
        return None
    victims = []
    for candidate, amounts in zip(candidates, freed, strict=True):
        if any(spare[line] < amount for line, amount in amounts):
            victims.append(candidate)
            continue
        for line, amount in amounts:
            spare[line] -= amount
    return victims


def _by_trial(state: State, pod: Pod, row: int, candidates: list[Pod]) -> list[Pod] | None:
    """The same where the filter has to be asked each time, inside a trial."""
    nodes = state.nodes
    nodes.stir(row)
    for line, amount in enumerate(nodes.releasing[:, row].tolist()):
        state.journal.add(nodes.used, (line, row), -amount)
    state.journal.write(nodes.releasing, (slice(None), row), 0)
    nodes.devices.gone(row)
    had = {candidate.uid: nodes.devices.of(candidate.uid) for candidate in candidates}
    for candidate in candidates:
        _unseat(state, candidate, row)
    if not _fits(state, pod, row):
        return None
    victims = []
    for candidate in candidates:
        _seat(state, candidate, row, 1)
        nodes.devices.seat(candidate.uid, candidate.shape, row, had[candidate.uid])
        if not _fits(state, pod, row):
            _unseat(state, candidate, row)
            victims.append(candidate)
    return victims


def _whole_gangs(state: State, victims: list[Pod], candidates: list[Pod]) -> list[Pod]:
    """With a gang that loses its minimum all of it goes."""
    found = {victim.uid: victim for victim in victims}
    for victim in victims:
        job = state.tasks.jobs.get(victim.member.group)
        if job is None or job.group is None:
            continue
        lost = sum(1 for v in victims if v.member.group == job.key)
        if job.count(*READY) - lost < job.group.least:
            found.update((p.uid, p) for p in candidates if p.member.group == job.key)
    return list(found.values())


def _fits(state: State, pod: Pod, row: int) -> bool:
    nodes = state.nodes
    for line, amount in nodes.asked(pod.shape.requests):
        if line < 0 or nodes.room(line, row) - int(nodes.pipelined[line, row]) < amount:
            return False
    return nodes.devices.goes(pod.shape, row) and bool(state.site.plugins.filter.mask(nodes, pod)[row])


def _unseat(state: State, pod: Pod, row: int) -> None:
    _seat(state, pod, row, -1)
    state.nodes.devices.unseat(pod.uid)


def _seat(state: State, pod: Pod, row: int, times: int) -> None:
    rows = np.array([row], dtype=np.int64)
    state.nodes.use_rows(rows, pod.shape.requests, np.array([times], dtype=np.int64))
    state.nodes.residents.seat_row(pod, row, times)
    if pod.shape.volume_claims:
        state.nodes.volume_claims.seat(pod, state.nodes.name_by_row()[row] if times > 0 else "")


def _candidates(state: State, preemptor: Pod, name: str) -> list[Pod]:
    """Whom the pod may take from there, in no order."""
    by_gang: dict[str, list[Pod]] = {}
    for uid in state.pods.on_node.get(name, ()):
        pod = state.pods.by_uid[uid]
        if pod.priority < preemptor.priority and not (pod.terminating or pod.finished or pod.workload):
            by_gang.setdefault(pod.member.group, []).append(pod)
    found, gives_way = [], ways.of(state.profile.name).customs.consent.one_by_one
    for key, pods in by_gang.items():
        job = state.tasks.jobs.get(key)
        give = [pod for pod in pods if gives_way(pod, job.group if job is not None else None)]
        if job is not None and job.group is not None and len(give) < job.count(*HOLDING):
            spare = max(job.count(*READY) - job.group.least, 0)
            give = sorted(give, key=lambda p: (p.priority, -p.created_ms, p.uid))[:spare]
        found += give
    return found


def _unallowed(state: State, candidates: list[Pod]) -> dict[str, None]:
    """Those whose eviction a disruption budget doesn't allow, when those that matter most have used it up."""
    if not state.tasks.budgets:
        return {}
    remaining = left(state.tasks)
    over: dict[str, None] = {}
    for pod in sorted(candidates, key=lambda p: (-p.priority, p.created_ms, p.uid)):
        for budget in guarding(state.tasks, pod):
            remaining[budget.key] -= 1
            if remaining[budget.key] < 0:
                over[pod.uid] = None
    return over
