from __future__ import annotations

import io
import json

import pytest
import yaml
from aiohttp import ClientSession
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError, KumiError
from kumi.apiserver.bodies import DEPTH_AT_MOST, check_encodable
from tests.apiserver.conftest import config_map

PATH = "/api/v1/namespaces/default/configmaps"
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda v: st.lists(v) | st.dictionaries(st.text(), v),
)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def blown_up() -> bytes:
    """A few aliases that stand for a billion values."""
    lines = [b"a: &a [1,2,3,4,5,6,7,8,9,10]"]
    for above, here in zip(b"abcdefgh", b"bcdefghi", strict=True):
        lines.append(b"%c: &%c [%s]" % (here, here, b",".join([b"*%c" % above] * 10)))
    return b"\n".join(lines)


async def send(
    client: ClientSession, body: bytes | io.BytesIO, media_type: str = "application/json", path: str = PATH
) -> tuple[int, dict]:  # type: ignore[type-arg]
    response = await client.post(path, data=body, headers={"Content-Type": media_type})
    return response.status, await response.json()


@given(JSON_VALUES)
def test_what_json_can_say_can_be_written_again(value: object) -> None:
    check_encodable(value)


def test_nesting_has_a_limit_that_leaves_room_for_wrapping() -> None:
    check_encodable(nested(DEPTH_AT_MOST))
    with pytest.raises(KumiError, match="nests deeper"):
        check_encodable(nested(DEPTH_AT_MOST + 1))


@pytest.mark.parametrize("value", [2**64, {1: 2}])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(KumiError):
        check_encodable(value)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nope",
        b'{"a":',
        b"[]",
        b"3",
        b'"text"',
        b"\xff\xfe",
        b'{"a": 1e999}',
        b'{"a": "\\ud800"}',
        b"[" * 100_000,
        json.dumps({"data": nested(DEPTH_AT_MOST)}).encode(),
    ],
    ids=lambda b: repr(b[:12]),
)
async def test_a_body_that_cannot_be_read_is_a_400(client: ClientSession, body: bytes) -> None:
    code, status = await send(client, body)
    assert (code, status["kind"], status["reason"]) == (400, "Status", "BadRequest")
    assert "ConfigMap" in status["message"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"a: [",
        b"--- {a: 1}\n--- {a: 2}\n",
        b"\xff",
        b"a: 99999999999999999999999\n",
        b"a: 1e999\n",
        b"a: &a [*a]\n",
        blown_up(),
        b"[" * 100_000,
    ],
    ids=lambda b: repr(b[:12]),
)
async def test_yaml_that_cannot_be_read_is_a_400(client: ClientSession, body: bytes) -> None:
    code, status = await send(client, body, "application/yaml")
    assert (code, status["kind"], status["reason"]) == (400, "Status", "BadRequest")


async def test_yaml_is_read_as_json_is(client: ClientSession) -> None:
    body = yaml.safe_dump(config_map("from-yaml", date="2024-01-01", time="12:30:45")).encode()
    code, made = await send(client, body, "application/yaml")
    assert code == 201
    assert made["data"] == {"date": "2024-01-01", "time": "12:30:45"}


async def test_a_missing_content_type_is_json(client: ClientSession) -> None:
    response = await client.post(PATH, data=json.dumps(config_map()).encode(), skip_auto_headers=["Content-Type"])
    assert response.status == 201


@pytest.mark.parametrize("media_type", ["text/plain", "application/cbor", "nonsense"])
async def test_another_media_type_is_a_415(client: ClientSession, media_type: str) -> None:
    code, status = await send(client, b"{}", media_type)
    assert (code, status["reason"]) == (415, "UnsupportedMediaType")


async def test_an_unknown_kind_of_patch_is_a_415(client: ClientSession) -> None:
    await client.post(PATH, json=config_map())
    response = await client.patch(f"{PATH}/a", data=b"{}", headers={"Content-Type": "text/plain"})
    assert (response.status, (await response.json())["reason"]) == (415, "UnsupportedMediaType")


async def test_a_body_over_the_limit_is_a_413(client: ClientSession) -> None:
    code, status = await send(client, io.BytesIO(b"x" * (3 * 1024 * 1024 + 1)))
    assert (code, status["kind"], status["reason"]) == (413, "Status", "RequestEntityTooLarge")


@pytest.mark.parametrize(("validation", "code"), [("Strict", 400), ("Warn", 201), ("Ignore", 201)])
async def test_a_field_given_twice_is_told_as_the_writer_asked(
    client: ClientSession, validation: str, code: int
) -> None:
    body = b'{"metadata":{"name":"a"},"data":{"k":"1","k":"2"}}'
    response = await client.post(
        f"{PATH}?fieldValidation={validation}", data=body, headers={"Content-Type": "application/json"}
    )
    assert response.status == code
    warned = 'duplicate field \\"data.k\\"' in response.headers.get("Warning", "")
    assert warned is (validation == "Warn")
    if code == 400:
        assert 'duplicate field "data.k"' in (await response.json())["message"]


YAML_TWICE = b"metadata: {name: a}\ndata:\n  k: '1'\n  k: '2'\n"
APPLIED_TWICE = b"apiVersion: v1\nkind: ConfigMap\n" + YAML_TWICE


@pytest.mark.parametrize(
    ("media_type", "body", "told"),
    [
        ("application/yaml", YAML_TWICE, 'line 4: key "k" already set in map'),
        ("application/merge-patch+json", b'{"data":{"k":"1","k":"2"}}', 'duplicate field "data.k"'),
        ("application/strategic-merge-patch+json", b'{"data":{"k":"1","k":"2"}}', 'duplicate field "data.k"'),
        (
            "application/json-patch+json",
            b'[{"op":"add","path":"/data","path":"/data","value":{"k":"2"}}]',
            'json patch duplicate field "[0].path"',
        ),
        ("application/apply-patch+yaml", APPLIED_TWICE, 'line 6: key "k" already set in map'),
    ],
)
async def test_a_field_given_twice_is_told_whatever_the_body_is(
    client: ClientSession, media_type: str, body: bytes, told: str
) -> None:
    if media_type != "application/yaml":
        await client.post(PATH, json=config_map())

    async def sent(validation: str) -> tuple[int, str, dict]:  # type: ignore[type-arg]
        query, headers = f"?fieldManager=m&fieldValidation={validation}", {"Content-Type": media_type}
        method, path = ("POST", PATH) if media_type == "application/yaml" else ("PATCH", f"{PATH}/a")
        answer = await client.request(method, path + query, data=body, headers=headers)
        return answer.status, answer.headers.get("Warning", "").replace("\\", ""), await answer.json()

    code, _, status = await sent("Strict")
    assert (code, told in status["message"]) == (400, True)
    code, warned, made = await sent("Warn")
    assert (code in (200, 201), told in warned, made["data"]) == (True, True, {"k": "2"})


async def test_a_subresource_with_a_body_of_its_own_tells_of_fields_given_twice(client: ClientSession) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await client.post("/api/v1/namespaces/default/pods", json=pod)
    body = b'{"metadata":{"name":"p"},"target":{"name":"a","name":"b"}}'
    path = "/api/v1/namespaces/default/pods/p/binding?fieldValidation=Strict"
    code, status = await send(client, body, path=path)
    assert (code, 'duplicate field "target.name"' in status["message"]) == (400, True)


def test_unsupported_names_what_is_read() -> None:
    from kumi.apiserver.bodies import unsupported

    error = unsupported(("application/json",))
    assert isinstance(error, ApiError)
    assert "application/json" in error.message
