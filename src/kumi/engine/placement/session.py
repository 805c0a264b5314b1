"""Session: the steps of placement.

    1  pods of workloads that hold an admission, workload by workload:
         where the gang may be bound (readiness.py), each pod that waits gets a place that its workload was promised: the one
         of its index if that is open, else the first that is open (../reservations.py)
         where nothing was promised, the waiting pods are placed together (gang.py)
         the first time all of them are bound, or none; afterwards each as it comes
    2  pod groups that come without a Workload (gang_session.py), and pods on their own that go before them (ahead.py)
    3  pods for which a node was cleared, as soon as there is room (preempting.py)
    4  pods on their own, one at a time, as far as the line lets them (line/singles.py): the nodes that take the shape and have
       room, the best score, the smallest name
    5  those of them that found no room, by pods that matter less (preempting.py)

Skipped       pods that are gated, on their way out or finished; pods of a workload that holds nothing, or is being evicted.
Kept          promised places count as used for everybody else: no pod on its own takes them; nor those that are claimed
              for a workload that waits for its victims (../claims.py).
Lost          a pod that needs a place whose node is gone, not ready, or takes no new pods, is Unplaced with RESERVATION_LOST;
              the cycle, which comes first, has its workload evicted (lost_place, ../admission/stops.py).
Said once     Unplaced is decided when the reasons differ from those before, and once a session. Equal shapes that find no room
              are looked for once a session.
Order and ties workloads by key; a gang's pods by index, creation, key, uid; pods on their own as ../waiting.py has
              them.
Cost          O(pods that came, or whose place changed); pods on their own are looked at again only when a node gained room.
Source        Volcano: sessions; Kubernetes: the scheduling cycle.
Not here      whether a workload may start: ../admission/cycle.py.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.decisions import Bind, Decision, Unplaced, last_words
from kumi.engine.model import Pod, PodSet, PodShape, Workload
from kumi.engine.placement import ahead, alone, gang, gang_session, preempting
from kumi.engine.placement.devices import GPU, asked
from kumi.engine.placement.seats import bind, unplaced
from kumi.engine.pods import waits
from kumi.engine.reasons import Code, Reason
from kumi.engine.settings import Discipline

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
    with state.claims.kept(state):
        for key in sorted(state.gangs):
            state.journal.drop(state.gangs, key)
            state.journal.drop(state.crowded, key)
            decided += _workload(state, key)
        decided += _ahead(state)
        decided += gang_session.decide(state, now_ms)
        decided += preempting.nominated(state)
        stuck: list[Pod] = []
        with gang_session.held_back(state) as wanted:
            decided += _singles(state, now_ms, stuck, wanted)
        decided += preempting.decide(state, stuck)
    return last_words(decided, Unplaced, attrgetter("pod"))  # told before gangs had their turns, and after


def _singles(state: State, now_ms: int, stuck: list[Pod], wanted: dict[tuple[int, int], int]) -> list[Decision]:
    """Pods on their own; see line/singles.py."""
    if state.profile.settings.line is Discipline.OPEN:
        return alone.decide(state, stuck)
    from kumi.engine.placement.line import singles  # reservations over time: most policies keep none

    return singles.decide(state, now_ms, stuck, wanted)


def _ahead(state: State) -> list[Decision]:
    """Pods on their own that go before all gangs."""
    if not ahead.is_open(state):
        return []
    stuck: list[Pod] = []
    with gang_session.held_back(state):
        decided = ahead.before_all(state, stuck)
    return [*decided, *preempting.decide(state, stuck)]


def _workload(state: State, key: str) -> list[Decision]:
    workload = state.workloads.get(key)
    if workload is None or key not in state.holdings.admission or state.is_stopping(key):
        return []
    pods = state.pods.of(key)
    waiting = [pod for pod in pods if waits(pod) and pod.uid not in state.pods.node_of]
    if not waiting:
        return []
    waiting.sort(key=lambda pod: (pod.index if pod.index is not None else len(pods), pod.created_ms, pod.key, pod.uid))
    if any(pod.uid in state.pods.node_of for pod in pods):
        return [d for pod in waiting for d in _all(state, workload, [pod])]
    reason = state.site.plugins.gate.waits(workload, tuple(pods))
    if reason is not None:
        return [u for pod in waiting for u in unplaced(state, pod, (reason,))]
    return _all(state, workload, waiting)


def _all(state: State, workload: Workload, pods: list[Pod]) -> list[Decision]:
    """Binds all of these pods, or none of them."""
    promised = [pod for pod in pods if (pod.workload, pod.pod_set) in state.reservations.promised]
    others = [pod for pod in pods if (pod.workload, pod.pod_set) not in state.reservations.promised]
    with state.trial() as trial:
        found = _to_their_places(state, workload, promised)
        more = found if isinstance(found, Reason) else _together(state, others)
        if not isinstance(found, Reason) and not isinstance(more, Reason):
            trial.commit()
            return [*found, *more]
    reason = found if isinstance(found, Reason) else more
    assert isinstance(reason, Reason)
    table = state.to_check if reason.code is Code.RESERVATION_LOST else state.crowded
    state.journal.put(table, workload.key, None)
    return [u for pod in pods for u in unplaced(state, pod, (reason,))]


def _to_their_places(state: State, workload: Workload, pods: list[Pod]) -> list[Bind] | Reason:
    """Binds each of these pods to a place that its workload was promised."""
    bound = []
    for pod in pods:
        node = _place(state, workload, pod)
        if isinstance(node, Reason):
            return node
        bound.append(bind(state, pod, node, state.reservations.devices_for(pod, node)))
    return bound


def _place(state: State, workload: Workload, pod: Pod) -> str | Reason:
    """The node of the pod's place: the one of its index if that is open, else the first that is."""
    slots = (pod.workload, pod.pod_set)
    places = [node for node, _ in state.reservations.open_places(slots)]
    if not places:
        return Reason(Code.NODES_FULL, pod_set=pod.pod_set, pods=1)
    mask = state.site.plugins.filter.standing(state.nodes, _bare(state, workload, pod.pod_set, pod.shape))
    fit = [node for node in places if node in state.nodes.row_by_name and mask[state.nodes.row_by_name[node]]]
    if not fit:
        return Reason(Code.RESERVATION_LOST, where=places[0], pod_set=pod.pod_set, pods=1)
    own = state.reservations.place_of(slots, pod.index) if pod.index is not None else ""
    for node in sorted(fit, key=lambda node: node != own):
        if _missing(state, pod, node) is None:
            return node
    resource, need, have = _missing(state, pod, fit[0]) or ("", 0, 0)
    return Reason(Code.NODES_FULL, resource, pod_set=pod.pod_set, need=need, have=have, pods=1)


