"""A Kubernetes API over HTTP: the client protocols of runtime, and the logs of pods.

    async with HttpClient(load_config()) as client:
        pods = await client.list(SCHEME.of(Pod), "default")

A refusal is an ApiError made from the server's Status; a server that doesn't answer, or stops in the middle, is a
ConnectionError. What is tried again here, because nothing can have happened yet: reads that lost their connection (READS
times), any request that got a 429 (PATIENCE times, as long as Retry-After says), any request that got a 401 when our
credentials may have something better. Writes that lost their connection may have happened: that is for the caller to find
out. Objects of a list carry their apiVersion and kind, whoever served them.
"""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import orjson

from kumi import __version__
from kumi.api.errors import ApiError, FieldError, KumiError
from kumi.api.scheme import SCHEME, Kind
from kumi.api.wire import JsonObject, Listing, WatchEvent
from kumi.kube import tls, watches
from kumi.kube.config import Config
from kumi.kube.credentials import Credential
from kumi.runtime.client import PatchType, Propagation

if TYPE_CHECKING:
    import ssl

    import aiohttp

READS = 3
PATIENCE = 5
LONGEST_PAUSE_S = 60.0
CONNECT_S, ANSWER_S = 10.0, 60.0
WATCH_S, WATCH_SILENCE_S = 300, 330.0
"""a watch asks to be ended after WATCH_S; a server that is silent for longer than that is gone"""
PATCH_TYPES: dict[PatchType, str] = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
JSON = "application/json"
_FAILED_CHECK = re.compile(r"^\[-\]([\w./-]+) failed", re.MULTILINE)
STREAMED_FROM = 512 * 1024
"""bytes of a body that is sent piece by piece"""


