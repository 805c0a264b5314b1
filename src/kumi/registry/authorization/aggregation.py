"""Cluster roles that are made of others: their rules are those of all cluster roles that their selectors select.

The rule   for each selector in order, for each cluster role that it selects by name: its rules that are not there yet. A role
           never selects itself.
Cost       O(selectors x cluster roles + rules^2 of the result).
Source     Kubernetes: using RBAC authorization (aggregated ClusterRoles).
"""

from __future__ import annotations

from collections.abc import Iterable

from kumi.api.validation.selector import selects
from kumi.api.wire import JsonObject


def aggregated(role: JsonObject, roles: Iterable[JsonObject]) -> list[JsonObject]:
    """The rules that an aggregating cluster role should have, `roles` being all cluster roles."""
    own, by_name = role["metadata"]["name"], sorted(roles, key=lambda each: str(each["metadata"]["name"]))
    rules: list[JsonObject] = []
    for selector in (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ():
        for other in by_name:
            if other["metadata"]["name"] != own and selects(selector, other["metadata"].get("labels") or {}):
                rules += [rule for rule in other.get("rules") or () if rule not in rules]
    return rules


def filled(roles: Iterable[JsonObject]) -> list[JsonObject]:
    """The same roles, each aggregating one with its rules: what repeating `aggregated` comes to."""
    found = {role["metadata"]["name"]: role for role in roles}
    changed = True
    while changed:
        changed = False
        for name, role in found.items():
            if role.get("aggregationRule"):
                rules = aggregated(role, found.values())
                if rules != (role.get("rules") or []):
                    found[name] = {**role, "rules": rules}
                    changed = True
    return list(found.values())
