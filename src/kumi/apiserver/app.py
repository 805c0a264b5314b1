"""The application: middlewares and routes around a registry.

    make_app(registry, scheme, clock_ms=..., authenticators=[identity])

Without authenticators everybody may do everything: for tests in process. `checks` are the conditions of /readyz by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from aiohttp import web
from aiohttp.typedefs import Middleware

from kumi.api.scheme import Scheme
from kumi.apiserver import discovery, health
from kumi.apiserver.authentication import Authenticator, authentication
from kumi.apiserver.errors import BODY_LIMIT, errors
from kumi.apiserver.openapi import documents
from kumi.apiserver.routes.streams import Streams
from kumi.apiserver.routes.verbs import Verbs
from kumi.apiserver.routes.writes import Writes
from kumi.registry.registry import Registry
from kumi.runtime.streams import LogSource


def make_app(
    registry: Registry,
    scheme: Scheme,
    *,
    clock_ms: Callable[[], int],
    logs: LogSource | None = None,
    authenticators: Sequence[Authenticator] = (),
    checks: Mapping[str, health.Check] | None = None,
) -> web.Application:
    """See the module. `logs` is asked for the logs of pods; `clock_ms` gives ages in tables and `sinceSeconds`."""
    middlewares: list[Middleware] = [errors]
    if authenticators:
        middlewares.append(authentication(authenticators))
    app = web.Application(middlewares=middlewares, client_max_size=BODY_LIMIT)
    streams, writes = Streams(), Writes()

    async def end_streams(_: web.Application) -> None:
        streams.close()

    async def finish_writes(_: web.Application) -> None:
        await writes.drain()

    app.on_shutdown.append(end_streams)
    app.on_cleanup.append(finish_writes)
    health.add_routes(app, checks or {})
    discovery.add_routes(app, scheme)
    documents.add_routes(app, scheme)
    verbs = Verbs(registry, scheme, streams, writes, logs, clock_ms)
    app.router.add_route("*", "/api/{version}/{rest:.+}", verbs.handle)
    app.router.add_route("*", "/apis/{group}/{version}/{rest:.+}", verbs.handle)
    return app
