"""Manifests are created or merged, never half."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError, KumiError
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.sdk.apply import apply
from kumi.testing.fake_client import FakeClient


def config(**data: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


@pytest.fixture
def client() -> FakeClient:
    return FakeClient(list(load()))


async def test_what_is_not_there_is_created_in_the_given_namespace(client: FakeClient) -> None:
    done, stored = await apply(client, config(a="1"), "team")
    assert (done, stored["metadata"]["namespace"]) == ("created", "team")


async def test_the_same_again_changes_nothing(client: FakeClient) -> None:
    await apply(client, config(a="1"))
    done, _ = await apply(client, config(a="1"))
    assert done == "unchanged"


async def test_what_others_wrote_stays(client: FakeClient) -> None:
    await apply(client, config(a="1"))
    done, stored = await apply(client, config(b="2"))
    assert (done, stored["data"]) == ("configured", {"a": "1", "b": "2"})


async def test_somebody_who_was_quicker_is_no_error(client: FakeClient) -> None:
    await apply(client, config(a="1"))
    client.fail(ApiError(409, "AlreadyExists", "it is there"), "create")
    done, _ = await apply(client, config(a="2"))
    assert done == "configured"


async def test_a_refusal_is_told_as_the_server_says_it(client: FakeClient) -> None:
    client.fail(ApiError(403, "Forbidden", "not you"), "create")
    with pytest.raises(ApiError, match="not you"):
        await apply(client, config())


async def test_a_kind_that_nobody_knows_is_named(client: FakeClient) -> None:
    with pytest.raises(KumiError, match="v1 Potato"):
        await apply(client, {"apiVersion": "v1", "kind": "Potato"})


async def test_without_a_name_each_is_a_new_one(client: FakeClient) -> None:
    names = set()
    for _ in range(2):
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "c-"}}
        names.add((await apply(client, made))[1]["metadata"]["name"])
    assert len(names) == 2
