"""Server-side apply: a manager says which fields it wants and how; the rest of the object is others' business.

The rule
    1 the configuration is laid over the object                                             kumi.registry.apply.merge
    2 fields that the manager applied before and applies no more go, if nobody else manages them       prune
    3 fields that this changes and that others manage are conflicts; with `force` the others lose them
    4 the manager is noted with the fields of its configuration, in place of those it was noted with; where the object did not
      change, its time does not either
    A field that two managers apply with the same value is managed by both, and is there until both leave it out.
Laws       applying the same configuration twice changes nothing; a field that its only manager leaves out is gone.
Gone       last - (all that anybody manages now), where who manages a field has a stake in the structs on the way to it: an object
           of which nobody manages any field goes with whatever defaults it holds.
Versions   as in tracking: what others manage is looked up in the version that they spoke.
Source     Kubernetes: server-side apply (KEP-555); its behaviour as recorded.
Not here   what the server makes of the result (defaults, validation): kumi.registry.apply.applying.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kumi.api.errors import ApiError
from kumi.api.scheme import Kind
from kumi.api.shapes import Shape, shape_of
from kumi.api.wire import JsonObject
from kumi.registry import versions
from kumi.registry.apply.claims import SYSTEM, claims, with_structs
from kumi.registry.apply.compare import Comparison, compare, everything
from kumi.registry.apply.elements import path_text
from kumi.registry.apply.fieldset import FieldSet, Path
from kumi.registry.apply.managers import Entries, Entry, Manager, ordered
from kumi.registry.apply.merge import merge
from kumi.registry.apply.prune import prune
from kumi.registry.apply.tracking import served_version
from kumi.registry.refusals import Refusal


class Conflict(NamedTuple):
    """A field that another manager has otherwise."""

    manager: Manager
    path: Path


class Conflicting(Exception):
    """Fields that others manage would be changed, and nobody said that they may."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        super().__init__(conflicts)
        self.conflicts = tuple(conflicts)


class Applied(NamedTuple):
    """The object as it is to be, in the manager's version and without managed fields, and who manages it."""

    object: JsonObject
    entries: list[Entry]


class Config(NamedTuple):
    """What a manager applies; `object` holds only what this request may write."""

    kind: Kind
    object: JsonObject
    manager: Manager


def first(config: Config, now: str) -> list[Entry]:
    """The entries of an object that an apply creates. Unnameable."""
    mine = claims(_shape(config), config.object) - SYSTEM
    return [config.manager.entry(mine, now)] if mine else []


def apply(live: JsonObject, entries: Entries, config: Config, now: str, *, force: bool) -> Applied:
    """The rule of the module on a stored object. Conflicting, Unnameable."""
    manager, version = config.manager, _version(config)
    there = _spoken(config.kind, version, live)
    shape = _shape(config)
    claimed = claims(shape, config.object)
    before = next((entry for entry in entries if manager.owns(entry)), None)
    others = [entry for entry in entries if entry is not before]
    merged = merge(shape, there, config.object)
    if before is not None:
        merged = _pruned(config, merged, before, [*others, manager.entry(claimed, "")])
    own = compare(shape, there, merged)
    conflicts: list[Conflict] = []
    left: list[Entry] = []
    for entry in others:
        difference = _difference(config, entry, there, merged, own)
        if difference is None:
            continue
        if entry.may_touch(difference.changed):
            conflicts += [Conflict(entry.manages, path) for path in (entry.fields & difference.changed).paths()]
        kept = entry.without(difference.touched)
        if kept is not None:
            left.append(kept)
    if conflicts and not force:
        raise Conflicting(conflicts)
    mine = claimed - SYSTEM
    if mine:
        left.append(manager.entry(mine, now if own else "" if before is None else before.time))
    return Applied(merged, ordered(left))


def refusal(conflicts: Sequence[Conflict]) -> ApiError:
    """409 with every conflict."""
    found = sorted(conflicts, key=lambda one: (str(one.manager), one.path))
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {one.manager}",
            "field": path_text(one.path),
        }
        for one in found
    ]
    return Refusal(409, "Conflict", _message(found), wire_causes=causes)


def _message(conflicts: Sequence[Conflict]) -> str:
    if len(conflicts) == 1:
        (one,) = conflicts
        return f"Apply failed with 1 conflict: conflict with {one.manager}: {path_text(one.path)}"
    lines: list[str] = []
    for name in dict.fromkeys(str(one.manager) for one in conflicts):
        lines.append(f"conflicts with {name}:")
        lines += [f"- {path_text(one.path)}" for one in conflicts if str(one.manager) == name]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def _pruned(config: Config, merged: JsonObject, before: Entry, now: Entries) -> JsonObject:
    """Step 2. `before` is what the manager was noted with, `now` all that is managed after this apply."""
    kind, version = config.kind, _version(config)
    last = served_version(kind, before.api_version)
    if last is None:
        return merged
    spoken = _converted(kind, merged, version, last)
    shape = shape_of(kind, last)
    managed = _managed(shape, now, before.api_version)
    gone = with_structs(shape, before.fields) - managed
    left = prune(shape, spoken, gone, managed)
    for api_version, other in _other_versions(kind, now, before.api_version):
        left = _put_back(kind, (spoken, left), (last, other), _managed(shape_of(kind, other), now, api_version))
    return _converted(kind, left, last, version)


def _put_back(
    kind: Kind, objects: tuple[JsonObject, JsonObject], between: tuple[str, str], managed: FieldSet
) -> JsonObject:
    """What was left of an object, with the fields that are managed in another version put back."""
    last, other = between
    whole, left = (_converted(kind, obj, last, other) for obj in objects)
    shape = shape_of(kind, other)
    gone = with_structs(shape, everything(shape, whole)) - with_structs(shape, everything(shape, left)) - managed
    return _converted(kind, prune(shape, whole, gone, managed), other, last)


def _managed(shape: Shape, entries: Entries, api_version: str) -> FieldSet:
    """All that is managed in a version, with the structs on the way."""
    found = FieldSet()
    for entry in entries:
        if entry.api_version == api_version:
            found |= entry.fields
    return with_structs(shape, found)


def _other_versions(kind: Kind, entries: Entries, but: str) -> Iterator[tuple[str, str]]:
    for api_version in sorted({entry.api_version for entry in entries} - {but}):
        version = served_version(kind, api_version)
        if version is not None:
            yield api_version, version


def _difference(
    config: Config, entry: Entry, there: JsonObject, merged: JsonObject, own: Comparison
) -> Comparison | None:
    """What this apply changes in the words of another manager; None if its version is served no more."""
    if entry.api_version == config.manager.api_version:
        return own
    kind, version = config.kind, _version(config)
    other = served_version(kind, entry.api_version)
    if other is None:
        return None
    old, new = (_converted(kind, obj, version, other) for obj in (there, merged))
    return compare(shape_of(kind, other), old, new)


def _version(config: Config) -> str:
    return served_version(config.kind, config.manager.api_version) or ""


def _shape(config: Config) -> Shape:
    return shape_of(config.kind, _version(config))


def _spoken(kind: Kind, version: str, stored: JsonObject) -> JsonObject:
    spoken = dict(versions.from_stored(kind, version, stored))
    spoken["metadata"] = {key: value for key, value in spoken["metadata"].items() if key != "managedFields"}
    return spoken


def _converted(kind: Kind, obj: JsonObject, source: str, target: str) -> JsonObject:
    return obj if source == target else versions.from_stored(kind, target, versions.to_stored(kind, source, obj))
