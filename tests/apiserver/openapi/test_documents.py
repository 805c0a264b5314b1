from __future__ import annotations

from dataclasses import replace

import pytest
from aiohttp import ClientSession

from kumi.api.scheme import Scheme
from kumi.apiserver.discovery import kinds
from kumi.apiserver.openapi.documents import Documents
from kumi.apiserver.openapi.protobuf import ASKED_AS, MEDIA_TYPE


async def test_the_index_leads_to_every_document(client: ClientSession, scheme: Scheme) -> None:
    index = await (await client.get("/openapi/v3")).json()
    places = {f"apis/{k.group}/{v}" if k.group else f"api/{v}" for k in kinds(scheme) for v in k.versions}
    assert set(index["paths"]) == places
    for entry in index["paths"].values():
        response = await client.get(entry["serverRelativeURL"])
        assert response.status == 200
        assert "immutable" in response.headers["Cache-Control"]
        assert (await response.json())["openapi"].startswith("3.")


async def test_without_the_hash_a_document_is_asked_for_again(client: ClientSession) -> None:
    first = await client.get("/openapi/v3/api/v1")
    assert first.headers["Cache-Control"] == "no-cache, private"
    again = await client.get("/openapi/v3/api/v1", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, await again.read()) == (304, b"")
    other = await client.get("/openapi/v3/api/v1", headers={"If-None-Match": '"other"'})
    assert other.status == 200


async def test_a_document_is_compressed_for_those_who_take_it(client: ClientSession) -> None:
    zipped = await client.get("/openapi/v3/api/v1", headers={"Accept-Encoding": "gzip"})
    plain = await client.get("/openapi/v3/api/v1", headers={"Accept-Encoding": "identity"})
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert await zipped.json() == await plain.json()


async def test_v2_is_one_document(client: ClientSession) -> None:
    assert (await (await client.get("/openapi/v2")).json())["swagger"] == "2.0"


async def test_v2_is_in_protobuf_for_those_who_ask_for_it(client: ClientSession) -> None:
    response = await client.get("/openapi/v2", headers={"Accept": ASKED_AS})
    assert (response.status, response.headers["Content-Type"]) == (200, MEDIA_TYPE)
    assert (await response.read())[:5] == b"\x0a\x032.0"


async def test_a_form_that_is_not_spoken_is_refused(client: ClientSession) -> None:
    accept = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
    assert (await client.get("/openapi/v3/api/v1", headers={"Accept": accept})).status == 406


@pytest.mark.parametrize("path", ["/openapi/v3/api/v9", "/openapi/v3/apis/none.example/v1", "/openapi/v4"])
async def test_a_document_of_nothing_is_a_404(client: ClientSession, path: str) -> None:
    assert (await client.get(path)).status == 404


def test_a_document_is_made_once_and_again_only_for_other_kinds(scheme: Scheme) -> None:
    mine = Scheme()
    kinds = list(scheme)
    mine.register(kinds[0])
    documents = Documents(mine)
    first = documents.v3(kinds[0].group, kinds[0].version)
    assert documents.v3(kinds[0].group, kinds[0].version) is first
    mine.register(kinds[1])
    assert documents.v3(kinds[1].group, kinds[1].version).hash != first.hash


def test_kinds_that_only_look_alike_are_other_kinds(scheme: Scheme) -> None:
    kind = next(iter(scheme))
    one, other = Scheme(), Scheme()
    one.register(kind)
    other.register(replace(kind, short_names=("other",)))
    assert Documents(one).v3(kind.group, kind.version).data == Documents(other).v3(kind.group, kind.version).data
