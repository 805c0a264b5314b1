"""The forms of an answer: an object, a list or an event as itself, as a Table, or as its metadata only.

Lists of Kubernetes' own kinds leave `apiVersion` and `kind` out of their items, those of custom kinds keep them, as clients
know it. Objects come from the registry read-only: what differs is a shallow copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import orjson

from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject, Listing, WatchEvent
from kumi.apiserver.negotiate import META_GROUP, PLAIN, Form
from kumi.apiserver.routes.lines import Lines, Words
from kumi.registry import table, versions
from kumi.registry.reading import Texts
from kumi.registry.table import IncludeObject


class Forms:
    """One request's way of writing objects of a kind in a served version. `clock_ms` says what ages are counted to."""

    def __init__(
        self, form: Form, kind: Kind, version: str, include: IncludeObject, clock_ms: Callable[[], int]
    ) -> None:
        self._form, self._kind, self._version = form, kind, version
        self._include, self._clock_ms = include, clock_ms
        self._headers = True

    @property
    def media_type(self) -> str:
        """What the answer is written in."""
        return self._form.media_type

    def one(self, obj: JsonObject) -> JsonObject:
        """One object. A Status or a Scale stays as it is, whatever was asked for."""
        if self._form.shape == "object" or obj.get("kind") != self._kind.kind:
            return obj
        if self._form.shape == "partial":
            return table.partial(obj, self._api_version)
        revision = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
        return self._table([obj], revision)

    def many(self, listing: Listing) -> JsonObject:
        """A page of a list."""
        if self._form.shape == "partial":
            return table.partial_list(listing, self._api_version)
        if self._form.shape == "table":
            return self._table(listing.items, table.list_metadata(listing))
        items = list(listing.items)
        if not self._kind.custom:
            items = [{k: v for k, v in item.items() if k not in ("apiVersion", "kind")} for item in items]
        return {
            "kind": f"{self._kind.kind}List",
            "apiVersion": versions.api_version(self._kind, self._version),
            "metadata": table.list_metadata(listing),
            "items": items,
        }

    @property
    def is_plain(self) -> bool:
        """Whether objects are written as themselves, in JSON."""
        return self._form == PLAIN

    def many_texts(self, page: Texts) -> bytes:
        """A page of a list whose items are written already."""
        listing = Listing([], page.revision, page.token, page.remaining)
        start = orjson.dumps(self.many(listing)).removesuffix(b"]}")
        return b"".join((start, b",".join(page.items), b"]}"))

    def event(self, event: WatchEvent) -> bytes:
        """One line of a watch. Of the Tables of a watch, the first says what the columns are."""
        obj = event.object
        if self._form.shape == "partial":
            obj = table.partial(obj, self._api_version)
        elif self._form.shape == "table":
            rows = [] if event.type == "BOOKMARK" else [obj]
            revision = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
            obj = self._table(rows, revision)
            self._headers = False
        return orjson.dumps({"type": event.type, "object": obj}) + b"\n"

    def line(self, lines: Lines) -> Callable[[WatchEvent], bytes]:
        """`event`, shared with the other watches where it says the same to all: a Table has ages in it."""
        if self._form.shape == "table":
            return self.event
        return lines.writer(Words(self._kind, self._version, self._form), self.event)

    @property
    def _api_version(self) -> str:
        return f"{META_GROUP}/{self._form.version}"

    def _table(self, items: Sequence[JsonObject], metadata: JsonObject) -> JsonObject:
        made = table.render(
            self._kind,
            items,
            self._clock_ms(),
            version=self._version,
            include=self._include,
            metadata=metadata,
            headers=self._headers,
        )
        made["apiVersion"] = self._api_version
        return made
