"""Validation of ResourceQuota and LimitRange.

    ResourceQuota    amounts that are none or negative; scopes that are known, go together and fit what is counted; they
                     never change
    LimitRange       per type at most once: min <= defaultRequest <= default <= max, ratios of 1 at least
Source     Kubernetes: resource quotas (scopes), limit ranges.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.quantity import QuantityError, nano
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import qualified, subdomain
from kumi.api.validation.words import duplicate, forbidden, immutable, not_supported, required
from kumi.api.wire import JsonObject

SCOPES = (
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "PriorityClass",
    "Terminating",
    "VolumeAttributesClass",
)
_COMPUTE = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_PLAIN = (
    "cpu",
    "memory",
    "ephemeral-storage",
    "pods",
    "services",
    "services.loadbalancers",
    "services.nodeports",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
)
_WHOLE = (
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
)
_TYPES = ("Container", "PersistentVolumeClaim", "Pod")
_PAIRS = (("min", "max"), ("min", "default"), ("min", "defaultRequest"), ("defaultRequest", "max"), ("default", "max"))
_NANO = 10**9


def _quota(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    hard = spec.get("hard") or {}
    errors = [error for name, value in hard.items() for error in _amount(name, value, f"spec.hard[{name}]")]
    scopes = spec.get("scopes") or []
    for index, scope in enumerate(scopes):
        if scope not in SCOPES:
            errors.append(not_supported(f"spec.scopes[{index}]", scope, SCOPES))
    wrong = sorted(name for name in hard if not _fits(scopes, name))
    for name in wrong:
        errors.append(FieldError("spec.scopes", f"unsupported scope applied to resource {name}", value=scopes))
    for pair in (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")):
        if set(pair) <= {*scopes}:
            errors.append(FieldError("spec.scopes", "conflicting scopes", value=scopes))
    errors += _scope_selector(spec.get("scopeSelector"))
    if old is not None:
        before = old.get("spec") or {}
        errors += immutable("spec.scopes", sorted(scopes), sorted(before.get("scopes") or []))
    return errors


def _fits(scopes: list[str], name: str) -> bool:
    if not scopes:
        return True
    if "BestEffort" in scopes:
        return name == "pods"
    return name in ("pods", *_COMPUTE) or name.startswith(("requests.", "limits.")) or name == "count/pods"


def _scope_selector(selector: JsonObject | None) -> list[FieldError]:
    errors = []
    for index, rule in enumerate((selector or {}).get("matchExpressions") or ()):
        here = f"spec.scopeSelector.matchExpressions[{index}]"
        scope, operator, values = rule.get("scopeName"), rule.get("operator"), rule.get("values") or []
        if scope not in SCOPES:
            errors.append(not_supported(f"{here}.scopeName", scope, SCOPES))
        if operator in ("In", "NotIn"):
            if not values:
                errors.append(
                    required(f"{here}.values", "must be at least one value when `operator` is 'In' or 'NotIn'")
                )
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                errors.append(FieldError(f"{here}.values", detail, value=values))
        else:
            errors.append(not_supported(f"{here}.operator", operator, ("In", "NotIn", "Exists", "DoesNotExist")))
        if scope in ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort") and operator != "Exists":
            detail = "must be 'Exist' when scope is any of Terminating, NotTerminating, BestEffort and NotBestEffort"
            errors.append(FieldError(f"{here}.operator", detail, value=operator))
    return errors


def _amount(name: str, value: object, path: str) -> list[FieldError]:
    wrong = qualified(name)
    errors = [FieldError(path, wrong, value=name)] if wrong else []
    if "/" not in name and name not in _PLAIN and not name.startswith(("requests.", "limits.", "hugepages-")):
        detail = "must be a standard resource type or fully qualified"
        errors += [
            FieldError(path, detail, value=name),
            FieldError(path, "must be a standard resource for quota", value=name),
        ]
    try:
        amount = nano(value)  # type: ignore[arg-type]
    except QuantityError as error:
        return [*errors, FieldError(path, str(error), value=value)]
    if amount < 0:
        errors.append(FieldError(path, "must be greater than or equal to 0", value=str(value)))
    if name in _WHOLE and amount % _NANO:
        errors.append(FieldError(path, "must be an integer", value=str(value)))
    return errors


def _limit_range(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, item in enumerate((new.get("spec") or {}).get("limits") or ()):
        here, kind = f"spec.limits[{index}]", str(item.get("type") or "")
        if not kind:
            errors.append(required(f"{here}.type"))
        elif kind not in _TYPES and "/" not in kind:
            errors.append(FieldError(f"{here}.type", "must be a standard limit type or fully qualified", value=kind))
        elif kind in seen:
            errors.append(duplicate(f"{here}.type", kind))
        seen.add(kind)
        errors += _item(item, kind, here)
    return errors


def _item(item: JsonObject, kind: str, here: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if kind == "Pod":
        for field in ("default", "defaultRequest"):
            if item.get(field):
                errors.append(forbidden(f"{here}.{field}", "may not be specified when `type` is 'Pod'"))
    if kind == "PersistentVolumeClaim" and not any("storage" in (item.get(f) or {}) for f in ("min", "max")):
        errors.append(
            required(f"{here}.limits", "either minimum or maximum storage value is required, but neither was provided")
        )
    amounts: dict[str, dict[str, int]] = {}
    for field in ("min", "max", "default", "defaultRequest", "maxLimitRequestRatio"):
        amounts[field] = {}
        for name, value in (item.get(field) or {}).items():
            try:
                amounts[field][name] = nano(value)
            except QuantityError as error:
                errors.append(FieldError(f"{here}.{field}[{name}]", str(error), value=value))
    for low, high in (*_PAIRS, ("defaultRequest", "default")):
        for name in sorted(amounts[low].keys() & amounts[high].keys()):
            if amounts[low][name] > amounts[high][name]:
                said, than = item[low][name], item[high][name]
                detail = f"{_word(low)} value {said} is greater than {_word(high)} value {than}"
                errors.append(FieldError(f"{here}.{low}[{name}]", detail, value=str(said)))
    errors += _ratios(item, amounts, here)
    return errors


def _ratios(item: JsonObject, amounts: dict[str, dict[str, int]], here: str) -> list[FieldError]:
    errors = []
    for name, ratio in sorted(amounts["maxLimitRequestRatio"].items()):
        path, shown = f"{here}.maxLimitRequestRatio[{name}]", str(item["maxLimitRequestRatio"][name])
        if ratio < _NANO:
            errors.append(FieldError(path, f"ratio {shown} is less than 1", value=shown))
        low, high = amounts["min"].get(name), amounts["max"].get(name)
        if low is not None and high is not None and low and ratio * low > high * _NANO:
            detail = f"ratio {shown} is greater than max/min = {high / low:f}"
            errors.append(FieldError(path, detail, value=shown))
    return errors


def _word(field: str) -> str:
    return {"defaultRequest": "default request"}.get(field, field)


validate_resource_quota = with_metadata(subdomain, _quota)
validate_limit_range = with_metadata(subdomain, _limit_range)
