"""What nodes and pods use, in the words of the resource metrics API."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.metrics import (
    METRICS,
    NODE_METRICS,
    POD_METRICS,
    NodeMetrics,
    PodMetrics,
    Usage,
    Used,
    node_metrics,
    pod_metrics,
    span_text,
    sum_of,
)
from kumi.api.quantity import nano
from kumi.api.scheme import load
from kumi.engine.fields import duration_ms
from kumi.registry import table

NOW = 1_800_000_000_000
used = st.builds(Used, st.integers(0, 10**15), st.integers(0, 10**15))


@given(st.integers(0, 10**9))
def test_a_length_of_time_is_read_back_as_it_was(ms: int) -> None:
    assert duration_ms(span_text(ms)) == ms


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0s"), (15_023, "15.023s"), (10_000, "10s"), (90_000, "1m30s"), (7_200_000, "2h0m0s"), (59_999, "59.999s")],
)
def test_a_length_of_time_is_written_as_kubernetes_does(ms: int, text: str) -> None:
    assert span_text(ms) == text


@given(st.lists(used))
def test_a_sum_is_that_of_each_resource(many: list[Used]) -> None:
    assert sum_of(many) == Used(sum(u.cpu_nano for u in many), sum(u.memory_bytes for u in many))


@given(used)
def test_amounts_are_read_back_as_they_were_in_whole_kibibytes(one: Used) -> None:
    wire = one.wire()
    assert nano(wire["cpu"]) == one.cpu_nano
    assert nano(wire["memory"]) // 10**9 == one.memory_bytes // 1024 * 1024


def test_a_node_has_one_usage() -> None:
    made = node_metrics("n1", {"zone": "a"}, Usage(NOW, 10_002, Used(250_123_456, 5000)))
    assert made == {
        "kind": "NodeMetrics",
        "apiVersion": "metrics.k8s.io/v1beta1",
        "metadata": {"name": "n1", "creationTimestamp": "2027-01-15T08:00:00Z", "labels": {"zone": "a"}},
        "timestamp": "2027-01-15T08:00:00Z",
        "window": "10.002s",
        "usage": {"cpu": "250123456n", "memory": "4Ki"},
    }
    assert msgspec.convert(made, NodeMetrics).usage == made["usage"]


def test_a_pod_has_a_usage_for_each_container_by_name() -> None:
    made = pod_metrics("ns", "p", {}, Usage(NOW, 1000, {"b": Used(10**9, 1 << 20), "a": Used()}))
    assert made["metadata"] == {"name": "p", "namespace": "ns", "creationTimestamp": "2027-01-15T08:00:00Z"}
    assert made["containers"] == [
        {"name": "a", "usage": {"cpu": "0", "memory": "0"}},
        {"name": "b", "usage": {"cpu": "1", "memory": "1Mi"}},
    ]
    assert [c.name for c in msgspec.convert(made, PodMetrics).containers] == ["a", "b"]


def test_a_table_has_the_sums() -> None:
    pod = pod_metrics("ns", "p", {}, Usage(NOW, 1000, {"a": Used(10**8, 1 << 20), "b": Used(10**8, 1 << 20)}))
    node = node_metrics("n1", {}, Usage(NOW, 90_000, Used(10**9, 3 << 30)))
    assert table.render(POD_METRICS, [pod], NOW)["rows"][0]["cells"] == ["p", "200m", "2Mi", "1s"]
    assert table.render(NODE_METRICS, [node], NOW)["rows"][0]["cells"] == ["n1", "1", "3Gi", "1m30s"]


def test_what_is_no_quantity_is_no_sum() -> None:
    wrong = node_metrics("n1", {}, Usage(NOW, 1000, Used())) | {"usage": {"cpu": "much"}}
    assert table.render(NODE_METRICS, [wrong], NOW)["rows"][0]["cells"] == ["n1", "", "0", "1s"]


def test_neither_kind_is_stored() -> None:
    assert not [kind for kind in load() if kind.group == "metrics.k8s.io"]
    assert {kind.plural for kind in METRICS} == {"nodes", "pods"}
