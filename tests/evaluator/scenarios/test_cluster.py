"""The cluster of a scenario."""

from __future__ import annotations

from kumi.api.core import Node
from kumi.evaluator.manifests import checked
from kumi.evaluator.model import START_MS
from kumi.evaluator.scenarios.cluster import setting
from tests.evaluator.scenarios.told import faults, node, part


def test_nodes_come_by_count_with_what_they_offer() -> None:
    said = {
        "name": "big",
        "count": 2,
        "offers": {"cpu": 4, "nvidia.com/gpu": 8},
        "labels": {"zone": "a"},
        "gpuModel": "A100",
    }
    one = part({"nodes": [{**said, "taints": [{"key": "spot", "effect": "NoExecute"}]}]})
    steps = setting(one, part(None), START_MS)
    assert faults(one) == []
    assert [(step.at_ms, step.verb, step.object["metadata"]["name"]) for step in steps] == [
        (START_MS, "create", "big-0"),
        (START_MS, "create", "big-1"),
    ]
    view = checked(steps[1].object).view
    assert isinstance(view, Node)
    assert view.status.allocatable == {"pods": "110", "cpu": "4", "nvidia.com/gpu": "8"}
    assert view.metadata.labels == {"kubernetes.io/hostname": "big-1", "zone": "a", "kumi.dev/gpu-model": "A100"}
    assert [(taint.key, taint.effect) for taint in view.spec.taints] == [("spot", "NoExecute")]


def test_one_node_has_its_name_and_any_objects_are_there_too() -> None:
    steps = setting(
        part({"nodes": {"name": "n", "offers": {"cpu": 1}}, "manifests": [node("m")]}), part([node("q")]), START_MS
    )
    assert [step.object["metadata"]["name"] for step in steps] == ["n", "m", "q"]


def test_what_is_wrong_with_nodes_is_noted() -> None:
    one = part({"nodes": [{"offers": {"cpu": "many"}, "count": 0}, {"name": "n", "colour": 1}]})
    setting(one, part(None), START_MS)
    assert [fault.partition(":")[0] for fault in faults(one)] == [
        "here.nodes[0].name",
        "here.nodes[0].count",
        "here.nodes[0].offers.cpu",
        "here.nodes[1].colour",
        "here.nodes[1].offers",
    ]


def test_a_node_has_no_less_than_nothing() -> None:
    one = part({"nodes": {"name": "n", "offers": {"cpu": -4, "memory": 0}}})
    setting(one, part(None), START_MS)
    assert faults(one) == ["here.nodes.offers.cpu: must be 0 or more, not -4"]
