"""How an answer is written: JSON (or YAML where it was asked for), gzip when it is large, warnings in headers.

An answer of `GZIP_FROM` bytes or more is compressed when the client takes it; past `THREAD_FROM` that happens in a thread,
so that one big list doesn't hold up everybody else.
"""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Iterable

import orjson
import yaml
from aiohttp import web

from kumi.api.errors import ApiError

GZIP_FROM = 128 * 1024
THREAD_FROM = 1024 * 1024
GZIP_LEVEL = 1
JSON, YAML = "application/json", "application/yaml"
NO_CACHE = "no-cache, private"
WARNING_AT_MOST = 4096
"""bytes of all warnings together: past that, proxies refuse the answer"""


def status_response(error: ApiError) -> web.Response:
    """The answer to a refused request."""
    response = web.Response(
        body=orjson.dumps(error.status()),
        status=error.code,
        content_type=JSON,
        headers={"Cache-Control": NO_CACHE},
    )
    if error.retry_after_seconds:
        response.headers["Retry-After"] = str(error.retry_after_seconds)
    return response


async def answer(
    request: web.Request,
    body: object,
    *,
    status: int = 200,
    media_type: str = JSON,
    warnings: Iterable[str] = (),
) -> web.Response:
    """`body` as `media_type` (parameters allowed, as aggregated discovery has them)."""
    data = to_yaml(body) if media_type == YAML else orjson.dumps(body)
    return await send(request, data, status=status, media_type=media_type, warnings=warnings)


async def send(
    request: web.Request,
    data: bytes,
    *,
    status: int = 200,
    media_type: str = JSON,
    warnings: Iterable[str] = (),
) -> web.Response:
    """An answer that is written already."""
    headers = {"Content-Type": media_type, "Cache-Control": NO_CACHE, "Vary": "Accept, Accept-Encoding"}
    if len(data) >= GZIP_FROM and accepts_gzip(request):
        headers["Content-Encoding"] = "gzip"
        if len(data) >= THREAD_FROM:
            data = await asyncio.to_thread(gzip.compress, data, GZIP_LEVEL)
        else:
            data = gzip.compress(data, GZIP_LEVEL)
    response = web.Response(body=data, status=status, headers=headers)
    for header in warning_headers(warnings):
        response.headers.add("Warning", header)
    return response


def to_yaml(body: object) -> bytes:
    """One YAML document, of what JSON would say."""
    text: str = yaml.safe_dump(orjson.loads(orjson.dumps(body)), sort_keys=False, allow_unicode=True)
    return text.encode()


def accepts_gzip(request: web.BaseRequest) -> bool:
    """Whether the client takes gzip."""
    for clause in request.headers.get("Accept-Encoding", "").lower().split(","):
        coding, _, parameters = clause.partition(";")
        if coding.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", parameters)
    return False


def warning_headers(warnings: Iterable[str]) -> list[str]:
    """RFC 7234 warn-values of code 299 by nobody in particular, without repeats, within WARNING_AT_MOST bytes."""
    found: list[str] = []
    room = WARNING_AT_MOST
    for text in dict.fromkeys(warnings):
        clean = re.sub(r"[\x00-\x1f\x7f]+", " ", text).replace("\\", "\\\\").replace('"', '\\"')
        header = f'299 - "{clean}"'
        room -= len(header.encode("utf-8", "replace"))
        if room < 0:
            break
        found.append(header)
    return found
