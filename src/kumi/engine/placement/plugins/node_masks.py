"""Node masks: which nodes take pods by what the nodes themselves are: ready, cordoned, tainted, labelled.

The rule, for a node n and a shape s:
    ready      n is
    cordon     n takes new pods, or s endures the taint node.kubernetes.io/unschedulable:NoSchedule
    enduring   s endures the blocking taints of n
    selected   every label of s's node selector is on n
    affine     one of the terms of s's required affinity holds on n's labels
Why            each is asked once a distinct value of a label and once a distinct list of taints, then spread over the nodes: the
               same answer as asking it of each node, at the price of an array operation.
Cost           O(labels asked x nodes) the first time; a mask is kept until a node's labels, taints or readiness change.
Source         Kubernetes scheduler: NodeUnschedulable, TaintToleration, NodeAffinity.
Not here       the rule for one value, one taint: ../../selectors.py; pods on the nodes: predicates.py.
"""

from __future__ import annotations

import numpy as np

from kumi.engine.model import PodShape, Requirement, Taint, Toleration
from kumi.engine.placement.nodes import Ints, Mask, Nodes
from kumi.engine.selectors import tolerates, untolerated, value_holds

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


def ready(nodes: Nodes) -> Mask:
    """See the module."""
    made: Mask = nodes.cached("ready", lambda: _by_node(nodes, [nodes.node_by_name[n].ready for n in nodes.names()]))
    return made


def cordon(nodes: Nodes, shape: PodShape) -> Mask:
    """See the module."""
    if any(tolerates(t, UNSCHEDULABLE) for t in shape.tolerations):
        return np.ones(nodes.used.shape[1], dtype=np.bool_)
    made: Mask = nodes.cached(
        "cordon", lambda: _by_node(nodes, [not nodes.node_by_name[n].unschedulable for n in nodes.names()])
    )
    return made


def enduring(nodes: Nodes, tolerations: tuple[Toleration, ...]) -> Mask:
    """See the module."""
    codes, lists = nodes.cached("taints", lambda: _taints(nodes))
    endured = np.array([untolerated(taints, tolerations) is None for taints in lists], dtype=np.bool_)
    answer: Mask = endured[codes]
    return answer


def taint_lists(nodes: Nodes) -> tuple[Ints, list[tuple[Taint, ...]]]:
    """Of each row the number of its node's list of taints, and the lists."""
    made: tuple[Ints, list[tuple[Taint, ...]]] = nodes.cached("taints", lambda: _taints(nodes))
    return made


def selected(nodes: Nodes, shape: PodShape) -> Mask:
    """See the module."""
    mask = np.ones(nodes.used.shape[1], dtype=np.bool_)
    for key, value in shape.node_selector:
        mask &= required(nodes, Requirement(key, "In", (value,)))
    return mask


def affine(nodes: Nodes, shape: PodShape) -> Mask:
    """See the module."""
    if shape.affinity is None:
        return np.ones(nodes.used.shape[1], dtype=np.bool_)
    mask = np.zeros(nodes.used.shape[1], dtype=np.bool_)
    for term in shape.affinity:
        if term:
            mask |= holding(nodes, term)
    return mask


def holding(nodes: Nodes, term: tuple[Requirement, ...]) -> Mask:
    """The rows on whose labels every requirement of the term holds."""
    mask: Mask = np.logical_and.reduce([required(nodes, r) for r in term])
    return mask


def required(nodes: Nodes, requirement: Requirement) -> Mask:
    """The rows on whose labels the requirement holds."""
    codes, code_by_value = nodes.column(requirement.key)
    if requirement.operator == "In":
        wanted = [code_by_value[v] for v in requirement.values if v in code_by_value]
        return np.isin(codes, wanted) & (codes > 0)
    table = [value_holds(requirement, None), *(value_holds(requirement, v) for v in code_by_value)]
    answer: Mask = np.array(table, dtype=np.bool_)[codes]
    return answer


def _by_node(nodes: Nodes, values: list[bool]) -> Mask:
    mask = np.zeros(nodes.used.shape[1], dtype=np.bool_)
    mask[nodes.by_name()] = values
    mask.flags.writeable = False
    return mask


def _taints(nodes: Nodes) -> tuple[Ints, list[tuple[Taint, ...]]]:
    codes = np.zeros(nodes.used.shape[1], dtype=np.int64)
    code_by_list: dict[tuple[Taint, ...], int] = {(): 0}
    for name in nodes.names():
        taints = nodes.node_by_name[name].taints
        codes[nodes.row_by_name[name]] = code_by_list.setdefault(taints, len(code_by_list))
    return codes, list(code_by_list)
