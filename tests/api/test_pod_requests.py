from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.core import PodSpec
from kumi.api.pod_requests import pod_limits, pod_requests
from kumi.api.quantity import MAX, QuantityError
from kumi.api.wire import JsonObject

AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory", "a.b/c"]), st.integers(0, 9).map(str), max_size=3)
CONTAINERS = st.lists(
    st.fixed_dictionaries({"requests": AMOUNTS, "limits": AMOUNTS}).map(lambda r: {"resources": r}), max_size=3
)


def container(restart: str = "", **requests: str) -> JsonObject:
    return {"resources": {"requests": requests}, **({"restartPolicy": restart} if restart else {})}


@given(CONTAINERS, CONTAINERS)
def test_a_view_and_its_json_ask_for_the_same(containers: list[JsonObject], init: list[JsonObject]) -> None:
    spec = {"containers": containers, "initContainers": init, "overhead": {"cpu": "1m"}}
    assert pod_requests(spec) == pod_requests(msgspec.convert(spec, PodSpec))


@given(CONTAINERS, CONTAINERS, CONTAINERS)
def test_one_more_container_never_asks_for_less(
    a: list[JsonObject], b: list[JsonObject], init: list[JsonObject]
) -> None:
    fewer = pod_requests({"containers": a, "initContainers": init})
    more = pod_requests({"containers": a + b, "initContainers": init})
    assert all(more[name] >= amount for name, amount in fewer.items())


def test_containers_add_up() -> None:
    assert pod_requests({"containers": [container(cpu="500m"), container(cpu="1", memory="1Ki")]}) == {
        "cpu": 1500,
        "memory": 1024,
    }


def test_a_limit_stands_for_a_request_that_is_not_given() -> None:
    spec = {"containers": [{"resources": {"limits": {"cpu": "2", "memory": "8"}, "requests": {"cpu": "1"}}}]}
    assert pod_requests(spec) == {"cpu": 1000, "memory": 8}


def test_an_init_container_counts_where_it_is_larger_than_the_rest_together() -> None:
    spec = {"containers": [container(cpu="1"), container(cpu="1")], "initContainers": [container(cpu="3", memory="1")]}
    assert pod_requests(spec) == {"cpu": 3000, "memory": 1}


def test_a_sidecar_stays_beside_the_containers_and_the_init_containers_after_it() -> None:
    spec = {
        "containers": [container(cpu="1")],
        "initContainers": [container(cpu="2"), container("Always", cpu="1"), container(cpu="3")],
    }
    assert pod_requests(spec) == {"cpu": 4000}
    spec["containers"] = [container(cpu="5")]
    assert pod_requests(spec) == {"cpu": 6000}


def test_overhead_comes_on_top_and_the_pod_level_in_place_of_its_containers() -> None:
    spec = {
        "containers": [container(cpu="1", memory="1")],
        "resources": {"requests": {"cpu": "2"}},
        "overhead": {"cpu": "250m"},
    }
    assert pod_requests(spec) == {"cpu": 2250, "memory": 1}


def test_a_sum_that_is_too_large_is_the_largest_amount() -> None:
    assert pod_requests({"containers": [container(memory="8E"), container(memory="8E")]}) == {"memory": MAX}


def test_a_pod_that_asks_for_nothing_asks_for_nothing() -> None:
    assert pod_requests({"containers": [{"name": "c"}]}) == {}
    assert pod_requests({}) == {}


def test_what_is_no_quantity_is_told() -> None:
    with pytest.raises(QuantityError):
        pod_requests({"containers": [container(cpu="many")]})


def test_limits_are_summed_by_the_same_rule_and_overhead_counts_where_there_is_one() -> None:
    def limited(**limits: str) -> JsonObject:
        return {"resources": {"limits": limits, "requests": {"cpu": "9"}}}

    spec = {
        "containers": [limited(cpu="1"), limited(cpu="500m", memory="1k")],
        "initContainers": [limited(memory="3k")],
        "overhead": {"cpu": "250m", "a.b/c": "1"},
    }
    assert pod_limits(spec) == {"cpu": 1750, "memory": 3000}
