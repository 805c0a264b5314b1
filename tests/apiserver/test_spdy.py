"""SPDY frames: a client of the test's own on the other side."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.apiserver import spdy
from kumi.apiserver.spdy import (
    DICTIONARY,
    FRAME_BYTES,
    HEADERS_BYTES,
    Data,
    Left,
    Opened,
    Ping,
    Reset,
    Session,
    SpdyError,
    data_frame,
)


class Client:
    """Makes the frames that a client sends."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(zdict=DICTIONARY)

    def control(self, type_: int, body: bytes, flags: int = 0, version: int = 3) -> bytes:
        return struct.pack("!HHI", 0x8000 | version, type_, flags << 24 | len(body)) + body

    def open(self, stream: int, headers: dict[str, str], last: bool = False) -> bytes:
        text = struct.pack("!I", len(headers))
        for pair in headers.items():
            for word in pair:
                text += struct.pack("!I", len(word.encode())) + word.encode()
        return self.control(1, struct.pack("!IIH", stream, 0, 0) + self.packed(text), int(last))

    def packed(self, text: bytes) -> bytes:
        return self._deflate.compress(text) + self._deflate.flush(zlib.Z_SYNC_FLUSH)


def test_the_dictionary_is_the_protocol_s() -> None:
    assert (len(DICTIONARY), zlib.adler32(DICTIONARY)) == (1423, 0xE3C6A7C2)


words = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=30)


@given(st.lists(st.dictionaries(words, words, max_size=5), max_size=5), st.data())
def test_frames_are_the_same_however_their_bytes_come(all_headers: list[dict[str, str]], data: st.DataObject) -> None:
    client, session = Client(), Session()
    sent = b"".join(
        client.open(2 * n + 1, headers) + data_frame(2 * n + 1, b"x" * n) for n, headers in enumerate(all_headers)
    )
    found = []
    while sent:
        cut = data.draw(st.integers(1, len(sent)))
        found += list(session.take(sent[:cut]))
        sent = sent[cut:]
    assert found == [
        frame
        for n, headers in enumerate(all_headers)
        for frame in (Opened(2 * n + 1, headers, False), Data(2 * n + 1, b"x" * n, False))
    ]


def test_the_other_frames_are_told_and_those_that_mean_nothing_are_not() -> None:
    client, session = Client(), Session()
    sent = client.control(3, struct.pack("!II", 5, 5)) + client.control(6, struct.pack("!I", 7))
    sent += client.control(4, struct.pack("!I", 0)) + client.control(9, struct.pack("!II", 1, 10))
    sent += client.control(7, struct.pack("!II", 0, 0)) + data_frame(3, b"end", last=True)
    assert list(session.take(sent)) == [Reset(5), Ping(7), Left(), Data(3, b"end", True)]


def test_a_stream_that_is_accepted_is_answered_with_headers() -> None:
    session, inflate = Session(), zlib.decompressobj(zdict=DICTIONARY)
    for stream in (1, 3):
        said = session.accepted(stream)
        first, length, named = struct.unpack_from("!III", said)
        assert (first, length, named) == (0x80030002, len(said) - 8, stream)
        assert inflate.decompress(said[12:]) == bytes(4)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (Client().control(1, b"", version=2), "version 2"),
        (Client().control(1, b"\x00"), "can't be read"),
        (Client().control(1, bytes(10) + b"no zlib"), "can't be read"),
        (struct.pack("!II", 1, FRAME_BYTES + 1), "a frame of"),
        (Client().control(1, bytes(10) + Client().packed(bytes(HEADERS_BYTES + 5))), "too long"),
        (Client().control(1, bytes(10) + Client().packed(struct.pack("!II", 1, 99))), "before they are complete"),
    ],
)
def test_what_is_no_spdy_or_too_much_of_it_is_an_error(sent: bytes, words: str) -> None:
    with pytest.raises(SpdyError, match=words):
        list(Session().take(sent))


def test_answers_have_their_form() -> None:
    assert spdy.reset_frame(9) == Client().control(3, struct.pack("!II", 9, 5))
    assert spdy.pong_frame(Ping(4)) == Client().control(6, struct.pack("!I", 4))
    assert data_frame(5, b"ab") == struct.pack("!II", 5, 2) + b"ab"
