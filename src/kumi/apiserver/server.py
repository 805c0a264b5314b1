"""A server: sockets, TLS, limits; starting and stopping.

Only this machine reaches it, unless it is told to listen elsewhere; without TLS and identity it never does.
The caller chooses the event loop (uvloop). A request whose client goes away is cancelled at once, so that nothing is kept for
the dead; on stopping, streams end first (apiserver.app does that on shutdown), then requests have STOP_S to finish.
While it runs, the certificate is looked at once a day and renewed when due, without a restart.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import ssl
from contextlib import suppress
from types import TracebackType

from aiohttp import web

from kumi.api.errors import KumiError
from kumi.apiserver.identity import Identity

LOG = logging.getLogger("kumi.apiserver")

STOP_S = 5.0
KEEPALIVE_S = 180.0
BACKLOG = 1024
HEADER_AT_MOST = 64 * 1024
"""bytes of a request's first line (selectors and continue tokens stand there) and of each header"""
RENEWAL_S = 24 * 3600.0


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address or host name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Server:
    """An application on a host and port; port 0 takes a free one. `identity` None serves plain HTTP: for tests only."""

    def __init__(
        self, app: web.Application, *, host: str = "127.0.0.1", port: int = 0, identity: Identity | None = None
    ) -> None:
        self._app, self._host, self._port, self._identity = app, host, port, identity
        self._runner: web.AppRunner | None = None
        self._renewal: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listens; returns when requests are answered. OSError: the address is taken or not ours; KumiError: others could
        reach it, and it has no identity."""
        if self._identity is None and not is_loopback(self._host):
            raise KumiError(f"without TLS and identity nothing is served on {self._host or 'all addresses'}")
        self._runner = web.AppRunner(
            self._app,
            handler_cancellation=True,
            access_log=None,
            keepalive_timeout=KEEPALIVE_S,
            shutdown_timeout=STOP_S,
            max_line_size=HEADER_AT_MOST,
            max_field_size=HEADER_AT_MOST,
        )
        await self._runner.setup()
        context: ssl.SSLContext | None = self._identity.server_context() if self._identity else None
        site = web.TCPSite(self._runner, self._host, self._port, ssl_context=context, backlog=BACKLOG)
        try:
            await site.start()
        except BaseException:
            await self.stop()
            raise
        self._port = self._runner.addresses[0][1]
        if self._identity is not None:
            self._renewal = asyncio.create_task(self._renew(self._identity))

    async def stop(self) -> None:
        """Ends the streams, lets requests finish, closes the sockets. Asking twice is no error."""
        if self._renewal is not None:
            self._renewal.cancel()
            with suppress(asyncio.CancelledError):
                await self._renewal
            self._renewal = None
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def port(self) -> int:
        """The port that it listens on, once started."""
        return self._port

    @property
    def url(self) -> str:
        """Where this machine's clients find it."""
        host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self._host, self._host)
        if ":" in host and not host.startswith("["):
            host = f"[{host}]"
        return f"{'https' if self._identity else 'http'}://{host}:{self._port}"

    async def __aenter__(self) -> Server:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _renew(self, identity: Identity) -> None:
        while True:
            await asyncio.sleep(RENEWAL_S)
            try:
                if identity.renew():
                    LOG.info("the server's certificate was renewed")
            except Exception:
                LOG.exception("the server's certificate can't be renewed; it is tried again tomorrow")
