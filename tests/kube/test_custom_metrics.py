"""The custom metrics API, old and new."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError, KumiError
from kumi.api.wire import JsonObject
from kumi.kube.custom_metrics import CPU, MEMORY, CustomMetrics
from kumi.runtime.node_loads import Load, Loads

AT, AT_MS = "2027-01-15T08:00:00Z", 1_800_000_000_000


def item(name: str, value: object, at: object = AT) -> JsonObject:
    about = {"kind": "Node", "name": name, "apiVersion": "/v1"}
    return {"describedObject": about, "metricName": CPU, "timestamp": at, "value": value}


class Api:
    """Answers by metric, in one version."""

    def __init__(self, version: str, **items: list[JsonObject]) -> None:
        self.version, self.items = version, items
        self.asked: list[str] = []

    async def get(self, path: str) -> JsonObject:
        self.asked.append(path)
        metric = path.rpartition("/")[2]
        if f"/{self.version}/" not in path or metric not in self.items:
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
        return {"kind": "MetricValueList", "items": self.items[metric]}


async def test_shares_become_percentages() -> None:
    api = Api("v1beta2", **{CPU: [item("n1", "532m"), item("n2", "1")], MEMORY: [item("n1", "0.25")]})
    loads = await CustomMetrics(api.get)((), 0)
    assert loads.by_node == {"n1": Load(53.2, 25.0, AT_MS), "n2": Load(100.0, None, AT_MS)}
    assert loads.by_node["n1"].cpu == 53.2
    assert api.asked == [f"/apis/custom.metrics.k8s.io/v1beta2/nodes/*/{metric}" for metric in (CPU, MEMORY)]


async def test_the_old_version_is_asked_where_there_is_no_new_one() -> None:
    api = Api("v1beta1", **{CPU: [item("n1", "1")], MEMORY: []})
    assert (await CustomMetrics(api.get)((), 0)).by_node == {"n1": Load(100.0, None, AT_MS)}


async def test_a_metric_that_is_not_served_is_named() -> None:
    with pytest.raises(KumiError, match=f"no metric {CPU} of nodes: the server could not find"):
        await CustomMetrics(Api("v1beta1").get)((), 0)


async def test_a_refusal_is_told_as_it_is() -> None:
    async def refused(_: str) -> JsonObject:
        raise ApiError(403, "Forbidden", "you may not")

    with pytest.raises(KumiError, match="you may not"):
        await CustomMetrics(refused)((), 0)


@pytest.mark.parametrize(
    "wrong",
    [
        item("n1", "much"),
        item("n1", None),
        item("n1", "1", ""),
        item("n1", "1", "noon"),
        item("n1", "1", "2027-01-15T08:00:00"),
        item("n1", "1", 3),
    ],
)
async def test_what_cant_be_read_of_one_node_leaves_out_that_alone(wrong: JsonObject) -> None:
    api = Api("v1beta2", **{CPU: [wrong, item("n2", "1")], MEMORY: []})
    loads = await CustomMetrics(api.get)((), 0)
    assert loads.by_node == {"n2": Load(100.0, None, AT_MS)}
    assert len(loads.wrong) == 1
    assert f"{CPU} of node n1 can't be read" in loads.wrong[0]


@pytest.mark.parametrize("wrong", [3, {}, {"describedObject": 3}, {"describedObject": {}}])
async def test_what_says_not_even_whose_it_is_is_left_out(wrong: JsonObject) -> None:
    api = Api("v1beta2", **{CPU: [wrong], MEMORY: [item("n1", "1")]})
    loads = await CustomMetrics(api.get)((), 0)
    assert (loads.by_node, len(loads.wrong)) == ({"n1": Load(None, 100.0, AT_MS)}, 1)


async def test_no_items_are_no_loads() -> None:
    api = Api("v1beta2", **{CPU: [], MEMORY: []})
    assert await CustomMetrics(api.get)((), 0) == Loads({}, [])
