"""Predicates: which nodes take pods of a shape, and why the others don't.

The rule, for a node n and a shape s: n takes s when
    n is ready
    s endures the blocking taints of n; a cordoned node has the taint node.kubernetes.io/unschedulable:NoSchedule
    every label of s's node selector is on n
    one of the terms of s's required affinity holds on n's labels
and room for one more pod is left: allocatable - used >= requests, for every resource that s asks for, the pod count included.
Causes         each node is counted under the first of: not ready, taint, selector, affinity, too small (empty it would
               not fit either), full.
Why            the rule is asked once a distinct value of a label and once a distinct list of taints, then spread over the
               nodes: the same answer as asking it of each node, at the price of an array operation.
Cost           O(labels asked x nodes) the first time; a mask is kept until a node's labels, taints or readiness change.
Source         Kubernetes scheduler: NodeUnschedulable, TaintToleration, NodeAffinity, NodeResourcesFit.
Not here       the rule for one value, one taint: ../../selectors.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kumi.engine.model import PodShape, Requirement, Taint, Toleration
from kumi.engine.placement.nodes import NOWHERE, PODS, Ints, Mask, Nodes
from kumi.engine.reasons import Code, Reason
from kumi.engine.selectors import BLOCKING, untolerated, value_holds

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


@dataclass(frozen=True, slots=True)
class Predicates:
    """The filter of the Kubernetes scheduler, as far as PodShape has its fields."""

    def mask(self, nodes: Nodes, shape: PodShape) -> Mask:
        """True on the rows that take the shape, room aside."""
        key = ("mask", shape.node_selector, shape.tolerations, shape.affinity)
        made: Mask = nodes.cached(key, lambda: _mask(nodes, shape))
        return made

    def refusals(self, nodes: Nodes, shape: PodShape) -> tuple[Reason, ...]:
        """A reason a cause, in the order of the module's list; `nodes` says how many, `have` the most that one has."""
        rows = nodes.by_name()
        if not rows.size:
            return (Reason(Code.NO_NODES, pods=1),)
        left = np.zeros(nodes.used.shape[1], dtype=np.bool_)
        left[rows] = True
        reasons = []
        for detail, passes in (
            ("not ready", _ready(nodes)),
            ("taint", _enduring(nodes, shape.tolerations)),
            ("selector", _selected(nodes, shape)),
            ("affinity", _affine(nodes, shape)),
        ):
            refused = left & ~passes
            if refused.any():
                reasons.append(Reason(Code.NODE_NOT_MATCHED, nodes=int(refused.sum()), detail=detail, pods=1))
            left &= passes
        small = left & (nodes.fits_empty(shape.requests, left) == 0)
        full = left & ~small & (nodes.fits(shape.requests, left) == 0)
        if small.any():
            resource, need, have = scarcest(nodes, shape, small, empty=True)
            said = Reason(Code.NODE_TOO_SMALL, resource, need=need, have=have, pods=1, nodes=int(small.sum()))
            reasons.append(replace(said, permanent=not full.any()))
        if full.any():
            resource, need, have = scarcest(nodes, shape, full, empty=False)
            reasons.append(Reason(Code.NODES_FULL, resource, need=need, have=have, pods=1, nodes=int(full.sum())))
        return tuple(reasons)


def scarcest(nodes: Nodes, shape: PodShape, mask: Mask, *, empty: bool) -> tuple[str, int, int]:
    """The resource of which the fewest nodes of the mask have enough for one pod, how much that is, and the most that one of
    them has (free, or in all where `empty`). Ties: the one whose best node is shortest of it, then pods, then the
    order of requests."""
    free = nodes.allocatable if empty else nodes.allocatable - nodes.used
    names = [PODS, *(r for r, amount in shape.requests if amount > 0 and r != PODS)]
    asked = zip(names, nodes.asked(shape.requests), strict=True)
    best: tuple[tuple[int, float, int], str, int, int] | None = None
    for number, (resource, (line, amount)) in enumerate(asked):
        have = free[line][mask] if line != NOWHERE else np.zeros(int(mask.sum()), dtype=np.int64)
        most = max(0, int(have.max(initial=0)))
        found = ((int((have >= amount).sum()), most / amount, number), resource, amount, most)
        if best is None or found < best:
            best = found
    assert best is not None
    return best[1:]


def _mask(nodes: Nodes, shape: PodShape) -> Mask:
    passes = _ready(nodes) & _enduring(nodes, shape.tolerations) & _selected(nodes, shape) & _affine(nodes, shape)
    passes.flags.writeable = False
    return passes


def _ready(nodes: Nodes) -> Mask:
    made: Mask = nodes.cached("ready", lambda: _by_node(nodes, [nodes.node_by_name[n].ready for n in nodes.names()]))
    return made


def _by_node(nodes: Nodes, values: list[bool]) -> Mask:
    mask = np.zeros(nodes.used.shape[1], dtype=np.bool_)
    mask[nodes.by_name()] = values
    return mask


def _enduring(nodes: Nodes, tolerations: tuple[Toleration, ...]) -> Mask:
    codes, lists = nodes.cached("taints", lambda: _taints(nodes))
    endured = np.array([untolerated(taints, tolerations) is None for taints in lists], dtype=np.bool_)
    answer: Mask = endured[codes]
    return answer


def _taints(nodes: Nodes) -> tuple[Ints, list[tuple[Taint, ...]]]:
    """Of each row the number of its list of blocking taints, and the lists."""
    codes = np.zeros(nodes.used.shape[1], dtype=np.int64)
    code_by_list: dict[tuple[Taint, ...], int] = {(): 0}
    for name in nodes.names():
        node = nodes.node_by_name[name]
        taints = tuple(t for t in node.taints if t.effect in BLOCKING)
        taints += (UNSCHEDULABLE,) if node.unschedulable else ()
        codes[nodes.row_by_name[name]] = code_by_list.setdefault(taints, len(code_by_list))
    return codes, list(code_by_list)


def _selected(nodes: Nodes, shape: PodShape) -> Mask:
    mask = np.ones(nodes.used.shape[1], dtype=np.bool_)
    for key, value in shape.node_selector:
        mask &= _required(nodes, Requirement(key, "In", (value,)))
    return mask


def _affine(nodes: Nodes, shape: PodShape) -> Mask:
    if shape.affinity is None:
        return np.ones(nodes.used.shape[1], dtype=np.bool_)
    mask = np.zeros(nodes.used.shape[1], dtype=np.bool_)
    for term in shape.affinity:
        if term:
            mask |= np.logical_and.reduce([_required(nodes, r) for r in term])
    return mask


def _required(nodes: Nodes, requirement: Requirement) -> Mask:
    codes, code_by_value = nodes.column(requirement.key)
    if requirement.operator == "In":
        wanted = [code_by_value[v] for v in requirement.values if v in code_by_value]
        return np.isin(codes, wanted) & (codes > 0)
    table = [value_holds(requirement, None), *(value_holds(requirement, v) for v in code_by_value)]
    answer: Mask = np.array(table, dtype=np.bool_)[codes]
    return answer
