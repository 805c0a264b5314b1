"""SPDY/3.1 frames, as far as Kubernetes' streams need them: bytes in, frames out, and back. No input or output here.

    session = Session()
    for frame in session.take(data): ...        Opened, Data, Reset, Ping, Left; what else is said means nothing here
    session.accepted(stream), data_frame(stream, data, last=...), reset_frame(stream), pong_frame(ping)      bytes to send

Frames     control: 1 | version 3 (15 bits) | type (16) | flags (8) | length (24); data: 0 | stream (31) | flags (8) | length (24)
Headers    one zlib stream a direction, which starts with the protocol's own dictionary: pairs of counted names and values
Windows    are neither kept nor told: clients of Kubernetes keep none. What is sent waits for the connection under it
Bounds     a frame has at most FRAME_BYTES, headers HEADERS_BYTES: else SpdyError, after which nothing can be understood
Why        kubectl forwards ports only over this, though in a WebSocket now; no maintained Python library speaks it.
Source     SPDY protocol draft 3.1; Kubernetes: KEP-4006.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kumi.api.errors import KumiError

FRAME_BYTES = 1 << 22
HEADERS_BYTES = 1 << 16
_VERSION = 3
_SYN_STREAM, _SYN_REPLY, _RESET, _PING, _LEAVE = 1, 2, 3, 6, 7
_LAST = 1
_CANCEL = 5
_WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow"
    " authorization cache-control connection content-base content-encoding content-language content-length"
    " content-location content-md5 content-range content-type date etag expect expires from host if-match"
    " if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma"
    " proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade"
    " user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie"
    " keep-alive origin"
)
_PHRASES = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _counted(text: bytes) -> bytes:
    return struct.pack("!I", len(text)) + text


DICTIONARY = b"".join(_counted(word.replace("_", " ").encode()) for word in _WORDS.split()) + _PHRASES.encode()


class SpdyError(KumiError):
    """The other side does not speak SPDY/3.1, or too much of it."""


class Opened(NamedTuple):
    """A new stream. `last`: the client sends nothing on it."""

    stream: int
    headers: Mapping[str, str]
    last: bool


class Data(NamedTuple):
    """Bytes of a stream; `last`: there are no more."""

    stream: int
    data: bytes
    last: bool


class Reset(NamedTuple):
    """The client wants nothing more of a stream."""

    stream: int


class Ping(NamedTuple):
    """To be answered with the same."""

    number: int


class Left(NamedTuple):
    """The client opens no more streams."""


Frame = Opened | Data | Reset | Ping | Left


class Session:
    """One connection, seen from the server."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(9, zdict=DICTIONARY)

    def take(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete with these bytes. SpdyError."""
        self._buffer += data
        while len(self._buffer) >= 8:
            first, second = struct.unpack_from("!II", self._buffer)
            length, flags = second & 0xFFFFFF, second >> 24
            if length > FRAME_BYTES:
                raise SpdyError(f"a frame of {length} bytes")
            if len(self._buffer) < 8 + length:
                return
            body = bytes(self._buffer[8 : 8 + length])
            del self._buffer[: 8 + length]
            frame = self._frame(first, flags, body)
            if frame is not None:
                yield frame

    def accepted(self, stream: int) -> bytes:
        """Says that a stream is open."""
        block = self._deflate.compress(struct.pack("!I", 0)) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        return _control(_SYN_REPLY, struct.pack("!I", stream) + block)

    def _frame(self, first: int, flags: int, body: bytes) -> Frame | None:
        if not first >> 31:
            return Data(first, body, bool(flags & _LAST))
        version, type_ = (first >> 16) & 0x7FFF, first & 0xFFFF
        if version != _VERSION:
            raise SpdyError(f"version {version} of SPDY, not {_VERSION}")
        try:
            if type_ == _SYN_STREAM:
                stream = struct.unpack_from("!I", body)[0] & 0x7FFFFFFF
                return Opened(stream, self._headers(body[10:]), bool(flags & _LAST))
            if type_ == _RESET:
                return Reset(struct.unpack_from("!I", body)[0] & 0x7FFFFFFF)
            if type_ == _PING:
                return Ping(struct.unpack_from("!I", body)[0])
        except (struct.error, zlib.error, UnicodeDecodeError) as error:
            raise SpdyError(f"a frame of type {type_} that can't be read: {error}") from error
        return Left() if type_ == _LEAVE else None

    def _headers(self, block: bytes) -> dict[str, str]:
        text = self._inflate.decompress(block, HEADERS_BYTES)
        if self._inflate.unconsumed_tail:
            raise SpdyError("headers that are too long")
        (count,) = struct.unpack_from("!I", text)
        words, offset = [], 4
        for _ in range(min(count * 2, HEADERS_BYTES)):
            (length,) = struct.unpack_from("!I", text, offset)
            if offset + 4 + length > len(text):
                raise SpdyError("headers that end before they are complete")
            words.append(text[offset + 4 : offset + 4 + length].decode())
            offset += 4 + length
        return dict(zip(words[::2], words[1::2], strict=True))


def data_frame(stream: int, data: bytes, *, last: bool = False) -> bytes:
    """Bytes of a stream."""
    return struct.pack("!II", stream, (_LAST if last else 0) << 24 | len(data)) + data


def reset_frame(stream: int) -> bytes:
    """Says that nothing more comes on a stream, and nothing is taken."""
    return _control(_RESET, struct.pack("!II", stream, _CANCEL))


def pong_frame(ping: Ping) -> bytes:
    """The answer to a ping."""
    return _control(_PING, struct.pack("!I", ping.number))


def _control(type_: int, body: bytes) -> bytes:
    return struct.pack("!II", 1 << 31 | _VERSION << 16 | type_, len(body)) + body
