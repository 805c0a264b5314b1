"""Together: pods of a gang that share a volume which one node at a time may use go to one node.

The rule       shared(n)   the claims that more than one pod names, that nobody uses yet, and that are exclusive
               a claim of one node: all pods that name it go to one node: the best-scored of those that have room for all of
               them at once, the next one where the rest of the gang then finds no place
               a claim of one pod: such pods can never run at once; CLAIM_SHARED, permanent
Why            the rule of plugins/volumes.py sees one pod at a time: on a claim that nobody uses yet it lets the pods of a gang
               onto different nodes, where all but one would wait for ever.
Order and ties score, then the nodes' names.
Cost           nothing where no claim is shared; else O(nodes) times that of the gang at worst.
Not here       a claim that is in use already: plugins/volumes.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kumi.engine.model import Exclusive, Pod, PodSet
from kumi.engine.placement.nodes import Ints, Mask, Nodes
from kumi.engine.placement.one_of import one_of
from kumi.engine.placement.plugins import Filter, Plugins
from kumi.engine.reasons import Code, Reason


def shared(nodes: Nodes, pod_sets: Sequence[PodSet]) -> tuple[str, ...]:
    """See the module; in the order in which the pods name them."""
    pods: dict[str, int] = {}
    for pod_set in pod_sets:
        for key in pod_set.shape.volume_claims:
            pods[key] = pods.get(key, 0) + pod_set.count
    return tuple(key for key, count in pods.items() if count > 1 and _is_exclusive(nodes, key))


def _is_exclusive(nodes: Nodes, key: str) -> bool:
    claim = nodes.volume_claims.by_key.get(key)
    used = nodes.volume_claims.users.get(key)
    return claim is not None and claim.exclusive is not Exclusive.NO and not used


def never(nodes: Nodes, claims: Sequence[str]) -> Reason | None:
    """That these can't be shared at all; None: they can."""
    for key in claims:
        if nodes.volume_claims.by_key[key].exclusive is Exclusive.POD:
            return Reason(Code.CLAIM_SHARED, where=key, detail="pod", permanent=True)
    return None


def homes(nodes: Nodes, plugins: Plugins, pod_sets: Sequence[PodSet], claims: Sequence[str]) -> list[int]:
    """The rows that have room for all pods that name one of these claims, the best first."""
    sharing = [s for s in pod_sets if s.count and any(key in claims for key in s.shape.volume_claims)]
    total: dict[str, int] = {}
    for pod_set in sharing:
        for resource, amount in pod_set.shape.requests:
            total[resource] = total.get(resource, 0) + amount * pod_set.count
    requests = tuple(sorted(total.items()))
    mask = np.logical_and.reduce([plugins.filter.mask(nodes, one_of(s)) for s in sharing])
    fits = nodes.fits(requests, mask)
    rows = nodes.by_name()[fits[nodes.by_name()] > 0]
    all_of_them = replace(one_of(sharing[0]), shape=replace(sharing[0].shape, requests=requests, scored=None))
    scores = plugins.score.score(nodes, all_of_them, rows, np.zeros(rows.size, dtype=np.int64))
    return [int(row) for row in rows[np.argsort(-scores, kind="stable")]]


@dataclass(frozen=True, slots=True)
class Pinned:
    """The filter where the pods that name one of the claims go to that row alone."""

    filter: Filter
    claims: tuple[str, ...]
    row: int

    def mask(self, nodes: Nodes, pod: Pod) -> Mask:
        """See Filter."""
        passes = self.filter.mask(nodes, pod)
        if not any(key in self.claims for key in pod.shape.volume_claims):
            return passes
        only = np.zeros_like(passes)
        only[self.row] = passes[self.row]
        return only

    def standing(self, nodes: Nodes, pod: Pod) -> Mask:
        """See Filter."""
        return self.filter.standing(nodes, pod)

    def is_steady(self, nodes: Nodes, pod: Pod) -> bool:
        """See Filter: where they go is settled."""
        return True

    def is_local(self, nodes: Nodes, pod: Pod) -> bool:
        """See Filter."""
        return self.filter.is_local(nodes, pod)

    def most(self, nodes: Nodes, pod: Pod) -> Ints | None:
        """See Filter."""
        return self.filter.most(nodes, pod)

    def refusals(self, nodes: Nodes, pod: Pod) -> tuple[Reason, ...]:
        """See Filter."""
        return self.filter.refusals(nodes, pod)
