from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.user import User
from kumi.apiserver.impersonation import become, needed, wanted
from kumi.registry.authorization.rules import Asked
from kumi.registry.registry import Registry
from tests.apiserver.access import ADMIN, Guarded, namespace, serve
from tests.registry.authorization.made import binding, role, rule

WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


@pytest.fixture
async def guarded(registry: Registry, scheme: Scheme) -> AsyncIterator[Guarded]:
    async with serve(registry, scheme) as guarded:
        await guarded.put(namespace("team"))
        yield guarded


def headers(*pairs: tuple[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(pairs))


def test_nobody_is_wanted_without_a_header() -> None:
    assert wanted(headers()) is None


def test_all_headers_make_a_user() -> None:
    user = wanted(
        headers(
            ("Impersonate-User", "jane"),
            ("impersonate-group", "a"),
            ("Impersonate-Group", "b"),
            ("Impersonate-Uid", "u1"),
            ("Impersonate-Extra-Acme.com%2Fproject", "x"),
            ("Impersonate-Extra-scopes", "view"),
            ("Impersonate-Extra-scopes", "edit"),
        )
    )
    extra = (("acme.com/project", ("x",)), ("scopes", ("view", "edit")))
    assert user == User("jane", ("a", "b"), "u1", extra)


@pytest.mark.parametrize("header", ["Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-scopes"])
def test_groups_and_the_rest_need_a_user(header: str) -> None:
    with pytest.raises(ApiError) as refused:
        wanted(headers((header, "x")))
    assert refused.value.code == 400


def test_each_part_of_a_user_has_to_be_allowed() -> None:
    assert needed(User("jane", ("a",), "u1", (("scopes", ("view", "edit")),))) == [
        Asked("impersonate", "", "users", name="jane"),
        Asked("impersonate", "", "groups", name="a"),
        Asked("impersonate", "authentication.k8s.io", "userextras/scopes", name="view"),
        Asked("impersonate", "authentication.k8s.io", "userextras/scopes", name="edit"),
        Asked("impersonate", "authentication.k8s.io", "uids", name="u1"),
    ]


def test_a_service_account_is_asked_for_in_its_namespace() -> None:
    account = User("system:serviceaccount:team:robot")
    assert needed(account) == [Asked("impersonate", "", "serviceaccounts", "team", "robot")]
    assert become(account).groups == (
        "system:serviceaccounts", "system:serviceaccounts:team", "system:authenticated",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("user", "groups"),
    [
        (User("jane"), ("system:authenticated",)),
        (User("jane", ("devs",)), ("devs", "system:authenticated")),
        (User("jane", ("system:authenticated",)), ("system:authenticated",)),
        (User("system:anonymous"), ("system:unauthenticated",)),
        (User("system:serviceaccount:team:robot", ("devs",)), ("devs", "system:authenticated")),
    ],
)
def test_the_groups_of_who_one_becomes(user: User, groups: tuple[str, ...]) -> None:
    assert become(user).groups == groups


async def test_a_master_becomes_anybody_and_is_no_master_any_more(guarded: Guarded) -> None:
    status, body = await guarded.ask(ADMIN, "POST", WHOAMI, REVIEW, Impersonate_User="jane")
    assert (status, body["status"]["userInfo"]["username"]) == (201, "jane")
    assert (await guarded.ask(ADMIN, "GET", "/api/v1/pods", Impersonate_User="jane"))[0] == 403


async def test_who_may_not_impersonate_is_refused_in_the_usual_words(guarded: Guarded) -> None:
    status, body = await guarded.ask("ann", "GET", "/api", Impersonate_User="admin")
    assert (status, body["details"]) == (403, {"name": "admin", "kind": "users"})
    assert body["message"] == (
        'users "admin" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope'
    )


async def test_who_may_become_one_user_gets_no_group_by_it(guarded: Guarded) -> None:
    await guarded.put(role(rule("impersonate", "users", resourceNames=["jane"])), binding("User ann"))
    assert (await guarded.ask("ann", "GET", "/api", Impersonate_User="jane"))[0] == 200
    assert (await guarded.ask("ann", "GET", "/api", Impersonate_User="admin"))[0] == 403
    masters = {"Impersonate_User": "jane", "Impersonate_Group": "system:masters"}
    status, body = await guarded.ask("ann", "GET", "/api", **masters)
    assert (status, body["details"]["kind"]) == (403, "groups")


async def test_a_service_account_may_be_impersonated_in_its_namespace_only(guarded: Guarded) -> None:
    await guarded.put(role(rule("impersonate", "serviceaccounts")), binding("User ann", namespace="team"))
    for place, status in (("team", 200), ("other", 403)):
        account = f"system:serviceaccount:{place}:robot"
        assert (await guarded.ask("ann", "GET", "/api", Impersonate_User=account))[0] == status
