"""Ports of a pod: GET or POST pods/NAME/portforward, over WebSocket.

Protocols    SPDY/3.1+portforward.k8s.io (kubectl 1.31 and newer): the messages are one byte stream of SPDY frames (spdy.py).
             A connection is a pair of streams that the client opens with the same `requestID` and `port`, told apart by
             `streamType`: on `data` its bytes go both ways, on `error` goes a sentence if there can be none, or no more
             v4.channel.k8s.io (the Python clients): a message's first byte is its channel; of the i-th of the query's
             `ports`, 2i is data and 2i+1 is error; each channel begins with the port, two bytes, low one first. One
             connection a port
Refused      before the protocol changes: a pod that is over or nowhere, a client that speaks no WebSocket, ports that are none
Bounds       as much as SPAN pieces wait for a connection that does not take them; then the client waits
Source       Kubernetes: KEP-4006 (port forwarding over WebSocket), the older port-forward protocol.
Not here     which sockets are the pod's: whoever implements runtime.streams.ExecSource.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import WSMsgType, web
from multidict import MultiMapping

from kumi.api.errors import KumiError, bad_request
from kumi.api.wire import JsonObject
from kumi.apiserver import spdy
from kumi.apiserver.routes.commands import check_pod
from kumi.apiserver.routes.streams import Streams
from kumi.runtime.streams import ExecSource

TUNNEL, CHANNELS = "SPDY/3.1+portforward.k8s.io", "v4.channel.k8s.io"
PROTOCOLS = (TUNNEL, CHANNELS)
SPAN = 64
_PIECE = 1 << 15
_MESSAGE_BYTES = 1 << 22

Send = Callable[[bytes], Awaitable[None]]


async def run(
    request: web.Request, query: MultiMapping[str], source: ExecSource, pod: JsonObject, streams: Streams
) -> web.StreamResponse:
    """Answers with the pod's ports. ApiError for what is refused before."""
    check_pod(pod, "forward ports of")
    socket = web.WebSocketResponse(protocols=PROTOCOLS, max_msg_size=_MESSAGE_BYTES)
    offered = socket.can_prepare(request)
    if not offered.ok or offered.protocol not in PROTOCOLS:
        raise bad_request(f"Upgrade request required: WebSocket with one of {', '.join(PROTOCOLS)}")
    ports = [] if offered.protocol == TUNNEL else _ports(query.getall("ports", []))
    await socket.prepare(request)
    server = _Tunnel(socket, source, pod) if offered.protocol == TUNNEL else _Channels(socket, source, pod, ports)
    async with streams.deadline(None):
        try:
            await server.serve()
        except (ConnectionError, spdy.SpdyError):
            pass
        finally:
            await server.close()
    await socket.close()
    return socket


class Connection:
    """One connection to a port. `say`, `complain`: send bytes, or a sentence; b"" and "" are the end of it."""

    def __init__(self, say: Send, complain: Callable[[str], Awaitable[None]]) -> None:
        self._say, self._complain = say, complain
        self._heard: asyncio.Queue[bytes] = asyncio.Queue(SPAN)

    async def hear(self, data: bytes) -> None:
        """From the client; b"" is the end."""
        await self._heard.put(data)

    async def run(self, source: ExecSource, pod: JsonObject, port: int) -> None:
        """Until both sides have said all, or the pod's side is gone."""
        try:
            reader, writer = await source.connect(pod, port)
        except KumiError as error:
            meta = pod["metadata"]
            await self._complain(
                f"error forwarding port {port} to pod {meta['name']}, uid {meta.get('uid', '')}: {error}"
            )
            await self._say(b"")
            return
        listens = asyncio.create_task(self._listen(writer))
        try:
            with contextlib.suppress(ConnectionError):
                while data := await reader.read(_PIECE):
                    await self._say(data)
            await self._say(b"")
            await self._complain("")
        finally:
            listens.cancel()
            await asyncio.gather(listens, return_exceptions=True)
            writer.close()

    async def _listen(self, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await self._heard.get():
                writer.write(data)
                await writer.drain()
            writer.write_eof()
            return
        while await self._heard.get():
            pass  # the pod's side is gone: its own end says so


class _Server:
    """Connections by what names them."""

    def __init__(self, socket: web.WebSocketResponse, source: ExecSource, pod: JsonObject) -> None:
        self._socket, self._source, self._pod = socket, source, pod
        self._tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Ends every connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, connection: Connection, port: int) -> asyncio.Task[None]:
        task = asyncio.create_task(self._run(connection, port))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _run(self, connection: Connection, port: int) -> None:
        with contextlib.suppress(ConnectionError):  # of the client, which is told elsewhere
            await connection.run(self._source, self._pod, port)

    async def _send(self, data: bytes) -> None:
        await self._socket.send_bytes(data)


