"""get, list: what is there, as of one revision.

Revision   ""               now
           "0"              any: now
           r, NotOlderThan  now (r must have been given out); so too with no match and no limit
           r, Exact         as it was at r; so too with no match but with a limit
Pages      `limit` items and a token, which names the revision of the first page and the last key: the pages of a list are
           one list, whatever is written meanwhile. `remaining` counts what is left, unless a selector makes that unknown.
Expired    a revision that the store compacted is a 410; the token of its Status goes on from the same key as of now.
Source     Kubernetes: API concepts (resource versions, retrieving large results in chunks).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import orjson

from kumi.api.errors import ApiError, FieldError, bad_request, not_found
from kumi.api.wire import JsonObject, Listing
from kumi.registry import versions
from kumi.registry.custom.kind import CustomKind
from kumi.registry.environment import Environment
from kumi.registry.objects import Decoded, Head, prefix_of
from kumi.registry.refusals import Refusal, invalid_options, revision_too_large
from kumi.registry.requests import ListOptions, Target
from kumi.registry.selectors import Predicate, name_wanted, selection
from kumi.store.base import Compacted, Entry, FutureRevision

MATCHES = ("Exact", "NotOlderThan")
INCONSISTENT = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


class Texts(NamedTuple):
    """A page of a list whose items are JSON texts; the rest is as in Listing."""

    items: list[bytes]
    revision: str
    token: str
    remaining: int | None


class From(NamedTuple):
    """Where a page starts: after this key, as of this revision (0: now)."""

    after: str
    revision: int


class Reading:
    """The verbs that read."""

    def __init__(self, env: Environment) -> None:
        self._env = env

    def get(self, target: Target) -> JsonObject:
        """The object, in the caller's version. ApiError 404."""
        kind = target.kind
        found = self._env.objects.get(kind, target.namespace, target.name)
        if found is None:
            raise not_found(kind.plural, target.name, kind.group)
        return versions.from_stored(kind, target.version, found.object)

    def list(self, target: Target, options: ListOptions) -> Listing:
        """A page, in the caller's version. ApiError 400, 410, 422, 504."""
        kind = target.kind
        selected = selection(kind, options.labels, options.fields, target.version)
        prefix = prefix_of(kind, target.namespace)
        start = self._start(prefix, options)
        plain = start == From("", 0) and not options.limit
        with _expiring(prefix, start):
            one = self._one(target, options) if selected is not None and plain else None
            listing = self._page(prefix, start, options.limit, selected) if one is None else one
        if _is_as_stored(target):
            return listing
        return listing._replace(items=[versions.from_stored(kind, target.version, o) for o in listing.items])

    def texts(self, target: Target, options: ListOptions) -> Texts | None:
        """The same page as texts, where the items can be sent as they are stored: None if they have to be looked at.

        The errors of `list`."""
        kind = target.kind
        if not _is_as_stored(target) or options.labels or options.fields:
            return None
        objects, prefix = self._env.objects, prefix_of(kind, target.namespace)
        start = self._start(prefix, options)
        with _expiring(prefix, start):
            page = objects.page(prefix, limit=options.limit, after=start.after, revision=start.revision)
        head = Head.of(kind, within_list=not kind.custom)
        token = _token(page.revision, page.entries[-1], prefix) if page.more and page.entries else ""
        items = [objects.text(entry, head) for entry in page.entries]
        return Texts(items, str(page.revision), token, page.remaining if token else None)

    def _one(self, target: Target, options: ListOptions) -> Listing | None:
        """The list where the selector leaves one object whose key is known."""
        name = name_wanted(options.fields)
        if not name or (target.kind.namespaced and not target.namespace):
            return None
        revision = self._env.objects.store.revision
        found = self._env.objects.get(target.kind, target.namespace, name)
        selected = selection(target.kind, options.labels, options.fields, target.version)
        here = found is not None and (selected is None or selected(found.object))
        return Listing([found.object] if found is not None and here else [], str(revision))

    def _page(self, prefix: str, start: From, limit: int, selected: Predicate | None) -> Listing:
        objects = self._env.objects
        page = objects.page(prefix, limit=limit, after=start.after, revision=start.revision)
        if selected is None:
            items = Decoded(objects, page.entries)
            token = _token(page.revision, page.entries[-1], prefix) if page.more and page.entries else ""
            return Listing(items, str(page.revision), token, page.remaining if token else None)
        chosen: list[JsonObject] = []
        last: Entry | None = None
        while True:
            for entry in page.entries:
                if limit and len(chosen) == limit:
                    return Listing(chosen, str(page.revision), _token(page.revision, last or entry, prefix))
                obj = objects.listed(entry)
                if selected(obj):
                    chosen.append(obj)
                last = entry
            if not page.more or last is None:
                return Listing(chosen, str(page.revision))
            page = objects.page(prefix, limit=limit, after=last.key, revision=page.revision)

    def _start(self, prefix: str, options: ListOptions) -> From:
        check_revision_match(options)
        if options.token:
            if options.revision not in ("", "0"):
                raise bad_request("specifying resource version is not allowed when using continue")
            return _from_token(options.token, prefix)
        revision = parse_revision(options.revision)
        if revision == 0:
            return From("", 0)
        newest = self._env.objects.store.revision
        if revision > newest:
            raise revision_too_large(revision, newest)
        exactly = options.revision_match == "Exact" or (not options.revision_match and options.limit > 0)
        return From("", revision if exactly else 0)


