"""Selectors: do these labels satisfy that requirement, and does this pod endure that taint.

The rule:
    In, NotIn          the value is, is not, one of the values; an absent key is NotIn everything
    Exists, DoesNotExist
    Gt, Lt             both are whole numbers and the label's is greater, less
    affinity           one of the terms holds, a term being all of its requirements; an empty term holds nowhere
    toleration         its effect (empty: every effect), its key (empty with Exists: every key) and, with Equal, its value
                       are the taint's
    blocking taints    NoSchedule and NoExecute; PreferNoSchedule is advice and never blocks
Why        flavors, namespaces and nodes are matched by one rule; whoever matches many at once (placement/plugins/predicates.py)
           asks it once a distinct value.
Cost       O(requirements), O(tolerations).
Source     Kubernetes: labels and selectors, assigning pods to nodes, taints and tolerations.
Not here   which labels a flavor looks at: admission/matching.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kumi.engine.model import Requirement, Taint, Toleration

BLOCKING = ("NoSchedule", "NoExecute")


def holds(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """One requirement on a set of labels; an operator that nobody knows holds nowhere."""
    return value_holds(requirement, labels.get(requirement.key))


def value_holds(requirement: Requirement, value: str | None) -> bool:
    """The same for the value of the requirement's key; None: the key is absent."""
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            have, want = _whole(value), _whole(requirement.values[0] if len(requirement.values) == 1 else None)
            if have is None or want is None:
                return False
            return have > want if requirement.operator == "Gt" else have < want
    return False


def all_hold(requirements: Iterable[Requirement], labels: Mapping[str, str]) -> bool:
    """Every requirement."""
    return all(holds(r, labels) for r in requirements)


def affinity_holds(terms: tuple[tuple[Requirement, ...], ...] | None, labels: Mapping[str, str]) -> bool:
    """One of the terms; None asks for nothing, an empty term holds nowhere."""
    return terms is None or any(term and all_hold(term, labels) for term in terms)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Does this toleration endure that taint?"""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.operator in ("", "Equal") and toleration.value == taint.value


def untolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Taint | None:
    """The first blocking taint that none of the tolerations endures."""
    for taint in taints:
        if taint.effect in BLOCKING and not any(tolerates(t, taint) for t in tolerations):
            return taint
    return None


def _whole(text: str | None) -> int | None:
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None
