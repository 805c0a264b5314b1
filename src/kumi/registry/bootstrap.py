"""What a cluster has from the start: its namespaces and the priority classes of the system. Idempotent.

Before that, deletions that a crash cut in two are ended.

Source     Kubernetes: initial namespaces; pod priority (system-cluster-critical, system-node-critical).
Not here   service accounts: those are a controller's.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject
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
        try:
            await registry.create(Target(kind), obj, WriteOptions())
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise


def _objects() -> Iterator[tuple[str, JsonObject]]:
    for name in NAMESPACES:
        yield "", {"kind": "Namespace", "metadata": {"name": name}}
    for name, (value, description) in PRIORITIES.items():
        made = {"metadata": {"name": name}, "value": value, "description": description}
        yield "scheduling.k8s.io", {"kind": "PriorityClass", **made}
