"""What a cluster has from the start: its namespaces, the priority classes of the system, roles and their bindings. Idempotent.

Before that, deletions that a crash cut in two are ended.

Source     Kubernetes: initial namespaces; pod priority (system-cluster-critical, system-node-critical).
Roles      that are there already get the rules, subjects, labels and annotations that they lack, unless they say otherwise.
Not here   service accounts: those are a controller's. Which roles there are: kumi.registry.authorization.defaults.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumi.api.rbac import GROUP
from kumi.api.wire import JsonObject
from kumi.registry.authorization.defaults import AUTOUPDATE, cluster_role_bindings, cluster_roles
from kumi.registry.authorization.rules import merged, rule_of, uncovered
from kumi.registry.refusals import MERGE_PATCH
from kumi.registry.registry import Registry
from kumi.registry.requests import Target, WriteOptions

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
PRIORITIES = {
    "system-cluster-critical": (
        2_000_000_000,
        "For pods of the system that must run in the cluster, on whatever node.",
    ),
    "system-node-critical": (2_000_001_000, "For pods of the system that must run on the node that they are on."),
}


async def bootstrap(registry: Registry) -> None:
    """Creates what is missing; what is there stays as it is. Kinds that the scheme doesn't have are passed over."""
    await registry.finish_deletions()
    for group, obj in _objects():
        kind = registry.scheme.find(group, obj["kind"])
        if kind is None:
            continue
        there = registry.find(Target(kind, name=obj["metadata"]["name"]))
        if there is None:
            await registry.create(Target(kind), obj, WriteOptions(field_manager="kumi"))
        elif group == GROUP and (lacking := _lacking(obj, there)):
            await registry.patch(
                Target(kind, name=obj["metadata"]["name"]), MERGE_PATCH, lacking, WriteOptions(field_manager="kumi")
            )


def _lacking(wanted: JsonObject, there: JsonObject) -> JsonObject:
    """A merge patch that adds what a role or binding lacks; {} for nothing."""
    if (there["metadata"].get("annotations") or {}).get(AUTOUPDATE) == "false":
        return {}
    patch: JsonObject = {}
    for key in ("labels", "annotations"):
        has = there["metadata"].get(key) or {}
        added = {name: value for name, value in (wanted["metadata"].get(key) or {}).items() if name not in has}
        if added:
            patch.setdefault("metadata", {})[key] = added
    rules = there.get("rules") or []
    missing = uncovered(map(rule_of, rules), map(rule_of, wanted.get("rules") or ()))
    if missing and "aggregationRule" not in wanted:
        patch["rules"] = [*rules, *(rule.wire() for rule in merged(missing))]
    subjects = there.get("subjects") or []
    if new := [subject for subject in wanted.get("subjects") or () if subject not in subjects]:
        patch["subjects"] = [*subjects, *new]
    return patch


def _objects() -> Iterator[tuple[str, JsonObject]]:
    for name in NAMESPACES:
        yield "", {"kind": "Namespace", "metadata": {"name": name}}
    for name, (value, description) in PRIORITIES.items():
        made = {"metadata": {"name": name}, "value": value, "description": description}
        yield "scheduling.k8s.io", {"kind": "PriorityClass", **made}
    for obj in (*cluster_roles(), *cluster_role_bindings()):
        yield GROUP, obj
