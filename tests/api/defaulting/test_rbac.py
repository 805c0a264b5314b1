from __future__ import annotations

from kumi.api.defaulting.rbac import GROUP, default_binding, default_role
from kumi.api.wire import JsonObject


def test_a_role_without_rules_says_so() -> None:
    role: JsonObject = {}
    default_role(role)
    assert role == {"rules": None}


def test_users_groups_and_roles_are_of_the_rbac_group_and_accounts_of_the_core() -> None:
    binding: JsonObject = {
        "subjects": [{"kind": "User", "name": "a"}, {"kind": "Group", "name": "g"}, {"kind": "ServiceAccount"}],
        "roleRef": {"kind": "Role", "name": "r"},
    }
    default_binding(binding)
    assert [s.get("apiGroup") for s in binding["subjects"]] == [GROUP, GROUP, None]
    assert binding["roleRef"]["apiGroup"] == GROUP


def test_what_is_said_stays() -> None:
    binding: JsonObject = {"subjects": [{"kind": "User", "apiGroup": "x"}], "roleRef": {"apiGroup": "y"}}
    default_binding(binding)
    assert (binding["subjects"][0]["apiGroup"], binding["roleRef"]["apiGroup"]) == ("x", "y")
