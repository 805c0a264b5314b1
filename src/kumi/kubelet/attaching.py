"""kubectl attach: a client of a running container's own streams.

    attached = await Attached.to(stem, wants_input)     FileNotFoundError and the like: nobody holds the streams

What the container says from now on is read; what is written goes to its stdin, if it has one. It ends when the container
does, whatever its exit code: that is in the pod's status.

Not here   the guardian's side and what is said between them: console.py.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct

from kumi.kubelet.console import CHANNELS, END, PACKET_BYTES, RESIZE, STDIN

_PIECES = 16
_PIECE_BYTES = PACKET_BYTES // 2


class Attached:
    """A runtime.streams.Command that is the container itself."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._said: dict[str, asyncio.Queue[bytes]] = {name: asyncio.Queue(_PIECES) for name in CHANNELS}
        self._hearing = asyncio.create_task(self._hear())

    @classmethod
    async def to(cls, stem: str, wants_input: bool) -> Attached:
        """Attaches to the container of an attempt. OSError."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.setblocking(False)
        directory = os.open(os.path.dirname(stem), os.O_PATH | os.O_CLOEXEC)
        try:
            connection.connect(f"/proc/self/fd/{directory}/{os.path.basename(stem)}.attach")
            if wants_input:
                connection.send(bytes([STDIN]))
        except OSError:
            connection.close()
            raise
        finally:
            os.close(directory)
        return cls(connection)

    async def read(self, stream: str) -> bytes:
        """See Command."""
        return await self._said[stream].get()

    async def write(self, data: bytes) -> None:
        """See Command."""
        for start in range(0, len(data), _PIECE_BYTES):
            await self._send(bytes([STDIN]) + data[start : start + _PIECE_BYTES])

    async def close_input(self) -> None:
        """See Command."""
        await self._send(bytes([END]))

    def resize(self, columns: int, rows: int) -> None:
        """See Command."""
        packet = struct.pack("!BHH", RESIZE, columns & 0xFFFF, rows & 0xFFFF)
        try:
            self._connection.send(packet)
        except OSError:
            return  # it is over, or takes nothing now

    async def code(self) -> int:
        """See Command."""
        await asyncio.shield(self._hearing)
        return 0

    async def close(self) -> None:
        """See Command: what goes on is the container."""
        self._hearing.cancel()
        await asyncio.gather(self._hearing, return_exceptions=True)
        self._connection.close()

    async def _hear(self) -> None:
        loop = asyncio.get_running_loop()
        streams = {channel: self._said[name] for name, channel in CHANNELS.items()}
        while packet := await self._packet(loop):
            if (queue := streams.get(packet[0])) is not None and len(packet) > 1:
                await queue.put(packet[1:])
        for queue in streams.values():
            await queue.put(b"")

    async def _packet(self, loop: asyncio.AbstractEventLoop) -> bytes:
        try:
            return await loop.sock_recv(self._connection, PACKET_BYTES + 1)
        except OSError:
            return b""

    async def _send(self, packet: bytes) -> None:
        """Whole or, once the container has ended, not at all."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._connection.send(packet)
                return
            except BlockingIOError:
                writable: asyncio.Future[None] = loop.create_future()
                loop.add_writer(self._connection, _resolve, writable)
                try:
                    await writable
                finally:
                    loop.remove_writer(self._connection)
            except OSError:
                return


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
