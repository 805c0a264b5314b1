"""What a receiver of remote write gets, decoded by hand; and what becomes of refusals and failures."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.evaluator import remote_write
from kumi.evaluator.prometheus import Line, lines
from kumi.evaluator.remote_write import Receiver, batches, encode, message, send
from tests.evaluator.told import ms, small


class Peer(HTTPServer):
    """Answers as it is told, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.got: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/api/v1/write"


class Answer(BaseHTTPRequestHandler):
    server: Peer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), body))
        code, headers, words = self.server.answers.pop(0) if self.server.answers else (204, {}, b"")
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(words)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Pauses(list[float]):
    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def length_of(body: bytes) -> int:
    """The length before compression, as snappy's block format has it: a varint in front."""
    found = 0
    for place, byte in enumerate(body):
        found |= (byte & 127) << 7 * place
        if byte < 128:
            return found
    raise AssertionError


def decoded(body: bytes) -> dict[tuple[tuple[str, str], ...], list[tuple[int, float]]]:
    plain = pa.Codec("snappy").decompress(body, length_of(body), asbytes=True)
    request = message().FromString(plain)
    return {
        tuple((label.name, label.value) for label in series.labels): [(s.timestamp, s.value) for s in series.samples]
        for series in request.timeseries
    }


def test_a_receiver_gets_every_sample_with_its_virtual_time(peer: Peer) -> None:
    told = [line for line in lines([small()]) if line.name.endswith(("e_running", "evaluate_preemptions"))]
    sent = send(Receiver(peer.url), told, Pauses())
    ((headers, body),) = peer.got
    found = decoded(body)
    key = (("__name__", "kumi_evaluate_preemptions"), ("policy", "fifo"), ("seed", "0"))
    assert found[key] == [(ms(100), 1.0)]
    assert sum(len(samples) for samples in found.values()) == sent == 600
    assert (headers["Content-Encoding"], headers["Content-Type"]) == ("snappy", "application/x-protobuf")
    assert headers["X-Prometheus-Remote-Write-Version"] == "0.1.0"


def test_the_bytes_are_those_of_the_specification() -> None:
    body = encode([Line("up", (("a", "b"),), [(5, 1.0)])])
    plain = pa.Codec("snappy").decompress(body, length_of(body), asbytes=True)
    labels = b"\x0a\x0e\x0a\x08__name__\x12\x02up" + b"\x0a\x06\x0a\x01a\x12\x01b"
    sample = b"\x12\x0b\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x05"
    inner = labels + sample
    assert plain == b"\x0a" + bytes([len(inner)]) + inner


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(1, 15))
def test_batches_are_bounded_and_lose_nothing(lengths: list[int], room: int) -> None:
    told = [Line(f"m{n}", (), [(at, 0.0) for at in range(length)]) for n, length in enumerate(lengths)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote_write, "SAMPLES", room)
        found = list(batches(told))
    assert all(0 < sum(len(line.samples) for line in batch) <= room for batch in found)
    flat = [(line.name, at) for batch in found for line in batch for at, _ in line.samples]
    assert flat == [(line.name, at) for line in told for at, _ in line.samples]


LINE = [Line("m", (), [(1, 1.0)])]


def test_a_busy_receiver_is_asked_again_when_it_says(peer: Peer) -> None:
    peer.answers = [(503, {}, b""), (429, {"Retry-After": "7"}, b""), (500, {"Retry-After": "3600"}, b"")]
    pauses = Pauses()
    assert send(Receiver(peer.url), LINE, pauses) == 1
    assert pauses == [1, 7, 60]
    assert len({body for _, body in peer.got}) == 1


def test_a_refusal_is_final_and_says_why(peer: Peer) -> None:
    peer.answers = [(204, {}, b""), (400, {}, b"out of bounds\nmore\n")]
    told = [Line("m", (), [(at, 0.0) for at in range(remote_write.SAMPLES + 1)])]
    with pytest.raises(KumiError, match=r"was refused after 10000 samples: 400 Bad Request: out of bounds$"):
        send(Receiver(peer.url), told, Pauses())
    assert len(peer.got) == 2


def test_a_redirect_is_a_refusal_for_it_would_lose_the_body(peer: Peer) -> None:
    peer.answers = [(302, {"Location": peer.url}, b"")]
    with pytest.raises(KumiError, match="refused after 0 samples: 302"):
        send(Receiver(peer.url), LINE, Pauses())
    assert len(peer.got) == 1


def test_who_never_answers_is_given_up(peer: Peer) -> None:
    peer.answers = [(502, {}, b"")] * remote_write.TRIES
    pauses = Pauses()
    with pytest.raises(KumiError, match=r"failed 5 times after 0 samples: 502 Bad Gateway$"):
        send(Receiver(peer.url), LINE, pauses)
    assert pauses == [1, 2, 4, 8]


def test_nobody_there_is_told_as_such() -> None:
    with Peer() as gone:
        url = gone.url
    with pytest.raises(KumiError, match=f"remote write to {url} failed 5 times .*refused"):
        send(Receiver(url), LINE, Pauses())


def test_headers_of_ones_own_are_sent(peer: Peer) -> None:
    send(Receiver(peer.url, {"Authorization": "Bearer x"}), LINE, Pauses())
    assert peer.got[0][0]["Authorization"] == "Bearer x"


def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(KumiError, match="must begin with http"):
        Receiver("file:///etc/passwd")
