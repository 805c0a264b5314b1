"""A pod template as its pods will be once the API server has filled in what the template leaves out.

The rule, in this order:
    overhead   of the RuntimeClass that the template names, where it says none itself
    defaults   the namespace's LimitRanges taken together: of type Container, for every container and init container; of type
               Pod, for the pod's own `resources` where it has such; what is said already stays
    limits     a resource with a limit and no request asks for its limit
Together   of all LimitRanges of a namespace, by name: the lowest max, the highest min, the first default.
Why        quota must hold what the pods will really ask for, before there are any.
Cost       O(containers x resources) where there is something to fill in; else the template itself is returned.
Source     Kubernetes: limit ranges, pod overhead. Kueue: what a workload counts for.
Not here   whether that is within the LimitRanges: within_limits.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kumi.api.limits import Amounts, LimitRange, LimitRangeItem
from kumi.api.node import RuntimeClass
from kumi.api.quantity import Written, nano
from kumi.api.wire import JsonObject

CONTAINER, POD = "Container", "Pod"


@dataclass(slots=True)
class Around:
    """What there is around a pod: LimitRanges by namespace and name, RuntimeClasses by name."""

    ranges: dict[str, dict[str, LimitRange]] = field(default_factory=dict)
    classes: dict[str, RuntimeClass] = field(default_factory=dict)

    def put(self, obj: LimitRange | RuntimeClass) -> None:
        """There is such a thing, or it changed. QuantityError: it can't be read, and what was known of it stays."""
        for amount in (amount for amounts in _amounts(obj) for amount in amounts.values()):
            nano(amount)
        if isinstance(obj, RuntimeClass):
            self.classes[obj.metadata.name] = obj
        else:
            self.ranges.setdefault(obj.metadata.namespace, {})[obj.metadata.name] = obj

    def drop(self, obj: LimitRange | RuntimeClass) -> None:
        """It is gone."""
        if isinstance(obj, RuntimeClass):
            self.classes.pop(obj.metadata.name, None)
        else:
            self.ranges.get(obj.metadata.namespace, {}).pop(obj.metadata.name, None)

    def limits(self, namespace: str) -> dict[str, LimitRangeItem]:
        """The namespace's LimitRanges together, by type."""
        return together(self.ranges.get(namespace, {}).values())


def _amounts(obj: LimitRange | RuntimeClass) -> list[Amounts]:
    if isinstance(obj, RuntimeClass):
        return [(obj.overhead or {}).get("podFixed") or {}]
    return [amounts for i in obj.spec.limits for amounts in (i.max, i.min, i.default, i.default_request)]


def together(ranges: Iterable[LimitRange]) -> dict[str, LimitRangeItem]:
    """LimitRanges as one, by type."""
    found: dict[str, LimitRangeItem] = {}
    for one in sorted(ranges, key=lambda r: r.metadata.name):
        for item in one.spec.limits:
            met = found.get(item.type, LimitRangeItem(type=item.type))
            found[item.type] = LimitRangeItem(
                type=item.type,
                max=merged(met.max, item.max, least=True),
                min=merged(met.min, item.min, least=False),
                default={**item.default, **met.default},
                default_request={**item.default_request, **met.default_request},
            )
    return found


def merged(one: Mapping[str, Written], other: Mapping[str, Written], *, least: bool) -> Amounts:
    """All resources of both, each with the lesser amount, or the greater one."""
    both = dict(one)
    for name, amount in other.items():
        if name not in both or (nano(amount) < nano(both[name])) == least:
            both[name] = amount
    return both


def adjusted(
    template: JsonObject, limits: Mapping[str, LimitRangeItem], classes: Mapping[str, RuntimeClass]
) -> JsonObject:
    """The template as its pods will be; the template itself, which is never changed, where nothing is to be filled in."""
    spec = template.get("spec") or {}
    new = {**spec, **_overhead(spec, classes)}
    for part in ("initContainers", "containers"):
        if spec.get(part):
            new[part] = [_filled(container, limits.get(CONTAINER)) for container in spec[part]]
    if spec.get("resources") is not None:
        new = _filled(new, limits.get(POD))
    return template if new == spec else {**template, "spec": new}


def _overhead(spec: JsonObject, classes: Mapping[str, RuntimeClass]) -> JsonObject:
    found = classes.get(spec.get("runtimeClassName") or "")
    if found is None or spec.get("overhead"):
        return {}
    fixed = (found.overhead or {}).get("podFixed")
    return {"overhead": dict(fixed)} if fixed else {}


def _filled(holder: JsonObject, item: LimitRangeItem | None) -> JsonObject:
    """The container, or the pod, with its `resources` filled in."""
    said = holder.get("resources") or {}
    limits = {**(item.default if item is not None else {}), **(said.get("limits") or {})}
    requests = {**limits, **(item.default_request if item is not None else {}), **(said.get("requests") or {})}
    resources = dict(said)
    if limits:
        resources["limits"] = limits
    if requests:
        resources["requests"] = requests
    return {**holder, "resources": resources} if resources != said else holder
