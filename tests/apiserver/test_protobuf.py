from __future__ import annotations

import base64
import contextlib
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from aiohttp import ClientSession
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.api.openapi.messages import MessageField, message_of, messages
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.apiserver.bodies import THREAD_FROM
from kumi.apiserver.protobuf import MAGIC, MEDIA_TYPE, decode

SENT = [(kind.api_version, kind.kind) for kind in load() if message_of(kind.api_version, kind.kind)] + [
    ("v1", "Binding"),
    ("policy/v1", "Eviction"),
    ("autoscaling/v1", "Scale"),
    ("meta.k8s.io/v1", "DeleteOptions"),
]
"""whatever a client may send in protobuf"""
DEPTH = 4
"""how deep the objects nest that the law is tried with"""
NAMESPACES = "/api/v1/namespaces"


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    found = []
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def of(number: int, *values: int | bytes | str) -> bytes:
    """A field, as often as it has values."""
    found = b""
    for value in values:
        if isinstance(value, int):
            found += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            found += varint(number << 3 | 2) + varint(len(data)) + data
    return found


def envelope(raw: bytes, api_version: str = "v1", kind: str = "Pod") -> bytes:
    """What stands around every object."""
    return MAGIC + of(1, of(1, api_version) + of(2, kind)) + of(2, raw) + of(3, "") + of(4, "")


def seconds_and_nanos(text: str) -> bytes:
    moment = datetime.fromisoformat(text)
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    return of(1, seconds) + of(2, moment.microsecond * 1000)


def one(type_: str, value: Any) -> int | bytes:
    """A JSON value as Go writes it."""
    match type_:
        case "text":
            return str(value).encode()
        case "bool" | "int32" | "int64":
            return int(value)
        case "bytes":
            return base64.b64decode(value)
        case "quantity":
            return of(1, value)
        case "int or text":
            text = isinstance(value, str)
            return of(1, int(text)) + of(2, 0 if text else value) + of(3, value if text else "")
        case "time" | "micro time":
            return seconds_and_nanos(value)
        case "fields":
            return of(1, orjson.dumps(value))
        case _:
            return write(type_, value)


def write(message: str, value: JsonObject) -> bytes:
    """A JSON object as Go writes it."""
    found = b""
    for number, (name, type_, form) in messages()[message].items():
        if not name:
            found += of(number, write(type_, value))
        elif name not in value:
            if form == "unless zero" and type_ in ("text", "bool", "int32", "int64"):
                found += of(number, b"" if type_ == "text" else 0)
        elif form == "list":
            found += of(number, *(one(type_, item) for item in value[name]))
        elif form == "map":
            found += of(number, *(of(1, key) + of(2, one(type_, item)) for key, item in value[name].items()))
        else:
            found += of(number, one(type_, value[name]))
    return found


TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(
    lambda t: t.isoformat(timespec="microseconds") + "Z"
)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(max_size=5),
    "bool": st.booleans(),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "bytes": st.binary(max_size=5).map(lambda b: base64.b64encode(b).decode()),
    "quantity": st.sampled_from(["1", "100m", "64Gi"]),
    "int or text": st.integers(1, 2**31 - 1) | st.text(max_size=5),
    "time": TIMES.map(lambda t: re.sub(r"\.\d+", "", t)),
    "micro time": TIMES,
    "fields": st.just({"f:spec": {"f:replicas": {}}}),
}


def items(type_: str, depth: int) -> st.SearchStrategy[Any]:
    return SCALARS[type_] if type_ in SCALARS else objects(type_, depth - 1)


def values(field: MessageField, depth: int) -> st.SearchStrategy[Any]:
    one_ = items(field.type, depth)
    if field.form == "list":
        return st.lists(one_, min_size=1, max_size=2)
    if field.form == "map":
        return st.dictionaries(st.text(max_size=3), one_, min_size=1, max_size=2)
    return one_.filter(bool) if field.form == "unless zero" else one_


def objects(message: str, depth: int) -> st.SearchStrategy[JsonObject]:
    """A few of the fields that a message may have."""

    @st.composite
    def draw_one(draw: st.DrawFn) -> JsonObject:
        fields = [f for f in messages()[message].values() if depth or f.type in SCALARS]
        found: JsonObject = {}
        for field in draw(st.lists(st.sampled_from(fields), max_size=3, unique=True)) if fields else ():
            drawn = draw(values(field, depth))
            found |= {field.name: drawn} if field.name else drawn
        return found

    return draw_one()


@pytest.mark.parametrize(("api_version", "kind"), SENT, ids=str)
@given(data=st.data())
def test_an_object_that_go_writes_is_read_back(data: st.DataObject, api_version: str, kind: str) -> None:
    message = message_of(api_version, kind)
    value = data.draw(objects(message, DEPTH))
    expected = {"apiVersion": api_version, "kind": kind, **value}
    assert decode(envelope(write(message, value), api_version, kind)) == expected


