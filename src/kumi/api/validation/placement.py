"""Validation of what binds a pod to nodes: node selector, required node affinity, tolerations, scheduling gates.

Source     Kubernetes: assigning pods to nodes, taints and tolerations, pod scheduling readiness.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.validation.names import labels, qualified
from kumi.api.validation.words import duplicate, forbidden, not_supported, required
from kumi.api.wire import JsonObject

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def placement(spec: JsonObject, path: str) -> list[FieldError]:
    """All of a pod's spec."""
    errors = labels(spec.get("nodeSelector"), f"{path}.nodeSelector")
    errors += tolerations(spec.get("tolerations") or [], f"{path}.tolerations")
    errors += _affinity(spec.get("affinity") or {}, f"{path}.affinity")
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        here, name = f"{path}.schedulingGates[{index}]", gate.get("name")
        wrong = qualified(name) if name else ""
        if not name:
            errors.append(required(f"{here}.name"))
        elif wrong:
            errors.append(FieldError(f"{here}.name", wrong, value=name))
        elif name in seen:
            errors.append(duplicate(here, name))
        seen.add(str(name))
    if seen and spec.get("nodeName"):
        errors.append(forbidden(f"{path}.nodeName", "cannot be set until all schedulingGates have been cleared"))
    return errors


def tolerations(given: list[JsonObject], path: str) -> list[FieldError]:
    """A list of tolerations."""
    errors = []
    for index, one in enumerate(given):
        here = f"{path}[{index}]"
        key, operator, effect = one.get("key"), one.get("operator") or "Equal", one.get("effect")
        if key and qualified(key):
            errors.append(FieldError(f"{here}.key", qualified(key), value=key))
        if operator not in ("Equal", "Exists"):
            errors.append(not_supported(f"{here}.operator", operator, ("Equal", "Exists")))
        elif not key and operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            errors.append(FieldError(f"{here}.operator", detail, value=operator))
        elif operator == "Exists" and one.get("value"):
            errors.append(
                FieldError(f"{here}.value", "value must be empty when `operator` is 'Exists'", value=one["value"])
            )
        if effect and effect not in EFFECTS:
            errors.append(not_supported(f"{here}.effect", effect, EFFECTS))
        elif one.get("tolerationSeconds") is not None and effect != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(FieldError(f"{here}.effect", detail, value=effect or ""))
    return errors


def taints(given: list[JsonObject], path: str) -> list[FieldError]:
    """A list of taints; a key has one taint an effect."""
    errors = []
    seen: set[tuple[str, str]] = set()
    for index, one in enumerate(given):
        here, key, effect = f"{path}[{index}]", one.get("key") or "", one.get("effect") or ""
        wrong = qualified(key)
        if wrong:
            errors.append(FieldError(f"{here}.key", wrong, value=key))
        if not effect:
            errors.append(required(f"{here}.effect"))
        elif effect not in EFFECTS:
            errors.append(not_supported(f"{here}.effect", effect, EFFECTS))
        if (key, effect) in seen:
            errors.append(duplicate(here, f"{key}:{effect}"))
        seen.add((key, effect))
    return errors


def narrower(new: JsonObject | None, old: JsonObject | None) -> bool:
    """Whether an affinity of a gated pod only became stricter: more is required of nodes, nothing else changed."""
    before, after = dict(old or {}), dict(new or {})
    nodes, wanted = dict(before.pop("nodeAffinity", None) or {}), dict(after.pop("nodeAffinity", None) or {})
    old_terms = (nodes.pop(_REQUIRED, None) or {}).get("nodeSelectorTerms") or []
    new_terms = (wanted.pop(_REQUIRED, None) or {}).get("nodeSelectorTerms") or []
    if before != after or not old_terms:
        return before == after
    if len(old_terms) != len(new_terms):
        return False
    return all(
        all(rule in (to.get(part) or ()) for part in ("matchExpressions", "matchFields") for rule in of.get(part) or ())
        for of, to in zip(old_terms, new_terms, strict=True)
    )


def _affinity(affinity: JsonObject, path: str) -> list[FieldError]:
    nodes = affinity.get("nodeAffinity") or {}
    errors = []
    wanted, here = nodes.get(_REQUIRED), f"{path}.nodeAffinity.{_REQUIRED}"
    if wanted is not None:
        terms = wanted.get("nodeSelectorTerms") or []
        if not terms:
            errors.append(required(f"{here}.nodeSelectorTerms", "must have at least one node selector term"))
        for index, term in enumerate(terms):
            errors += _term(term, f"{here}.nodeSelectorTerms[{index}]")
    here = f"{path}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
    for index, one in enumerate(nodes.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        weight = one.get("weight")
        if not isinstance(weight, int) or not 1 <= weight <= 100:
            errors.append(FieldError(f"{here}[{index}].weight", "must be in the range 1-100", value=weight))
        errors += _term(one.get("preference") or {}, f"{here}[{index}].preference")
    return errors


def _term(term: JsonObject, path: str) -> list[FieldError]:
    errors = []
    for index, rule in enumerate(term.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        operator, values = rule.get("operator"), rule.get("values") or []
        wrong = qualified(rule.get("key") or "")
        if wrong:
            errors.append(FieldError(f"{here}.key", wrong, value=rule.get("key") or ""))
        if operator in ("In", "NotIn") and not values:
            detail = "must be specified when `operator` is 'In' or 'NotIn'"
            errors.append(required(f"{here}.values", detail))
        elif operator in ("Exists", "DoesNotExist") and values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(f"{here}.values", detail))
        elif operator in ("Gt", "Lt") and len(values) != 1:
            detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(required(f"{here}.values", detail))
        elif operator not in _OPERATORS:
            errors.append(not_supported(f"{here}.operator", operator or "", _OPERATORS))
    return errors
