"""Asks webhooks over HTTPS (kumi.registry.webhooks.calling.Caller).

A connection trusts the webhook's own caBundle, or the system's authorities where it names none, and nothing else: no proxy, no
redirect. An answer of more than LIMIT bytes is none.
"""

from __future__ import annotations

import ssl
from functools import lru_cache

import aiohttp
import orjson

from kumi.api.wire import JsonObject
from kumi.registry.webhooks.calling import Address, CallFailed

LIMIT = 8 * 1024 * 1024


class HttpCaller:
    """One client for all webhooks; `close` ends it."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def call(self, address: Address, review: JsonObject, timeout_s: float) -> object:
        """The decoded answer. CallFailed: there is none."""
        if self._session is None:
            self._session = aiohttp.ClientSession(json_serialize=lambda value: orjson.dumps(value).decode())
        host = f"[{address.host}]" if ":" in address.host else address.host
        url = f"https://{host}:{address.port}{address.path}"
        try:
            async with self._session.post(
                url,
                params={"timeout": f"{timeout_s:.0f}s"},
                data=orjson.dumps(review),
                headers={"Content-Type": "application/json", "Accept": "application/json"},
                ssl=_context(address.authority),
                server_hostname=address.server,
                timeout=aiohttp.ClientTimeout(total=timeout_s),
                allow_redirects=False,
            ) as response:
                if response.status != 200:
                    raise CallFailed(f'Post "{url}": the webhook answered with status {response.status}')
                body = bytearray()
                async for chunk in response.content.iter_chunked(1 << 16):
                    body += chunk
                    if len(body) > LIMIT:
                        raise CallFailed(f'Post "{url}": the answer has more than {LIMIT} bytes')
                return orjson.loads(body)
        except TimeoutError as error:
            raise CallFailed(f'Post "{url}": context deadline exceeded') from error
        except (aiohttp.ClientError, OSError, orjson.JSONDecodeError, ssl.SSLError) as error:
            raise CallFailed(f'Post "{url}": {error}') from error

    async def close(self) -> None:
        """Ends what is open."""
        if self._session is not None:
            await self._session.close()


@lru_cache(maxsize=256)
def _context(authority: str) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority) if authority else ssl.create_default_context()
