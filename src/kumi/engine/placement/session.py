"""Session: the steps of placement.

    1  pods of workloads that hold an admission, workload by workload:
         where the gang may be bound (plugins/gang.py), each pod that waits gets a place that its workload was promised: the one
         of its index if that is open, else the first that is open (../reservations.py)
         where nothing was promised, the waiting pods are placed together or not at all (gang.py)
    2  pods on their own, one at a time: the nodes that take the shape and have room, the best score, the smallest name

Skipped       pods that are gated, on their way out or finished; pods of a workload that holds nothing, or is being evicted.
Kept          promised places count as used for everybody else: no pod on its own takes them.
Lost          a pod whose only open places are on nodes that are gone, not ready, or cordoned, is Unplaced with
              RESERVATION_LOST, and its workload is evicted in the next cycle (../admission/stops.py).
Said once     Unplaced is decided when the reasons differ from those before. Equal shapes that find no room are looked for
              once a session.
Order and ties workloads by key; a gang's pods by index, creation, key, uid; pods on their own by priority, creation, key, uid.
Cost          O(pods that came, or whose place changed); pods on their own are looked at again only when a node gained room.
Source        Volcano: sessions; Kubernetes: the scheduling cycle.
Not here      whether a workload may start: ../admission/cycle.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.decisions import Bind, Decision, Unplaced
from kumi.engine.model import Pod, PodSet, PodShape, Workload
from kumi.engine.placement import gang
from kumi.engine.pods import turn, waits
from kumi.engine.reasons import Code, Reason

if TYPE_CHECKING:
    from kumi.engine.state import State


def decide(state: State, now_ms: int) -> list[Decision]:
    """Everything that placement has to say now: each Bind is assumed. Nothing where Kumi doesn't place."""
    if not state.profile.places:
        return []
    decided: list[Decision] = []
    if state.nodes_seen != state.nodes.changed:
        for key in list(state.crowded):
            state.journal.put(state.gangs, key, None)
    for key in sorted(state.gangs):
        state.journal.drop(state.gangs, key)
        state.journal.drop(state.crowded, key)
        decided += _workload(state, key)
    decided += _alone(state)
    return decided


def _workload(state: State, key: str) -> list[Decision]:
    workload = state.workloads.get(key)
    if workload is None or key not in state.holdings.admission or state.is_stopping(key):
        return []
    pods = state.pods.of(key)
    waiting = [pod for pod in pods if waits(pod) and pod.uid not in state.pods.node_of]
    if not waiting:
        return []
    waiting.sort(key=lambda pod: (pod.index if pod.index is not None else len(pods), pod.created_ms, pod.key, pod.uid))
    started = any(pod.uid in state.pods.node_of for pod in pods)
    reason = None if started else state.site.plugins.gate.waits(workload, tuple(pods))
    if reason is not None:
        return [u for pod in waiting for u in _unplaced(state, pod, (reason,))]
    promised = [pod for pod in waiting if (key, pod.pod_set) in state.reservations.promised]
    others = [pod for pod in waiting if (key, pod.pod_set) not in state.reservations.promised]
    decided = [d for pod in promised for d in _to_its_place(state, workload, pod)]
    for group in [[pod] for pod in others] if started else [others]:
        decided += _together(state, workload, group)
    return decided


def _to_its_place(state: State, workload: Workload, pod: Pod) -> list[Decision]:
    """Binds the pod to a place that its workload was promised."""
    slots = (pod.workload, pod.pod_set)
    places = [node for node, _ in state.reservations.open_places(slots)]
    if not places:
        return [*_unplaced(state, pod, (Reason(Code.NODES_FULL, pod_set=pod.pod_set, pods=1),))]
    own = state.reservations.place_of(slots, pod.index) if pod.index is not None else ""
    mask = state.site.plugins.filter.mask(state.nodes, _bare(state, workload, pod))
    alive = [node for node in places if node in state.nodes.row_by_name and mask[state.nodes.row_by_name[node]]]
    for node in sorted(alive, key=lambda node: node != own):
        if _fits_its_place(state, pod, node):
            return _bind(state, pod, node)
    if alive:
        state.journal.put(state.crowded, workload.key, None)
        resource, need, have = _missing(state, pod, alive[0])
        full = Reason(Code.NODES_FULL, resource, pod_set=pod.pod_set, need=need, have=have, pods=1)
        return [*_unplaced(state, pod, (full,))]
    state.journal.put(state.stranded, pod.workload, places[0])
    state.journal.put(state.to_check, pod.workload, None)
    return [*_unplaced(state, pod, (Reason(Code.RESERVATION_LOST, where=places[0], pod_set=pod.pod_set, pods=1),))]


