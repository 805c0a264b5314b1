"""token: a bearer token of a service account."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.registry.local import LocalClient
from kumi.registry.registry import Registry, WriteOptions
from tests.registry.world import NOW_MS, World, pod


class Signer:
    """Shows what it was asked to sign."""

    issuer = "https://issuer.example"
    claims: JsonObject = {}

    def sign(self, claims: JsonObject) -> str:
        self.claims = claims
        return f"token-{claims['jti']}"


@pytest.fixture
def signer() -> Signer:
    return Signer()


@pytest.fixture
async def signing(scheme: Scheme, signer: Signer) -> World:
    world = World(scheme)
    world.registry = Registry(world.store, scheme, lambda: NOW_MS, lambda: world.new_uid(), (), signer)  # noqa: PLW0108
    world.client = LocalClient(world.registry)
    await world.create("Namespace", {"metadata": {"name": "ns"}})
    await world.create("ServiceAccount", {"metadata": {"name": "robot"}})
    return world


async def ask(world: World, name: str = "robot", **spec: Any) -> JsonObject:
    target = world.target("ServiceAccount", name, sub="token")
    return await world.registry.create(target, {"spec": spec}, WriteOptions())


async def test_the_answer_is_the_request_with_a_token_and_its_end(signing: World, signer: Signer) -> None:
    answer = await ask(signing)
    assert (answer["kind"], answer["apiVersion"]) == ("TokenRequest", "authentication.k8s.io/v1")
    assert answer["spec"] == {"audiences": [signer.issuer], "expirationSeconds": 3600, "boundObjectRef": None}
    assert answer["status"] == {
        "token": f"token-{signer.claims['jti']}",
        "expirationTimestamp": "2027-01-15T09:00:00Z",
    }


async def test_the_claims_say_who_for_whom_and_how_long(signing: World, signer: Signer) -> None:
    await ask(signing, audiences=["vault", "other"], expirationSeconds=600)
    claims = signer.claims
    account = await signing.get("ServiceAccount", "robot")
    assert claims["sub"] == "system:serviceaccount:ns:robot"
    assert (claims["iss"], claims["aud"]) == (signer.issuer, ["vault", "other"])
    assert (claims["iat"], claims["nbf"], claims["exp"]) == (NOW_MS // 1000, NOW_MS // 1000, NOW_MS // 1000 + 600)
    said = {"namespace": "ns", "serviceaccount": {"name": "robot", "uid": account["metadata"]["uid"]}}
    assert claims["kubernetes.io"] == said


async def test_every_token_has_an_id_of_its_own(signing: World, signer: Signer) -> None:
    await ask(signing)
    first = signer.claims["jti"]
    await ask(signing)
    assert signer.claims["jti"] != first


async def test_a_token_bound_to_a_pod_names_the_pod_and_its_node(signing: World, signer: Signer) -> None:
    made = await signing.create("Pod", pod(serviceAccountName="robot", nodeName="n1"))
    await ask(signing, boundObjectRef={"apiVersion": "v1", "kind": "Pod", "name": "p"})
    said = signer.claims["kubernetes.io"]
    assert said["pod"] == {"name": "p", "uid": made["metadata"]["uid"]}
    assert said["node"] == {"name": "n1"}


@pytest.mark.parametrize(
    ("spec", "lasts_s"),
    [({}, 365 * 24 * 3600), ({"audiences": ["vault"]}, 3607), ({"expirationSeconds": 3600}, 3600)],
)
async def test_the_token_that_every_pod_gets_lasts_for_a_year(
    signing: World, signer: Signer, spec: JsonObject, lasts_s: int
) -> None:
    await signing.create("Pod", pod(serviceAccountName="robot"))
    bound = {"kind": "Pod", "name": "p"}
    answer = await ask(signing, **{"expirationSeconds": 3607, "boundObjectRef": bound, **spec})
    assert signer.claims["exp"] - signer.claims["iat"] == lasts_s
    assert ("warnafter" in signer.claims["kubernetes.io"]) is (lasts_s > 3607)
    assert answer["status"]["expirationTimestamp"] <= "2027-01-15T09:00:07Z"


async def test_a_client_in_process_asks_by_the_account_s_name(signing: World) -> None:
    request = {"kind": "TokenRequest", "metadata": {"name": "robot", "namespace": "ns"}, "spec": {}}
    assert (await signing.client.create(request, subresource="token"))["status"]["token"]


@pytest.mark.parametrize(
    ("spec", "code", "name"),
    [
        ({"expirationSeconds": 599}, 422, "robot"),
        ({"expirationSeconds": 2**32 + 1}, 422, "robot"),
        ({"expirationSeconds": "600"}, 400, ""),
        ({"boundObjectRef": {"kind": "ConfigMap", "name": "c"}}, 422, "robot"),
        ({"boundObjectRef": {"apiVersion": "batch/v1", "kind": "Pod", "name": "c"}}, 422, "robot"),
        ({"boundObjectRef": "pod"}, 400, ""),
        ({"boundObjectRef": {"kind": "Pod", "name": "gone"}}, 404, "gone"),
        ({"boundObjectRef": {"kind": "Secret", "name": "gone"}}, 404, "gone"),
        ({"boundObjectRef": {"kind": "Pod", "name": "p", "uid": "other"}}, 409, "p"),
        ({"boundObjectRef": {"kind": "Pod", "name": "q"}}, 400, ""),
    ],
)
async def test_what_is_refused(signing: World, signer: Signer, spec: JsonObject, code: int, name: str) -> None:
    await signing.create("Pod", pod(serviceAccountName="robot"))
    await signing.create("Pod", pod("q"))
    with pytest.raises(ApiError) as refused:
        await ask(signing, **spec)
    assert (refused.value.code, refused.value.name) == (code, name)
    assert signer.claims == {}


async def test_an_account_that_is_not_there_has_no_tokens(signing: World) -> None:
    with pytest.raises(ApiError) as refused:
        await ask(signing, "nobody")
    assert (refused.value.code, refused.value.name) == (404, "nobody")


async def test_a_request_for_another_account_than_the_paths_is_refused(signing: World) -> None:
    target = signing.target("ServiceAccount", "robot", sub="token")
    with pytest.raises(ApiError) as refused:
        await signing.registry.create(target, {"metadata": {"name": "other"}}, WriteOptions())
    assert refused.value.code == 400


async def test_a_server_without_a_key_says_so(world: World) -> None:
    await world.create("ServiceAccount", {"metadata": {"name": "robot"}})
    with pytest.raises(ApiError) as refused:
        await ask(world)
    assert refused.value.code == 501
