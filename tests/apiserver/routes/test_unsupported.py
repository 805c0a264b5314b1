from __future__ import annotations

import pytest
from aiohttp import ClientSession

from tests.apiserver.conftest import pod

PODS = "/api/v1/namespaces/default/pods"


@pytest.mark.parametrize(
    ("method", "subresource"),
    [
        ("POST", "proxy"),
        ("GET", "proxy"),
        ("PUT", "resize"),
        ("PATCH", "ephemeralcontainers"),
    ],
)
async def test_what_nobody_answers_is_told_in_a_sentence(client: ClientSession, method: str, subresource: str) -> None:
    answer = await client.request(method, f"{PODS}/p/{subresource}", json={})
    status = await answer.json()
    assert (answer.status, status["reason"]) == (501, "NotImplemented")
    assert "this server" in status["message"]


@pytest.mark.parametrize("subresource", ["resize", "ephemeralcontainers"])
async def test_reading_a_change_of_a_pod_is_reading_the_pod(client: ClientSession, subresource: str) -> None:
    made = await (await client.post(PODS, json=pod())).json()
    assert await (await client.get(f"{PODS}/p/{subresource}")).json() == made


async def test_they_are_told_of_and_not_described(client: ClientSession) -> None:
    listed = await (await client.get("/api/v1")).json()
    names = {resource["name"]: resource for resource in listed["resources"]}
    assert names["pods/attach"]["kind"] == "PodAttachOptions"
    assert names["pods/proxy"]["verbs"] == ["create", "delete", "get", "patch", "update"]
    described = await (await client.get("/openapi/v3/api/v1")).json()
    assert not [path for path in described["paths"] if path.endswith(("/attach", "/resize", "/proxy"))]