class HttpClient:
    """See the module. `sleep` waits between tries, in seconds. `strict`: objects with unknown fields are refused (kubectl's
    --validate=strict); otherwise the server drops these fields."""

    def __init__(
        self,
        config: Config,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        *,
        strict: bool = False,
    ) -> None:
        self.config = config
        self._validation = _query(fieldValidation="Strict" if strict else "")
        self._sleep = sleep
        self._session: aiohttp.ClientSession | None = None
        self._contexts: dict[tuple[bytes, bytes], ssl.SSLContext] = {}
        self._proxy = config.proxy_url or _environment_proxy(config.server)

    async def __aenter__(self) -> HttpClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes every connection; running watches end with a ConnectionError."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, kind: Kind, namespace: str, name: str) -> JsonObject:
        """See Reader."""
        return await self.request("GET", object_path(kind, namespace, name))

    async def list(self, kind: Kind, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        """See Reader."""
        query = _query(labelSelector=labels, fieldSelector=fields)
        page = await self.request("GET", object_path(kind, namespace), query=query)
        items = page.get("items") or []
        for item in items:
            item.setdefault("apiVersion", kind.api_version)
            item.setdefault("kind", kind.kind)
        meta = page.get("metadata", {})
        return Listing(items, meta.get("resourceVersion", ""), meta.get("continue", ""), meta.get("remainingItemCount"))

    async def watch(
        self, kind: Kind, namespace: str = "", *, revision: str, labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """See Reader. Ends when the server ends it, as it does every few minutes; a lost one is a ConnectionError."""
        query = _query(labelSelector=labels, fieldSelector=fields, resourceVersion=revision)
        query |= {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(WATCH_S)}
        path = object_path(kind, namespace)
        async with self._open("GET", path, query=query, silence_s=WATCH_SILENCE_S) as response, _lost_connections():
            async for event in watches.events(response.content.iter_any(), error_from_status):
                yield event

    async def create(self, obj: JsonObject, *, subresource: str = "") -> JsonObject:
        """See Writer. An object without a namespace goes to that of the configuration."""
        meta = obj.get("metadata", {})
        namespace = meta.get("namespace") or self.config.namespace or "default"
        if subresource:
            owner = "serviceaccounts" if subresource == "token" else "pods"
            path = (
                f"/api/v1/namespaces/{quote(namespace, safe='')}/{owner}/{quote(meta['name'], safe='')}/{subresource}"
            )
        else:
            kind = SCHEME.of_object(obj)
            if kind is None:
                raise KumiError(f"{obj.get('apiVersion')} {obj.get('kind')}: this kind is not known")
            path = object_path(kind, namespace if kind.namespaced else "", version=_version(obj))
        return await self.request("POST", path, body=obj, query=self._validation)

    async def patch(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        body: object,
        *,
        type: PatchType = "merge",
        subresource: str = "",
    ) -> JsonObject:
        """See Writer. A body that says its apiVersion is sent to, and answered in, that version."""
        path = object_path(kind, namespace, name, subresource, version=_version(body))
        return await self.request("PATCH", path, body=body, content_type=PATCH_TYPES[type], query=self._validation)

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        grace_seconds: int | None = None,
        propagation: Propagation = "Background",
        revision: str = "",
    ) -> None:
        """See Writer."""
        options: JsonObject = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        conditions = {"uid": uid, "resourceVersion": revision}
        if any(conditions.values()):
            options["preconditions"] = {key: value for key, value in conditions.items() if value}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        await self.request("DELETE", object_path(kind, namespace, name), body=options)

    async def logs(  # noqa: PLR0913  the options of kubectl logs
        self,
        namespace: str,
        pod: str,
        *,
        container: str = "",
        follow: bool = False,
        previous: bool = False,
        timestamps: bool = False,
        tail_lines: int | None = None,
        since_seconds: int | None = None,
    ) -> AsyncIterator[bytes]:
        """A pod's log in chunks, with `follow` until its container ends. ApiError 400 while it has not started."""
        query = _query(container=container)
        query |= {n: "true" for n, on in (("follow", follow), ("previous", previous), ("timestamps", timestamps)) if on}
        query |= {n: str(v) for n, v in (("tailLines", tail_lines), ("sinceSeconds", since_seconds)) if v is not None}
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/log"
        silence = None if follow else ANSWER_S
        async with self._open("GET", path, query=query, silence_s=silence) as response, _lost_connections():
            async for chunk in response.content.iter_any():
                yield chunk

    async def version(self) -> JsonObject:
        """The server's /version."""
        return await self.request("GET", "/version")

    async def failed_checks(self) -> tuple[str, ...]:
        """The checks of the server's /readyz that fail, by name; none for a server that is ready. ApiError: it has no such
        path, or it is not for us."""
        try:
            async with self._open("GET", "/readyz") as response, _lost_connections():
                await response.read()
                return ()
        except ApiError as error:
            failed = tuple(_FAILED_CHECK.findall(error.message))
            if not failed:
                raise
            return failed

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = JSON,
    ) -> JsonObject:
        """Any request that answers JSON. ApiError, ConnectionError."""
        data = None if body is None else orjson.dumps(body)
        for attempt in range(READS):
            try:
                async with (
                    self._open(method, path, query=query, data=data, content_type=content_type) as response,
                    _lost_connections(),
                ):
                    return _document(await response.read())
            except ConnectionError:
                if method != "GET" or attempt == READS - 1:
                    raise
            await self._sleep(0.1 * 4**attempt)
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        data: bytes | None = None,
        content_type: str = JSON,
        silence_s: float | None = ANSWER_S,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """An answer that is no refusal, before its body is read."""
        patience, renewed = PATIENCE, False
        while True:
            credential = await self.config.credentials.current()
            response = await self._send(method, path, query, data, content_type, credential, silence_s)
            try:
                if response.status < 400:
                    yield response
                    return
                async with _lost_connections():
                    error = error_from_answer(response.status, await response.read(), response.headers)
            finally:
                response.release()
            if error.code == 401 and not renewed and self.config.credentials.refused(credential):
                renewed = True
            elif error.code == 429 and patience and error.retry_after_seconds:
                patience -= 1
                await self._sleep(min(float(error.retry_after_seconds), LONGEST_PAUSE_S))
            else:
                raise error

    async def _send(  # noqa: PLR0917  a request's parts
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        data: bytes | None,
        content_type: str,
        credential: Credential,
        silence_s: float | None,
    ) -> aiohttp.ClientResponse:
        import aiohttp
        from yarl import URL

        headers = [("Accept", JSON), ("User-Agent", f"kumi/{__version__}"), *self.config.impersonation]
        if data is not None:
            headers.append(("Content-Type", content_type))
        if authorization := credential.authorization:
            headers.append(("Authorization", authorization))
        url = URL(self.config.server + path, encoded=True).with_query(dict(query or {}))
        async with _lost_connections():
            return await self._connections().request(
                method,
                url,
                data=io.BytesIO(data) if data is not None and len(data) > STREAMED_FROM else data,
                headers=headers,
                ssl=self._context(credential) if url.scheme == "https" else True,
                server_hostname=self.config.tls_server_name or None,
                proxy=self._proxy or None,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=silence_s),
                allow_redirects=False,
            )

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            # No limit: each watch holds a connection, and a write must never wait for one of them to end.
            connector = aiohttp.TCPConnector(limit=0)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    def _context(self, credential: Credential) -> ssl.SSLContext:
        shown = (credential.certificate, credential.key)
        if shown not in self._contexts:
            config = self.config
            made = tls.context(config.authority, insecure=config.insecure, certificate=shown[0], key=shown[1])
            self._contexts[shown] = made
        return self._contexts[shown]


