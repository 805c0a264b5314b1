"""Manifests: what people write, checked as the API server checks it, and read into views and the engine's nouns.

The rule   kind and version are known; fields and their types are the kind's; then the stored version, with its defaults and what
           the server makes of it, and the kind's own validation. A namespaced object without a namespace is in `default`
Also       a Node without conditions is ready: nobody reports for it
Errors     ManifestError with every fault; of `nouns` a KumiError that says where the object stands.
Why        a quota tree that a cluster takes is taken here, and one that it refuses is refused.
Cost       some tenths of a millisecond an object.
Not here   what becomes of them: policies.py, scenarios/plays.py; files of them in a scenario: scenarios/manifests.py.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from kumi.api import fields
from kumi.api.errors import FieldError, KumiError
from kumi.api.meta import Object
from kumi.api.scheme import Kind, Scheme, load
from kumi.api.wire import JsonObject
from kumi.bridge.into import Deltas
from kumi.engine.model import Noun
from kumi.evaluator import said
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


def is_object(document: Any) -> bool:
    """Is it an object of a kind that Kumi serves? A policy or a Configuration isn't."""
    if not isinstance(document, dict):
        return False
    kind = scheme().of_object(document)
    return kind is not None and _version(kind, document) is not None


def nouns(documents: Iterable[tuple[str, Any]]) -> tuple[Noun, ...]:
    """What the objects are to the engine. `documents`: (where it stands, for people; the object). KumiError, also for what is no
    object, or means nothing to the engine."""
    deltas = Deltas()
    return tuple(_noun(where, document, deltas) for where, document in documents)


def _noun(where: str, document: Any, deltas: Deltas) -> Noun:
    if not is_object(document):
        raise KumiError(f"{where}: no object of a kind that Kumi serves")
    name = name_of(document)
    try:
        return deltas.put(checked(document).view).noun
    except ManifestError as error:
        raise KumiError(f"{where}: {name} is wrong:\n" + "\n".join(f"  {fault}" for fault in error.faults)) from error
    except TypeError as error:
        raise KumiError(f"{where}: {name}: it says nothing that is decided by") from error
    except KumiError as error:
        raise KumiError(f"{where}: {name}: {error}") from error


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
