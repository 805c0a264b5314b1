"""Admission of Volcano's queues and pod groups, as far as it depends on what else there is.

Of a Queue    made      a path in volcano.sh/hierarchy that doesn't begin at the root gets the root and a weight of 1 in front; it
                        gives back (reclaimable) where it doesn't say otherwise; a weight of 0 is 1, later as well
              parent    is there, and not below it; it holds no pods itself, unless it is a parent already
              tree      no other queue's path goes on where this one's ends; a capability is within the parent's; what children
                        deserve, and are guaranteed, is together within what the parent has of it, else within its capability
              deleted   not `default`, not `root`, and none that is a parent. ApiError 403
Of a PodGroup made      in the queue of its namespace's annotation scheduling.volcano.sh/queue-name, where it names none or
                        `default`
              queue     is there and open, and has no queues below it; `default` may still come
Cost          O(queues) a write of a queue; a pod group costs what parents.py says.
Structurally  an AdmissionHook and a DeletionHook.
Source        Volcano: webhooks of queues and pod groups.
Not here      what an object says by itself: kumi.api.validation.volcano.
"""

from __future__ import annotations

from collections.abc import Iterable

from kumi.api.core import Namespace
from kumi.api.errors import FieldError
from kumi.api.quantity import QuantityError, nano
from kumi.api.scheme import Kind, Scheme
from kumi.api.validation.volcano import HIERARCHY, WEIGHTS
from kumi.api.volcano import PodGroup, Queue
from kumi.api.wire import JsonObject
from kumi.registry.hooks import Operation
from kumi.registry.objects import Objects, prefix_of
from kumi.registry.parents import Parents, parent_of
from kumi.registry.refusals import forbidden

DEFAULT, ROOT = "default", "root"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"


