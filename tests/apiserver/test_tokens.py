"""Tokens of service accounts: from the request for one to what it opens, and what ends it."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver.authentication import AUDIENCE, Known
from kumi.apiserver.tokens import ServiceAccountTokens, SigningKey
from kumi.registry.registry import Registry
from kumi.registry.requests import DeleteOptions, Target, WriteOptions
from kumi.store.memory import MemoryStore
from tests.apiserver.access import ADMIN, Guarded, namespace, serve
from tests.apiserver.conftest import NOW, pod
from tests.registry.authorization.made import binding

ACCOUNTS = "/api/v1/namespaces/team/serviceaccounts"


class Clock:
    now = NOW

    def __call__(self) -> int:
        return self.now


class World:
    """A registry that signs, and the source that knows its tokens."""

    def __init__(self, directory: Path, scheme: Scheme) -> None:
        self.clock, self.key = Clock(), SigningKey(directory)
        numbers = iter(range(1000))
        self.registry = Registry(MemoryStore(), scheme, self.clock, lambda: f"uid-{next(numbers)}", (), self.key)
        self.source = ServiceAccountTokens(self.key, self.registry, self.clock)

    def target(self, kind: str, name: str = "", sub: str = "") -> Target:
        found = self.registry.scheme.find("", kind)
        assert found is not None
        return Target(found, "team" if found.namespaced else "", name, subresource=sub)

    async def create(self, kind: str, obj: JsonObject) -> None:
        await self.registry.create(self.target(kind), obj, WriteOptions())

    async def token(self, name: str = "robot", **spec: object) -> str:
        target = self.target("ServiceAccount", name, "token")
        answer = await self.registry.create(target, {"spec": spec}, WriteOptions())
        return str(answer["status"]["token"])

    def knows(self, token: str, *audiences: str) -> Known | None:
        return self.source.knows(token, audiences or (AUDIENCE,))


@pytest.fixture
async def world(tmp_path: Path, scheme: Scheme) -> World:
    made = World(tmp_path, scheme)
    await made.create("Namespace", namespace("team"))
    await made.create("ServiceAccount", {"metadata": {"name": "robot"}})
    return made


async def test_a_token_is_of_its_account(world: World) -> None:
    found = world.knows(await world.token())
    assert found is not None
    assert found.audiences == (AUDIENCE,)
    user = found.user
    assert (user.name, user.groups[:2]) == (
        "system:serviceaccount:team:robot", ("system:serviceaccounts", "system:serviceaccounts:team"),
    )  # fmt: skip
    assert "system:authenticated" in user.groups
    assert user.uid
    assert [key for key, _ in user.extra] == ["authentication.kubernetes.io/credential-id"]


async def test_a_token_of_a_pod_says_which_pod_on_which_node(world: World) -> None:
    await world.create("Pod", pod(serviceAccountName="robot", nodeName="n1"))
    found = world.knows(await world.token(boundObjectRef={"kind": "Pod", "name": "p"}))
    assert found is not None
    extra = dict(found.user.extra)
    assert extra["authentication.kubernetes.io/pod-name"] == ("p",)
    assert extra["authentication.kubernetes.io/node-name"] == ("n1",)


async def test_a_token_is_for_its_audiences_only(world: World) -> None:
    token = await world.token(audiences=["vault", "bank"])
    assert world.knows(token) is None
    found = world.knows(token, "bank", "museum")
    assert found is not None
    assert found.audiences == ("bank",)


async def test_a_token_ends_in_time(world: World) -> None:
    token = await world.token(expirationSeconds=600)
    world.clock.now += 599_000
    assert world.knows(token) is not None
    world.clock.now += 1_000
    assert world.knows(token) is None


async def test_a_token_does_not_count_before_its_time(world: World) -> None:
    token = await world.token()
    world.clock.now -= 60_000
    assert world.knows(token) is None


async def test_a_token_ends_with_its_account_and_is_not_that_of_a_new_one(world: World) -> None:
    token = await world.token()
    await world.registry.delete(world.target("ServiceAccount", "robot"), DeleteOptions())
    assert world.knows(token) is None
    await world.create("ServiceAccount", {"metadata": {"name": "robot"}})
    assert world.knows(token) is None


async def test_a_token_ends_with_the_pod_or_secret_that_it_is_bound_to(world: World) -> None:
    await world.create("Pod", pod(serviceAccountName="robot"))
    await world.create("Secret", {"metadata": {"name": "s"}})
    for kind, name in (("Pod", "p"), ("Secret", "s")):
        token = await world.token(boundObjectRef={"kind": kind, "name": name})
        assert world.knows(token) is not None
        await world.registry.delete(world.target(kind, name), DeleteOptions())
        assert world.knows(token) is None


async def test_a_pod_that_is_being_deleted_has_its_token_for_its_last_words(world: World) -> None:
    await world.create("Pod", pod(serviceAccountName="robot", nodeName="n1"))
    token = await world.token(boundObjectRef={"kind": "Pod", "name": "p"})
    await world.registry.delete(world.target("Pod", "p"), DeleteOptions(grace_seconds=30))
    world.clock.now += 85_000
    assert world.knows(token) is not None
    world.clock.now += 10_000
    assert world.knows(token) is None


async def test_a_token_of_another_server_is_unknown(world: World, tmp_path: Path, scheme: Scheme) -> None:
    other = World(tmp_path / "other", scheme)
    await other.create("Namespace", namespace("team"))
    await other.create("ServiceAccount", {"metadata": {"name": "robot"}})
    assert other.knows(await world.token()) is None


async def test_claims_that_do_not_fit_together_prove_nobody(world: World) -> None:
    account = (await world.registry.get(world.target("ServiceAccount", "robot")))["metadata"]
    said = {"namespace": "team", "serviceaccount": {"name": "robot", "uid": account["uid"]}}
    now = NOW // 1000
    good = {"iss": AUDIENCE, "aud": [AUDIENCE], "nbf": now, "exp": now + 9, "kubernetes.io": said}
    good["sub"] = "system:serviceaccount:team:robot"
    assert world.knows(world.key.sign(good)) is not None
    for claims in ({**good, "sub": "system:serviceaccount:team:root"}, {**good, "iss": "x"}, {**good, "aud": None}, {}):
        assert world.knows(world.key.sign(claims)) is None


def test_the_key_is_kept_for_its_owner_only(tmp_path: Path) -> None:
    first = SigningKey(tmp_path)
    assert SigningKey(tmp_path).keys.keys() == first.keys.keys()
    assert stat.S_IMODE((tmp_path / "sa.key").stat().st_mode) == 0o600


def test_a_key_that_can_not_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "sa.key").write_text("no key")
    with pytest.raises(KumiError, match=r"sa\.key"):
        SigningKey(tmp_path)


@pytest.fixture
async def guarded(world: World, scheme: Scheme) -> AsyncIterator[Guarded]:
    async with serve(world.registry, scheme, [world.source], key=world.key) as guarded:
        yield guarded


async def test_over_http_a_token_opens_what_its_account_may(guarded: Guarded) -> None:
    await guarded.put(
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"},
         "rules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}]},
        binding("ServiceAccount robot", namespace="team"),
    )  # fmt: skip
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    status, answer = await guarded.ask(ADMIN, "POST", f"{ACCOUNTS}/robot/token", request)
    assert status == 201
    token = answer["status"]["token"]
    assert (await guarded.ask(token, "GET", "/api/v1/namespaces/team/pods"))[0] == 200
    status, body = await guarded.ask(token, "GET", "/api/v1/namespaces/team/secrets")
    assert status == 403
    assert 'User "system:serviceaccount:team:robot"' in body["message"]


async def test_the_public_key_is_told(guarded: Guarded, world: World) -> None:
    _, configuration = await guarded.ask(ADMIN, "GET", "/.well-known/openid-configuration")
    assert configuration["issuer"] == AUDIENCE
    assert configuration["jwks_uri"].endswith("/openid/v1/jwks")
    _, keys = await guarded.ask(ADMIN, "GET", "/openid/v1/jwks")
    assert [key["kid"] for key in keys["keys"]] == list(world.key.keys)


async def test_a_token_request_needs_its_own_permission(guarded: Guarded) -> None:
    assert (await guarded.ask("ann", "POST", f"{ACCOUNTS}/robot/token", {}))[0] == 403
