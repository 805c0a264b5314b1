"""Roles and bindings in a line each."""

from __future__ import annotations

from typing import Any

from kumi.api.rbac import GROUP
from kumi.api.wire import JsonObject
from kumi.registry.authorization.policies import Policies


def rule(verbs: str, resources: str, group: str = "", **more: Any) -> JsonObject:
    return {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split(), **more}


def role(*rules: JsonObject, name: str = "r", namespace: str = "", **more: Any) -> JsonObject:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    kind = "Role" if namespace else "ClusterRole"
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, "rules": list(rules), **more}


def subject(text: str) -> JsonObject:
    """`User ann`, `Group devs`, `ServiceAccount ns/name`."""
    kind, _, name = text.partition(" ")
    if kind == "ServiceAccount":
        namespace, _, name = name.rpartition("/")
        return {"kind": kind, "name": name, **({"namespace": namespace} if namespace else {})}
    return {"kind": kind, "name": name, "apiGroup": GROUP}


def binding(
    *subjects: str, to: str = "r", name: str = "b", namespace: str = "", kind: str = "ClusterRole"
) -> JsonObject:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": metadata,
        "subjects": [subject(text) for text in subjects],
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": to},
    }


def policies(*objects: JsonObject) -> Policies:
    """An index of these."""
    made = Policies()
    for obj in objects:
        namespace, name = obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
        if obj["kind"].endswith("Binding"):
            made.set_binding(namespace, name, obj)
        else:
            made.set_role(namespace, name, obj)
    return made
