"""Invariants: what may never happen; every test runs it.

The rule, after every apply, decision and settle:
    quota          usage of each flavor-resource is within quota, further only as far as causes outside of the engine brought it
                   (quota was cut, a workload came with its admission)
    nodes          what is used of a node is within allocatable, the pod count included, with the same exception
    devices        nobody has more than is left of a single GPU, with the same exception; what pods have of each adds up to what
                   is kept
    gang           an admission that the engine decided has a place for each of its pods, or (where Kumi doesn't place) for none
    one place      a workload that waits is in one line, in a back-off or aside; one that holds or has finished is in none
    claims         who is spoken for holds something and is going; who speaks waits in a line
    aggregates     usage, indexes of holders, room of nodes, promises, lines are what the objects and the assumptions say
Why            aggregates are kept as things change; here they are counted again, plainly, from the objects.
Errors         InvariantError with the first thing that is wrong. It is a bug of Kumi's own.
Cost           O(everything): for tests, replays and `kumi`'s own checks, never in a decision.
Not here       what the rules are: the files that are named in the messages.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kumi.api.errors import InvariantError
from kumi.engine.admission.order import Kind, kind, place
from kumi.engine.admission.quota import COHORT, FlavorResource, Quotas, cohort_node
from kumi.engine.decisions import Admit, Bind
from kumi.engine.holdings import standing_of
from kumi.engine.journal import Journal
from kumi.engine.model import Admission, Pod
from kumi.engine.placement.devices import GPU, WHOLE
from kumi.engine.placement.nodes import ASKS_AT_MOST, ONE_POD, PODS, Requests
from kumi.engine.queues import lane_of
from kumi.engine.reasons import Code
from kumi.engine.state import State
from kumi.engine.tree import parent_of, quota_of


def check(state: State) -> None:
    """Raises InvariantError at the first of the module's rules that is broken."""
    held = _held(state)
    _quota(state, held)
    _promises(state, held)
    _nodes(state)
    _devices(state)
    _gangs(state, held)
    _lines(state, held)
    _tree(state, held)
    _claims(state, held)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InvariantError(what)


def _held(state: State) -> dict[str, Admission]:
    """What each workload holds by right: counted from objects and assumptions."""
    held = {}
    for key, workload in state.workloads.items():
        assumed = state.assumed.get(key)
        admission = workload.admission
        if assumed is not None and isinstance(assumed.decision, Admit):
            admission = assumed.decision.admission
        if admission is not None and not workload.finished and key not in state.finishing:
            held[key] = admission
    _require(held == state.holdings.admission, "holdings: not what the workloads and the assumed admissions say")
    return held


def _quota(state: State, held: dict[str, Admission]) -> None:
    usage: dict[tuple[str, FlavorResource], int] = {}
    holders: dict[tuple[str, FlavorResource], list[tuple[int, str, str]]] = {}
    for key, admission in held.items():
        for fr, amount in state.counted(state.workloads[key], admission).items():
            at = (admission.cluster_queue, fr)
            usage[at] = usage.get(at, 0) + amount
            holders.setdefault(at, []).append((-amount, key, ""))
    standing = {key: standing_of(state.workloads[key], stays=not state.is_stopping(key)) for key in held}
    kept_order = {at[:2]: order for at, order in state.holdings.in_order.items() if not at[2]}
    in_order = {at: sorted(standing[key] for _, key, _ in found) for at, found in holders.items()}
    _require(in_order == kept_order, "holdings: those who may be evicted are not in the order in which they may be")
    ranked = {at: sorted(found) for at, found in holders.items()}
    _require(ranked == state.holdings.by_quota, "holdings: the index of quota holders is not what is held")
    queues = (node for node in state.quotas.usage if not node.startswith(COHORT))
    kept = {(node, fr): used for node in queues for fr, used in state.quotas.usage[node].items()}
    _require(kept == usage, f"quota: usage is kept as {kept}, and is {usage}")
    for node, table in state.quotas.usage.items():
        for fr, used in table.items():
            most = state.quotas.most(node, fr)
            if most is not None:
                most += state.quotas.inherited.get((node, fr), 0)
                _require(used <= most, f"quota: {node} uses {used} of {fr}, {most} at most")