def object_path(kind: Kind, namespace: str = "", name: str = "", subresource: str = "", *, version: str = "") -> str:
    """The path of an object or, without a name, of all of them; `version` "" is the stored one."""
    version = version or kind.version
    parts = ["apis", kind.group, version] if kind.group else ["api", version]
    if namespace and kind.namespaced:
        parts += ["namespaces", namespace]
    parts += [part for part in (kind.plural, name, subresource) if part]
    return "/" + "/".join(quote(part, safe="") for part in parts)


def _version(body: object) -> str:
    """The version that an object is written in; "" where it does not say."""
    return str(body.get("apiVersion") or "").rpartition("/")[2] if isinstance(body, dict) else ""


def error_from_answer(code: int, body: bytes, headers: Mapping[str, str]) -> ApiError:
    """The refusal that an answer tells of, whether or not it holds a Status."""
    try:
        status = orjson.loads(body)
    except orjson.JSONDecodeError:
        status = None
    if not isinstance(status, dict) or status.get("kind") != "Status":
        text = body[:500].decode("utf-8", "replace").strip()
        status = {"message": text or f"the server answered {code}"}
    error = error_from_status({"code": code, **status})
    retry_after = headers.get("Retry-After", "")
    if not error.retry_after_seconds and retry_after.isdecimal():
        error.retry_after_seconds = int(retry_after)
    return error


def error_from_status(status: JsonObject) -> ApiError:
    """The ApiError that a Status object says."""
    details = status.get("details") or {}
    causes = tuple(
        FieldError(str(c.get("field", "")), str(c.get("message", "")), str(c.get("reason", "")))
        for c in details.get("causes") or ()
    )
    return ApiError(
        int(status.get("code") or 500),
        str(status.get("reason") or "Unknown"),
        str(status.get("message") or "the server gave no reason"),
        kind=str(details.get("kind", "")),
        group=str(details.get("group", "")),
        name=str(details.get("name", "")),
        causes=causes,
        retry_after_seconds=int(details.get("retryAfterSeconds") or 0),
    )


def _document(data: bytes) -> JsonObject:
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ConnectionError(f"the server's answer is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise ConnectionError("the server's answer is no object")
    return body


def _query(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def _environment_proxy(server: str) -> str:
    """The proxy that $HTTPS_PROXY and its like say; the session's own way to find it would read ~/.netrc too."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(server)
    host = parts.hostname or ""
    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(parts.netloc):
        return ""
    return getproxies().get(parts.scheme, "")


@asynccontextmanager
async def _lost_connections() -> AsyncIterator[None]:
    """Failures of the connection as ConnectionError; a server that we must not trust is a KumiError."""
    import aiohttp

    try:
        yield
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
        raise KumiError(f"the server can't be trusted: {error}") from error
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ConnectionError(str(error) or type(error).__name__) from error
