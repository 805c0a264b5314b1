"""Validation of what binds a pod to nodes: node selector, affinity to nodes and pods, spreading, tolerations, scheduling gates.

Source     Kubernetes: assigning pods to nodes, topology spread constraints, taints and tolerations, pod scheduling readiness.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.validation.names import label, labels, qualified, subdomain
from kumi.api.validation.selector import label_selector
from kumi.api.validation.words import duplicate, forbidden, not_supported, required
from kumi.api.wire import JsonObject

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION = ("Honor", "Ignore")
_POSITIVE = "must be greater than zero"


def placement(spec: JsonObject, path: str) -> list[FieldError]:
    """All of a pod's spec."""
    errors = labels(spec.get("nodeSelector"), f"{path}.nodeSelector")
    errors += tolerations(spec.get("tolerations") or [], f"{path}.tolerations")
    errors += _affinity(spec.get("affinity") or {}, f"{path}.affinity")
    errors += _spread(spec.get("topologySpreadConstraints") or [], f"{path}.topologySpreadConstraints")
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


def node_selector(selector: JsonObject, path: str) -> list[FieldError]:
    """Terms of which one has to hold."""
    terms = selector.get("nodeSelectorTerms") or []
    errors = [] if terms else [required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")]
    for index, term in enumerate(terms):
        errors += _term(term, f"{path}.nodeSelectorTerms[{index}]")
    return errors


def _affinity(affinity: JsonObject, path: str) -> list[FieldError]:
    nodes = affinity.get("nodeAffinity") or {}
    errors = []
    wanted, here = nodes.get(_REQUIRED), f"{path}.nodeAffinity.{_REQUIRED}"
    if wanted is not None:
        errors += node_selector(wanted, here)
    for index, one in enumerate(nodes.get(_PREFERRED) or ()):
        here = f"{path}.nodeAffinity.{_PREFERRED}[{index}]"
        errors += _weight(one, here) + _term(one.get("preference") or {}, f"{here}.preference")
    for part in ("podAffinity", "podAntiAffinity"):
        said = affinity.get(part) or {}
        for index, one in enumerate(said.get(_REQUIRED) or ()):
            errors += _pods(one, f"{path}.{part}.{_REQUIRED}[{index}]")
        for index, one in enumerate(said.get(_PREFERRED) or ()):
            here = f"{path}.{part}.{_PREFERRED}[{index}]"
            errors += _weight(one, here) + _pods(one.get("podAffinityTerm") or {}, f"{here}.podAffinityTerm")
    return errors


def _weight(preference: JsonObject, path: str) -> list[FieldError]:
    weight = preference.get("weight") or 0
    if 1 <= weight <= 100:
        return []
    return [FieldError(f"{path}.weight", "must be in the range 1-100", value=weight)]


def _pods(term: JsonObject, path: str) -> list[FieldError]:
    """A term about other pods."""
    errors = label_selector(term.get("labelSelector"), f"{path}.labelSelector")
    errors += label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    wrong = ((name, label(name)) for name in term.get("namespaces") or ())
    errors += [FieldError(f"{path}.namespace", detail, value=name) for name, detail in wrong if detail]
    key = term.get("topologyKey") or ""
    if not key:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    elif detail := qualified(key):
        errors.append(FieldError(f"{path}.topologyKey", detail, value=key))
    return errors


def _spread(constraints: list[JsonObject], path: str) -> list[FieldError]:
    """Constraints of which no two are about the same topology and do the same."""
    errors = []
    kinds = [(one.get("topologyKey") or "", one.get("whenUnsatisfiable") or "") for one in constraints]
    for index, (one, (key, does)) in enumerate(zip(constraints, kinds, strict=True)):
        here, skew, domains = f"{path}[{index}]", one.get("maxSkew") or 0, one.get("minDomains")
        if skew <= 0:
            errors.append(FieldError(f"{here}.maxSkew", _POSITIVE, value=skew))
        if not key:
            errors.append(required(f"{here}.topologyKey", "can not be empty"))
        if does not in _UNSATISFIABLE:
            errors.append(not_supported(f"{here}.whenUnsatisfiable", does, _UNSATISFIABLE))
        if (key, does) in kinds[index + 1 :]:
            errors.append(duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {does}}}"))
        if domains is not None and domains <= 0:
            errors.append(FieldError(f"{here}.minDomains", _POSITIVE, value=domains))
        elif domains is not None and does != "DoNotSchedule":
            detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {does}"
            errors.append(FieldError(f"{here}.minDomains", detail, value=domains))
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if one.get(policy) is not None and one[policy] not in _INCLUSION:
                errors.append(not_supported(f"{here}.{policy}", one[policy], _INCLUSION))
        errors += label_selector(one.get("labelSelector"), f"{here}.labelSelector")
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
    for index, rule in enumerate(term.get("matchFields") or ()):
        errors += _field(rule, f"{path}.matchFields[{index}]")
    return errors


def _field(rule: JsonObject, path: str) -> list[FieldError]:
    """A node's name is its only field that can be asked for."""
    key, operator, values = rule.get("key") or "", rule.get("operator") or "", rule.get("values") or []
    errors = []
    if operator not in ("In", "NotIn"):
        errors.append(FieldError(f"{path}.operator", "not a valid selector operator", value=operator))
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(f"{path}.values", detail))
    if key != "metadata.name":
        errors.append(FieldError(f"{path}.key", "not a valid field selector key", value=key))
        return errors
    wrong = ((place, value, subdomain(value)) for place, value in enumerate(values))
    errors += [FieldError(f"{path}.values[{place}]", detail, value=value) for place, value, detail in wrong if detail]
    return errors
