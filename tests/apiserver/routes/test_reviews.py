from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from aiohttp import ClientSession

from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver.authentication import Known, known
from kumi.registry.registry import Registry
from tests.apiserver.access import ADMIN, Guarded, namespace, serve
from tests.registry.authorization.made import binding, role, rule

AUTHORIZATION, AUTHENTICATION = "authorization.k8s.io/v1", "authentication.k8s.io/v1"
PODS = {"namespace": "team", "verb": "list", "resource": "pods"}


class Vault:
    """Knows one token, for two audiences."""

    def knows(self, token: str, audiences: Sequence[str]) -> Known | None:
        matching = tuple(a for a in audiences if a in ("vault", "bank"))
        return Known(known("vic", ["vips"], "u1"), matching) if token == "vic-token" and matching else None


@pytest.fixture
async def guarded(registry: Registry, scheme: Scheme) -> AsyncIterator[Guarded]:
    async with serve(registry, scheme, [Vault()]) as guarded:
        pods = role(rule("list", "pods"), {"verbs": ["get"], "nonResourceURLs": ["/metrics"]})
        await guarded.put(namespace("team"), pods, binding("Group devs", namespace="team"))
        yield guarded


async def review(
    guarded: Guarded, kind: str, spec: JsonObject | None, *, who: str = ADMIN, place: str = "", **metadata: Any
) -> tuple[int, JsonObject]:
    group = AUTHENTICATION if kind in ("TokenReview", "SelfSubjectReview") else AUTHORIZATION
    where = f"/namespaces/{place}" if place else ""
    body: JsonObject = {"apiVersion": group, "kind": kind, **({"metadata": metadata} if metadata else {})}
    if spec is not None:
        body["spec"] = spec
    return await guarded.ask(who, "POST", f"/apis/{group}{where}/{kind.lower()}s", body)


async def test_may_i(guarded: Guarded) -> None:
    status, body = await review(guarded, "SelfSubjectAccessReview", {"resourceAttributes": PODS}, who="ann:devs")
    assert status == 201
    assert body == {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": AUTHORIZATION,
        "metadata": {},
        "spec": {"resourceAttributes": PODS},
        "status": {
            "allowed": True,
            "reason": 'RBAC: allowed by RoleBinding "b/team" of ClusterRole "r" to Group "devs"',
        },
    }


@pytest.mark.parametrize(
    ("attributes", "who", "allowed"),
    [
        ({"resourceAttributes": {**PODS, "namespace": "other"}}, "ann:devs", False),
        ({"resourceAttributes": {**PODS, "subresource": "log"}}, "ann:devs", False),
        ({"resourceAttributes": {**PODS, "group": "apps"}}, "ann:devs", False),
        ({"resourceAttributes": {"verb": "*", "group": "*", "resource": "*"}}, ADMIN, True),
        ({"nonResourceAttributes": {"verb": "get", "path": "/version"}}, "ann", True),
        ({"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}, "ann:devs", False),
    ],
)
async def test_may_i_do_other_things(guarded: Guarded, attributes: JsonObject, who: str, allowed: bool) -> None:
    _, body = await review(guarded, "SelfSubjectAccessReview", attributes, who=who)
    assert body["status"]["allowed"] is allowed


async def test_may_they(guarded: Guarded) -> None:
    spec = {"user": "ann", "groups": ["devs"], "resourceAttributes": PODS}
    assert (await review(guarded, "SubjectAccessReview", spec))[1]["status"]["allowed"] is True
    spec = {"user": "ann", "resourceAttributes": PODS}
    assert (await review(guarded, "SubjectAccessReview", spec))[1]["status"] == {"allowed": False}
    spec = {"groups": ["system:masters"], "resourceAttributes": PODS}
    assert (await review(guarded, "SubjectAccessReview", spec))[1]["status"] == {"allowed": True}


async def test_may_they_here(guarded: Guarded) -> None:
    spec = {"user": "ann", "groups": ["devs"], "resourceAttributes": PODS}
    status, body = await review(guarded, "LocalSubjectAccessReview", spec, place="team")
    assert (status, body["metadata"], body["status"]["allowed"]) == (201, {"namespace": "team"}, True)


@pytest.mark.parametrize(
    ("kind", "spec", "place", "fields"),
    [
        ("SelfSubjectAccessReview", {}, "", ["spec.resourceAttributes"]),
        (
            "SelfSubjectAccessReview",
            {"resourceAttributes": PODS, "nonResourceAttributes": {"path": "/"}},
            "",
            ["spec.nonResourceAttributes"],
        ),
        ("SubjectAccessReview", {"resourceAttributes": PODS}, "", ["spec.user"]),
        (
            "LocalSubjectAccessReview",
            {"user": "a", "resourceAttributes": {**PODS, "namespace": "other"}},
            "team",
            ["spec.resourceAttributes.namespace"],
        ),
        (
            "LocalSubjectAccessReview",
            {"user": "a", "nonResourceAttributes": {"path": "/"}},
            "team",
            ["spec.nonResourceAttributes", "spec.resourceAttributes.namespace"],
        ),
    ],
)
async def test_a_question_that_is_none(
    guarded: Guarded, kind: str, spec: JsonObject, place: str, fields: list[str]
) -> None:
    status, body = await review(guarded, kind, spec, place=place)
    assert (status, body["reason"]) == (422, "Invalid")
    assert body["details"]["group"] == "authorization.k8s.io"
    assert "kind" not in body["details"]
    assert [cause["field"] for cause in body["details"]["causes"]] == fields


async def test_a_review_has_no_name(guarded: Guarded) -> None:
    spec = {"resourceAttributes": PODS}
    status, body = await review(guarded, "SelfSubjectAccessReview", spec, name="x")
    assert (status, body["details"]["causes"][0]["field"]) == (422, "metadata")


async def test_what_may_i(guarded: Guarded) -> None:
    status, body = await review(guarded, "SelfSubjectRulesReview", {"namespace": "team"}, who="ann:devs")
    assert status == 201
    found = body["status"]
    assert {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]} in found["resourceRules"]
    assert {"verbs": ["get"], "nonResourceURLs": ["/metrics"]} in found["nonResourceRules"]
    assert found["incomplete"] is False
    elsewhere = (await review(guarded, "SelfSubjectRulesReview", {"namespace": "x"}, who="ann:devs"))[1]["status"]
    assert {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]} not in elsewhere["resourceRules"]


