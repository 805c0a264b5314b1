from __future__ import annotations

import gzip

import orjson
import pytest
import yaml
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.apiserver.responses import (
    GZIP_FROM,
    THREAD_FROM,
    WARNING_AT_MOST,
    accepts_gzip,
    answer,
    status_response,
    warning_headers,
)


def asking(**headers: str) -> object:
    return make_mocked_request("GET", "/", headers={k.replace("_", "-"): v for k, v in headers.items()})


@given(st.lists(st.text()))
def test_warnings_are_always_sound_headers_within_bounds(texts: list[str]) -> None:
    headers = warning_headers(texts)
    assert sum(len(h.encode("utf-8", "replace")) for h in headers) <= WARNING_AT_MOST
    for header in headers:
        assert header.startswith('299 - "')
        assert not set(header) & {"\r", "\n", "\0"}


def test_quotes_in_a_warning_are_escaped() -> None:
    assert warning_headers(['unknown field "spec.x"']) == ['299 - "unknown field \\"spec.x\\""']


def test_a_warning_is_said_once() -> None:
    assert len(warning_headers(["a", "b", "a"])) == 2


@pytest.mark.parametrize(
    ("encoding", "takes"),
    [
        ("gzip", True),
        ("deflate, gzip;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0", False),
        ("br", False),
    ],
)
def test_gzip_is_used_for_those_who_take_it(encoding: str, takes: bool) -> None:
    assert accepts_gzip(asking(Accept_Encoding=encoding)) is takes  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [GZIP_FROM, THREAD_FROM])
async def test_a_large_answer_is_compressed(size: int) -> None:
    body = {"data": "x" * size}
    response = await answer(asking(Accept_Encoding="gzip"), body)  # type: ignore[arg-type]
    assert response.headers["Content-Encoding"] == "gzip"
    assert orjson.loads(gzip.decompress(response.body)) == body  # type: ignore[arg-type]


async def test_a_small_answer_is_not_compressed() -> None:
    response = await answer(asking(Accept_Encoding="gzip"), {"a": 1})  # type: ignore[arg-type]
    assert "Content-Encoding" not in response.headers
    assert response.body == b'{"a":1}'


async def test_a_large_answer_stays_plain_for_those_who_do_not_take_gzip() -> None:
    response = await answer(asking(), {"data": "x" * GZIP_FROM})  # type: ignore[arg-type]
    assert "Content-Encoding" not in response.headers


async def test_yaml_is_the_same_object() -> None:
    body = {"a": "yes", "b": ["2024-01-01", 1, None], "c": "ä"}
    response = await answer(asking(), body, media_type="application/yaml")  # type: ignore[arg-type]
    assert yaml.safe_load(response.body) == body  # type: ignore[arg-type]


def test_a_refusal_is_a_status_with_its_code_and_when_to_try_again() -> None:
    response = status_response(ApiError(429, "TooManyRequests", "later", retry_after_seconds=7))
    assert (response.status, response.headers["Retry-After"]) == (429, "7")
    assert orjson.loads(response.body)["reason"] == "TooManyRequests"  # type: ignore[arg-type]
