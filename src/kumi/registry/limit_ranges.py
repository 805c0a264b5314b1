"""Limit ranges: what containers, pods and claims of a namespace get if they say nothing, and what they may say.

The rule, for every LimitRange of the namespace, by name:
    default   a container of a new pod gets the requests and limits that it leaves out; an annotation on the pod says so
    check     min <= request and limit;  limit <= max;  limit / request <= ratio
                Container   each container, init containers too
                Pod         all containers together, as the pod's requests and limits are counted
                PersistentVolumeClaim      the storage that a claim asks for, against min and max
              Every breach is told at once, as 403.
When      pods when they are made; claims also when they change.
Source    Kubernetes: limit ranges; its behaviour as recorded.
Not here  defaults within a LimitRange (kumi.api.defaulting.limits).
"""

from __future__ import annotations

from collections.abc import Iterator

from kumi.api.pod_requests import pod_limits, pod_requests
from kumi.api.quantity import canonical, nano, nano_text, unit_of
from kumi.api.scheme import Kind
from kumi.api.usage import ONE
from kumi.api.wire import JsonObject
from kumi.registry.environment import Environment
from kumi.registry.objects import prefix_of
from kumi.registry.refusals import forbidden

ANNOTATION = "kubernetes.io/limit-ranger"
Texts = dict[str, str | int | float]


def default_limits(env: Environment, kind: Kind, new: JsonObject) -> None:
    """Gives a new pod what its namespace says, in place."""
    if kind.group or kind.kind != "Pod":
        return
    items = [item for item in _items(env, new) if item.get("type") == "Container"]
    notes = [note for item in items for note in _default(new, item)]
    if notes:
        annotations = new["metadata"].setdefault("annotations", {})
        annotations[ANNOTATION] = f"LimitRanger plugin set: {'; '.join(notes)}"


def check_limits(env: Environment, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
    """Refuses what is out of bounds. ApiError 403."""
    if kind.group or kind.kind not in ("Pod", "PersistentVolumeClaim") or (kind.kind == "Pod" and old is not None):
        return
    wrong = [text for item in _items(env, new) for text in _wrong(kind, new, item)]
    if wrong:
        name = new["metadata"].get("name", "")
        raise forbidden(kind, name, wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]")


def _items(env: Environment, obj: JsonObject) -> list[JsonObject]:
    ranges = env.scheme.find("", "LimitRange")
    if ranges is None:
        return []
    entries = env.objects.page(prefix_of(ranges, obj["metadata"].get("namespace", ""))).entries
    return [item for e in entries for item in (env.objects.found(e).object.get("spec") or {}).get("limits") or ()]


def _default(pod: JsonObject, item: JsonObject) -> Iterator[str]:
    """Gives each container what it leaves out; says what it got."""
    for field, word in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(field) or ():
            resources = container.setdefault("resources", {})
            for source, part, what in (("defaultRequest", "requests", "request"), ("default", "limits", "limit")):
                there = resources.get(part) or {}
                lacking = {n: amount for n, amount in (item.get(source) or {}).items() if n not in there}
                if lacking:
                    resources[part] = {**there, **lacking}
                    yield f"{', '.join(sorted(lacking))} {what} for {word} {container.get('name', '')}"


def _wrong(kind: Kind, obj: JsonObject, item: JsonObject) -> Iterator[str]:
    type_, spec = item.get("type"), obj.get("spec") or {}
    if kind.kind == "PersistentVolumeClaim":
        if type_ == kind.kind:
            requests = (spec.get("resources") or {}).get("requests") or {}
            yield from _claim(item, requests)
    elif type_ == "Container":
        for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
            resources = container.get("resources") or {}
            yield from _bounds(item, "Container", resources.get("requests") or {}, resources.get("limits") or {})
    elif type_ == "Pod":
        yield from _bounds(item, "Pod", _texts(pod_requests(spec)), _texts(pod_limits(spec)))


def _texts(amounts: dict[str, int]) -> Texts:
    return {
        name: nano_text(
            amount * (ONE // unit_of(name)), "binary" if unit_of(name) == 1 and not amount % 1024 else "decimal"
        )
        for name, amount in amounts.items()
    }


def _claim(item: JsonObject, requests: Texts) -> Iterator[str]:
    for bound, word in (("min", "minimum"), ("max", "maximum")):
        for name, limit in sorted((item.get(bound) or {}).items()):
            head = f"{word} {name} usage per PersistentVolumeClaim is {canonical(limit)}"
            if name not in requests:
                yield f"{head}.  No request is specified"
                continue
            over = nano(requests[name]) - nano(limit)
            if over and (over > 0) == (bound == "max"):
                yield f"{head}, but request is {canonical(requests[name])}"


def _bounds(item: JsonObject, type_: str, requests: Texts, limits: Texts) -> Iterator[str]:
    for name, least in sorted((item.get("min") or {}).items()):
        head = f"minimum {name} usage per {type_} is {canonical(least)}"
        if name not in requests:
            yield f"{head}.  No request is specified"
        elif nano(requests[name]) < nano(least):
            yield f"{head}, but request is {canonical(requests[name])}"
        elif name in limits and nano(limits[name]) < nano(least):
            yield f"{head}, but limit is {canonical(limits[name])}"
    for name, most in sorted((item.get("max") or {}).items()):
        head = f"maximum {name} usage per {type_} is {canonical(most)}"
        if name not in limits:
            yield f"{head}.  No limit is specified"
        elif nano(limits[name]) > nano(most):
            yield f"{head}, but limit is {canonical(limits[name])}"
        elif name in requests and nano(requests[name]) > nano(most):
            yield f"{head}, but request is {canonical(requests[name])}"
    for name, ratio in sorted((item.get("maxLimitRequestRatio") or {}).items()):
        yield from _ratio(
            f"{name} max limit to request ratio per {type_} is {canonical(ratio)}", name, ratio, requests, limits
        )


def _ratio(head: str, name: str, ratio: str | int | float, requests: Texts, limits: Texts) -> Iterator[str]:
    request, limit = nano(requests.get(name, 0)), nano(limits.get(name, 0))
    if not request:
        yield f"{head}, but no request is specified or request is 0"
    elif not limit:
        yield f"{head}, but no limit is specified or limit is 0"
    elif limit * ONE > nano(ratio) * request:
        yield f"{head}, but provided ratio is {limit / request:f}"
