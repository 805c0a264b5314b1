"""The cluster of a scenario: nodes by count and what they offer, and any objects that are there from the start.

    cluster:
      nodes:
        - name: big                     # big-0, big-1 ...; of one node its name
          count: 4
          offers: {cpu: 64, memory: 256Gi, nvidia.com/gpu: 8, pods: 110}
          labels: {zone: a}
          gpuModel: A100                # the label kumi.dev/gpu-model
          taints: [{key: spot, value: "", effect: NoSchedule}]
      manifests: [nodes.yaml]           # files, or objects
    queues: [queues.yaml]               # the same: queues, flavors, quotas, classes ... and anything else

The rule   a node is ready, and has room for 110 pods where nothing else is said; the host's name is a label.
Errors     noted in the document.
"""

from __future__ import annotations

from kumi.api.errors import KumiError
from kumi.api.kueue import HOST_LEVEL
from kumi.api.quantity import parse
from kumi.api.wire import JsonObject
from kumi.evaluator.scenarios.document import Part
from kumi.evaluator.scenarios.manifests import listed, proven
from kumi.evaluator.scenarios.steps import Step

MODEL = "kumi.dev/gpu-model"
PODS = "110"
NODES_AT_MOST = 1_000_000
"""of one kind: more are a slip of the pen"""
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def setting(cluster: Part, queues: Part, start_ms: int) -> list[Step]:
    """What is there from the start."""
    parts = cluster.fields("nodes", "manifests")
    objects = [(part.path, node) for part in parts["nodes"].items() for node in _nodes(part)]
    for part in (parts["manifests"], queues):
        objects += proven(part, listed(part))
    return [Step(start_ms, "create", obj, place) for place, obj in objects]


def _nodes(part: Part) -> list[JsonObject]:
    fields = part.fields("name", "count", "offers", "labels", "gpuModel", "taints")
    name = fields["name"].text()
    if not name:
        fields["name"].wrong("a node needs a name")
    count = fields["count"].whole(1, least=1, most=NODES_AT_MOST)
    offers = {"pods": PODS, **_offers(fields["offers"])}
    labels = {key: each.text() for key, each in fields["labels"].members().items()}
    if fields["gpuModel"]:
        labels[MODEL] = fields["gpuModel"].text()
    taints = [_taint(each) for each in fields["taints"].items()]
    names = [f"{name}-{number}" for number in range(count)] if fields["count"] else [name]
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": each, "labels": {HOST_LEVEL: each, **labels}},
            "spec": {"taints": taints} if taints else {},
            "status": {
                "capacity": offers,
                "allocatable": offers,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        for each in names
    ]


def _offers(part: Part) -> dict[str, str]:
    found = {}
    for resource, each in part.members().items():
        found[resource] = each.text("0")
        try:
            if parse(found[resource], resource) < 0:
                each.wrong(f"must be 0 or more, not {found[resource]}")
        except KumiError as error:
            each.wrong(str(error))
    if not found:
        part.wrong("says what the node has, such as {cpu: 8, memory: 32Gi}")
    return found


def _taint(part: Part) -> JsonObject:
    fields = part.fields("key", "value", "effect")
    return {"key": fields["key"].text(), "value": fields["value"].text(), "effect": fields["effect"].word(*EFFECTS)}
