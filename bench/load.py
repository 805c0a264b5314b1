"""Clients that cost next to nothing: sockets of their own, requests made beforehand, answers read by their length.

A client library in Python takes as much of a core as the server does, so that two cores would measure the library. Here a
request costs some 60 us, nearly all of it TLS; each bench prints what its clients took, beside what the server took.

    python bench/load.py watch KUBECONFIG WATCHERS RESOURCE      follows a resource with many watches, in a process of its own;
                                                                 says `ready`, and at the end of its input a pickle of delays
"""

from __future__ import annotations

import asyncio
import base64
import pickle
import ssl
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import uvloop
import yaml

SENT = b'"sent":"'
"""stands before the moment (CLOCK_MONOTONIC, microseconds) at which a write was sent, in the object that it wrote"""


@dataclass(frozen=True)
class Place:
    """Where a cluster is, and how one proves to be its administrator."""

    host: str
    port: int
    token: str
    context: ssl.SSLContext

    @staticmethod
    def of(kubeconfig: Path) -> Place:
        """That of a kubeconfig of `kumi up`."""
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        host, _, port = cluster["server"].removeprefix("https://").rpartition(":")
        token = config["users"][0]["user"]["token"]
        return Place(host, int(port), token, ssl.create_default_context(cadata=authority))

    def request(self, method: str, path: str, body: bytes = b"", content_type: str = "application/json") -> bytes:
        """A request as bytes."""
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
        if body:
            head += f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        return (head + "Accept: application/json\r\nUser-Agent: bench\r\n\r\n").encode() + body


class Line(asyncio.Protocol):
    """One connection: one request at a time."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._parts: list[bytes] = []
        self._missing = 0
        self._status = 0
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    @staticmethod
    async def to(place: Place) -> Line:
        """A connection that is up."""
        loop = asyncio.get_running_loop()
        _, line = await loop.create_connection(Line, place.host, place.port, ssl=place.context)
        return line

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("the server hung up"))

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._parts.append(data)
        if not self._missing:
            text = b"".join(self._parts)
            end = text.find(b"\r\n\r\n")
            if end < 0:
                return
            head = text[:end].lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r")[0])
            self._status, self._parts = int(head[9:12]), [text[end + 4 :]]
            self._missing = length - len(self._parts[0])
        else:
            self._missing -= len(data)
        if self._missing == 0 and self._answer is not None:
            self._answer.set_result((self._status, b"".join(self._parts)))
            self._parts = []

    def close(self) -> None:
        """Hangs up."""
        self._transport.close()


class Follower(asyncio.Protocol):
    """One watch: notes of each event when it was read and which write it tells of."""

    def __init__(self, request: bytes, opened: Callable[[], None]) -> None:
        self._request, self._opened = request, opened
        self._rest = b""
        self.seen: list[tuple[int, int]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol. A mark may be cut by the end of what was read."""
        if not self._rest and data.startswith(b"HTTP/1.1 200"):
            self._opened()
        now = time.monotonic_ns() // 1000
        text = self._rest + data
        at, end = text.find(SENT), 0
        while at >= 0 and at + 40 < len(text):
            start, end = at + len(SENT), text.find(b'"', at + len(SENT))
            self.seen.append((int(text[start:end]), now))
            at = text.find(SENT, end)
        self._rest = text[max(end, len(text) - 48 if at < 0 else at) :]


async def together(place: Place, clients: int, requests: Sequence[bytes]) -> list[float]:
    """Sends the requests over that many connections; seconds that each took."""
    lines = [await Line.to(place) for _ in range(clients)]
    todo, took = iter(requests), list[float]()

    async def work(line: Line) -> None:
        for request in todo:
            begin = time.perf_counter()
            status, body = await line.ask(request)
            took.append(time.perf_counter() - begin)
            if status not in (200, 201):
                raise SystemExit(f"{status}: {body[:500]!r}")

    await asyncio.gather(*(work(line) for line in lines))
    for line in lines:
        line.close()
    return took


async def paced(place: Place, clients: int, rate: float, count: int, make: Callable[[int], bytes]) -> dict[int, int]:
    """`count` requests at that many a second; by the moment at which each was sent, the one when it was acknowledged."""
    lines: asyncio.Queue[Line] = asyncio.Queue()
    for _ in range(clients):
        lines.put_nowait(await Line.to(place))
    acknowledged: dict[int, int] = {}

    async def write(line: Line, number: int) -> None:
        sent = time.monotonic_ns() // 1000
        status, body = await line.ask(make(number).replace(b"@SENT", b"%016d" % sent))
        if status not in (200, 201):
            raise SystemExit(f"{status}: {body[:500]!r}")
        acknowledged[sent] = time.monotonic_ns() // 1000
        lines.put_nowait(line)

    begin = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            await asyncio.sleep(max(0.0, begin + number / rate - time.monotonic()))
            group.create_task(write(await lines.get(), number))
    return acknowledged


async def follow(place: Place, watchers: int, resource: str) -> None:
    """The process of its own; see the module."""
    loop, opened = asyncio.get_running_loop(), asyncio.Semaphore(0)
    line = await Line.to(place)
    _, body = await line.ask(place.request("GET", f"{resource}?limit=1"))
    revision = orjson.loads(body)["metadata"]["resourceVersion"]
    request = place.request("GET", f"{resource}?watch=1&resourceVersion={revision}")
    followers = []
    for _ in range(watchers):
        _, follower = await loop.create_connection(
            lambda: Follower(request, opened.release), place.host, place.port, ssl=place.context
        )
        followers.append(follower)
    for _ in range(watchers):
        await opened.acquire()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    used = time.process_time()
    sys.stdout.buffer.write(pickle.dumps((used, [follower.seen for follower in followers])))


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """The result, on the loop that the server has too."""
    return uvloop.run(work)


if __name__ == "__main__":
    _, _, config, many, what = sys.argv
    run(follow(Place.of(Path(config)), int(many), what))
