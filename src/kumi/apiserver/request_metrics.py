"""Requests, counted: how many, how long, how large, and which are under way.

    apiserver_request_total                  by verb, resource, scope, dry run and code
    apiserver_request_duration_seconds       from the first look at a request to its answer; of a stream, to its end
    apiserver_request_body_size_bytes        of what changes something
    apiserver_response_sizes                 of what GET and LIST answered
    apiserver_current_inflight_requests      those that will end soon, by whether they change something
    apiserver_longrunning_requests           streams that are open: watches, logs, commands
The verb is the upper case word of Kubernetes' metrics: LIST and WATCH are no GET, an apply is APPLY, a command is CONNECT. A path
that is no resource has empty labels. A request whose client left before the answer counts with code 499; one that was refused
before it was known what it asks for (401, 403) is counted under what its path means.
Cost       a dictionary look-up and three additions a request (microseconds); what is under way is only sorted out at a scrape.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from kumi.api.errors import ApiError
from kumi.api.measures import Family, Histogram, Sample
from kumi.api.scheme import Scheme
from kumi.apiserver.routes.options import wants_watch
from kumi.apiserver.routes.paths import Call, resolve
from kumi.apiserver.routes.verbs import CALL
from kumi.registry.refusals import APPLY

LABELS = ("verb", "group", "version", "resource", "subresource", "scope", "dry_run", "component")
SECONDS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
)  # fmt: skip
"""bounds that dashboards for Kubernetes know"""
BYTES = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
LEFT = 499
"""the code of a request whose client did not wait for the answer"""
COMPONENT = "apiserver"
READS = ("GET", "HEAD")
METHODS = (*READS, "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
VERBS = {"create": "POST", "update": "PUT"}
CONNECTS = ("exec", "attach", "portforward", "proxy")


class _Counted:
    """What is known of the requests with the same labels."""

    __slots__ = ("by_code", "labels", "received", "seconds", "sent")

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.labels = labels
        self.by_code: dict[int, int] = {}
        self.seconds, self.received, self.sent = Histogram(SECONDS), Histogram(BYTES), Histogram(BYTES)


class RequestMetrics:
    """See the module: `middleware` goes outermost, `measures` is a source of kumi.apiserver.metrics."""

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._counted: dict[tuple[object, ...], _Counted] = {}
        self._open: dict[int, web.Request] = {}

    def middleware(self) -> Middleware:
        """Counts every request that passes through it."""

        @web.middleware
        async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
            start = time.monotonic()
            self._open[id(request)] = request
            response: web.StreamResponse | None = None
            try:
                response = await handler(request)
                return response
            finally:
                del self._open[id(request)]
                self._count(request, response, time.monotonic() - start)

        return middleware

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        counts = [
            Sample((*counted.labels, str(code)), value)
            for counted in self._counted.values()
            for code, value in counted.by_code.items()
        ]
        yield Family("apiserver_request_total", "Requests that ended.", "counter", (*LABELS, "code"), counts)
        for name, help, field in (
            ("request_duration_seconds", "How long requests took.", "seconds"),
            ("request_body_size_bytes", "How large the bodies of requests were.", "received"),
            ("response_sizes", "How large answers were, in bytes.", "sent"),
        ):
            found = ((counted.labels, getattr(counted, field)) for counted in self._counted.values())
            samples = [Sample(labels, histogram) for labels, histogram in found if histogram.count]
            yield Family(f"apiserver_{name}", help, "histogram", LABELS, samples)
        yield from self._under_way()

    def _under_way(self) -> Iterator[Family]:
        short = {"mutating": 0, "readOnly": 0}
        long: dict[tuple[str, ...], int] = {}
        for request in self._open.values():
            call = request.get(CALL)
            if call is not None and _is_stream(request, call):
                labels = (*_labels(request, call)[:-2], COMPONENT)
                long[labels] = long.get(labels, 0) + 1
            else:
                short["readOnly" if request.method in READS else "mutating"] += 1
        yield Family(
            "apiserver_current_inflight_requests",
            "Requests under way that are no streams.",
            "gauge",
            ("request_kind",),
            [Sample((kind,), count) for kind, count in short.items()],
        )
        names = (*LABELS[:-2], "component")
        open_now = [Sample(labels, count) for labels, count in long.items()]
        yield Family("apiserver_longrunning_requests", "Streams that are open.", "gauge", names, open_now)

    def _count(self, request: web.Request, response: web.StreamResponse | None, seconds: float) -> None:
        call = request.get(CALL)
        if call is None and response is not None and response.status in (401, 403):
            call = self._meant(request)
        key = _key(request, call)
        counted = self._counted.get(key)
        if counted is None:
            counted = self._counted[key] = _Counted(_labels(request, call))
        code = LEFT if response is None else response.status
        counted.by_code[code] = counted.by_code.get(code, 0) + 1
        counted.seconds.observe(seconds)
        if request.method not in READS:
            counted.received.observe(request.content_length or 0)
        elif isinstance(response, web.Response) and isinstance(body := response.body, bytes):
            counted.sent.observe(len(body))

    def _meant(self, request: web.Request) -> Call | None:
        try:
            watch = wants_watch(request.query)
            return resolve(self._scheme, request.method, request.rel_url.raw_path, watch=watch)
        except ApiError:
            return None


def _key(request: web.Request, call: Call | None) -> tuple[object, ...]:
    """What the labels come from: requests with the same key have the same, and it costs less."""
    dry_run = "dryRun" in request.query_string
    if call is None:
        return (request.method if request.method in METHODS else "", dry_run)
    target = call.target
    kind, applied = target.kind, call.verb == "patch" and _is_apply(request)
    place = (not target.name, not target.namespace)
    return (call.verb, kind.plural, kind.group, target.version, target.subresource, applied, dry_run, *place)


def _is_apply(request: web.Request) -> bool:
    return request.headers.get("Content-Type", "").startswith(APPLY)


def _labels(request: web.Request, call: Call | None) -> tuple[str, ...]:
    """The values of LABELS."""
    dry_run = "All" if "dryRun" in request.query_string else ""
    if call is None:
        method = request.method if request.method in METHODS else "other"
        return (method, "", "", "", "", "", dry_run, COMPONENT)
    target = call.target
    kind, subresource = target.kind, target.subresource
    verb = VERBS.get(call.verb) or call.verb.upper()
    if subresource in CONNECTS:
        verb = "CONNECT"
    elif verb == "PATCH" and _is_apply(request):
        verb = "APPLY"
    scope = "resource" if target.name or call.verb == "create" else "namespace" if target.namespace else "cluster"
    version = target.version or kind.version
    return (verb, kind.group, version, kind.plural, subresource, scope, dry_run, COMPONENT)


def _is_stream(request: web.Request, call: Call) -> bool:
    """Whether it goes on until somebody ends it."""
    subresource = call.target.subresource
    return call.verb == "watch" or subresource in CONNECTS or (subresource == "log" and "follow" in request.query)
