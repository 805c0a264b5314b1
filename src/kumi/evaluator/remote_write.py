"""Remote write: the lines of prometheus.py sent to whoever takes Prometheus' remote write, with virtual timestamps.

The rule     samples go in batches of at most SAMPLES, a line's in the order of time; each batch is one POST, the next one only
             when it was taken. Taken: any 2xx. Refused for good: any 3xx or 4xx but 429: the rest is not sent, and the error
             has the answer's first line. Everything else (5xx, 429, no connection) is tried again after 1, 2, 4 ... seconds,
             or after what Retry-After says, TRIES times in all.
Receivers    VictoriaMetrics takes any time that it keeps (its -retentionPeriod). Prometheus takes what is older than its
             newest block only with `out_of_order_time_window`, and nothing from the future: a virtual clock before now serves it.
Format       remote write 1.0: protobuf WriteRequest, snappy in its block format (pyarrow's codec), labels sorted by name.
Pure but for the POST   waiting is the caller's: `pause`.
Source       Prometheus' remote write specification 1.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from kumi.api.errors import KumiError
from kumi.evaluator.prometheus import Line

SAMPLES = 10_000
TRIES = 5
TIMEOUT_S = 30
LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where to. `headers`: more of them, as for authorization."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise KumiError(f"remote write to {self.url}: the address must begin with http:// or https://")


def send(receiver: Receiver, lines: Iterable[Line], pause: Callable[[float], None]) -> int:
    """All of it; how many samples were taken. `pause` waits so many seconds."""
    sent = 0
    for batch in batches(lines):
        _post(receiver, encode(batch), pause, sent)
        sent += sum(len(line.samples) for line in batch)
    return sent


def batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Of at most SAMPLES; a long line is cut."""
    batch, room = list[Line](), SAMPLES
    for line in lines:
        done = 0
        while done < len(line.samples):
            part = line.samples[done : done + room]
            batch.append(line._replace(samples=part))
            done += len(part)
            room -= len(part)
            if not room:
                yield batch
                batch, room = [], SAMPLES
    if batch:
        yield batch


def encode(batch: Iterable[Line]) -> bytes:
    """The body of one request."""
    import pyarrow as pa

    request = message()()
    for line in batch:
        series = request.timeseries.add()
        for name, value in sorted((("__name__", line.name), *line.labels)):
            series.labels.add(name=name, value=value)
        for at_ms, number in line.samples:
            series.samples.add(value=number, timestamp=at_ms)
    body: bytes = pa.Codec("snappy").compress(request.SerializeToString(deterministic=True), asbytes=True)
    return body


@cache
def message() -> Any:
    """The class of WriteRequest, as far as it is used."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    package = "kumi.remote_write"
    file = descriptor_pb2.FileDescriptorProto(name="kumi/remote_write.proto", package=package, syntax="proto3")
    kind = descriptor_pb2.FieldDescriptorProto
    fields = {
        "Label": (("name", 1, kind.TYPE_STRING, ""), ("value", 2, kind.TYPE_STRING, "")),
        "Sample": (("value", 1, kind.TYPE_DOUBLE, ""), ("timestamp", 2, kind.TYPE_INT64, "")),
        "TimeSeries": (("labels", 1, kind.TYPE_MESSAGE, "Label"), ("samples", 2, kind.TYPE_MESSAGE, "Sample")),
        "WriteRequest": (("timeseries", 1, kind.TYPE_MESSAGE, "TimeSeries"),),
    }
    for name, parts in fields.items():
        made = file.message_type.add(name=name)
        for part, number, typed, of in parts:
            many = kind.LABEL_REPEATED if of else kind.LABEL_OPTIONAL
            one = made.field.add(name=part, number=number, type=typed, label=many)
            if of:
                one.type_name = f".{package}.{of}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.WriteRequest"))


def _post(receiver: Receiver, body: bytes, pause: Callable[[float], None], sent: int) -> None:
    headers = {
        "Content-Encoding": "snappy",
        "Content-Type": "application/x-protobuf",
        "User-Agent": "kumi",
        "X-Prometheus-Remote-Write-Version": "0.1.0",
        **receiver.headers,
    }
    opener, why = build_opener(_Stay), ""
    for number in range(TRIES):
        wait = float(2**number)
        try:
            with opener.open(Request(receiver.url, data=body, headers=headers, method="POST"), timeout=TIMEOUT_S):
                return
        except HTTPError as answer:
            with answer:
                why = _said(answer)
                if answer.code != 429 and answer.code < 500:
                    raise KumiError(f"remote write to {receiver.url} was refused after {sent} samples: {why}") from None
                wait = _asked_pause(answer.headers.get("Retry-After")) or wait
        except (URLError, HTTPException, OSError) as error:
            why = str(error.reason if isinstance(error, URLError) else error) or type(error).__name__
        if number + 1 < TRIES:
            pause(min(wait, LONGEST_PAUSE_S))
    raise KumiError(f"remote write to {receiver.url} failed {TRIES} times after {sent} samples: {why}")


class _Stay(HTTPRedirectHandler):
    """A POST that is sent elsewhere would arrive without its body."""

    def redirect_request(self, *_: Any) -> None:
        """Not followed: the answer is the error."""


def _said(answer: HTTPError) -> str:
    words = answer.read(1000).decode(errors="replace").strip().splitlines()
    return f"{answer.code} {answer.reason}{': ' + words[0] if words else ''}"


def _asked_pause(said: str | None) -> float | None:
    return float(said) if said is not None and said.isdigit() else None
