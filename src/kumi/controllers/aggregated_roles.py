"""Cluster roles that are made of others have the rules of those, whatever is written into them by hand.

The rule   kumi.registry.authorization.aggregation; all of them are looked at together, since one may be part of another.
Cost       O(cluster roles x selectors) a change of any cluster role.
Source     Kubernetes: using RBAC authorization (aggregated ClusterRoles).
"""

from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.rbac import ClusterRole
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.registry.authorization.aggregation import filled
from kumi.runtime.reconcile import Outcome, Patch, Watches
from kumi.runtime.view import View

ALL = "all"


class AggregatedRoles:
    """See the module. There is one key."""

    name = "kumi-aggregated-roles"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({ClusterRole: lambda _: (ALL,)})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        roles = [_wire(role) for role in view.list(ClusterRole)]
        writes = []
        for role, wanted in zip(roles, filled(roles), strict=True):
            if wanted is not role:
                metadata = role["metadata"]
                body = {"metadata": {"resourceVersion": metadata["resourceVersion"]}, "rules": wanted["rules"]}
                writes.append(Patch(SCHEME.of(ClusterRole), "", metadata["name"], body))
        return Outcome(tuple(writes))


def _wire(role: ClusterRole) -> JsonObject:
    """The parts of a role that aggregation reads, as JSON."""
    found: JsonObject = _without_null(msgspec.to_builtins(role))
    return found


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_null(below) for key, below in value.items() if below is not None}
    return [_without_null(below) for below in value] if isinstance(value, list) else value
