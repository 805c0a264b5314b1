"""Defaults of roles and bindings: rules are always written, if as null; users, groups and roles are of the RBAC group.

Source     Kubernetes: API reference of each kind.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject

GROUP = "rbac.authorization.k8s.io"


def default_role(role: JsonObject) -> None:
    """Rules, if there are none."""
    role.setdefault("rules", None)


def default_binding(binding: JsonObject) -> None:
    """API groups."""
    for subject in binding.get("subjects") or ():
        if subject.get("kind") in ("User", "Group") and not subject.get("apiGroup"):
            subject["apiGroup"] = GROUP
    ref = binding.get("roleRef")
    if isinstance(ref, dict) and not ref.get("apiGroup"):
        ref["apiGroup"] = GROUP
