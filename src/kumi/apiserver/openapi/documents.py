"""The documents as they are served: made when first asked for, kept with their hash and compressed form.

    /openapi/v3                      the index: each document's address with its hash
    /openapi/v3/api/v1   /openapi/v3/apis/GROUP/VERSION
    /openapi/v2                      all in one, in JSON, or in protobuf for those who ask for it (kubectl)
A document is made again when the kinds it is about are others. With the right `?hash=` it may be cached for good, without
one it is asked for again and answered with 304 while nothing changed.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import orjson
from aiohttp import web

from kumi.api.scheme import Kind, Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver.discovery import groups, served, versions
from kumi.apiserver.errors import no_such_resource
from kumi.apiserver.health import version_document
from kumi.apiserver.negotiate import clauses, negotiate
from kumi.apiserver.openapi import protobuf, v2, v3
from kumi.apiserver.responses import GZIP_LEVEL, JSON, NO_CACHE, accepts_gzip, answer

T = TypeVar("T")

FOR_GOOD = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Written:
    """A document's bytes. `kinds` is what it was made from."""

    kinds: tuple[Kind, ...]
    data: bytes
    zipped: bytes
    hash: str
    media_type: str


class Documents:
    """Every document of a scheme, made when asked for."""

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._release = str(version_document()["gitVersion"])
        self._written: dict[tuple[str, str], Written] = {}

    def places(self) -> list[tuple[str, str]]:
        """Group and version of each v3 document."""
        return [(g, v) for g in ("", *groups(self._scheme)) for v in versions(self._scheme, g)]

    def v3(self, group: str, version: str) -> Written:
        """A v3 document; ApiError 404."""
        kinds = served(self._scheme, group, version)
        if not kinds:
            raise no_such_resource()
        return self._keep(
            (group, version), kinds, lambda: orjson.dumps(v3.document(kinds, group, version, self._release))
        )

    def v2(self) -> Written:
        """The v2 document."""

        def make() -> bytes:
            parts = (orjson.loads(self.v3(*place).data) for place in self.places())
            return orjson.dumps(v2.document(parts, self._release))

        return self._keep(("", "v2"), list(self._scheme), make)

    def v2_protobuf(self) -> Written:
        """The v2 document in protobuf."""

        def make() -> bytes:
            return protobuf.document(orjson.loads(self.v2().data))

        return self._keep(("", "v2 protobuf"), list(self._scheme), make, protobuf.MEDIA_TYPE)

    def index(self) -> JsonObject:
        """/openapi/v3"""
        found = {}
        for group, version in self.places():
            path = f"apis/{group}/{version}" if group else f"api/{version}"
            found[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={self.v3(group, version).hash}"}
        return {"paths": found}

    def _keep(
        self, place: tuple[str, str], kinds: Sequence[Kind], make: Callable[[], bytes], media_type: str = JSON
    ) -> Written:
        old = self._written.get(place)
        if (
            old is not None
            and len(old.kinds) == len(kinds)
            and all(a is b for a, b in zip(old.kinds, kinds, strict=True))
        ):
            return old
        data = make()
        digest = hashlib.sha256(data).hexdigest().upper()
        written = Written(tuple(kinds), data, gzip.compress(data, GZIP_LEVEL, mtime=0), digest, media_type)
        self._written[place] = written
        return written


def respond(request: web.Request, written: Written) -> web.Response:
    """A document, or 304 if the client has it."""
    etag = f'"{written.hash}"'
    cache = FOR_GOOD if request.query.get("hash") == written.hash else NO_CACHE
    headers = {
        "ETag": etag,
        "Cache-Control": cache,
        "Vary": "Accept, Accept-Encoding",
        "Content-Type": written.media_type,
    }
    if etag in request.headers.get("If-None-Match", ""):
        del headers["Content-Type"]
        return web.Response(status=304, headers=headers)
    if accepts_gzip(request):
        return web.Response(body=written.zipped, headers={**headers, "Content-Encoding": "gzip"})
    return web.Response(body=written.data, headers=headers)


def add_routes(app: web.Application, scheme: Scheme) -> None:
    """The documents under /openapi."""
    documents, making = Documents(scheme), asyncio.Lock()

    async def made(make: Callable[[], T]) -> T:
        """Made in a thread, one at a time: the first time it takes a fifth of a second."""
        async with making:
            return await asyncio.to_thread(make)

    async def index(request: web.Request) -> web.Response:
        return await answer(request, await made(documents.index))

    async def one(request: web.Request) -> web.Response:
        group, version = request.match_info.get("group", ""), request.match_info["version"]
        negotiate(request.headers.get("Accept", ""))
        return respond(request, await made(lambda: documents.v3(group, version)))

    async def all_in_one(request: web.Request) -> web.Response:
        accept = request.headers.get("Accept", "")
        if any(c.media_type in (protobuf.ASKED_AS, protobuf.MEDIA_TYPE) for c in clauses(accept)):
            return respond(request, await made(documents.v2_protobuf))
        negotiate(accept)
        return respond(request, await made(documents.v2))

    app.router.add_get("/openapi/v3", index)
    app.router.add_get("/openapi/v3/api/{version}", one)
    app.router.add_get("/openapi/v3/apis/{group}/{version}", one)
    app.router.add_get("/openapi/v2", all_in_one)
