"""Loads: how good nodes are by what is on them already.

The rule, on cpu and memory, with u(r) what pods on the node count for and s(r) what the pod does, of allocatable(r) each:
    least      mean of floor(100 (allocatable - u - s) / allocatable), cut; 0 of what would be too much
    most       the same of floor(100 (u + s) / allocatable), at most 100
    balanced   50 + (50 + even(u + s) - even(u)) / 2, cut, with even(x) = floor(100 (1 - deviation of x(r) / allocatable(r)))
               over cpu, memory and GPUs where the pod asks for them; 0 for a pod that asks for nothing
Counts for     least, most: a container that says nothing of cpu counts 100m, of memory 200Mi; balanced: what is asked for
Skipped        a resource of which the node has none
Units          whole numbers from 0 to 100.
Cost           O(nodes).
Source         Kubernetes scheduler: NodeResourcesFit (LeastAllocated, MostAllocated), NodeResourcesBalancedAllocation (1.36).
Not here       the opposite of both, by weights of one's own: binpack.py, resource_strategy_fit.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from kumi.engine.model import PodShape
from kumi.engine.placement.nodes import Ints, Nodes, Scores
from kumi.engine.placement.residents import beyond_requests

Seen: TypeAlias = Callable[[Any, Ints], Ints]
"""(line, or a column of lines; rows) -> what pods on each of the rows ask for of that resource"""

TOP = 100
COUNTED = ("cpu", "memory")
GPU = "nvidia.com/gpu"


def least(nodes: Nodes, seen: Seen, shape: PodShape, rows: Ints, placed: Ints) -> Ints:
    """See the module; were placed[i] more of these pods on row i already."""
    total, known = np.zeros(rows.size, dtype=np.int64), np.zeros(rows.size, dtype=np.int64)
    for have, used in _counted(nodes, seen, shape, rows, placed):
        free = np.maximum(have - used, 0)
        total += TOP * free // np.maximum(have, 1)
        known += have > 0
    return total // np.maximum(known, 1)


def most(nodes: Nodes, seen: Seen, shape: PodShape, rows: Ints, placed: Ints) -> Ints:
    """See the module."""
    total, known = np.zeros(rows.size, dtype=np.int64), np.zeros(rows.size, dtype=np.int64)
    for have, used in _counted(nodes, seen, shape, rows, placed):
        total += TOP * np.minimum(used, have) // np.maximum(have, 1)
        known += have > 0
    return total // np.maximum(known, 1)


def balanced(nodes: Nodes, seen: Seen, shape: PodShape, rows: Ints, placed: Ints) -> Ints:
    """See the module."""
    asked = dict(shape.requests)
    if not any(asked.values()):
        return np.zeros(rows.size, dtype=np.int64)
    names = (*COUNTED, GPU) if asked.get(GPU) else COUNTED
    before, after, known = [], [], []
    for name in names:
        line = nodes.line_by_resource.get(name)
        if line is None:
            continue
        have, amount = nodes.allocatable[line][rows], asked.get(name, 0)
        used, most = seen(line, rows) + placed * amount, np.maximum(have, 1)
        before.append(np.minimum(used / most, 1.0))
        after.append(np.minimum((used + amount) / most, 1.0))
        known.append(have > 0)
    if not known:
        return np.full(rows.size, TOP // 2 + TOP // 4, dtype=np.int64)
    gain = _even(after, known) - _even(before, known)
    return TOP // 2 + np.trunc((TOP // 2 + gain) / 2).astype(np.int64)


def _counted(nodes: Nodes, seen: Seen, shape: PodShape, rows: Ints, placed: Ints) -> list[tuple[Ints, Ints]]:
    """Of cpu and memory: what each row has, and what counts there with the pod."""
    asked, more, little = dict(shape.requests), beyond_requests(shape), nodes.residents.little()
    found = []
    for number, name in enumerate(COUNTED):
        line = nodes.line_by_resource.get(name)
        if line is not None:
            amount = asked.get(name, 0) + more[number]
            used = seen(line, rows) + little[number][rows] + (placed + 1) * amount
            found.append((nodes.allocatable[line][rows], used))
    return found


def _even(fractions: list[Scores], known: list[np.ndarray[tuple[int], np.dtype[np.bool_]]]) -> Ints:
    """100 where all known fractions of a row are equal, less the more they differ."""
    if len(fractions) == 2 and all(k.all() for k in known):
        deviation = np.abs((fractions[0] - fractions[1]) / 2)
    else:
        counts = np.maximum(sum(k.astype(np.int64) for k in known), 1)
        mean = sum(np.where(k, f, 0.0) for f, k in zip(fractions, known, strict=True)) / counts
        squares = sum(np.where(k, (f - mean) * (f - mean), 0.0) for f, k in zip(fractions, known, strict=True))
        deviation = np.sqrt(squares / counts)
    answer: Ints = np.trunc((1 - deviation) * TOP).astype(np.int64)
    return answer
