"""Pods: where they sit, which of them wait, in which order."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine.journal import Journal
from kumi.engine.pods import Pods, waits
from kumi.testing.builders import pod

ALONE = pod("ns/p", gpu=1)


def test_a_pod_waits_unless_it_has_ended_or_is_gated_or_goes() -> None:
    assert waits(ALONE)
    assert not any(waits(replace(ALONE, **{field: True})) for field in ("finished", "gated", "terminating"))


def test_only_pods_alone_without_a_node_are_in_line() -> None:
    pods = Pods(Journal())
    pods.put(ALONE, "")
    pods.put(pod("ns/bound"), "n1")
    pods.put(pod("ns/member", workload="ns/a"), "")
    pods.put(pod("ns/gated", gated=True), "")
    assert [t[-1] for t in pods.alone] == ["ns/p"]


def test_a_pod_is_found_by_node_and_by_workload_until_it_goes() -> None:
    pods = Pods(Journal())
    member = pod("ns/m", workload="ns/a")
    pods.put(member, "n1")
    assert (pods.of("ns/a"), pods.node_of["ns/m"], list(pods.on_node["n1"])) == ([member], "n1", ["ns/m"])
    pods.drop("ns/m")
    assert (pods.of("ns/a"), pods.node_of, pods.on_node, pods.of_workload) == ([], {}, {}, {})


def test_a_pod_alone_that_goes_leaves_the_line() -> None:
    pods = Pods(Journal())
    pods.put(ALONE, "")
    pods.drop("ns/p")
    assert pods.alone == []