def read_or_refused(body: bytes) -> None:
    """Anything but a KumiError, and anything that JSON can't say, is a failure."""
    with contextlib.suppress(KumiError):
        found = decode(body)
        assert orjson.loads(orjson.dumps(found)) == found


@given(st.binary(), st.booleans(), st.sampled_from(SENT))
def test_no_bytes_do_more_than_fail(data: bytes, within: bool, sent: tuple[str, str]) -> None:
    read_or_refused(envelope(data, *sent) if within else MAGIC + data)


POD = {
    "metadata": {"name": "p", "labels": {"a": "b"}, "creationTimestamp": "2026-01-02T03:04:05Z"},
    "spec": {"containers": [{"name": "c", "command": ["x"], "resources": {"limits": {"cpu": "1"}}}], "priority": 0},
}


@given(st.data())
def test_a_damaged_object_does_no_more_than_fail(data: st.DataObject) -> None:
    whole = bytearray(envelope(write(message_of("v1", "Pod"), POD)))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(len(MAGIC), len(whole) - 1))] = data.draw(st.integers(0, 255))
    read_or_refused(bytes(whole))
    read_or_refused(bytes(whole[: data.draw(st.integers(0, len(whole)))]))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "does not begin with"),
        (b"{}", "does not begin with"),
        (MAGIC, 'kind "" in version ""'),
        (MAGIC + b"\x0a", "ends within a number"),
        (MAGIC + b"\x0a\x05ab", "longer than what it is in"),
        (MAGIC + b"\xff" * 11, "longer than 64 bits"),
        (MAGIC + b"\x02\x00", "the number 0"),
        (MAGIC + b"\x0b", "wire type 3"),
        (envelope(b"", "v1", "Nonsense"), 'kind "Nonsense" in version "v1"'),
        (envelope(of(1, 3)), "metadata is a number"),
        (envelope(of(1, of(1, 3))), "name is a number"),
        (envelope(of(1, of(1, b"\xff"))), "name is not UTF-8"),
        (envelope(of(2, of(4, "long"))), "terminationGracePeriodSeconds is no number"),
        (envelope(of(1, of(8, of(1, 2**62)))), "creationTimestamp is not within"),
        (envelope(of(1, of(17, of(7, of(1, "{"))))), "fieldsV1 is no JSON"),
    ],
)
def test_what_is_wrong_is_said(body: bytes, message: str) -> None:
    with pytest.raises(KumiError, match=re.escape(message)):
        decode(body)


def pod(raw: bytes) -> JsonObject:
    found = decode(envelope(raw))
    return {key: value for key, value in found.items() if key not in ("apiVersion", "kind")}


def test_unknown_numbers_are_passed_over_whatever_they_hold() -> None:
    unknown = of(900, 1) + of(901, "text") + varint(902 << 3 | 1) + bytes(8) + varint(903 << 3 | 5) + bytes(4)
    assert pod(unknown + of(1, of(1, "p") + unknown)) == {"metadata": {"name": "p"}}


def test_values_that_were_never_set_are_left_out() -> None:
    metadata = of(1, "p") + of(2, "") + of(7, 0) + of(8, b"")
    assert pod(of(1, metadata) + of(2, of(11, 0))) == {"metadata": {"name": "p"}, "spec": {}}


def test_a_zero_that_was_set_stays() -> None:
    spec = of(1, 0) + of(7, 0) + of(10, 0)
    found = decode(envelope(of(2, spec), "batch/v1", "Job"))
    assert found["spec"] == {"parallelism": 0, "backoffLimit": 0, "suspend": False}


@pytest.mark.parametrize("text", ["0", "false", "null"])
def test_text_that_looks_like_zero_is_text(text: str) -> None:
    assert pod(of(1, of(4, text) + of(12, of(1, text) + of(2, text)))) == {
        "metadata": {"selfLink": text, "annotations": {text: text}}
    }


def test_the_fields_of_an_embedded_part_stand_in_the_whole() -> None:
    volume = of(1, "v") + of(2, of(2, b""))
    assert pod(of(2, of(1, volume))) == {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}


def test_of_a_field_that_is_there_twice_the_last_counts_and_messages_are_merged() -> None:
    assert pod(of(1, of(1, "a") + of(1, "b")) + of(1, of(3, "n"))) == {"metadata": {"name": "b", "namespace": "n"}}
    assert pod(of(1, of(4, "a") + of(4, ""))) == {"metadata": {}}


def test_a_map_entry_without_a_value_is_empty() -> None:
    found = decode(envelope(of(2, of(1, "a"), of(1, "b") + of(2, "c"), b""), kind="ConfigMap"))
    assert found["data"] == {"a": "", "b": "c", "": ""}


@pytest.mark.parametrize("groups", [of(4, 1, 2, -1), of(4, varint(1) + varint(2) + varint(-1))], ids=["rows", "packed"])
def test_numbers_of_a_list_come_one_by_one_or_packed(groups: bytes) -> None:
    assert pod(of(2, of(14, groups))) == {"spec": {"securityContext": {"supplementalGroups": [1, 2, -1]}}}


