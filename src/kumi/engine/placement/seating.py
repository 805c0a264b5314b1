"""Seating: the binds of a session of gangs are assumed at once.

The rule       the state is afterwards as if each bind had been assumed by itself (../state.py): what is counted by node, by gang
               or by resource is counted once for all pods that are alike.
Alike          pods of one gang, role and shape, told by others by the same, of one priority; one after the other in the list.
Why            a session binds a hundred thousand pods, most of them like the one before.
Cost           O(1) a pod, O(resources) a node that some of those alike go to, O(pods that are anywhere) a session.
Not here       pods that sit already, or are on their own: state.assume.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from kumi.engine.decisions import Assumed, Bind
from kumi.engine.holdings import on_node
from kumi.engine.model import Pod
from kumi.engine.placement.tasks import Status

if TYPE_CHECKING:
    from kumi.engine.state import State


def assume(state: State, binds: Sequence[Bind]) -> None:
    """See the module. `binds`: of pods that wait, as a session sees them."""
    journal = state.journal
    journal.put_many(state.binding, {bind.pod: Assumed(bind) for bind in binds})
    node_of = {bind.pod: bind.node for bind in binds}
    devices_of = {bind.pod: bind.devices for bind in binds}
    pods = [state.pods.by_uid[bind.pod] for bind in binds]
    for _, alike in groupby(pods, key=_likeness):
        run = list(alike)
        _seat(state, run, [node_of[pod.uid] for pod in run])
        if state.nodes.devices.concern(run[0].shape):
            for pod in run:
                row = state.nodes.row_by_name[node_of[pod.uid]]
                state.nodes.devices.seat(pod.uid, pod.shape, row, devices_of[pod.uid])
    state.holdings.place_many((pod.uid, on_node(pod)) for pod in pods)
    for pod in pods:
        if pod.uid in state.refusals:
            journal.drop(state.refusals, pod.uid)
        state.nominations.drop(pod.uid)


def _likeness(pod: Pod) -> tuple[object, ...]:
    return (pod.member.group, pod.member.role, id(pod.shape), pod.labels, pod.priority, pod.member.priority)


def _seat(state: State, pods: list[Pod], names: list[str]) -> None:
    first, nodes = pods[0], state.nodes
    state.pods.seat_run(pods, names)
    state.tasks.seat_run(pods, Status.BOUND, names)
    at = Counter(names)
    rows, counts = [nodes.row_by_name[name] for name in at], list(at.values())
    nodes.residents.seat_rows(first, rows, counts)
    nodes.use_rows(np.array(rows), first.shape.requests, np.array(counts))
    state.layers.seat_rows(first, rows, counts)
    if nodes.residents.is_looked_at(first):
        for name in at:
            nodes.gain(name)
    if first.shape.volume_claims:
        for pod, name in zip(pods, names, strict=True):
            nodes.volume_claims.seat(pod, name)
