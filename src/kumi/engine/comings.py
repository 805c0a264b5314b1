"""Comings: what follows in the state when a pod comes, changes, is bound, or goes.

The rule       a pod is put where it sits now (pods.py), and everybody who counts pods is told what was there before and what is
               there now: nodes, single devices, who looks at whom, priorities, gangs, places that were promised, who
               holds most.
Charged        nodes, devices and holders only where something of it changes by which they are charged (pods.charged).
Attention      a pod that may be bound is a newcomer; one of a workload has that looked at.
Cost           O(resources + log n) a pod: this is what a replay of a million jobs is made of, so who can have nothing to say of
               a pod (it has no claims, is in no gang, nobody is nominated) isn't asked.
Not here       when it happens: state.py; what is decided: placement/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kumi.engine.decisions import Assumed, Bind
from kumi.engine.holdings import on_node
from kumi.engine.model import Pod
from kumi.engine.pods import charged, waits

if TYPE_CHECKING:
    from kumi.engine.state import State


def put(state: State, pod: Pod) -> None:
    """There is such a pod, or it is like this now."""
    if pod.uid in state.binding and (pod.node or pod.finished):
        state.journal.drop(state.binding, pod.uid)
    elif state.pods.by_uid.get(pod.uid) == pod:
        return
    reseat(state, pod)
    notice(state, pod.uid)


def remove(state: State, uid: str) -> None:
    """It is gone."""
    pod = state.pods.by_uid.get(uid)
    if pod is None:
        return
    node, nodes = state.pods.node_of.get(uid, ""), state.nodes
    _charge(state, pod, node, -1)
    nodes.resettle(pod, node, None, "")
    if pod.shape.volume_claims:
        nodes.volume_claims.seat(pod, "")
    if nodes.devices.mix is not None:
        nodes.devices.count(pod, None)
    state.pods.drop(uid)
    if pod.member.group:
        state.tasks.remove_pod(uid)
    if state.nominations.node_of:
        state.nominations.drop(uid)
    state.journal.drop_all(uid, state.binding, state.refusals, state.newcomers, state.answers.evicting)
    state.journal.drop(state.tasks.spent, uid)
    state.answers.stir()
    if pod.workload:
        state.journal.put(state.gangs, pod.workload, None)


def settle(state: State, decision: Bind, ok: bool) -> None:
    """The write of the bind was acknowledged, or refused."""
    assumed = state.binding.get(decision.pod)
    if assumed is None or (assumed.decision is not decision and assumed.decision != decision):
        return
    if ok:
        state.journal.put(state.binding, decision.pod, Assumed(decision, settled=True))
        return
    state.journal.drop(state.binding, decision.pod)
    reseat(state, state.pods.by_uid[decision.pod])
    notice(state, decision.pod)


def notice(state: State, uid: str) -> None:
    """Placement may have something to say of the pod."""
    pod = state.pods.by_uid.get(uid)
    if pod is None:
        return
    state.answers.stir()
    if pod.workload:
        state.journal.put(state.gangs, pod.workload, None)
        state.journal.put(state.to_check, pod.workload, None)
    elif not pod.member.group and waits(pod) and uid not in state.pods.node_of:
        state.journal.put(state.newcomers, uid, None)
    else:
        state.journal.drop(state.newcomers, uid)


def reseat(state: State, pod: Pod) -> None:
    """The pod is this now, and sits where it says or where a bind that is assumed has it."""
    pod, pods, nodes = state.answers.leaving(pod), state.pods, state.nodes
    old, was = pods.by_uid.get(pod.uid), pods.node_of.get(pod.uid, "")
    assumed = state.binding.get(pod.uid)
    bind = assumed.decision if assumed is not None and isinstance(assumed.decision, Bind) else None
    node = "" if pod.finished else pod.node or (bind.node if bind is not None else "")
    pods.put(pod, node)
    nodes.resettle(old, was, pod, node)
    if pod.shape.volume_claims:
        nodes.volume_claims.seat(pod, node)
    if nodes.devices.mix is not None:
        nodes.devices.count(old, pod)
    if pod.member.group or (old is not None and old.member.group):
        state.tasks.put_pod(pod, node)
    if state.nominations.node_of or pod.member.nominated:
        state.nominations.meet(pod, node, old)
    if old is not None and was == node and (old is pod or charged(old) == charged(pod)):
        return
    devices = pod.devices or (bind.devices if bind is not None else ())
    devices = devices or (nodes.devices.known(pod.uid) if was == node else ())
    if old is not None:
        _charge(state, old, was, -1)
    _charge(state, pod, node, 1, devices)


def seat_devices(state: State, pod: Pod, node: str, devices: tuple[int, ...] = ()) -> None:
    """The pod has its devices on the node: these, or those that it says, or the rule's."""
    row = state.nodes.row_by_name.get(node)
    if row is not None:
        state.nodes.devices.seat(pod.uid, pod.shape, row, devices or pod.devices)
        if pod.terminating:
            state.nodes.devices.leave(pod.uid, 1)


def _charge(state: State, pod: Pod, node: str, times: int, devices: tuple[int, ...] = ()) -> None:
    if node:
        state.nodes.use(node, pod.shape.requests, times)
        state.layers.seat(pod, node, times)
        if pod.terminating:
            state.nodes.release(node, pod.shape.requests, times)
        if times > 0:
            seat_devices(state, pod, node, devices)
        else:
            state.nodes.devices.unseat_pod(pod)
        if pod.workload:
            state.reservations.seat((pod.workload, pod.pod_set), node, times)
        elif times > 0:
            state.holdings.place(pod.uid, "", on_node(pod))
        else:
            state.holdings.unplace(pod.uid, "", on_node(pod))
    elif pod.finished and pod.node and pod.workload:
        state.reservations.end((pod.workload, pod.pod_set), pod.node, times)