def lost_place(state: State, workload: Workload) -> str:
    """The node of a promised place that a waiting pod needs and can't have, because the node is gone, not ready or takes no
    new pods; "" where no pod needs one."""
    for pods in workload.pod_sets:
        open_places = state.reservations.open_places((workload.key, pods.name))
        mask = state.site.plugins.filter.standing(state.nodes, _bare(state, workload, pods.name, pods.shape))
        rows = state.nodes.row_by_name
        unfit = [node for node, _ in open_places if node not in rows or not mask[rows[node]]]
        if unfit:
            fit = sum(n for node, n in open_places if node not in unfit)
            waiting = [p for p in state.pods.of(workload.key) if p.pod_set == pods.name and waits(p)]
            if sum(p.uid not in state.pods.node_of for p in waiting) > fit:
                return unfit[0]
    return ""


def _bare(state: State, workload: Workload, pod_set: str, shape: PodShape) -> Pod:
    """Of a pod that has its place already, what can make the place unfit since: readiness, taints, a cordon. It endures what
    admission let it endure."""
    endures = dict.fromkeys(shape.tolerations)
    for pods in workload.pod_sets:
        endures.update(dict.fromkeys(pods.shape.tolerations if pods.name == pod_set else ()))
    for given in state.holdings.admission[workload.key].pod_sets:
        for _, name in given.flavors if given.name == pod_set else ():
            flavor = state.catalog.flavors.get(name)
            endures.update(dict.fromkeys(flavor.tolerations if flavor else ()))
    return Pod("", workload.key, PodShape((), tolerations=tuple(endures)), 0)


def _missing(state: State, pod: Pod, node: str) -> tuple[str, int, int] | None:
    """What the node lacks for the pod in its place and what is free beside it: pods may be larger than what was promised for
    them. (resource, what the pod needs, what there is); None: it fits."""
    row = state.nodes.row_by_name[node]
    kept = dict(state.reservations.requests[pod.workload, pod.pod_set])
    for resource, need in pod.shape.requests:
        line = state.nodes.line_by_resource.get(resource)
        have = (0 if line is None else state.nodes.room(line, row)) + kept.get(resource, 0)
        if need > max(have, kept.get(resource, 0)):
            return resource, need, have
    devices = state.nodes.devices
    if not devices.concern(pod.shape) or state.reservations.devices_for(pod, node) or devices.choose(pod.shape, row):
        return None
    return GPU, asked(pod.shape), devices.most_free(pod.shape, np.array([row]))


def _together(state: State, pods: list[Pod]) -> list[Bind] | Reason:
    """Places these pods, for which nothing was promised."""
    alike: dict[tuple[object, ...], list[Pod]] = {}
    for pod in pods:
        alike.setdefault((pod.pod_set, pod.shape, state.nodes.residents.seen_as(pod)), []).append(pod)
    found = gang.place(state.site, [_as_set(group) for group in alike.values()])
    if isinstance(found, Reason):
        return found
    bound = []
    for group, places in zip(alike.values(), found, strict=True):
        nodes = [node for node, n in places for _ in range(n)]
        bound += [bind(state, pod, node) for pod, node in zip(group, nodes, strict=True)]
    return bound


def _as_set(pods: list[Pod]) -> PodSet:
    """Equal pods."""
    first = pods[0]
    return PodSet(first.pod_set, len(pods), first.shape, namespace=first.namespace, labels=first.labels)
