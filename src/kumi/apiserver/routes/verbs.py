"""The verbs: a call of the registry for each, its answer in the form that the client takes.

Objects that the registry returns are shared and read-only; forms.py copies what it changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from aiohttp import web

from kumi.api.fields import strict_refusal
from kumi.api.metrics import METRICS
from kumi.api.openapi.messages import message_of
from kumi.api.reviews import REVIEWS
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver import bodies
from kumi.apiserver.authentication import USER
from kumi.apiserver.negotiate import negotiate
from kumi.apiserver.responses import answer, send, warning_headers
from kumi.apiserver.routes import commands, logs, portforward, unsupported, watches
from kumi.apiserver.routes.attributes import STREAMS
from kumi.apiserver.routes.forms import Forms
from kumi.apiserver.routes.limits import InFlight, is_stream
from kumi.apiserver.routes.lines import Lines
from kumi.apiserver.routes.options import (
    connect_options,
    connect_query,
    delete_options,
    include_object,
    list_options,
    number,
    wants_watch,
    write_options,
)
from kumi.apiserver.routes.paths import Call, Verb, resolve
from kumi.apiserver.routes.reviews import Reviews
from kumi.apiserver.routes.streams import Streams
from kumi.apiserver.routes.usage import Usages
from kumi.apiserver.routes.writes import Writes
from kumi.registry.registry import Registry
from kumi.registry.requests import WriteOptions
from kumi.runtime.streams import ExecSource, LogSource

BODY_KINDS = {"binding": "Binding", "eviction": "Eviction", "scale": "Scale", "token": "TokenRequest"}
"""subresource -> the kind of what is sent to it, where it isn't the object's own"""


async def warn_of_deprecation(request: web.Request, response: web.StreamResponse) -> None:
    """Adds what callers of a version are warned of, whatever the answer is (a signal of the application)."""
    call = request.get(CALL)
    text = call.target.kind.deprecation(call.target.version) if call is not None else ""
    for header in warning_headers([text] if text else []):
        response.headers.add("Warning", header)


CALL = web.RequestKey("call", Call)
"""where a request keeps what it asks for"""


class Verbs:
    """Answers every request for objects."""

    def __init__(  # noqa: PLR0913  what verbs need
        self,
        registry: Registry,
        scheme: Scheme,
        streams: Streams,
        writes: Writes,
        logs: LogSource | None,
        clock_ms: Callable[[], int],
        *,
        reviews: Reviews,
        usages: Usages,
        execs: ExecSource | None = None,
    ) -> None:
        self._execs = execs
        self._lines, self._in_flight = Lines(), InFlight()
        self._reviews, self._usages = reviews, usages
        self._registry, self._scheme, self._streams = registry, scheme, streams
        self._writes, self._logs, self._clock_ms = writes, logs, clock_ms
        self._handlers: dict[Verb, Callable[[web.Request, Call], Awaitable[web.StreamResponse]]] = {
            "get": self._get,
            "list": self._list,
            "watch": self._watch,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The route of every path below a group's version."""
        raw_path = request.rel_url.raw_path
        call = resolve(self._scheme, request.method, raw_path, watch=wants_watch(request.query))
        request[CALL] = call
        unsupported.refuse(call)
        handler = self._handlers[call.verb]
        if is_stream(call):
            return await handler(request, call)
        return await self._in_flight.counted(lambda: handler(request, call))

    def _forms(self, request: web.Request, call: Call) -> Forms:
        form = negotiate(request.headers.get("Accept", ""))
        target = call.target
        return Forms(form, target.kind, target.version, include_object(request.query), self._clock_ms)

    async def _get(self, request: web.Request, call: Call) -> web.StreamResponse:
        if call.target.subresource == "log":
            return await self._log(request, call)
        if call.target.subresource in STREAMS:
            return await self._stream(request, call)
        forms = self._forms(request, call)
        is_measured = call.target.kind in METRICS
        found = self._usages.get(call.target) if is_measured else await self._registry.get(call.target)
        return await answer(request, forms.one(found), media_type=forms.media_type)

    async def _list(self, request: web.Request, call: Call) -> web.StreamResponse:
        forms = self._forms(request, call)
        options = list_options(request.query)
        if call.target.kind in METRICS:
            measured = await self._usages.list(call.target, options)
            return await answer(request, forms.many(measured), media_type=forms.media_type)
        texts = self._registry.texts(call.target, options) if forms.is_plain else None
        if texts is not None:
            return await send(request, forms.many_texts(texts), media_type=forms.media_type)
        page = await self._registry.list(call.target, options)
        return await answer(request, forms.many(page), media_type=forms.media_type)

    async def _watch(self, request: web.Request, call: Call) -> web.StreamResponse:
        forms = self._forms(request, call)
        options = list_options(request.query, call.one)
        seconds = watches.timeout_seconds(number(request.query, "timeoutSeconds"))
        return await watches.stream(
            request,
            lambda: self._registry.batches(call.target, options),
            forms.line(self._lines),
            self._streams,
            seconds,
        )

    async def _create(self, request: web.Request, call: Call) -> web.StreamResponse:
        if call.target.subresource in STREAMS:
            return await self._stream(request, call)
        forms = self._forms(request, call)
        options = write_options(request.query, "Create", request.headers.get("User-Agent", ""))
        options.user = request.get(USER)
        body = await _sent(request, call, options)
        if call.target.kind in REVIEWS:
            found = self._reviews.answer(options.user, call.target, body, options)
        else:
            found = await self._writes.finish(self._registry.create(call.target, body, options))
        return await answer(
            request, forms.one(found), status=201, media_type=forms.media_type, warnings=options.warnings
        )

    async def _update(self, request: web.Request, call: Call) -> web.StreamResponse:
        forms = self._forms(request, call)
        options = write_options(request.query, "Update", request.headers.get("User-Agent", ""))
        options.user = request.get(USER)
        body = await _sent(request, call, options)
        found = await self._writes.finish(self._registry.update(call.target, body, options))
        return await _written(request, forms, found, options)

    async def _patch(self, request: web.Request, call: Call) -> web.StreamResponse:
        forms = self._forms(request, call)
        media_type, body = await bodies.read_patch(request, call.target.kind)
        options = write_options(request.query, "Patch", request.headers.get("User-Agent", ""), media_type)
        options.user = request.get(USER)
        await _note_repeated(request, call, options)
        found = await self._writes.finish(self._registry.patch(call.target, media_type, body, options))
        return await _written(request, forms, found, options)

    async def _delete(self, request: web.Request, call: Call) -> web.StreamResponse:
        forms = self._forms(request, call)
        options = replace(delete_options(request.query, await bodies.read_options(request)), user=request.get(USER))
        found = await self._writes.finish(self._registry.delete(call.target, options))
        return await answer(request, forms.one(found), media_type=forms.media_type)

    async def _delete_collection(self, request: web.Request, call: Call) -> web.StreamResponse:
        forms = self._forms(request, call)
        options = replace(delete_options(request.query, await bodies.read_options(request)), user=request.get(USER))
        page = await self._writes.finish(
            self._registry.delete_collection(call.target, list_options(request.query), options)
        )
        return await answer(request, forms.many(page), media_type=forms.media_type)

    async def _log(self, request: web.Request, call: Call) -> web.StreamResponse:
        if self._logs is None:
            raise logs.unavailable()
        pod = await self._registry.get(replace(call.target, subresource=""))
        options = logs.log_options(request.query, pod, self._clock_ms())
        return await logs.stream(request, self._logs, pod, options, self._streams)

    async def _stream(self, request: web.Request, call: Call) -> web.StreamResponse:
        pod = await self._registry.get(replace(call.target, subresource=""))
        if self._execs is None:
            raise commands.unavailable()
        asked = connect_options(call.target.subresource, request.query)
        said = await self._registry.connect(call.target, asked, WriteOptions(user=request.get(USER)))
        query = request.query if said == asked else connect_query(said)
        if call.target.subresource == "portforward":
            return await portforward.run(request, query, self._execs, pod, self._streams)
        attach = call.target.subresource == "attach"
        return await commands.run(request, query, self._execs, pod, self._streams, attach=attach)


