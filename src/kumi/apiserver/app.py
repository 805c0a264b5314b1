"""The application: middlewares and routes around a registry.

    make_app(registry, scheme, clock_ms=..., authenticators=[identity])

Without authenticators everybody may do everything: for tests in process. With them, what a user may do is what the roles and
bindings in the registry say. `checks` are the conditions of /readyz by name, `measures` what /metrics tells besides the requests
and the objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from aiohttp import web
from aiohttp.typedefs import Middleware

from kumi.api.scheme import Scheme
from kumi.apiserver import discovery, health, metrics, tokens
from kumi.apiserver.authentication import Authenticator, TokenSource, authentication
from kumi.apiserver.authorization import authorization
from kumi.apiserver.errors import BODY_LIMIT, errors
from kumi.apiserver.impersonation import impersonation
from kumi.apiserver.openapi import documents
from kumi.apiserver.request_metrics import RequestMetrics
from kumi.apiserver.routes import pending
from kumi.apiserver.routes.reviews import Reviews
from kumi.apiserver.routes.streams import Streams
from kumi.apiserver.routes.usage import Usages
from kumi.apiserver.routes.verbs import Verbs, warn_of_deprecation
from kumi.apiserver.routes.writes import Writes
from kumi.registry.registry import Registry
from kumi.runtime.streams import ExecSource, LogSource
from kumi.runtime.usage import UsageSource
from kumi.runtime.visibility import PendingSource


def make_app(  # noqa: PLR0913  what a server is made of
    registry: Registry,
    scheme: Scheme,
    *,
    clock_ms: Callable[[], int],
    logs: LogSource | None = None,
    execs: ExecSource | None = None,
    authenticators: Sequence[Authenticator] = (),
    key: tokens.SigningKey | None = None,
    checks: Mapping[str, health.Check] | None = None,
    measures: Sequence[metrics.Source] = (),
    lines: PendingSource | None = None,
    usage: UsageSource | None = None,
) -> web.Application:
    """See the module. `logs` is asked for the logs of pods, `execs` for commands in them; `clock_ms`
    gives ages in tables and `sinceSeconds`; `key` signs the tokens of service accounts; `lines` is asked who waits,
    `usage` what nodes and pods use."""
    requests = RequestMetrics(scheme)
    middlewares: list[Middleware] = [requests.middleware(), errors]
    if authenticators:
        middlewares += [authentication(authenticators), impersonation(registry), authorization(registry)]
    app = web.Application(middlewares=middlewares, client_max_size=BODY_LIMIT)
    streams, writes = Streams(), Writes()

    async def end_streams(_: web.Application) -> None:
        streams.close()

    async def finish_writes(_: web.Application) -> None:
        await writes.drain()

    app.on_response_prepare.append(warn_of_deprecation)
    app.on_shutdown.append(end_streams)
    app.on_cleanup.append(finish_writes)
    sources = [each for each in authenticators if isinstance(each, TokenSource)]
    reviews = Reviews(registry, sources, clock_ms)
    usages = Usages(registry, scheme, usage)
    verbs = Verbs(registry, scheme, streams, writes, logs, clock_ms, reviews=reviews, usages=usages, execs=execs)
    # Routes are tried in their order, and nearly all requests are for these.
    app.router.add_route("*", "/api/{version}/{rest:.+}", verbs.handle)
    app.router.add_route("*", "/apis/{group}/{version}/{rest:.+}", verbs.handle)
    health.add_routes(app, checks or {})
    metrics.add_routes(app, metrics.Exposition((requests.measures, registry.measures, *measures)))
    pending.add_routes(app, lines)
    discovery.add_routes(app, scheme)
    documents.add_routes(app, scheme)
    if key is not None:
        tokens.add_routes(app, key)
    return app