@contextmanager
def _expiring(prefix: str, start: From) -> Iterator[None]:
    """A revision that the store doesn't have, as its client is told of it."""
    try:
        yield
    except Compacted as error:
        raise _expired(start.after.removeprefix(prefix)) from error
    except FutureRevision as error:
        raise revision_too_large(error.revision, error.newest) from error


def check_revision_match(options: ListOptions) -> None:
    """Whether resourceVersion, its match and the token go together. ApiError 422."""
    match = options.revision_match
    if options.send_initial_events and match != "NotOlderThan":
        raise _match_wrong("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
    if not match:
        return
    if match not in MATCHES:
        supported = ", ".join(f'"{known}"' for known in (*MATCHES, ""))
        wrong = FieldError("resourceVersionMatch", f"supported values: {supported}", "FieldValueNotSupported", match)
        raise invalid_options("ListOptions", wrong)
    if options.send_initial_events:
        return
    if options.token:
        raise _match_wrong("resourceVersionMatch is forbidden when continue is provided")
    if not options.revision:
        raise _match_wrong("resourceVersionMatch is forbidden unless resourceVersion is provided")
    if match == "Exact" and options.revision == "0":
        raise _match_wrong('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')


def parse_revision(text: str) -> int:
    """The revision of a resourceVersion; 0 for "" and "0". ApiError 400."""
    if not text:
        return 0
    if not text.isascii() or not text.isdigit():
        raise bad_request(f'resourceVersion: Invalid value: "{text}": it must be what an earlier answer said')
    return int(text)


def _is_as_stored(target: Target) -> bool:
    """Whether the caller sees objects as they are stored."""
    kind = target.kind
    return target.version in ("", kind.version) and kind.twin is None and not isinstance(kind, CustomKind)


def _match_wrong(detail: str) -> ApiError:
    return invalid_options("ListOptions", FieldError("resourceVersionMatch", detail, "FieldValueForbidden"))


def _token(revision: int, last: Entry, prefix: str) -> str:
    token = {"v": "meta.k8s.io/v1", "rv": revision, "start": last.key.removeprefix(prefix)}
    return base64.urlsafe_b64encode(orjson.dumps(token)).decode().rstrip("=")


def _from_token(text: str, prefix: str) -> From:
    try:
        token = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        version, revision, start = token["v"], token["rv"], token["start"]
    except (binascii.Error, ValueError, TypeError, KeyError) as error:
        raise bad_request("invalid continue token: continue key is not valid: invalid value") from error
    if version != "meta.k8s.io/v1" or not isinstance(revision, int) or not isinstance(start, str) or not start:
        raise bad_request("invalid continue token: continue key is not valid: it is of another server")
    return From(prefix + start, max(revision, 0))


def _expired(last: str) -> ApiError:
    if not last:
        return Refusal(410, "Expired", "The resourceVersion for the provided list is too old.")
    token = orjson.dumps({"v": "meta.k8s.io/v1", "rv": 0, "start": last})
    again = base64.urlsafe_b64encode(token).decode().rstrip("=")
    return Refusal(410, "Expired", INCONSISTENT, metadata={"continue": again})
