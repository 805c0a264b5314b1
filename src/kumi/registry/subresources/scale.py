"""scale: an object as an autoscaler sees it, whatever its kind: how many are wanted, how many are there, which they are.

The Scale carries the object's own metadata (without its labels), so that its resourceVersion makes an update conditional.
Source     Kubernetes: autoscaling/v1 Scale, subresources of custom resources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kumi.api.errors import ApiError, FieldError, bad_request, not_found
from kumi.api.meta import selector_text
from kumi.api.scheme import Kind, ScalePaths
from kumi.api.wire import JsonObject
from kumi.registry import metadata
from kumi.registry.environment import Environment
from kumi.registry.jsonpath import compile_path
from kumi.registry.objects import Found
from kumi.registry.refusals import invalid_as
from kumi.registry.requests import Target, WriteOptions
from kumi.registry.subresources.reviewed import reviewed
from kumi.registry.writing import ROUNDS, Writing, count_generation

DEFINITION = "io.k8s.api.autoscaling.v1.Scale"


PLAIN = ScalePaths(".spec.replicas", ".status.replicas")
"""Of kinds that say nothing else; their selector is the LabelSelector in `spec.selector`."""


def read(kind: Kind, obj: JsonObject, version: str = "") -> JsonObject:
    """The Scale of a stored object; `version` is the one that is spoken."""
    scale, there = kind.scale_in(version), obj["metadata"]
    paths = scale or PLAIN
    status: JsonObject = {"replicas": _at(obj, paths.status_replicas) or 0}
    selector = _at(obj, paths.label_selector) if scale else selector_text(_at(obj, ".spec.selector"))
    if selector:
        status["selector"] = selector
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: there[key] for key in kept if key in there},
        "spec": {"replicas": replicas} if (replicas := _at(obj, paths.spec_replicas)) is not None else {},
        "status": status,
    }


async def change(
    env: Environment,
    writing: Writing,
    target: Target,
    asked: Callable[[JsonObject], JsonObject],
    options: WriteOptions,
) -> JsonObject:
    """Sets the replicas that `asked` says of the present Scale; the new Scale. ApiError 400, 403, 404, 409, 422.

    Webhooks see the Scale that was there: if another one is there when they have answered, they are asked again."""
    for left in reversed(range(ROUNDS)):
        found = env.objects.get(target.kind, target.namespace, target.name)
        if found is None:
            raise not_found(target.kind.plural, target.name, target.kind.group)
        now, mine = (read(target.kind, found.object, target.version) for _ in range(2))
        said = asked(mine)
        named = (said.get("metadata") or {}).get("resourceVersion", "") not in ("", str(found.revision))
        said = await reviewed(env, "UPDATE", target, said, options, now)
        try:
            return await _set_once(writing, target, said, "" if named else str(found.revision), options)
        except ApiError as error:
            if named or not left or error.reason != "Conflict":
                raise
    raise AssertionError("the last round returns or raises")


async def _set_once(
    writing: Writing, target: Target, said: JsonObject, revision: str, options: WriteOptions
) -> JsonObject:
    """Sets them on the object of that revision ("": of the one that the Scale names)."""
    kind = target.kind
    path = (kind.scale_in(target.version) or PLAIN).spec_replicas

    def wanted(found: Found) -> JsonObject:
        new = found.copy()
        _set(new, path, replicas_of(target, said))
        new["metadata"]["resourceVersion"] = revision or (said.get("metadata") or {}).get("resourceVersion", "")
        return new

    def prepare(new: JsonObject, found: Found) -> list[FieldError]:
        errors = metadata.keep(new["metadata"], found.object["metadata"])
        writing.noting(target, options)(new, found.object)
        count_generation(kind, new, found.object)
        return errors + kind.wrong(target.version, new, found.object)

    return read(kind, await writing.change(target, wanted, prepare, options), target.version)


def put(kind: Kind, obj: JsonObject, replicas: int) -> None:
    """Writes the replicas where the kind keeps them."""
    _set(obj, (kind.scale or PLAIN).spec_replicas, replicas)


def replicas_of(target: Target, said: JsonObject) -> int:
    """The replicas that a Scale asks for. ApiError 400, 422."""
    if said.get("kind", "Scale") != "Scale":
        raise bad_request(f"the kind in the data ({said['kind']}) does not match the expected kind (Scale)")
    name = (said.get("metadata") or {}).get("name", target.name)
    if name != target.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")
    replicas = (said.get("spec") or {}).get("replicas", 0)
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise bad_request("spec.replicas must be a whole number")
    if replicas < 0:
        error = FieldError("spec.replicas", "must be greater than or equal to 0", value=replicas)
        raise invalid_as("Scale", "autoscaling", target.name, [error])
    return replicas


def _at(obj: JsonObject, path: str) -> Any:
    """What is at a path, None for nothing."""
    return next(iter(compile_path(path)(obj)), None) if path else None


def _set(obj: JsonObject, path: str, value: int) -> None:
    *above, last = path.lstrip(".").split(".")
    for key in above:
        obj = obj.setdefault(key, {})
    obj[last] = value