class _Tunnel(_Server):
    """SPDY in the messages."""

    def __init__(self, socket: web.WebSocketResponse, source: ExecSource, pod: JsonObject) -> None:
        super().__init__(socket, source, pod)
        self._session = spdy.Session()
        self._errors: dict[str, int] = {}
        """request -> its error stream, until its data stream comes"""
        self._open: dict[int, tuple[Connection, asyncio.Task[None]]] = {}

    async def serve(self) -> None:
        """Until the client leaves. SpdyError."""
        async for message in self._socket:
            if message.type is not WSMsgType.BINARY:
                continue
            for frame in self._session.take(message.data):
                await self._heed(frame)

    async def _heed(self, frame: spdy.Frame) -> None:
        match frame:
            case spdy.Opened(stream, headers, _):
                await self._opened(stream, headers)
            case spdy.Data(stream, data, last) if stream in self._open:
                connection, _ = self._open[stream]
                for piece in [data] * bool(data) + [b""] * last:
                    await connection.hear(piece)
            case spdy.Reset(stream) if stream in self._open:
                self._open.pop(stream)[1].cancel()
            case spdy.Ping():
                await self._send(spdy.pong_frame(frame))

    async def _opened(self, stream: int, headers: Mapping[str, str]) -> None:
        request, kind = headers.get("requestid", ""), headers.get("streamtype", "")
        port = headers.get("port", "")
        if not _is_port(port) or kind not in ("data", "error") or (kind == "data" and request not in self._errors):
            await self._send(spdy.reset_frame(stream))
            return
        await self._send(self._session.accepted(stream))
        if kind == "error":
            self._errors[request] = stream
            return
        error_stream = self._errors.pop(request)

        async def say(data: bytes) -> None:
            await self._send(spdy.data_frame(stream, data, last=not data))

        async def complain(sentence: str) -> None:
            await self._send(spdy.data_frame(error_stream, sentence.encode(), last=True))

        connection = Connection(say, complain)
        task = self._start(connection, int(port))
        self._open[stream] = connection, task
        task.add_done_callback(lambda _: self._open.pop(stream, None))


class _Channels(_Server):
    """Two channels a port."""

    def __init__(self, socket: web.WebSocketResponse, source: ExecSource, pod: JsonObject, ports: list[int]) -> None:
        super().__init__(socket, source, pod)
        self._ports = ports

    async def serve(self) -> None:
        """Until the client leaves, or no connection is left."""
        connections = []
        for number, port in enumerate(self._ports):
            for channel in (2 * number, 2 * number + 1):
                await self._send(bytes([channel]) + struct.pack("<H", port))
            connections.append(self._connection(2 * number))
        running = [self._start(c, port) for c, port in zip(connections, self._ports, strict=True)]
        hears = asyncio.create_task(self._hear(connections))
        try:
            over = asyncio.create_task(_all(running))
            await asyncio.wait([hears, over], return_when=asyncio.FIRST_COMPLETED)
            over.cancel()
        finally:
            hears.cancel()
            await asyncio.gather(hears, return_exceptions=True)

    async def _hear(self, connections: list[Connection]) -> None:
        async for message in self._socket:
            if message.type is WSMsgType.BINARY and message.data and not message.data[0] % 2:
                number = message.data[0] // 2
                if number < len(connections) and len(message.data) > 1:
                    await connections[number].hear(message.data[1:])

    def _connection(self, channel: int) -> Connection:
        async def say(data: bytes) -> None:
            if data:
                await self._send(bytes([channel]) + data)

        async def complain(sentence: str) -> None:
            if sentence:
                await self._send(bytes([channel + 1]) + sentence.encode())

        return Connection(say, complain)


async def _all(tasks: list[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)


def _ports(given: list[str]) -> list[int]:
    words = [word for text in given for word in text.split(",") if word]
    if not words:
        raise bad_request('query parameter "ports" is required')
    for word in words:
        if not _is_port(word):
            raise bad_request(f'unable to parse "{word}" as a port')
    if len(words) > 128:
        raise bad_request("at most 128 ports at once")
    return [int(word) for word in words]


def _is_port(text: str) -> bool:
    return text.isdigit() and len(text) < 6 and 0 < int(text) < 65536