def _bare(state: State, workload: Workload, pod: Pod) -> PodShape:
    """Of a pod that has its place already, what can make the place unfit since: readiness, taints, a cordon. It endures what
    admission let it endure."""
    endures = dict.fromkeys(pod.shape.tolerations)
    for pods in workload.pod_sets:
        endures.update(dict.fromkeys(pods.shape.tolerations if pods.name == pod.pod_set else ()))
    for given in state.holdings.admission[workload.key].pod_sets:
        for _, name in given.flavors if given.name == pod.pod_set else ():
            flavor = state.catalog.flavors.get(name)
            endures.update(dict.fromkeys(flavor.tolerations if flavor else ()))
    return PodShape((), tolerations=tuple(endures))


def _fits_its_place(state: State, pod: Pod, node: str) -> bool:
    """Does the pod fit into its place and what is free beside it? Pods may be larger than what was promised for them."""
    return all(have >= need for _, need, have in _amounts(state, pod, node))


def _missing(state: State, pod: Pod, node: str) -> tuple[str, int, int]:
    return next((r, need, have) for r, need, have in _amounts(state, pod, node) if have < need)


def _amounts(state: State, pod: Pod, node: str) -> list[tuple[str, int, int]]:
    """(resource, what the pod needs, what is free on the node with one promised place of its pod set given back)."""
    row = state.nodes.row_by_name[node]
    kept = dict(state.reservations.requests[pod.workload, pod.pod_set])
    amounts = []
    for resource, need in pod.shape.requests:
        line = state.nodes.line_by_resource.get(resource)
        have = (0 if line is None else state.nodes.room(line, row)) + kept.get(resource, 0)
        if need > kept.get(resource, 0):
            amounts.append((resource, need, have))
    return amounts


def _together(state: State, workload: Workload, pods: list[Pod]) -> list[Decision]:
    """Places these pods, for which nothing was promised: all of them, or none."""
    by_shape: dict[tuple[str, PodShape], list[Pod]] = {}
    for pod in pods:
        by_shape.setdefault((pod.pod_set, pod.shape), []).append(pod)
    wanted = [PodSet(name, len(group), shape) for (name, shape), group in by_shape.items()]
    found = gang.place(state.site, wanted)
    if isinstance(found, Reason):
        state.journal.put(state.crowded, workload.key, None)
        return [u for pod in pods for u in _unplaced(state, pod, (found,))]
    decided: list[Decision] = []
    for group, places in zip(by_shape.values(), found, strict=True):
        nodes = [node for node, n in places for _ in range(n)]
        decided += [d for pod, node in zip(group, nodes, strict=True) for d in _bind(state, pod, node)]
    return decided


def _alone(state: State) -> list[Decision]:
    turns = state.pods.alone
    if state.nodes_seen == state.nodes.changed:
        turns = sorted(turn(state.pods.by_uid[uid]) for uid in state.newcomers)
    decided: list[Decision] = []
    full: dict[PodShape, tuple[Reason, ...]] = {}
    for _, _, _, uid in list(turns):
        decided += _single(state, state.pods.by_uid[uid], full)
    for uid in list(state.newcomers):
        state.journal.drop(state.newcomers, uid)
    state.journal.swap(state, "nodes_seen", state.nodes.changed)
    return decided


def _single(state: State, pod: Pod, full: dict[PodShape, tuple[Reason, ...]]) -> list[Decision]:
    """Binds a pod on its own to the best node. `full`: shapes that found no room in this session."""
    if pod.shape not in full:
        nodes, plugins = state.nodes, state.site.plugins
        fits = nodes.fits(pod.shape.requests, plugins.filter.mask(nodes, pod.shape))
        rows = nodes.by_name()
        rows = rows[fits[rows] > 0]
        if rows.size:
            scores = plugins.score.score(nodes, pod.shape.requests, np.minimum(fits, 1))
            return _bind(state, pod, nodes.name_by_row()[int(rows[np.argmax(scores[rows])])])
        full[pod.shape] = plugins.filter.refusals(nodes, pod.shape)
    return [*_unplaced(state, pod, full[pod.shape])]


def _bind(state: State, pod: Pod, node: str) -> list[Decision]:
    bind = Bind(pod.uid, node)
    state.assume(bind)
    return [bind]


def _unplaced(state: State, pod: Pod, reasons: tuple[Reason, ...]) -> list[Unplaced]:
    if state.refusals.get(pod.uid) == reasons:
        return []
    state.journal.put(state.refusals, pod.uid, reasons)
    return [Unplaced(pod.uid, reasons)]
