"""What the client sent, as JSON values that the rest of the server can keep and send on.

JSON and YAML are read (a missing Content-Type is JSON), and for Kubernetes' own kinds its protobuf; anything else is a 415.
A body is refused with 400 when it can't be read, when it nests deeper than DEPTH_AT_MOST, holds a number past 64 bits, or when
its YAML aliases blow up: what is accepted can always be encoded again, however it is wrapped (a watch event in a Table row in
a list).
"""

from __future__ import annotations

import asyncio
import math

import orjson
from aiohttp import web

from kumi.api.errors import ApiError, KumiError, bad_request
from kumi.api.fields import duplicate_fields
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.api.yaml import Lenient, load_all, repeated_keys
from kumi.apiserver.protobuf import MEDIA_TYPE as PROTOBUF
from kumi.apiserver.protobuf import decode
from kumi.apiserver.responses import JSON, YAML
from kumi.apiserver.routes.limits import read_body
from kumi.registry.refusals import APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, unsupported_patch

OBJECT_TYPES = (JSON, YAML)
"""what an object of any kind may be written in"""
BUILT_IN_TYPES = (*OBJECT_TYPES, PROTOBUF)
"""what one of Kubernetes' own kinds may be written in"""
APPLY_JSON = "application/apply-patch+json"
PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY, APPLY_JSON)
_IN_YAML = (YAML, APPLY, APPLY_JSON)
DEPTH_AT_MOST = 120
ENCODER_DEPTH = 254
"""how deep orjson encodes"""
VALUES_AT_MOST = 1_000_000
"""values of a YAML body with its aliases spelled out"""
THREAD_FROM = 64 * 1024
"""bytes of a body that is read in a thread, unless it is JSON: YAML takes some 2 us a byte"""


def unsupported(accepted: tuple[str, ...]) -> ApiError:
    """415, naming what is read."""
    message = "the body of the request was in an unknown format - accepted media types include: "
    return ApiError(415, "UnsupportedMediaType", message + ", ".join(accepted))


async def read_object(request: web.Request, kind: str, accepted: tuple[str, ...] = BUILT_IN_TYPES) -> JsonObject:
    """The object of a create or an update; `kind` is the one that the path expects, for the error's words."""
    data = await read_body(request)
    media_type = _media_type(request)
    if media_type not in accepted:
        raise unsupported(accepted)
    body = await _parse(data, media_type, kind)
    if not isinstance(body, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind}): it is not an object")
    return body


async def repeated_fields(request: web.Request) -> list[str]:
    """A sentence for each field that a body which was read gives twice; the last one counts."""
    data, media_type = await request.read(), _media_type(request)
    if media_type == PROTOBUF:
        return []
    if media_type not in _IN_YAML or _is_json(data):
        of = "json patch " if media_type == JSON_PATCH else ""
        return [f'{of}duplicate field "{path}"' for path in duplicate_fields(data)]
    return repeated_keys(data) if len(data) < THREAD_FROM else await asyncio.to_thread(repeated_keys, data)


async def read_options(request: web.Request) -> JsonObject:
    """The DeleteOptions of a delete; {} when there is no body."""
    return await read_object(request, "DeleteOptions") if request.can_read_body else {}


async def read_patch(request: web.Request, kind: Kind) -> tuple[str, object]:
    """The media type and the document of a patch."""
    data = await read_body(request)
    media_type = _media_type(request)
    if media_type not in PATCH_TYPES:
        raise unsupported_patch(kind, media_type)
    if media_type not in (APPLY, APPLY_JSON):
        return media_type, await _parse(data, JSON, "a patch")
    # Clients nearly always send JSON, which is YAML too, and read a hundred times as fast.
    return APPLY, await _parse(data, JSON if _is_json(data) else YAML, "a patch")


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def _media_type(request: web.Request) -> str:
    given = request.headers.get("Content-Type", "")
    return given.partition(";")[0].strip().lower() or JSON


async def _parse(data: bytes, media_type: str, kind: str) -> object:
    try:
        if media_type == JSON:
            body = orjson.loads(data)
        else:
            load = _load_yaml if media_type == YAML else decode
            body = load(data) if len(data) < THREAD_FROM else await asyncio.to_thread(load, data)
        if media_type != JSON or _may_be_deep(data):
            check_encodable(body)
    except (orjson.JSONDecodeError, KumiError, UnicodeDecodeError) as error:
        what = media_type.removeprefix("application/vnd.kubernetes.").removeprefix("application/")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): "
            f"couldn't get version/kind; {what} parse error: {error}"
        ) from None
    return body


def _load_yaml(data: bytes) -> object:
    documents = list(load_all(data.decode(), Lenient))
    if len(documents) != 1:
        raise KumiError(f"one document is expected, there are {len(documents)}")
    _check_expanded(documents[0])
    return documents[0]


def _may_be_deep(data: bytes) -> bool:
    """Whether a JSON text may nest deeper than DEPTH_AT_MOST: it can't with fewer brackets than that."""
    return data.count(b"{") + data.count(b"[") > DEPTH_AT_MOST


def check_encodable(body: object) -> None:
    """KumiError unless `body` can be written as JSON in whatever wrapping the server adds."""
    for _ in range(ENCODER_DEPTH - DEPTH_AT_MOST):
        body = [body]
    try:
        orjson.dumps(body)
    except TypeError as error:
        text = str(error)
        raise KumiError(f"it nests deeper than {DEPTH_AT_MOST} levels" if "Recursion" in text else text) from None


def _check_expanded(body: object) -> None:
    """Counts the values of a tree whose aliases share nodes, and stops where spelling them out would be absurd."""
    stack, count = [body], 0
    while stack:
        value = stack.pop()
        if isinstance(value, dict | list):
            count += len(value)
            if count > VALUES_AT_MOST:
                raise KumiError("its aliases stand for too many values")
            stack.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, float) and not math.isfinite(value):
            raise KumiError("a number is not finite")
