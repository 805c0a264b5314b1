from __future__ import annotations

from kumi.api.columns.rbac import BINDING, ROLE
from kumi.api.wire import JsonObject

BOUND: JsonObject = {
    "metadata": {"name": "b"},
    "roleRef": {"kind": "ClusterRole", "name": "view"},
    "subjects": [
        {"kind": "User", "name": "ann"},
        {"kind": "Group", "name": "devs"},
        {"kind": "User", "name": "bob"},
        {"kind": "ServiceAccount", "name": "robot", "namespace": "team"},
    ],
}


def cells(binding: JsonObject) -> dict[str, object]:
    return {column.name: column.cell(binding, 0) for column in BINDING if column.cell is not None}


def test_a_binding_shows_its_role_and_its_subjects_by_kind() -> None:
    assert cells(BOUND) == {
        "Role": "ClusterRole/view", "Users": "ann, bob", "Groups": "devs", "ServiceAccounts": "team/robot",
    }  # fmt: skip


def test_a_binding_of_nobody_shows_nobody() -> None:
    assert cells({**BOUND, "subjects": None})["Users"] == ""


def test_a_role_shows_when_it_was_made_not_how_long_ago() -> None:
    (created,) = ROLE
    assert created.cell is not None
    assert created.cell({"metadata": {"creationTimestamp": "2030-01-01T00:00:00Z"}}, 0) == "2030-01-01T00:00:00Z"
