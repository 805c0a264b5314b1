"""What nodes and pods use: NodeMetrics and PodMetrics, made of the stored objects and what was measured, when they are asked for.

    get    the node or pod of that name, if it is measured; 404 otherwise
    list   those that the selectors choose and that are measured; selectors are about the nodes and pods themselves. It is one
           page: what is measured changes from look to look, so there is no revision to go on from
Without a source (no node runs here) nothing is measured.
Source     Kubernetes: resource metrics pipeline; metrics-server.
"""

from __future__ import annotations

from kumi.api.core import Node, Pod
from kumi.api.errors import not_found
from kumi.api.metrics import NODE_METRICS, node_metrics, pod_metrics
from kumi.api.scheme import Kind, Scheme
from kumi.api.wire import JsonObject, Listing
from kumi.registry.registry import Registry
from kumi.registry.requests import ListOptions, Target
from kumi.runtime.usage import UsageSource


class Usages:
    """Answers for both kinds."""

    def __init__(self, registry: Registry, scheme: Scheme, source: UsageSource | None) -> None:
        self._registry, self._source = registry, source
        self._nodes, self._pods = scheme.of(Node), scheme.of(Pod)

    def get(self, target: Target) -> JsonObject:
        """One. ApiError 404."""
        found = self._registry.find(Target(self._measured(target), target.namespace, target.name))
        made = self._made(target, found) if found is not None else None
        if made is None:
            name = f"{target.namespace}/{target.name}" if target.namespace else target.name
            raise not_found(target.kind.kind.lower(), name, target.kind.group)
        return made

    async def list(self, target: Target, options: ListOptions) -> Listing:
        """Those that are chosen. ApiError 400."""
        chosen = ListOptions(labels=options.labels, fields=options.fields)
        there = await self._registry.list(Target(self._measured(target), target.namespace), chosen)
        made = (self._made(target, obj) for obj in there.items)
        return Listing([one for one in made if one is not None], "")

    def _measured(self, target: Target) -> Kind:
        return self._nodes if target.kind is NODE_METRICS else self._pods

    def _made(self, target: Target, obj: JsonObject) -> JsonObject | None:
        if self._source is None:
            return None
        meta = obj["metadata"]
        labels = meta.get("labels") or {}
        if target.kind is NODE_METRICS:
            of_node = self._source.node(meta["name"])
            return node_metrics(meta["name"], labels, of_node) if of_node is not None else None
        of_pod = self._source.pod(meta["uid"])
        return pod_metrics(meta["namespace"], meta["name"], labels, of_pod) if of_pod is not None else None
