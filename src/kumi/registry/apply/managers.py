"""metadata.managedFields: who manages what, one entry a manager.

Identity   manager, operation and subresource; of an Update its apiVersion too (an apply speaks for all it ever applied).
Order      applies before updates, then by time, manager, apiVersion, subresource.
Cap        UPDATERS entries of updates: past that the oldest ones of a version become one, `ancient-changes`.
Reading    an entry that makes no sense makes the whole list count as if it had not been sent.
Entries    are read-only; the fields of one stay the JSON that they are stored as until somebody asks for them, and most writes
           ask for few: `may_touch` tells from the text alone.
Source     Kubernetes: server-side apply (managed fields).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import orjson
from msgspec import Raw, Struct

from kumi.api.errors import KumiError
from kumi.api.meta import parse_time
from kumi.registry.apply.fieldset import FieldSet, read

ManagerOperation: TypeAlias = Literal["Apply", "Update"]

UPDATERS = 10
ANCIENT = "ancient-changes"
UNKNOWN = "unknown"
FIELDS_TYPE = "FieldsV1"


class Entry(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One entry, its members in the order of the API; `fields_v1` is the JSON of its fields."""

    manager: str
    operation: ManagerOperation
    api_version: str
    time: str = ""
    fields_type: str = ""
    fields_v1: Raw = msgspec.field(default=Raw(b"{}"), name="fieldsV1")
    subresource: str = ""

    @property
    def fields(self) -> FieldSet:
        """The fields, read anew each time."""
        return FieldSet(orjson.loads(bytes(self.fields_v1)))

    @property
    def manages(self) -> Manager:
        """Whose entry it is."""
        return Manager(self.manager, self.operation, self.api_version, self.subresource)

    def without(self, fields: FieldSet) -> Entry | None:
        """The same entry without these fields; None if nothing is left."""
        if not self.may_touch(fields):
            return self
        own = self.fields
        left = own - fields
        if left == own:
            return self
        return self.manages.entry(left, self.time) if left else None

    def with_also(self, fields: FieldSet, time: str) -> Entry:
        """The same entry with these fields too, as of that time."""
        own = self.fields
        if not fields - own:
            return msgspec.structs.replace(self, time=time)
        return self.manages.entry(own | fields, time)

    def may_touch(self, fields: FieldSet) -> bool:
        """Whether it may have one of these fields; False is certain."""
        text = bytes(self.fields_v1)
        return any(orjson.dumps(element) in text for element in fields.tree)


Entries: TypeAlias = Sequence[Entry]
_DECODER = msgspec.json.Decoder(list[Entry])
_ENCODER = msgspec.json.Encoder()


class Manager(NamedTuple):
    """Who writes, how, and in which words."""

    name: str
    operation: ManagerOperation
    api_version: str
    subresource: str = ""

    def owns(self, entry: Entry) -> bool:
        """Whether an entry is this manager's."""
        return (
            entry.manager == self.name
            and entry.operation == self.operation
            and entry.subresource == self.subresource
            and (self.operation == "Apply" or entry.api_version == self.api_version)
        )

    def entry(self, fields: FieldSet, time: str) -> Entry:
        """What this manager is noted with; `time` "" for none."""
        text = Raw(orjson.dumps(fields.tree))
        return Entry(self.name, self.operation, self.api_version, time, FIELDS_TYPE, text, self.subresource)

    def __str__(self) -> str:
        name = f'"{self.name}"'
        if self.subresource:
            name += f' with subresource "{self.subresource}"'
        return name if self.operation == "Apply" else f"{name} using {self.api_version}"


def decode(managed: bytes) -> list[Entry]:
    """The entries of an object, as they were stored."""
    return _DECODER.decode(managed)


def encode(entries: Entries) -> bytes:
    """The JSON of entries."""
    return _ENCODER.encode(entries)


def is_reset(sent: object) -> bool:
    """Whether what was sent says that nobody manages anything: one entry that is empty."""
    return sent == [{}]


def read_entries(sent: object) -> list[Entry] | None:
    """Entries that came with a request, in the right words; None for none, or for what makes no sense."""
    if not isinstance(sent, list) or not sent:
        return None
    try:
        return [_read(entry) for entry in sent]
    except KumiError:
        return None


def ordered(entries: Iterable[Entry]) -> list[Entry]:
    """In the order of the module; no more than the cap."""
    found = sorted(entries, key=_rank)
    return found if len(found) <= UPDATERS else _capped(found)


def same_but_time(one: Entries, other: Entries) -> bool:
    """Whether two lists say the same, whenever it was."""
    return len(one) == len(other) and all(
        a is b or (a.manages == b.manages and a.fields == b.fields) for a, b in zip(one, other, strict=True)
    )


def _rank(entry: Entry) -> tuple[str, str, str, str, str]:
    return entry.operation, entry.time, entry.manager, entry.api_version, entry.subresource


def _capped(entries: list[Entry]) -> list[Entry]:
    """Merges the oldest updates of a version into one entry of nobody in particular."""
    updates = [entry for entry in entries if entry.operation == "Update"]
    excess = len(updates) - UPDATERS
    first: dict[str, Entry] = {}
    buckets: dict[str, Entry] = {}
    gone: list[Entry] = []
    for entry in updates:
        if excess <= 0:
            break
        version = entry.api_version
        if version not in first:
            first[version] = entry
            continue
        there = buckets.get(version) or first[version]
        buckets[version] = Manager(ANCIENT, "Update", version).entry(there.fields | entry.fields, entry.time)
        gone.append(entry)
        excess -= 1
    gone += [first[version] for version in buckets]
    left = [entry for entry in entries if not any(entry is one for one in gone)]
    return sorted([*left, *buckets.values()], key=_rank)


def _read(entry: object) -> Entry:
    if not isinstance(entry, dict):
        raise KumiError("an entry of managedFields is an object")
    operation, fields = entry.get("operation"), entry.get("fieldsV1")
    if operation not in ("Apply", "Update") or entry.get("fieldsType") != FIELDS_TYPE or fields is None:
        raise KumiError("an entry of managedFields has an operation and fields")
    texts: dict[str, Any] = {key: entry.get(key) or "" for key in ("manager", "apiVersion", "subresource", "time")}
    if not all(isinstance(text, str) for text in texts.values()) or not texts["apiVersion"]:
        raise KumiError("an entry of managedFields is in text")
    try:
        parse_time(texts["time"])
    except ValueError as error:
        raise KumiError(str(error)) from error
    manager = Manager(texts["manager"], operation, texts["apiVersion"], texts["subresource"])
    return manager.entry(read(fields), texts["time"])
