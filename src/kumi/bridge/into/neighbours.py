"""Pod affinity, anti-affinity and topology spread as the engine reads them.

The rule   a selector's matchLabels and matchExpressions become requirements; none at all selects nothing, an empty one everything
           matchLabelKeys, mismatchLabelKeys: of the keys that the pod has as labels, its own values are asked for, or against
           a term names namespaces, selects them, or means the pod's own
           a spread constraint that says nothing else is hard, counts nodes that the pod's node affinity allows whatever their
           taints, and needs one domain
Why        the keys are resolved here, so what the engine sees is of the same form for all pods.
Source     Kubernetes: assigning pods to nodes (inter-pod affinity), pod topology spread constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kumi.api.errors import KumiError
from kumi.engine import model

HARD = "requiredDuringSchedulingIgnoredDuringExecution"
SOFT = "preferredDuringSchedulingIgnoredDuringExecution"


def neighbours(
    affinity: dict[str, Any] | None,
    spread: list[dict[str, Any]],
    labels: Mapping[str, str],
    given: tuple[model.SpreadTerm, ...] = (),
) -> model.Neighbours | None:
    """What a pod with these labels says of others; None: nothing. `given`: constraints that it gets besides (companions.py).
    KumiError: see requirement."""
    near = (affinity or {}).get("podAffinity") or {}
    apart = (affinity or {}).get("podAntiAffinity") or {}
    made = model.Neighbours(
        near=tuple(_term(t, labels) for t in near.get(HARD) or ()),
        apart=tuple(_term(t, labels) for t in apart.get(HARD) or ()),
        rather_near=_weighted(near.get(SOFT), labels),
        rather_apart=_weighted(apart.get(SOFT), labels),
        spread=(*(_spread(c, labels) for c in spread), *given),
    )
    return None if made == model.Neighbours() else made


def requirement(term: dict[str, Any]) -> model.Requirement:
    """One term of a selector, as written. KumiError where it has no key or no operator."""
    key, operator = term.get("key"), term.get("operator")
    if not key or not operator:
        raise KumiError(f"a requirement of a selector needs a key and an operator: {term}")
    return model.Requirement(str(key), str(operator), tuple(str(v) for v in term.get("values") or ()))


def selector(written: dict[str, Any] | None) -> tuple[model.Requirement, ...] | None:
    """The requirements of a label selector; None: it selects nothing. KumiError: see requirement."""
    if written is None:
        return None
    equal = (model.Requirement(k, "In", (str(v),)) for k, v in sorted((written.get("matchLabels") or {}).items()))
    return (*equal, *(requirement(e) for e in written.get("matchExpressions") or ()))


def _keyed(term: dict[str, Any], labels: Mapping[str, str]) -> tuple[model.Requirement, ...] | None:
    """The term's label selector with what its label keys add."""
    said = selector(term.get("labelSelector"))
    if said is None:
        return None
    added = [
        model.Requirement(key, operator, (labels[key],))
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(field) or ()
        if key in labels
    ]
    return (*said, *(r for r in added if r not in said))


def _term(term: dict[str, Any], labels: Mapping[str, str]) -> model.PodTerm:
    return model.PodTerm(
        topology=str(term.get("topologyKey", "")),
        selector=_keyed(term, labels),
        namespaces=tuple(sorted(str(n) for n in term.get("namespaces") or ())),
        namespace_selector=selector(term.get("namespaceSelector")),
    )


def _weighted(terms: list[dict[str, Any]] | None, labels: Mapping[str, str]) -> model.WeightedTerms:
    return tuple((int(t.get("weight", 0)), _term(t.get("podAffinityTerm") or {}, labels)) for t in terms or ())


def _spread(constraint: dict[str, Any], labels: Mapping[str, str]) -> model.SpreadTerm:
    return model.SpreadTerm(
        topology=str(constraint.get("topologyKey", "")),
        selector=_keyed(constraint, labels),
        skew=int(constraint.get("maxSkew", 1)),
        hard=constraint.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule",
        domains=int(constraint.get("minDomains") or 1),
        by_affinity=constraint.get("nodeAffinityPolicy", "Honor") == "Honor",
        by_taints=constraint.get("nodeTaintsPolicy", "Ignore") == "Honor",
    )
