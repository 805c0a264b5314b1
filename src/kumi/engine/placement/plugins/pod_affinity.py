"""Pod affinity: pods that must, must not, or had better, be near others.

The rule, for a pod p and a node n; near a term's pods: in the domain of n for the term's topology key is one that it means
    affinity        n is in a domain for every term of p, and near pods that all terms of p mean; where there is no such pod
                    anywhere and p is meant by its own terms, being in the domains is enough (the first of its kind)
    anti-affinity   n is near no pod that a term of p means
    symmetry        n is near no pod that has a term which means p
    score           the weights of p's preferred terms, a pod each that is near, and of the preferred terms of pods that are
                    near and that mean p, added for affinity and taken off for anti-affinity; then from 0 for the least to 100
                    for the most
Not met         affinity: evicting doesn't help; the others: it may.
One after the other   another pod like p finds the other nodes as they were where no term of p means p, or only forbids it in
                      domains
                of one node; and, for affinity, where somebody is there whom p's terms mean.
Units           scores are whole numbers, cut.
Cost            O(terms x nodes).
Source          Kubernetes scheduler: InterPodAffinity; pods that are required to be near count nothing in the score.
Not here        the counts: ../residents.py.
"""

from __future__ import annotations

import numpy as np

from kumi.engine.model import Pod
from kumi.engine.placement.nodes import Ints, Mask, Nodes, Scores
from kumi.engine.placement.plugins.domains import is_single, labelled, totals
from kumi.engine.placement.residents import kind_of, target

TOP = 100


def lonely(nodes: Nodes, pod: Pod) -> Mask | None:
    """The rows that don't meet the pod's affinity; None: it has none."""
    terms = pod.shape.neighbours.near if pod.shape.neighbours is not None else ()
    if not terms:
        return None
    group = tuple(target(t, pod.namespace) for t in terms)
    counts = nodes.residents.matched(group)
    keys = list(dict.fromkeys(t.topology for t in terms))
    known: Mask = np.logical_and.reduce([labelled(nodes, key) for key in keys])
    if not _anywhere(nodes, keys, counts) and nodes.residents.means(group, kind_of(pod)):
        unknown: Mask = ~known
        return unknown
    near: Mask = np.logical_and.reduce([totals(nodes, key, counts) > 0 for key in keys])
    alone: Mask = ~(known & near)
    return alone


def crowded(nodes: Nodes, pod: Pod) -> Mask | None:
    """The rows that anti-affinity rules out, of the pod or of others against it; None: nobody has any."""
    mask: Mask | None = None
    for term in pod.shape.neighbours.apart if pod.shape.neighbours is not None else ():
        counts = nodes.residents.matched((target(term, pod.namespace),))
        mask = _or(mask, totals(nodes, term.topology, counts) > 0)
    for owned, counts in nodes.residents.over(kind_of(pod)):
        if not owned.weight:
            mask = _or(mask, totals(nodes, owned.topology, counts) > 0)
    return mask


def scores(nodes: Nodes, pod: Pod, rows: Ints) -> Scores | None:
    """0 to 100 for each of the rows; None: they are all alike."""
    raw: Ints | None = None
    said = pod.shape.neighbours
    weighted = [*said.rather_near, *((-w, t) for w, t in said.rather_apart)] if said is not None else []
    for weight, term in weighted:
        counts = nodes.residents.matched((target(term, pod.namespace),))
        raw = _plus(raw, weight * totals(nodes, term.topology, counts)[rows])
    for owned, counts in nodes.residents.over(kind_of(pod)):
        if owned.weight:
            raw = _plus(raw, owned.weight * totals(nodes, owned.topology, counts)[rows])
    if raw is None or not raw.size:
        return None
    least, span = int(raw.min()), int(raw.max()) - int(raw.min())
    if not span:
        return None
    return np.trunc(TOP * ((raw - least) / span))


def is_steady(nodes: Nodes, pod: Pod) -> bool:
    """Does placing one leave the other nodes as they are for the next like it, by what must be?"""
    said = pod.shape.neighbours
    if said is None:
        return True
    kind, residents = kind_of(pod), nodes.residents
    group = tuple(target(t, pod.namespace) for t in said.near)
    keys = [t.topology for t in said.near]
    if group and residents.means(group, kind) and not _anywhere(nodes, keys, residents.matched(group)):
        return False
    return not any(
        residents.means((target(t, pod.namespace),), kind) and not is_single(nodes, t.topology) for t in said.apart
    )


def is_score_steady(nodes: Nodes, pod: Pod) -> bool:
    """The same by what is better."""
    said = pod.shape.neighbours
    if said is None:
        return True
    terms = (t for _, t in (*said.rather_near, *said.rather_apart))
    return not any(nodes.residents.means((target(t, pod.namespace),), kind_of(pod)) for t in terms)


def shunning(nodes: Nodes, pod: Pod) -> Mask | None:
    """The rows where no second pod like it may be; None: everywhere one may. A node that is in no domain separates nobody."""
    mask: Mask | None = None
    for term in pod.shape.neighbours.apart if pod.shape.neighbours is not None else ():
        if nodes.residents.means((target(term, pod.namespace),), kind_of(pod)):
            mask = _or(mask, labelled(nodes, term.topology))
    return mask


def _anywhere(nodes: Nodes, keys: list[str], counts: Ints) -> bool:
    """Is there such a pod in any domain?"""
    return any(bool(counts[labelled(nodes, key)].any()) for key in keys)


def _or(mask: Mask | None, other: Mask) -> Mask:
    return other if mask is None else mask | other


def _plus(total: Ints | None, more: Ints) -> Ints:
    return more if total is None else total + more
