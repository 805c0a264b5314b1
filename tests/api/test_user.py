from __future__ import annotations

import pytest

from kumi.api.user import MASTERS, User, service_account_groups, service_account_name, service_account_of


def test_a_user_says_only_what_is_known_of_them() -> None:
    assert User("ann").info() == {"username": "ann"}
    whole = User("ann", ("devs",), "u1", (("scopes", ("a", "b")),))
    assert whole.info() == {"username": "ann", "uid": "u1", "groups": ["devs"], "extra": {"scopes": ["a", "b"]}}


def test_masters_are_told_by_their_group() -> None:
    assert User("ann", (MASTERS,)).is_master
    assert not User(MASTERS, ("system:master",)).is_master


def test_a_service_account_is_found_in_its_user_name() -> None:
    assert service_account_of(service_account_name("team", "robot")) == ("team", "robot")
    assert service_account_groups("team") == ("system:serviceaccounts", "system:serviceaccounts:team")


@pytest.mark.parametrize(
    "name",
    [
        "ann",
        "system:serviceaccount:team",
        "system:serviceaccount:team:",
        "system:node:a:b",
        "system:serviceaccount::a",
        "a:b:c:d",
        "system:serviceaccount:a:b:c",
    ],
)
def test_other_names_are_no_service_accounts(name: str) -> None:
    assert service_account_of(name) is None