def _tree(state: State, held: dict[str, Admission]) -> None:
    """The tree as it would be, were it made now."""
    kept, fresh = state.quotas, Quotas(Journal())
    for queue in state.catalog.cluster_queues.values():
        fresh.set(queue.name, quota_of(queue.groups), cohort_node(queue.cohort))
    for cohort in state.catalog.cohorts.values():
        fresh.set(cohort_node(cohort.name), quota_of(cohort.groups), parent_of(state, cohort.name))
    for key, admission in held.items():
        for fr, amount in state.counted(state.workloads[key], admission).items():
            fresh.add(admission.cluster_queue, fr, amount)
    for table in ("quota", "usage", "parent", "children", "subtrees", "kept", "lent", "borrowers", "heights"):
        has, is_ = getattr(kept, table), getattr(fresh, table)
        _require(has == is_, f"quota: {table} is kept as {has}, and is {is_}")


def _promises(state: State, held: dict[str, Admission]) -> None:
    kept = state.reservations
    promised = {}
    if state.profile.places:
        promised = {(k, given.name): given.nodes for k, admission in held.items() for given in admission.pod_sets}
    promised = {slots: nodes for slots, nodes in promised.items() if nodes}
    _require(set(promised) == set(kept.promised), "reservations: promises are not those of the admissions held")
    for slots, nodes in promised.items():
        total: dict[str, int] = {}
        for node, n in nodes:
            total[node] = total.get(node, 0) + n
        _require(total == kept.promised[slots], f"reservations: {slots} is promised other than it was admitted")
        bound = _bound(state, slots)
        surplus = sum(max(0, b - total.get(node, 0)) for node, b in bound.items())
        expected = {}
        for node, n in total.items():
            free = max(0, n - bound.get(node, 0))
            taken, surplus = min(free, surplus), surplus - min(free, surplus)
            expected[node] = free - taken
        expected = {node: n for node, n in expected.items() if n}
        _require(kept.open[slots] == expected, f"reservations: {slots} has open {kept.open[slots]}, and is {expected}")


def _bound(state: State, slots: tuple[str, str]) -> dict[str, int]:
    bound: dict[str, int] = {}
    for pod in state.pods.by_uid.values():
        node = _seat(state, pod)
        if node and (pod.workload, pod.pod_set) == slots:
            bound[node] = bound.get(node, 0) + 1
    return bound


def _seat(state: State, pod: Pod) -> str:
    """Where the pod sits: by its object, or by a bind that is assumed."""
    if pod.finished:
        return ""
    assumed = state.binding.get(pod.uid)
    if not pod.node and assumed is not None and isinstance(assumed.decision, Bind):
        return assumed.decision.node
    return pod.node


def _nodes(state: State) -> None:
    used: dict[tuple[str, str], int] = {}

    def charge(node: str, requests: Requests, pods: int) -> None:
        for resource, amount in ((PODS, ONE_POD), *(pair for pair in requests if pair[0] != PODS)):
            used[node, resource] = used.get((node, resource), 0) + min(amount, ASKS_AT_MOST) * pods

    for pod in state.pods.by_uid.values():
        node = _seat(state, pod)
        _require(state.pods.node_of.get(pod.uid, "") == node, f"pods: {pod.key} sits on another node than is kept")
        if node:
            charge(node, pod.shape.requests, 1)
    for slots, table in state.reservations.open.items():
        for node, n in table.items():
            charge(node, state.reservations.requests[slots], n)
    nodes = state.nodes
    for name, row in nodes.row_by_name.items():
        for resource, line in nodes.line_by_resource.items():
            kept, counted = int(nodes.used[line, row]), used.get((name, resource), 0)
            _require(kept == counted, f"nodes: {name} is kept to use {kept} of {resource}, and uses {counted}")
            most = int(nodes.allocatable[line, row]) + int(nodes.inherited[line, row])
            _require(kept <= most, f"nodes: {name} uses {kept} of {resource}, {most} at most")
    rows = set(nodes.row_by_name.values())
    empty = [row for row in range(nodes.used.shape[1]) if row not in rows]
    _require(not nodes.used[:, empty].any() and nodes.free_rows == empty, "nodes: a row without a node is not empty")