async def _written(request: web.Request, forms: Forms, found: JsonObject, options: WriteOptions) -> web.StreamResponse:
    """The answer to an update or a patch: either may have created the object."""
    status = 201 if options.created else 200
    return await answer(
        request, forms.one(found), status=status, media_type=forms.media_type, warnings=options.warnings
    )


async def _sent(request: web.Request, call: Call, options: WriteOptions) -> JsonObject:
    """The object of a create or an update. ApiError 400."""
    kind = call.target.kind
    accepted = bodies.BUILT_IN_TYPES if message_of(kind.api_version, kind.kind) else bodies.OBJECT_TYPES
    body = await bodies.read_object(request, BODY_KINDS.get(call.target.subresource, kind.kind), accepted)
    await _note_repeated(request, call, options)
    return body


async def _note_repeated(request: web.Request, call: Call, options: WriteOptions) -> None:
    """Fields that the body gives twice are told of with those that its kind doesn't have; where a subresource has a body of
    its own, here. ApiError 400."""
    if options.field_validation == "Ignore":
        return
    options.repeated = tuple(await bodies.repeated_fields(request))
    if options.repeated and call.target.subresource in BODY_KINDS:
        if options.field_validation == "Strict":
            raise strict_refusal(call.target.kind, call.target.version, options.repeated)
        options.warn(options.repeated)