@pytest.mark.parametrize("wide", [-5, -5 & 0xFFFFFFFF], ids=["64 bits", "32 bits"])
def test_a_negative_number_of_32_bits_is_read_from_either_width(wide: int) -> None:
    assert decode(envelope(of(2, wide), "scheduling.k8s.io/v1", "PriorityClass"))["value"] == -5


@pytest.mark.parametrize(
    ("port", "expected"), [(of(1, 0) + of(2, 80), 80), (of(1, 1) + of(3, "http"), "http"), (b"", None)]
)
def test_a_port_is_a_number_or_a_name(port: bytes, expected: object) -> None:
    service = decode(envelope(of(2, of(1, of(3, 80) + of(4, port))), kind="Service"))
    assert service["spec"]["ports"][0].get("targetPort") == expected


def test_the_first_second_of_1970_is_a_time() -> None:
    assert pod(of(1, of(8, of(1, 0) + of(2, 0)))) == {"metadata": {"creationTimestamp": "1970-01-01T00:00:00Z"}}


async def send(
    client: ClientSession, path: str, body: bytes, method: str = "POST", **headers: str
) -> tuple[int, JsonObject]:
    headers = {"Content-Type": MEDIA_TYPE, "Accept": f"{MEDIA_TYPE},application/json", **headers}
    async with client.request(method, path, data=body, headers=headers) as response:
        assert response.content_type == "application/json"
        return response.status, await response.json()


async def test_an_object_is_made_from_it_and_answered_in_json(client: ClientSession) -> None:
    metadata = of(1, "team") + of(2, "") + of(8, b"")
    code, made = await send(
        client, NAMESPACES, envelope(of(1, metadata) + of(2, b"") + of(3, of(1, "")), kind="Namespace")
    )
    assert (code, made["kind"], made["metadata"]["name"]) == (201, "Namespace", "team")


async def test_an_object_is_replaced_from_it(client: ClientSession) -> None:
    path = f"{NAMESPACES}/default/configmaps"
    body = envelope(of(1, of(1, "c")) + of(2, of(1, "a") + of(2, "b")), kind="ConfigMap")
    assert (await send(client, path, body))[0] == 201
    body = envelope(of(1, of(1, "c")) + of(2, of(1, "a") + of(2, "z")), kind="ConfigMap")
    code, changed = await send(client, f"{path}/c", body, "PUT")
    assert (code, changed["data"]) == (200, {"a": "z"})


async def test_a_delete_may_have_its_options_in_it(client: ClientSession) -> None:
    path = f"{NAMESPACES}/default/configmaps"
    assert (await send(client, path, envelope(of(1, of(1, "c")), kind="ConfigMap")))[0] == 201
    wrong_uid = envelope(of(2, of(1, "another")), "v1", "DeleteOptions")
    code, status = await send(client, f"{path}/c", wrong_uid, "DELETE")
    assert (code, status["reason"]) == (409, "Conflict")
    options = envelope(of(1, 0) + of(4, "Background"), "batch/v1", "DeleteOptions")
    assert (await send(client, f"{path}/c", options, "DELETE"))[0] == 200


async def test_a_large_object_is_read_too(client: ClientSession) -> None:
    text = "x" * THREAD_FROM
    body = envelope(of(1, of(1, "c")) + of(2, of(1, "a") + of(2, text)), kind="ConfigMap")
    code, made = await send(client, f"{NAMESPACES}/default/configmaps", body)
    assert (code, made["data"]) == (201, {"a": text})


async def test_what_cannot_be_read_is_a_400(client: ClientSession) -> None:
    code, status = await send(client, NAMESPACES, b"nope")
    assert (code, status["reason"]) == (400, "BadRequest")
    assert "(must be of type Namespace)" in status["message"]
    assert "protobuf parse error: the body does not begin with" in status["message"]


async def test_another_kind_than_the_path_expects_is_a_400(client: ClientSession) -> None:
    code, status = await send(client, NAMESPACES, envelope(of(1, of(1, "c")), kind="ConfigMap"))
    assert (code, status["reason"]) == (400, "BadRequest")


async def test_json_that_is_too_deep_within_it_is_a_400(client: ClientSession) -> None:
    deep = b"[" * 200 + b"]" * 200
    code, status = await send(client, NAMESPACES, envelope(of(1, of(17, of(7, of(1, deep)))), kind="Namespace"))
    assert (code, "nests deeper" in status["message"]) == (400, True)


async def test_a_custom_kind_is_not_read_from_it(client: ClientSession) -> None:
    path = "/apis/kueue.x-k8s.io/v1beta1/resourceflavors"
    code, status = await send(client, path, envelope(b"", "kueue.x-k8s.io/v1beta1", "ResourceFlavor"))
    assert (code, status["reason"]) == (415, "UnsupportedMediaType")
    assert MEDIA_TYPE not in status["message"]
    code, status = await send(client, NAMESPACES, b"", **{"Content-Type": "application/cbor"})
    assert (code, MEDIA_TYPE in status["message"]) == (415, True)
