"""Validation of scheduling.volcano.sh: Queue and PodGroup, as far as an object says it by itself.

The rules of a Queue:
    its weight is above 0; it isn't its own parent; a state is one of the four words
    its amounts can be read and aren't negative, and guarantee <= deserved <= capability in each resource; one that isn't named is
    0 (a capability that names nothing is no limit; a guarantee needs something deserved)
    the paths and the weights of volcano.sh/hierarchy and -weights have one length, and the weights are numbers above 0
The rules of a PodGroup:
    minima aren't negative; a tier of its topology, and of those of its subgroups, is named by its number or by its name
Source     Volcano: webhooks of queues and pod groups.
Not here   what other objects have to do with it: kumi.registry.gang_rules.
"""

from __future__ import annotations

from collections.abc import Mapping

from kumi.api.errors import FieldError
from kumi.api.quantity import QuantityError, nano
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import subdomain
from kumi.api.wire import JsonObject

HIERARCHY, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
STATES = ("", "Open", "Closed", "Closing", "Unknown")

Nano = dict[str, int]


def _queue(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = _hierarchy(new["metadata"].get("annotations") or {})
    weight = spec.get("weight")
    if isinstance(weight, int) and weight <= 0:
        errors.append(FieldError("spec.weight", "queue weight must be a positive integer", value=weight))
    if spec.get("parent") and spec["parent"] == new["metadata"].get("name"):
        errors.append(FieldError("spec.parent", "a queue can't be its own parent", value=spec["parent"]))
    state = (new.get("status") or {}).get("state") or ""
    if state not in STATES:
        detail = f"queue state must be one of {', '.join(STATES[1:])}"
        errors.append(FieldError("status.state", detail, value=state))
    return errors + _amounts_of(spec)


def _pod_group(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = []
    minima = {"spec.minMember": spec.get("minMember")}
    minima |= {f"spec.minTaskMember[{role}]": least for role, least in (spec.get("minTaskMember") or {}).items()}
    for path, least in minima.items():
        if isinstance(least, int) and least < 0:
            errors.append(FieldError(path, "must be greater than or equal to 0", value=least))
    _, wrong = _read(spec.get("minResources") or {}, "spec.minResources")
    wrong += _tier(spec, "spec")
    for at, policy in enumerate(spec.get("subGroupPolicy") or ()):
        wrong += _tier(policy, f"spec.subGroupPolicy[{at}]")
    return errors + wrong


def _tier(holder: JsonObject, path: str) -> list[FieldError]:
    topology = holder.get("networkTopology")
    if not isinstance(topology, dict) or topology.get("highestTierAllowed") is None:
        return []
    if not topology.get("highestTierName"):
        return []
    detail = "must not be given together with highestTierAllowed"
    return [FieldError(f"{path}.networkTopology.highestTierName", detail, "FieldValueForbidden")]


validate_queue = with_metadata(subdomain, _queue)
validate_pod_group = with_metadata(subdomain, _pod_group)


def _amounts_of(spec: JsonObject) -> list[FieldError]:
    guarantee = (spec.get("guarantee") or {}).get("resource") or {}
    has, errors = {}, []
    for name, given, path in (
        ("capability", spec.get("capability") or {}, "spec.capability"),
        ("deserved", spec.get("deserved") or {}, "spec.deserved"),
        ("guarantee", guarantee, "spec.guarantee.resource"),
    ):
        has[name], wrong = _read(given, path)
        errors += wrong
    if errors:
        return errors
    if has["capability"]:
        errors += _beyond(has["deserved"], has["capability"], "spec.deserved", spec.get("deserved"), "capability")
        errors += _beyond(has["guarantee"], has["capability"], "spec.guarantee", guarantee, "capability")
    return errors or _beyond(has["guarantee"], has["deserved"], "spec.guarantee", guarantee, "deserved")


def _beyond(small: Nano, large: Nano, path: str, given: object, name: str) -> list[FieldError]:
    if all(amount <= large.get(resource, 0) for resource, amount in small.items()):
        return []
    return [FieldError(path, f"must be less than or equal to {name}, in each resource", value=given)]


def _read(given: Mapping[str, object], path: str) -> tuple[Nano, list[FieldError]]:
    amounts, errors = {}, []
    for resource, quantity in given.items():
        try:
            amounts[resource] = nano(quantity)  # type: ignore[arg-type]  # whatever was written
        except QuantityError as error:
            errors.append(FieldError(f"{path}[{resource}]", str(error), value=quantity))
            continue
        if amounts[resource] < 0:
            errors.append(FieldError(f"{path}[{resource}]", "must be greater than or equal to 0", value=quantity))
    return amounts, errors


def _hierarchy(annotations: Mapping[str, str]) -> list[FieldError]:
    path, weights = annotations.get(HIERARCHY) or "", annotations.get(WEIGHTS) or ""
    if not path and not weights:
        return []
    if len(path.split("/")) != len(weights.split("/")):
        return [FieldError(f"metadata.annotations[{HIERARCHY}]", f"must be as long as {WEIGHTS}", value=path)]
    for weight in weights.split("/"):
        if not _is_above_zero(weight):
            detail = f"{weight or 'nothing'} is no number above 0"
            return [FieldError(f"metadata.annotations[{WEIGHTS}]", detail, value=weights)]
    return []


def _is_above_zero(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False