async def test_what_may_i_tells_of_roles_that_are_missing(guarded: Guarded) -> None:
    await guarded.put(binding("User ann", to="gone", name="x"))
    _, body = await review(guarded, "SelfSubjectRulesReview", {"namespace": "team"}, who="ann")
    assert body["status"]["evaluationError"] == 'clusterrole.rbac.authorization.k8s.io "gone" not found'


async def test_what_may_i_needs_a_namespace(guarded: Guarded) -> None:
    assert (await review(guarded, "SelfSubjectRulesReview", {}))[0] == 400


async def test_who_am_i(guarded: Guarded) -> None:
    status, body = await review(guarded, "SelfSubjectReview", None, who="ann:devs")
    assert status == 201
    assert body["metadata"] == {"creationTimestamp": "2027-01-15T08:00:00Z"}
    assert body["status"] == {"userInfo": {"username": "ann", "groups": ["devs", "system:authenticated"]}}


async def test_whose_token_is_that(guarded: Guarded) -> None:
    spec = {"token": "vic-token", "audiences": ["bank", "museum"]}
    _, body = await review(guarded, "TokenReview", spec)
    assert body["status"] == {
        "authenticated": True,
        "user": {"username": "vic", "uid": "u1", "groups": ["vips", "system:authenticated"]},
        "audiences": ["bank"],
    }


@pytest.mark.parametrize(
    "spec", [{"token": "other", "audiences": ["bank"]}, {"token": "vic-token", "audiences": ["x"]}]
)
async def test_a_token_that_is_unknown_or_for_others(guarded: Guarded, spec: JsonObject) -> None:
    status, body = await review(guarded, "TokenReview", spec)
    assert status == 201
    assert "authenticated" not in body["status"]
    assert body["status"]["error"]


async def test_a_review_of_no_token(guarded: Guarded) -> None:
    assert (await review(guarded, "TokenReview", {}))[0] == 400


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
async def test_a_review_can_only_be_created(guarded: Guarded, method: str) -> None:
    path = f"/apis/{AUTHORIZATION}/selfsubjectaccessreviews"
    assert (await guarded.ask(ADMIN, method, path))[0] in (404, 405)
    assert (await guarded.ask(ADMIN, "GET", path))[0] == 405


async def test_where_nobody_is_asked_for_a_proof_everybody_may_everything(client: ClientSession) -> None:
    body = {"apiVersion": AUTHORIZATION, "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": PODS}}
    answer = await client.post(f"/apis/{AUTHORIZATION}/selfsubjectaccessreviews", json=body)
    assert (await answer.json())["status"] == {"allowed": True}
