"""Columns of roles and their bindings."""

from __future__ import annotations

from collections.abc import Callable

from kumi.api.scheme import AGE, Column
from kumi.api.wire import JsonObject

ROLE = (Column("Created At", type="date", cell=lambda role, _now_ms: role["metadata"].get("creationTimestamp")),)


def _role(binding: JsonObject, _now_ms: int) -> str:
    ref = binding.get("roleRef") or {}
    return f"{ref.get('kind', '')}/{ref.get('name', '')}"


def _subjects(kind: str) -> Callable[[JsonObject, int], str]:
    def cell(binding: JsonObject, _now_ms: int) -> str:
        found = [s for s in binding.get("subjects") or () if s.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{s.get('namespace', '')}/{s.get('name', '')}" for s in found)
        return ", ".join(str(s.get("name", "")) for s in found)

    return cell


BINDING = (
    Column("Role", cell=_role),
    AGE,
    Column("Users", priority=1, cell=_subjects("User")),
    Column("Groups", priority=1, cell=_subjects("Group")),
    Column("ServiceAccounts", priority=1, cell=_subjects("ServiceAccount")),
)
