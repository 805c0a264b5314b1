"""The log of a pod: GET pods/NAME/log, as `kubectl logs` asks for it.

container, follow, previous, timestamps, tailLines, sinceSeconds or sinceTime, limitBytes: as in runtime.streams.LogOptions.
A pod that no node has been chosen for has no log yet: 204 without content. Which container is meant is checked here (the
only one, or the one named); whether it has started is for the one who runs it to say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from aiohttp import web

from kumi.api.errors import ApiError, FieldError, bad_request
from kumi.api.meta import parse_time
from kumi.api.wire import JsonObject
from kumi.apiserver.errors import report
from kumi.apiserver.routes.options import boolean, invalid_options, number
from kumi.apiserver.routes.streams import Streams, end, opened
from kumi.runtime.streams import LogOptions, LogSource

REFUSED_WITHIN_S = 0.5
"""how long the first chunk is waited for: until then a refusal still is an error with its code"""


def log_options(query: Mapping[str, str], pod: JsonObject, now_ms: int) -> LogOptions:
    """The options of a request for this pod's log. ApiError 400, 422."""
    errors: list[FieldError] = []
    tail = _at_least(query, "tailLines", 0, errors)
    since = _at_least(query, "sinceSeconds", 1, errors)
    limit = _at_least(query, "limitBytes", 1, errors)
    since_time = query.get("sinceTime", "")
    if since is not None and since_time:
        errors.append(
            FieldError(
                "sinceTime", "at most one of `sinceTime` or `sinceSeconds` may be specified", "FieldValueForbidden"
            )
        )
    if errors:
        raise invalid_options("PodLog", errors)
    try:
        since_ms = parse_time(since_time) if since is None else now_ms - since * 1000
    except ValueError:
        raise bad_request(f'sinceTime "{since_time}" is not an RFC 3339 time') from None
    return LogOptions(
        container=chosen_container(pod, query.get("container", "")),
        follow=boolean(query, "follow"),
        previous=boolean(query, "previous"),
        timestamps=boolean(query, "timestamps"),
        tail_lines=tail,
        since_ms=since_ms,
        limit_bytes=limit,
    )


def chosen_container(pod: JsonObject, asked: str) -> str:
    """The container that is meant. ApiError 400: none is named and there are several, or it isn't the pod's."""
    spec, name = pod.get("spec", {}), pod["metadata"]["name"]
    containers = [c["name"] for c in spec.get("containers") or ()]
    init = [c["name"] for c in spec.get("initContainers") or ()]
    if not asked:
        if len(containers) == 1:
            return str(containers[0])
        choice = f"choose one of: [{' '.join(containers)}]"
        if init:
            choice += f" or one of the init containers: [{' '.join(init)}]"
        raise bad_request(f"a container name must be specified for pod {name}, {choice}")
    if asked not in containers and asked not in init:
        raise bad_request(f"container {asked} is not valid for pod {name}")
    return asked


async def stream(
    request: web.Request, source: LogSource, pod: JsonObject, options: LogOptions, streams: Streams
) -> web.StreamResponse:
    """Answers with the log. ApiError for what is refused before its first byte; a later failure cuts the answer off."""
    if not pod.get("spec", {}).get("nodeName"):
        return web.Response(status=204)
    response = web.StreamResponse(headers={"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-cache"})
    response.enable_chunked_encoding()
    async with streams.deadline(None):
        await _copy(request, response, source.logs(pod, options))
    if not response.prepared:
        await response.prepare(request)
    await end(response)
    return response


async def _copy(request: web.Request, response: web.StreamResponse, chunks: AsyncIterator[bytes]) -> None:
    try:
        async with opened(chunks, REFUSED_WITHIN_S) as rest:
            await response.prepare(request)
            async for chunk in rest:
                if chunk:
                    await response.write(chunk)
    except ConnectionError:
        return
    except Exception as error:
        if not response.prepared:
            raise
        report(error, request)
        if request.transport is not None:
            request.transport.abort()  # a clean end would pass a cut log off as a whole one


def _at_least(query: Mapping[str, str], name: str, least: int, errors: list[FieldError]) -> int | None:
    value = number(query, name)
    if value is not None and value < least:
        errors.append(FieldError(name, f"must be greater than or equal to {least}", value=value))
    return value


def unavailable() -> ApiError:
    """501: this server has nodes of its own nowhere, so nobody can be asked for a log."""
    return ApiError(501, "NotImplemented", "this server runs no pods: there is nobody to ask for their logs")
