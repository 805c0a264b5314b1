"""Domains: nodes that share the value of a label, and sums over them.

The rule       the domain of a node for a key is all nodes with its value of that label; without the label it is in none
Cost           O(nodes).
Not here       what is summed: ../residents.py; what follows from it: pod_affinity.py, spread.py.
"""

from __future__ import annotations

import numpy as np

from kumi.engine.placement.nodes import Ints, Mask, Nodes


def totals(nodes: Nodes, key: str, counts: Ints) -> Ints:
    """Of each row the sum of `counts` over its domain; 0 where it is in none."""
    codes, _ = nodes.column(key)
    sums = np.bincount(codes, weights=counts).astype(np.int64)
    sums[0] = 0
    answer: Ints = sums[codes]
    return answer


def labelled(nodes: Nodes, key: str) -> Mask:
    """The rows that are in a domain."""
    mask: Mask = nodes.column(key)[0] > 0
    return mask


def is_single(nodes: Nodes, key: str) -> bool:
    """Is every domain one node?"""
    made: bool = nodes.cached(("single", key), lambda: _is_single(nodes, key))
    return made


def _is_single(nodes: Nodes, key: str) -> bool:
    codes, code_by_value = nodes.column(key)
    return int((codes > 0).sum()) == len(code_by_value)
