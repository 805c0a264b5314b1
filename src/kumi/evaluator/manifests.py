"""Manifests: API objects, as people write them, as the engine's nouns.

The rule   an object is checked, converted to the version that is stored, completed and validated as a server would, and read as
           the bridge reads it (kumi.bridge.into)
           a namespaced object without a namespace is in `default`
Errors     KumiError with the file, the line of the document, the kind and every wrong field.
Why        a quota tree that a cluster takes is taken here, and one that it refuses is refused.
Not here   what becomes of them: policies.py, scenarios/.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kumi.api.errors import FieldError, KumiError

if TYPE_CHECKING:
    from kumi.api.scheme import Kind
    from kumi.bridge.into import Deltas
    from kumi.engine.model import Noun


def is_object(document: Any) -> bool:
    """Is it an object of a kind that Kumi serves? A policy or a Configuration isn't."""
    return isinstance(document, dict) and _kind(document) is not None


def nouns(documents: Iterable[tuple[str, Any]], deltas: Deltas | None = None) -> tuple[Noun, ...]:
    """What the objects are to the engine. `documents`: (where it stands, for people; the object); `deltas`: with which they are
    read. KumiError, also for what is no object, or means nothing to the engine."""
    from kumi.bridge.into import Deltas

    reading = deltas or Deltas()
    return tuple(_noun(where, document, reading) for where, document in documents)


def _noun(where: str, document: Any, deltas: Deltas) -> Noun:
    import msgspec

    from kumi.api import fields
    from kumi.registry import versions

    kind = _kind(document) if isinstance(document, dict) else None
    if kind is None:
        raise KumiError(f"{where}: no object of a kind that Kumi serves")
    said = f"{where}: {kind.kind} {(document.get('metadata') or {}).get('name', '(without a name)')}"
    version = str(document.get("apiVersion", "")).rpartition("/")[2]
    version = "" if version == kind.version else version
    checked = fields.check(kind, version, document)
    unknown = [FieldError(path, "unknown field", "FieldValueForbidden") for path in checked.unknown]
    _refuse(said, [*checked.errors, *unknown])
    stored = versions.to_stored(kind, version, checked.object)
    if kind.namespaced:
        stored.setdefault("metadata", {}).setdefault("namespace", "default")
    kind.fill(version, stored)
    _refuse(said, kind.wrong(version, stored, None))
    try:
        return deltas.put(msgspec.convert(stored, kind.type)).noun
    except TypeError as error:
        raise KumiError(f"{said}: it says nothing that is decided by") from error
    except (KumiError, msgspec.ValidationError) as error:
        raise KumiError(f"{said}: {error}") from error


def _refuse(said: str, errors: list[FieldError]) -> None:
    if errors:
        raise KumiError(f"{said} is wrong:\n" + "\n".join(f"  {error.text()}" for error in errors))


def _kind(document: dict[str, Any]) -> Kind | None:
    from kumi.api.scheme import load

    group, _, version = str(document.get("apiVersion", "")).rpartition("/")
    kind = load().find(group, str(document.get("kind", "")))
    return kind if kind is not None and version in kind.versions else None
