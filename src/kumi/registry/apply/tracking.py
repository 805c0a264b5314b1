"""What an update (create, replace, patch) does to the managers of an object.

The rule   the writer comes to own what it changed; everybody else loses that, and what is gone
           what the server keeps (metadata.name, uid ...) and what the write may not touch (the status, for a write to the
           object; all but it, for one to the status) has no owner
           a write that changes nothing changes no entry; an entry without fields goes
Sent       managed fields that come with an object take the place of those that are there (but not through a subresource);
           one empty entry resets them, and an object whose fields nobody manages is not tracked before its first apply
Versions   an entry counts in the version that its manager spoke: the two objects are compared in each of them; entries of a
           version that is served no more are dropped
Why        a list whose items can't be told apart is no reason to refuse an update: it is stored, and tracked no further.
Source     Kubernetes: server-side apply (managed fields); its behaviour as recorded.
Not here   apply itself: kumi.registry.apply.apply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import orjson

from kumi.api.errors import ApiError, KumiError
from kumi.api.scheme import Kind
from kumi.api.shapes import Shape, shape_of
from kumi.api.wire import JsonObject
from kumi.registry import versions
from kumi.registry.apply.claims import SYSTEM
from kumi.registry.apply.compare import Comparison, compare
from kumi.registry.apply.elements import Unnameable
from kumi.registry.apply.managers import (
    UNKNOWN,
    Entries,
    Entry,
    Manager,
    ManagerOperation,
    decode,
    encode,
    is_reset,
    ordered,
    read_entries,
)
from kumi.registry.apply.start import start
from kumi.registry.objects import MANAGED, managed_text
from kumi.registry.requests import Target, WriteOptions

Compared = Callable[[str], Comparison | None]
"""The comparison of two objects as an apiVersion has them, without what the server keeps; None for one that is not served."""


class Written(NamedTuple):
    """A write: the object before (None: it is new) and after it, in the stored version, without managed fields."""

    kind: Kind
    old: JsonObject | None
    new: JsonObject

    def compared(self) -> Compared:
        """Compares in whatever version is asked for, each once. Unnameable."""
        known: dict[str, Comparison | None] = {}

        def in_version(api_version: str) -> Comparison | None:
            if api_version not in known:
                version = served_version(self.kind, api_version)
                known[api_version] = None if version is None else self._in(version)
            return known[api_version]

        return in_version

    def _in(self, version: str) -> Comparison:
        shape = shape_of(self.kind, version)
        old = self._start(shape) if self.old is None else _spoken(self.kind, version, self.old)
        found = compare(shape, old, _spoken(self.kind, version, self.new))
        return Comparison(found.changed - SYSTEM, found.removed - SYSTEM)

    def _start(self, shape: Shape) -> JsonObject:
        found = start(shape)
        if "status" in self.kind.subresources:
            # What a creator says of the status is not taken, so that it is nobody's.
            return {**found, "status": self.new.get("status")}
        return found


def track(target: Target, new: JsonObject, old: JsonObject | None, options: WriteOptions, now: str) -> None:
    """Notes in `new` who manages its fields after this update of `old` (None: it is new); both in the stored version."""
    found = new["metadata"]
    sent = found.pop(MANAGED, None)
    there = None if old is None else old["metadata"].get(MANAGED)
    text = managed_text(there)
    before = known = decode(text)
    if sent is not None and sent is not there and not target.subresource and managed_text(sent) != text:
        before = managed_before(sent, known)
    entries = tracked(Written(target.kind, old, new), before, manager_of(target, options, "Update"), now)
    if there is not None and _are_same(entries, known):
        found[MANAGED] = there
    else:
        note(new, entries)


def note(new: JsonObject, entries: Entries) -> None:
    """Notes in an object who manages its fields."""
    new["metadata"].pop(MANAGED, None)
    if entries:
        new["metadata"][MANAGED] = orjson.Fragment(encode(entries))


def manager_of(target: Target, options: WriteOptions, operation: ManagerOperation) -> Manager:
    """Who writes."""
    api_version = versions.api_version(target.kind, target.version)
    return Manager(options.field_manager or UNKNOWN, operation, api_version, target.subresource)


def tracked(written: Written, entries: Entries, manager: Manager, now: str) -> list[Entry]:
    """The entries after an update by `manager`."""
    if not entries and written.old is not None:
        return []
    try:
        return _tracked(written, entries, manager, now)
    except Unnameable:
        return list(entries)


def managed_before(sent: object, there: list[Entry]) -> list[Entry]:
    """The entries that count before a write: those that came with the object, or those that are there."""
    if type(sent) is orjson.Fragment:
        return decode(managed_text(sent))
    if is_reset(sent):
        return []
    entries = read_entries(sent)
    return there if entries is None else entries


def served_version(kind: Kind, api_version: str) -> str | None:
    """The version that an entry speaks ("" = stored); None for one that is not served."""
    if api_version == kind.api_version:
        return ""
    group, _, version = api_version.rpartition("/")
    return version if group == kind.group and version in kind.versions else None


def _are_same(entries: Entries, others: Entries) -> bool:
    """Whether no entry was made anew."""
    return len(entries) == len(others) and all(one is other for one, other in zip(entries, others, strict=True))


def _spoken(kind: Kind, version: str, obj: JsonObject) -> JsonObject:
    try:
        return versions.from_stored(kind, version, obj)
    except (ApiError, KeyError, TypeError, ValueError) as error:
        # An object that can't be told in a version is stored all the same: it is tracked in the others.
        raise Unnameable(str(error)) from error


def _tracked(written: Written, entries: Entries, manager: Manager, now: str) -> list[Entry]:
    compared = written.compared()
    own = compared(manager.api_version)
    if own is None:
        raise KumiError(f"{manager.api_version} is not served")
    left: list[Entry] = []
    mine: Entry | None = None
    for entry in entries:
        is_mine = manager.owns(entry)
        difference = own if is_mine else compared(entry.api_version)
        if difference is None:
            continue
        kept = entry.without(difference.removed if is_mine else difference.touched)
        if kept is None:
            continue
        if is_mine and own.changed:
            mine = kept
        else:
            left.append(kept)
    if own.changed:
        left.append(manager.entry(own.changed, now) if mine is None else mine.with_also(own.changed, now))
    return ordered(left)
