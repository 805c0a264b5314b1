"""Preferences: how good nodes are by what pods say they would like of nodes.

The rule, for a pod and the nodes in question:
    node affinity   the weights of the preferred terms that hold on the node's labels; 100 for the most, the others in
                    proportion, cut
    taints          the PreferNoSchedule taints that the pod doesn't endure; 100 for none, 0 for the most, cut
    images          the bytes of the pod's images that the node has, each times the share of nodes that have it; from 0 for 23
                    MiB or less to 100 for 1000 MiB a container, cut
Alike           node affinity where no term holds anywhere: 0; taints where nobody has any: 100
Cost            O(terms x nodes); kept until a node's labels, taints or images change.
Source          Kubernetes scheduler: NodeAffinity, TaintToleration, ImageLocality.
Not here        pods near and far: pod_affinity.py, spread.py.
"""

from __future__ import annotations

import numpy as np

from kumi.engine.model import PodShape, Taint, Toleration
from kumi.engine.placement.nodes import Ints, Nodes
from kumi.engine.placement.plugins.node_masks import holding, taint_lists
from kumi.engine.selectors import tolerates

TOP = 100
ADVICE = "PreferNoSchedule"
SMALL = 23 * 2**20
LARGE = 1000 * 2**20
"""of images, in bytes; a container"""


def node_affinity(nodes: Nodes, shape: PodShape, rows: Ints) -> Ints | None:
    """One for each of the rows; None: 0 everywhere."""
    if not shape.preferred:
        return None
    weights: Ints = nodes.cached(("preferred", shape.preferred), lambda: _weights(nodes, shape))[rows]
    most = int(weights.max(initial=0))
    return TOP * weights // most if most else None


def taints(nodes: Nodes, shape: PodShape, rows: Ints) -> Ints | None:
    """What each of the rows has less than 100; None: nothing, all of them 100."""
    counts = _advised(nodes, shape)[rows]
    most = int(counts.max(initial=0))
    return -(TOP * counts // most) if most else None


def is_advised(nodes: Nodes, shape: PodShape) -> bool:
    """Is there a node with taints of that sort that the pod doesn't endure?"""
    if not nodes.cached("advises", lambda: bool(_advice(nodes, ()).any())):
        return False
    heeded = _heeded(shape)
    made: bool = nodes.cached(("is advised", heeded), lambda: bool(_advised(nodes, shape).any()))
    return made


def images(nodes: Nodes, shape: PodShape, rows: Ints) -> Ints | None:
    """One for each of the rows; None: 0 everywhere."""
    if not shape.images:
        return None
    known: dict[str, Ints] = nodes.cached(("images", nodes.image_stamp), lambda: _sizes(nodes))
    asked = [known[name] for name in shape.images if name in known]
    if not asked:
        return None
    total, number = np.zeros(rows.size, dtype=np.int64), len(nodes.row_by_name)
    for sizes in asked:
        share = int((sizes > 0).sum()) / number
        total += (sizes[rows] * share).astype(np.int64)
    most = LARGE * shape.containers
    answer: Ints = TOP * (np.clip(total, SMALL, max(SMALL, most)) - SMALL) // (most - SMALL)
    return answer


def _weights(nodes: Nodes, shape: PodShape) -> Ints:
    total = np.zeros(nodes.used.shape[1], dtype=np.int64)
    for weight, term in shape.preferred:
        total += weight * holding(nodes, term)
    return total


def _advised(nodes: Nodes, shape: PodShape) -> Ints:
    heeded = _heeded(shape)
    made: Ints = nodes.cached(("advice", heeded), lambda: _advice(nodes, heeded))
    return made


def _heeded(shape: PodShape) -> tuple[Toleration, ...]:
    return tuple(t for t in shape.tolerations if t.effect in ("", ADVICE))


def _advice(nodes: Nodes, heeded: tuple[Toleration, ...]) -> Ints:
    """How many taints of each row are advice that these tolerations don't put aside."""
    codes, lists = taint_lists(nodes)
    counts: Ints = np.array([sum(_is_advice(t, heeded) for t in listed) for listed in lists], dtype=np.int64)[codes]
    return counts


def _is_advice(taint: Taint, tolerations: tuple[Toleration, ...]) -> bool:
    return taint.effect == ADVICE and not any(tolerates(t, taint) for t in tolerations)


def _sizes(nodes: Nodes) -> dict[str, Ints]:
    """image -> its bytes on each row; 0 where it isn't."""
    sizes: dict[str, Ints] = {}
    for name in nodes.names():
        for image, size in nodes.node_by_name[name].images:
            if image not in sizes:
                sizes[image] = np.zeros(nodes.used.shape[1], dtype=np.int64)
            sizes[image][nodes.row_by_name[name]] = size
    return sizes
