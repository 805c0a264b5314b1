"""What a pod asks for, as Kubernetes counts it.

The rule, per resource:
    request(c) = the container's request, else its limit
    run        = sum over containers, plus sum over sidecars (init containers with restartPolicy Always)
    start(i)   = request of init container i + sum over the sidecars before it       (a sidecar: itself and those before)
    asked      = max(run, start(i) for all i), then what the pod level says instead, plus overhead
Why        init containers run one at a time before the rest; sidecars stay.
Units      base units of kumi.api.quantity; sums stop at 2^63-1.
Cost       O(containers x resources).
Source     Kubernetes: init containers (resource sharing within containers), sidecar containers, pod overhead,
           pod-level resources.
Not here   `pods`: every pod takes one of them, which whoever counts pods adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kumi.api import quantity
from kumi.api.core import Container, PodSpec
from kumi.api.quantity import MAX, Written
from kumi.api.wire import JsonObject

Amounts = dict[str, int]
_Asks = tuple[Amounts, bool]
"""what one container asks for, and whether it is a sidecar"""


def pod_requests(spec: JsonObject | PodSpec, unsaid: Mapping[str, int] | None = None) -> Amounts:
    """Resource name -> amount of one pod of this spec. `unsaid`: what a container counts for that says nothing of a resource (of
    a PodSpec). QuantityError for what validation would have refused."""
    if isinstance(spec, PodSpec):
        return _sum(
            [_of_view(c, unsaid or {}) for c in spec.containers],
            [_of_view(c, unsaid or {}) for c in spec.init_containers],
            _amounts({**spec.resources.limits, **spec.resources.requests}),
            spec.overhead,
        )
    return _sum(
        [_of_json(c) for c in spec.get("containers") or ()],
        [_of_json(c) for c in spec.get("initContainers") or ()],
        _requests(spec.get("resources") or {}),
        spec.get("overhead") or {},
    )


def pod_limits(spec: JsonObject) -> Amounts:
    """Resource name -> the most that one pod of this spec may use, by the same rule; overhead counts where there is a limit."""
    limits = _sum(
        [_limits_of(c) for c in spec.get("containers") or ()],
        [_limits_of(c) for c in spec.get("initContainers") or ()],
        _amounts((spec.get("resources") or {}).get("limits") or {}),
        {},
    )
    for name, amount in _amounts(spec.get("overhead") or {}).items():
        if name in limits:
            limits[name] = min(limits[name] + amount, MAX)
    return limits


def _limits_of(container: JsonObject) -> _Asks:
    limits = (container.get("resources") or {}).get("limits") or {}
    return _amounts(limits), container.get("restartPolicy") == "Always"


def _of_view(container: Container, unsaid: Mapping[str, int]) -> _Asks:
    resources = container.resources
    said = _amounts({**resources.limits, **resources.requests})
    return {**unsaid, **said}, container.restart_policy == "Always"


def _of_json(container: JsonObject) -> _Asks:
    return _requests(container.get("resources") or {}), container.get("restartPolicy") == "Always"


def _requests(resources: JsonObject) -> Amounts:
    return _amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _amounts(written: Mapping[str, Written]) -> Amounts:
    return {name: quantity.parse(value, name) for name, value in written.items()}


def _sum(
    containers: Iterable[_Asks], init_containers: Iterable[_Asks], pod_level: Amounts, overhead: Mapping[str, Written]
) -> Amounts:
    run: Amounts = {}
    for amounts, _ in containers:
        _add(run, amounts)
    peak: Amounts = {}
    sidecars: Amounts = {}
    for amounts, stays in init_containers:
        if stays:
            _add(sidecars, amounts)
            start = sidecars
        else:
            start = dict(sidecars)
            _add(start, amounts)
        for name, amount in start.items():
            peak[name] = max(peak.get(name, 0), amount)
    _add(run, sidecars)
    for name, amount in peak.items():
        run[name] = max(run.get(name, 0), amount)
    run.update(pod_level)
    _add(run, _amounts(overhead))
    return dict(sorted(run.items()))


def _add(into: Amounts, amounts: Amounts) -> None:
    for name, amount in amounts.items():
        into[name] = min(into.get(name, 0) + amount, MAX)
