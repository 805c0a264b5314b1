"""What is wrong with the resources of a pod template: such a workload is not tried, whatever its queue is like.

The rule, on a template as its pods will be (adjusted.py), for what is named on both sides:
    requests      of a container, an init container, the pod itself: none above its limit
    LimitRange    Container: requests and limits of each container within max and min; Pod: what the pod asks for in all
Path       of the container; of the pod's `resources`; of the pod's spec for a LimitRange of type Pod.
Why        the API server would refuse the pods: quota that is reserved for them would never be used.
Cost       O(containers x resources).
Source     Kubernetes: limit ranges. Kueue: admission requirements of a workload.
Not here   which LimitRanges count: adjusted.py; the refusal of a pod itself: kumi.registry.limit_ranges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kumi.api.errors import FieldError
from kumi.api.limits import LimitRangeItem
from kumi.api.pod_requests import pod_requests
from kumi.api.quantity import Written, nano, nano_text, unit_of
from kumi.api.wire import JsonObject
from kumi.bridge.into.adjusted import CONTAINER, POD, merged

NANO = 10**9
PARTS = ("initContainers", "containers")


def above_limits(template: JsonObject, path: str) -> Iterator[FieldError]:
    """Requests that are above their limits. `path`: of the pod's spec. QuantityError."""
    spec = template.get("spec") or {}
    for part in PARTS:
        for n, container in enumerate(spec.get(part) or ()):
            resources = container.get("resources") or {}
            yield from _above(resources, f"{path}.{part}[{n}]")
    if spec.get("resources"):
        yield from _above(spec["resources"], f"{path}.resources")


def outside_range(template: JsonObject, limits: Mapping[str, LimitRangeItem], path: str) -> Iterator[FieldError]:
    """What is outside of the namespace's LimitRanges, by type. `path`: of the pod's spec. QuantityError."""
    spec = template.get("spec") or {}
    item = limits.get(CONTAINER)
    for part in PARTS if item is not None else ():
        for n, container in enumerate(spec.get(part) or ()):
            resources = container.get("resources") or {}
            both = resources.get("requests") or {}, resources.get("limits") or {}
            least, most = merged(*both, least=True), merged(*both, least=False)
            assert item is not None
            yield from _outside(item, least, most, f"{path}.{part}[{n}]")
    item = limits.get(POD)
    if item is not None:
        total = {name: nano_text(amount * (NANO // unit_of(name))) for name, amount in pod_requests(spec).items()}
        yield from _outside(item, total, total, path)


def _above(resources: JsonObject, path: str) -> Iterator[FieldError]:
    names = _greater(resources.get("requests") or {}, resources.get("limits") or {})
    if names:
        yield FieldError(path, "requests are above the limits", value=names)


def _outside(
    item: LimitRangeItem, least: Mapping[str, Written], most: Mapping[str, Written], path: str
) -> Iterator[FieldError]:
    if names := _greater(most, item.max):
        yield FieldError(path, "more than the max of a LimitRange", value=names)
    if names := _greater(item.min, least):
        yield FieldError(path, "less than the min of a LimitRange", value=names)


def _greater(one: Mapping[str, Written], other: Mapping[str, Written]) -> list[str]:
    """The resources of both of which the first has more."""
    return sorted(name for name, amount in one.items() if name in other and nano(amount) > nano(other[name]))