class GangRules:
    """See the module."""

    def __init__(self, objects: Objects, scheme: Scheme) -> None:
        self._objects = objects
        self._queues, self._groups, self._namespaces = scheme.of(Queue), scheme.of(PodGroup), scheme.of(Namespace)
        self._parents = Parents(objects, self._queues)

    def mutate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """See the module."""
        if kind.type is Queue and (new.get("spec") or {}).get("weight") == 0:
            new["spec"]["weight"] = 1
        if operation != "CREATE":
            return
        if kind.type is Queue:
            new.setdefault("spec", {}).setdefault("reclaimable", True)
            _from_the_root(new["metadata"].get("annotations") or {})
        elif kind.type is PodGroup:
            spec = new.setdefault("spec", {})
            if spec.get("queue") in (None, "", DEFAULT):
                spec["queue"] = self._of_namespace(new["metadata"].get("namespace", "")) or DEFAULT

    def validate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """Every wrong field."""
        if kind.type is Queue:
            return self._queue(new, old)
        if kind.type is PodGroup and operation == "CREATE":
            return self._queue_of(str((new.get("spec") or {}).get("queue") or ""))
        return []

    def warnings(self, operation: Operation, kind: Kind, new: JsonObject) -> list[str]:
        """None."""
        return []

    def deleting(self, kind: Kind, obj: JsonObject) -> None:
        """ApiError 403: it has to stay."""
        if kind.type is not Queue:
            return
        name = obj["metadata"]["name"]
        if name in (DEFAULT, ROOT):
            raise forbidden(kind, name, f"queue {name} can't be deleted")
        children = sorted(q["metadata"]["name"] for q in self._all() if parent_of(q) == name)
        if children:
            raise forbidden(kind, name, f"queue {name} can't be deleted: it is the parent of {', '.join(children)}")

    def _queue(self, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        if old is not None and _tells(old) == _tells(new):
            return []
        name, parent, everybody = new["metadata"]["name"], parent_of(new), self._all()
        others = [q for q in everybody if q["metadata"]["name"] != name]
        errors = _paths(new, others)
        children = [q for q in others if parent_of(q) == name]
        if name != ROOT:
            errors += _within(new, children, "spec", "its children")
        if parent in ("", ROOT):
            return errors
        above = next((q for q in others if q["metadata"]["name"] == parent), None)
        if above is None:
            return [*errors, FieldError("spec.parent", "there is no such queue", "FieldValueNotFound", parent)]
        if _is_below(above, name, others):
            return [*errors, FieldError("spec.parent", f"that queue is below {name} itself", value=parent)]
        siblings = [q for q in others if parent_of(q) == parent]
        held = str(((above.get("status") or {}).get("allocated") or {}).get("pods") or "0")
        if not siblings and held != "0":
            errors.append(FieldError("spec.parent", f"that queue holds {held} pods itself", value=parent))
        return errors + _within(above, [*siblings, new], "spec", f"the children of {parent}")

    def _queue_of(self, name: str) -> list[FieldError]:
        if name in ("", DEFAULT):
            return []
        if name == ROOT:
            return [FieldError("spec.queue", "the root takes no pod groups", value=name)]
        found = self._objects.get(self._queues, "", name)
        if found is None:
            return [FieldError("spec.queue", "there is no such queue", "FieldValueNotFound", name)]
        if self._parents.has_children(name):
            return [FieldError("spec.queue", "it has queues below it: pod groups are of one of these", value=name)]
        state = (found.object.get("status") or {}).get("state") or "Open"
        if state == "Open":
            return []
        return [FieldError("spec.queue", f"the queue is {state}: only an open one takes pod groups", value=name)]

    def _of_namespace(self, namespace: str) -> str:
        found = self._objects.get(self._namespaces, "", namespace)
        annotations = (found.object["metadata"].get("annotations") or {}) if found is not None else {}
        return str(annotations.get(QUEUE_NAME) or "")

    def _all(self) -> list[JsonObject]:
        return [self._objects.listed(entry) for entry in self._objects.page(prefix_of(self._queues, "")).entries]


def _from_the_root(annotations: JsonObject) -> None:
    path, weights = annotations.get(HIERARCHY), annotations.get(WEIGHTS)
    if path and weights and path.split("/")[0] != ROOT:
        annotations[HIERARCHY], annotations[WEIGHTS] = f"{ROOT}/{path}", f"1/{weights}"


def _is_below(queue: JsonObject, name: str, others: Iterable[JsonObject]) -> bool:
    """Is that one above it? Of a circle that is there already nobody is above."""
    parents = {q["metadata"]["name"]: parent_of(q) for q in others}
    seen, at = {""}, parent_of(queue)
    while at not in seen:
        if at == name:
            return True
        seen.add(at)
        at = parents.get(at, "")
    return False


def _tells(queue: JsonObject) -> tuple[object, ...]:
    annotations = queue["metadata"].get("annotations") or {}
    return queue.get("spec"), annotations.get(HIERARCHY), annotations.get(WEIGHTS)


def _paths(new: JsonObject, others: Iterable[JsonObject]) -> list[FieldError]:
    path = (new["metadata"].get("annotations") or {}).get(HIERARCHY)
    if not path:
        return []
    below = path.split("/")
    for other in others:
        theirs = ((other["metadata"].get("annotations") or {}).get(HIERARCHY) or "").split("/")
        if theirs[: len(below)] == below:
            detail = f"queue {other['metadata']['name']} is at or below that place"
            return [FieldError(f"metadata.annotations[{HIERARCHY}]", detail, value=path)]
    return []


def _within(parent: JsonObject, children: list[JsonObject], path: str, whose: str) -> list[FieldError]:
    """What children have, within what their parent has."""
    errors: list[FieldError] = []
    most = _amounts(parent, "capability")
    for child in children:
        for resource, amount in _amounts(child, "capability").items():
            if resource in most and amount > most[resource]:
                name = child["metadata"]["name"]
                detail = f"the capability of {name} is beyond that of its parent in {resource}"
                errors.append(FieldError(f"{path}.capability[{resource}]", detail))
    for field in ("guarantee", "deserved"):
        limit = _amounts(parent, field) or most
        total: dict[str, int] = {}
        for child in children:
            for resource, amount in _amounts(child, field).items():
                total[resource] = total.get(resource, 0) + amount
        for resource, amount in sorted(total.items()):
            if resource in limit and amount > limit[resource]:
                detail = f"what {whose} have of it is beyond what their parent has"
                errors.append(FieldError(f"{path}.{field}[{resource}]", detail))
    return errors


def _amounts(queue: JsonObject, field: str) -> dict[str, int]:
    given = (queue.get("spec") or {}).get(field) or {}
    given = (given.get("resource") or {}) if field == "guarantee" else given
    read = {}
    for resource, quantity in given.items():
        try:
            read[resource] = nano(quantity)
        except QuantityError:
            continue
    return read
