from __future__ import annotations

import pytest
from aiohttp import ClientSession, web

from kumi.api.errors import ApiError, KumiError
from kumi.apiserver.errors import as_api_error, errors
from kumi.apiserver.server import Server


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (ApiError(409, "Conflict", "x"), 409, "Conflict"),
        (web.HTTPNotFound(), 404, "NotFound"),
        (web.HTTPMethodNotAllowed("GET", ["PUT"]), 405, "MethodNotAllowed"),
        (web.HTTPRequestEntityTooLarge(1, 2), 413, "RequestEntityTooLarge"),
        (web.HTTPUnsupportedMediaType(), 415, "UnsupportedMediaType"),
        (TimeoutError(), 504, "Timeout"),
        (KumiError("the disk is full"), 500, "InternalError"),
        (ZeroDivisionError("division by zero"), 500, "InternalError"),
    ],
)
def test_every_error_is_a_status_with_its_code(error: Exception, code: int, reason: str) -> None:
    told = as_api_error(error)
    assert (told.code, told.reason) == (code, reason)
    assert told.status()["code"] == code


async def test_a_bug_is_a_500_with_a_traceback_in_the_log_and_the_server_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(_: web.Request) -> web.Response:
        raise ZeroDivisionError("oops")

    app = web.Application(middlewares=[errors])
    app.router.add_get("/broken", broken)
    async with Server(app) as server, ClientSession(server.url) as client:
        for _ in range(2):
            response = await client.get("/broken")
            status = await response.json()
            assert (response.status, status["kind"], status["reason"]) == (500, "Status", "InternalError")
            assert "oops" in status["message"]
    assert "Traceback" in caplog.text
    assert "GET /broken" in caplog.text


async def test_a_failure_of_the_world_is_logged_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async def full(_: web.Request) -> web.Response:
        raise KumiError("the disk is full")

    app = web.Application(middlewares=[errors])
    app.router.add_get("/full", full)
    async with Server(app) as server, ClientSession(server.url) as client:
        status = await (await client.get("/full")).json()
    assert "the disk is full" in status["message"]
    assert "the disk is full" in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "path", ["/", "/nonsense", "/apis/none.example", "/apis/apps/v9", "/api/v9", "/api/v1/widgets", "/apis/a/b/c"]
)
async def test_an_unknown_path_is_a_404_status(client: ClientSession, path: str) -> None:
    response = await client.get(path)
    status = await response.json()
    assert (response.status, status["kind"], status["reason"]) == (404, "Status", "NotFound")
    assert status["message"] == "the server could not find the requested resource"
