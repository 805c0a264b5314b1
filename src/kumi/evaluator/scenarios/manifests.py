"""Manifests: what people write, checked as the API server checks it, and read into views; and files of them.

The rule   kind and version are known; fields and their types are the kind's; then the stored version, with its defaults and what
           the server makes of it, and the kind's own validation. A namespaced object without a namespace is in `default`
Also       a Node without conditions is ready: nobody reports for it
Cost       some tenths of a millisecond an object.
Not here   what an object is for the engine: plays.py.
"""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import msgspec

from kumi.api import fields
from kumi.api.errors import FieldError, KumiError
from kumi.api.meta import Object
from kumi.api.scheme import Kind, Scheme, load
from kumi.api.wire import JsonObject
from kumi.api.yaml import load_objects
from kumi.evaluator import said
from kumi.evaluator.scenarios.document import Part
from kumi.registry import versions
from kumi.registry.kinds.lifecycle import lifecycle

NAMESPACE = "default"


class ManifestError(KumiError):
    """A manifest is wrong; `faults` has every sentence."""

    def __init__(self, name: str, faults: list[str]) -> None:
        self.faults = faults
        super().__init__(f"{name}: {'; '.join(faults)}")


@lru_cache(maxsize=1)
def scheme() -> Scheme:
    """The kinds that there are."""
    return load()


def kind_of(obj: JsonObject) -> Kind:
    """An object's kind. ManifestError, also where its metadata is none."""
    if not isinstance(obj.get("metadata"), dict):
        raise ManifestError(name_of(obj), ["metadata is missing, or no mapping"])
    kind = scheme().of_object(obj)
    if kind is None or _version(kind, obj) is None:
        known = f"; of this kind there is {', '.join(kind.versions)}" if kind is not None else ""
        raise ManifestError(name_of(obj), [f"apiVersion {obj.get('apiVersion')!r} is not known{known}"])
    return kind


def name_of(obj: JsonObject) -> str:
    """What it is called in messages."""
    meta = obj.get("metadata") if isinstance(obj.get("metadata"), dict) else {}
    assert isinstance(meta, dict)
    space = f"{meta['namespace']}/" if meta.get("namespace") else ""
    return (
        f"{obj.get('kind') or 'an object'} {space}{meta.get('name') or meta.get('generateName') or '(without a name)'}"
    )


def key_of(obj: JsonObject) -> str:
    """`Kind namespace/name`: who it is, among all objects. ManifestError."""
    kind, meta = kind_of(obj), obj.get("metadata") or {}
    if not meta.get("name"):
        raise ManifestError(name_of(obj), ["metadata.name is missing"])
    space = f"{meta.get('namespace') or NAMESPACE}/" if kind.namespaced else ""
    return f"{kind.resource} {space}{meta['name']}"


def namespace_of(obj: JsonObject) -> str:
    """Where it is; "" for what is in no namespace."""
    return ((obj.get("metadata") or {}).get("namespace") or NAMESPACE) if kind_of(obj).namespaced else ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A manifest that is right: as it is stored, and as it is read."""

    kind: Kind
    stored: JsonObject
    view: Object


def checked(obj: JsonObject, created: str = "") -> Checked:
    """The object, created then (RFC 3339). ManifestError with all that is wrong with it."""
    kind = kind_of(obj)
    version = _version(kind, obj) or ""
    found = fields.check(kind, version, obj)
    faults = [f"{path}: there is no such field" for path in found.unknown]
    faults += [error.text() for error in found.errors]
    if faults:
        raise ManifestError(name_of(obj), faults)
    stored = versions.to_stored(kind, version, copy.deepcopy(found.object))
    meta = stored.setdefault("metadata", {})
    if not meta.get("name"):
        raise ManifestError(name_of(obj), ["metadata.name: Required value: generateName is not enough"])
    if kind.namespaced:
        meta.setdefault("namespace", NAMESPACE)
    if created:
        meta["creationTimestamp"] = created
    meta["uid"] = hashlib.sha1(
        f"{kind.kind} {meta.get('namespace')} {meta.get('name')}".encode(), usedforsecurity=False
    ).hexdigest()
    kind.fill(version, stored)
    lifecycle(kind).on_create(stored)
    wrong: list[FieldError] = kind.wrong(version, stored, None)
    if faults := [*(error.text() for error in wrong), *said.faults(stored)]:
        raise ManifestError(name_of(obj), faults)
    _report(kind, stored)
    try:
        view: Object = msgspec.convert(stored, kind.type)
    except msgspec.ValidationError as error:
        raise ManifestError(name_of(obj), [str(error)]) from error
    return Checked(kind, stored, view)


def merged(old: JsonObject, change: JsonObject) -> JsonObject:
    """The object with the change, as a merge patch does it."""
    made = dict(old)
    for key, value in change.items():
        if value is None:
            made.pop(key, None)
        elif isinstance(value, dict):
            before = made.get(key)
            made[key] = merged(before if isinstance(before, dict) else {}, value)
        else:
            made[key] = value
    return made


def listed(parts: Part) -> list[tuple[str, JsonObject]]:
    """The objects of a part, each with its place: files beside the scenario, and objects that stand in it. What is wrong is
    noted."""
    found: list[tuple[str, JsonObject]] = []
    for part in parts.items():
        if isinstance(part.value, str):
            found += _of_file(part)
        elif isinstance(part.value, dict):
            found.append((part.path, part.value))
        else:
            part.wrong("must be a manifest, or the name of a file of them")
    return found


def proven(part: Part, objects: list[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """The same, those that are right; what is wrong with others is noted."""
    right = []
    for place, obj in objects:
        try:
            checked(obj)
        except ManifestError as error:
            for fault in error.faults:
                Part(part.document, None, place if place.startswith(part.path) else part.path).wrong(
                    f"{'' if place.startswith(part.path) else place + ': '}{name_of(obj)}: {fault}"
                )
            continue
        right.append((place, obj))
    return right


def _of_file(part: Part) -> list[tuple[str, JsonObject]]:
    path: Path = part.document.beside(part.value)
    try:
        objects = load_objects(path.read_bytes())
    except (OSError, KumiError) as error:
        part.wrong(f"{path} can't be read: {error}")
        return []
    return [(f"{path.name}, object {number}", obj) for number, obj in enumerate(objects, 1)]


def _version(kind: Kind, obj: JsonObject) -> str | None:
    """The served version of its apiVersion; "" for the stored one, None for one that isn't served."""
    _, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    if version not in kind.versions:
        return None
    return "" if version == kind.version else version


def _report(kind: Kind, stored: JsonObject) -> None:
    if kind.kind == "Node" and not kind.group:
        status = stored.setdefault("status", {})
        if not status.get("conditions"):
            status["conditions"] = [{"type": "Ready", "status": "True"}]
