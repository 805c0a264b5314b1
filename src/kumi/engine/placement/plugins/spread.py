"""Spread: pods of a kind evenly over zones, racks or hosts.

The rule, for a constraint c of a pod p, over domains (nodes with one value of c's topology key):
    counted nodes   those that have the keys of all of p's constraints of c's sort (hard or soft), and that p's node selector
                    and required affinity allow (nodeAffinityPolicy), and whose taints it endures, if c says so
                    (nodeTaintsPolicy)
    matched(d)      pods on counted nodes of d, of p's namespace, that c's selector means and that are not on their way out
    least           the smallest matched(d) of the domains of counted nodes; 0 where there are fewer than c.domains of them
    hard            n is taken when matched(d(n)) + 1 if c means p itself - least <= c.skew; a node without the key isn't
    soft score      sum over c of matched(d(n)) * ln(domains + 2) + skew - 1, rounded; then 100 * (max + min - score) / max,
                    cut; all 100 where the largest is 0; 0 for nodes without one of the keys. Domains: of the nodes in
                    question that have all keys; for host names their number, and each host counts for itself
    unlabelled      nodes without a key are in question as well: c says nothing of them, and they are one domain more
Not met         a missing label: evicting doesn't help; skew: it may. The first constraint that isn't met answers.
Cost            O(constraints x nodes).
Source          Kubernetes scheduler: PodTopologySpread.
Not here        the counts: ../residents.py; constraints that pods get which have none: kumi.bridge.into.companions.
"""

from __future__ import annotations

import math

import numpy as np

from kumi.engine.model import Pod, SpreadTerm
from kumi.engine.placement.hooks import Fit, Fits
from kumi.engine.placement.nodes import Ints, Mask, Nodes, Scores
from kumi.engine.placement.plugins.domains import labelled
from kumi.engine.placement.plugins.node_masks import affine, enduring, selected
from kumi.engine.placement.residents import Target, kind_of

HOST = "kubernetes.io/hostname"
TOP = 100


def fits(nodes: Nodes, pod: Pod) -> Fits | None:
    """What each row says; None: nothing is asked."""
    terms = _of(pod, hard=True)
    if not terms:
        return None
    answer: Fits | None = None
    for term in terms:
        codes, _ = nodes.column(term.topology)
        counted, there = _domains(nodes, pod, term, terms)
        matched = np.bincount(counted, weights=_matched(nodes, pod, term), minlength=there.size)
        matched[0] = 0
        least = matched[there].min() if there.sum() >= max(1, term.domains) else 0
        by_code = (matched + _means_itself(nodes, pod, term) - least > term.skew).astype(np.int8) * np.int8(
            Fit.UNSCHEDULABLE
        )
        by_code[0] = Fit.UNRESOLVABLE
        said = by_code[codes]
        answer = said if answer is None else np.where(answer == Fit.OK, said, answer)
    return answer


def scores(nodes: Nodes, pod: Pod, rows: Ints) -> Scores | None:
    """0 to 100 for each of the rows; None: nothing is asked."""
    terms = _of(pod, hard=False)
    if not terms or not rows.size:
        return None
    keyed = _keyed(nodes, [term for term in terms if not term.unlabelled])
    known = keyed[rows]
    raw = np.zeros(rows.size, dtype=np.float64)
    for term in terms:
        codes, code_by_value = nodes.column(term.topology)
        pods = _matched(nodes, pod, term)
        if term.topology == HOST:
            domains, matched = int(known.sum()), pods[rows]
        else:
            counted = codes * (keyed & _allowed(nodes, pod, term))
            sums = np.bincount(counted, weights=pods, minlength=len(code_by_value) + 1)
            sums[0] = 0
            domains, matched = int((np.bincount(codes[rows[known]]) > 0).sum()), sums[codes[rows]]
        said = matched * math.log(domains + 2) + (term.skew - 1)
        raw += np.where(codes[rows] > 0, said, 0) if term.unlabelled else said
    whole = np.floor(raw + 0.5).astype(np.int64)
    answer = np.zeros(rows.size, dtype=np.float64)
    if not known.any():
        return answer
    least, most = int(whole[known].min()), int(whole[known].max())
    answer[known] = TOP if not most else TOP * (most + least - whole[known]) // most
    return answer


def is_steady(nodes: Nodes, pod: Pod, *, hard: bool) -> bool:
    """Does placing one leave the other nodes as they are for the next like it?"""
    return not any(_means_itself(nodes, pod, term) for term in _of(pod, hard=hard))


def _of(pod: Pod, *, hard: bool) -> list[SpreadTerm]:
    said = pod.shape.neighbours
    return [t for t in said.spread if t.hard is hard] if said is not None else []


def _group(pod: Pod, term: SpreadTerm) -> tuple[Target, ...]:
    return (Target(term.selector, (pod.namespace,), staying=True),)


def _matched(nodes: Nodes, pod: Pod, term: SpreadTerm) -> Ints:
    return nodes.residents.matched(_group(pod, term))


def _means_itself(nodes: Nodes, pod: Pod, term: SpreadTerm) -> bool:
    return nodes.residents.means(_group(pod, term), kind_of(pod))


def _domains(nodes: Nodes, pod: Pod, term: SpreadTerm, terms: list[SpreadTerm]) -> tuple[Ints, Mask]:
    """Of each row the code of its domain, 0 for one that doesn't count as for one that is in none; and which domains have rows
    that count."""

    def make() -> tuple[Ints, Mask]:
        codes, code_by_value = nodes.column(term.topology)
        counted = codes * (_keyed(nodes, terms) & _allowed(nodes, pod, term))
        there = np.bincount(counted, minlength=len(code_by_value) + 1) > 0
        there[0] = False
        return counted, there

    shape = pod.shape
    said = (term.topology, term.by_affinity, term.by_taints, tuple(t.topology for t in terms))
    made: tuple[Ints, Mask] = nodes.cached(
        ("spread", said, shape.node_selector, shape.affinity, shape.tolerations), make
    )
    return made


def _keyed(nodes: Nodes, terms: list[SpreadTerm]) -> Mask:
    mask = np.ones(nodes.used.shape[1], dtype=np.bool_)
    for term in terms:
        mask &= labelled(nodes, term.topology)
    return mask


def _allowed(nodes: Nodes, pod: Pod, term: SpreadTerm) -> Mask:
    """The rows that count for the constraint."""
    mask = np.zeros(nodes.used.shape[1], dtype=np.bool_)
    mask[nodes.by_name()] = True
    if term.by_affinity:
        mask &= selected(nodes, pod.shape) & affine(nodes, pod.shape)
    if term.by_taints:
        mask &= enduring(nodes, pod.shape.tolerations)
    return mask
