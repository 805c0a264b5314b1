"""NUMA hints: which memory nodes of a machine a container's resources should come from together.

The rule, for hints of several resources, each a set of NUMA nodes and whether it is preferred (None: any set will do):
    none        every resource says nothing: whatever comes is right
    merged      for each way of taking one hint a resource: what the sets have in common; preferred when all of them are
    best        of those that have something in common, the preferred before the others, then the fewest nodes, then the
                smallest numbers; all nodes, not preferred, where there is none
    policy      best-effort takes the best whatever it is; restricted only a preferred one; single-numa-node looks only at
                preferred hints of one node (or of any), and takes a preferred one
Units           a set is a bit mask.
Cost            O(product of the hints' numbers).
Source          Kubernetes: topology manager policies; Volcano: numa-aware plug-in.
Not here        the hints for cpus: numa_cpus.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

NONE, BEST_EFFORT, RESTRICTED, SINGLE = "none", "best-effort", "restricted", "single-numa-node"


@dataclass(frozen=True, slots=True)
class Hint:
    """`nodes` None: any."""

    nodes: int | None
    preferred: bool


ANY = Hint(None, True)


def mask_of(nodes: Iterable[int]) -> int:
    """The set of these."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


def nodes_of(mask: int) -> list[int]:
    """The members of a set, in order."""
    return [node for node in range(mask.bit_length()) if mask >> node & 1]


def best_hint(policy: str, everything: int, hints: Sequence[Sequence[Hint] | None]) -> tuple[Hint, bool]:
    """The best hint for a machine with the nodes `everything`, and whether the policy admits it. `hints`: by resource; None:
    it says
    nothing, (): it can't be had."""
    if policy == NONE:
        return ANY, True
    known = [[ANY] if one is None else list(one) or [Hint(None, False)] for one in hints]
    if policy == SINGLE:
        known = [[h for h in one if h.preferred and (h.nodes is None or h.nodes.bit_count() == 1)] for one in known]
    best = Hint(everything, False)
    for chosen in product(*known):
        common = everything
        for hint in chosen:
            common &= everything if hint.nodes is None else hint.nodes
        merged = Hint(common, all(hint.preferred for hint in chosen))
        if common and _rank(merged) < _rank(best):
            best = merged
    return best, policy == BEST_EFFORT or best.preferred


def _rank(hint: Hint) -> tuple[bool, int, int]:
    mask = hint.nodes or 0
    return not hint.preferred, mask.bit_count(), mask