def _devices(state: State) -> None:
    devices = state.nodes.devices
    used: dict[tuple[int, int], int] = {}
    for holder, seat in devices.seats.items():
        pod = state.pods.by_uid.get(holder)
        if pod is not None and not seat.promised:
            node = _seat(state, pod)
            _require(state.nodes.row_by_name.get(node) == seat.row, f"devices: {pod.key} has devices where it is not")
            _require(seat.each == (pod.shape.share or WHOLE), f"devices: {pod.key} has other than it asks for")
            _require(not pod.devices or pod.devices == seat.devices, f"devices: {pod.key} has others than it says")
        for device in () if seat.promised else seat.devices:
            used[device, seat.row] = used.get((device, seat.row), 0) + seat.each
    kept = {at: int(amount) for at, amount in np.ndenumerate(devices.used) if amount}
    _require(kept == used, f"devices: kept as {kept}, and are {used}")
    for pod in state.pods.by_uid.values():
        if pod.shape.share and state.nodes.allocatable_of(_seat(state, pod), GPU) >= WHOLE:
            _require(bool(devices.of(pod.uid)), f"devices: {pod.key} shares a device, and has none")
    line = state.nodes.line_by_resource.get(GPU)
    for name, row in state.nodes.row_by_name.items() if line is not None else ():
        past = int(state.nodes.inherited[line, row])
        over, most = devices.over(row), devices.inherited.get(row, 0) + -(-past // WHOLE) * WHOLE
        _require(over <= most, f"devices: those of {name} are {over} over, {most} at most")


def _gangs(state: State, held: dict[str, Admission]) -> None:
    for key in state.assumed:
        admission = held.get(key)
        if admission is None:
            continue
        asked = {s.name: s for s in state.workloads[key].pod_sets}
        for given in admission.pod_sets:
            placed = sum(n for _, n in given.nodes)
            wanted = given.count if state.profile.places else 0
            _require(placed == wanted, f"gang: {key} has {placed} places for {wanted} pods of {given.name}")
            pods = asked[given.name]
            least = pods.count if pods.least is None else pods.least
            few = min(least, pods.count - pods.reclaimed)
            _require(few <= given.count <= pods.count, f"gang: {key} is admitted with {given.count} of {given.name}")


def _lines(state: State, held: dict[str, Admission]) -> None:
    queues = state.queues
    lines: dict[str, list[tuple[int, int, str, str]]] = {}
    for key, workload in state.workloads.items():
        pending = key not in held and not workload.finished and key not in state.finishing
        spot, aside = queues.spot.get(key), state.aside.get(key)
        _require((spot is not None) + (aside is not None) == pending, f"queues: {key} does not wait in one place")
        if spot is not None:
            _require(spot.place == place(workload) and spot.kind == kind(workload), f"queues: {key} is out of place")
            _require(state.catalog.route(workload) == spot.queue, f"queues: {key} waits in the line of {spot.queue}")
            lines.setdefault(lane_of(spot), []).append(spot.place)
    _require(set(queues.spot) <= set(state.workloads), "queues: a workload that is gone is in line")
    _require({q: sorted(line) for q, line in lines.items()} == queues.line, "queues: a line is not what waits in it")
    backing_off = sorted((r.need, k) for k, r in state.aside.items() if r.code is Code.BACKING_OFF)
    _require(backing_off == queues.later, "queues: not those who back off are kept for later")
    for queue, lanes in queues.lanes.items():
        kinds_of_all: dict[Kind, None] = {}
        for lane in lanes:
            kinds = queues.members[lane]
            kinds_of_all.update(dict.fromkeys(kinds))
            alone = [queues.spot[k].place for k in queues.alone.get(queue, ()) if lane_of(queues.spot[k]) == lane]
            stands = sorted([*_flat(kinds.values()), *alone])
            _require(stands == queues.line[lane], f"queues: kinds of {lane} are not its line")
            ready = sorted(members[0] for k, members in kinds.items() if not queues.is_parked(queue, k))
            _require(ready == queues.ready[lane], f"queues: the ready of {lane} are not the first of kinds not parked")
        parked = set(queues.parked.get(queue, ()))
        _require(parked <= set(kinds_of_all), f"queues: {queue} has parked a kind that nobody is of")


def _claims(state: State, held: dict[str, Admission]) -> None:
    claims = state.claims
    for preemptor in claims.of:
        spot = state.queues.spot.get(preemptor)
        _require(spot is not None, f"claims: {preemptor} waits in no line")
    for victim, preemptor in claims.spoken.items():
        _require(victim in held and state.is_stopping(victim), f"claims: {victim} does not go, and is spoken for")
        _require(
            preemptor in claims.of and victim in claims.of[preemptor].victims,
            f"claims: {victim} is spoken for by {preemptor}, who claims nothing of it",
        )
    _require(set(claims.due) <= set(claims.of), "claims: one that is gone is due")
    _require(not claims.shown and not claims.charged, "claims: the promised view was left open")


def _flat(lists: Iterable[list[tuple[int, int, str, str]]]) -> list[tuple[int, int, str, str]]:
    return [item for items in lists for item in items]
