"""Requests: what a pod counts for, with exclusions and transformations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.api.quantity import MAX, nano
from kumi.bridge.into.requests import Requests, counted
from kumi.engine.settings import Settings, Transformation

GPU, CREDIT = "nvidia.com/gpu", "example.com/credit"
resources = st.dictionaries(st.sampled_from(["cpu", "memory", GPU, CREDIT]), st.integers(0, 10**6), max_size=4)


def rule(input_: str, outputs: dict[str, str], *, replace: bool = False, by: str = "") -> Transformation:
    return Transformation(input_, tuple((r, nano(q)) for r, q in outputs.items()), replace, by)


def after(requests: dict[str, int], *rules: Transformation, excluded: tuple[str, ...] = ()) -> dict[str, int] | None:
    asked: Requests = tuple(sorted(requests.items()))
    found = counted(asked, Settings(excluded_prefixes=excluded, transformations=rules))
    return None if found is None else dict(found)


@given(resources)
def test_without_rules_a_pod_counts_for_what_it_requests(requests: dict[str, int]) -> None:
    assert after(requests) is None
    assert after(requests, rule("other", {"x": "1"})) is None or CREDIT in requests or GPU in requests


@given(resources, st.integers(1, 9))
def test_a_resource_made_of_another_is_in_proportion_and_nothing_is_negative(
    requests: dict[str, int], factor: int
) -> None:
    found = after(requests, rule("memory", {CREDIT: str(factor)}))
    made = 1000 * factor * requests.get("memory", 0)
    whole = -(-requests.get(CREDIT, 0) // 1000) * 1000
    if found is not None:
        assert found.get(CREDIT, 0) == min(MAX, made + whole)
        assert all(amount >= 0 for amount in found.values())


def test_replaced_and_retained_inputs() -> None:
    assert after({"cpu": 100}, rule("cpu", {CREDIT: "3k"}, replace=True)) == {CREDIT: 300_000}
    assert after({"cpu": 100}, rule("cpu", {CREDIT: "3k"})) == {"cpu": 100, CREDIT: 300_000}


def test_outputs_of_one_name_add_up_and_join_what_is_requested_of_it() -> None:
    rules = rule(GPU, {CREDIT: "2"}, replace=True), rule("memory", {CREDIT: "1"}, replace=True)
    assert after({GPU: 3000, "memory": 4, CREDIT: 5000}, *rules) == {CREDIT: 15_000}


def test_an_output_below_zero_is_nothing_before_it_joins_what_is_requested() -> None:
    assert after({CREDIT: 3000, GPU: 8000}, rule(CREDIT, {GPU: "-1"}, replace=True)) == {GPU: 8000}
    assert after({GPU: 2000, "memory": 2048}, rule(GPU, {CREDIT: "-1024"}), rule("memory", {CREDIT: "1"})) == {
        GPU: 2000,
        "memory": 2048,
        CREDIT: 0,
    }


def test_an_input_may_be_multiplied_by_what_is_requested_of_another() -> None:
    by_gpu = rule("memory", {CREDIT: "1"}, replace=True, by=GPU)
    assert after({GPU: 2000, "memory": 30}, by_gpu) == {GPU: 2000, CREDIT: 60_000}
    assert after({"memory": 30}, by_gpu) == {CREDIT: 30_000}
    by_cpu = rule("memory", {CREDIT: "1"}, replace=True, by="cpu")
    assert after({"cpu": 500, "memory": 1024}, by_cpu) == {"cpu": 500, CREDIT: 512_000}


def test_a_fraction_is_rounded_up_at_the_end_only() -> None:
    assert after({"memory": 1}, rule("memory", {CREDIT: "1m", "cpu": "1u"}, replace=True)) == {CREDIT: 1000, "cpu": 1}
    thirds = tuple(rule(name, {CREDIT: "400m"}, replace=True) for name in ("memory", GPU))
    assert after({"memory": 1, GPU: 1000}, *thirds) == {CREDIT: 1000}


def test_past_all_bounds_it_is_the_largest_amount() -> None:
    assert after({CREDIT: 10**13}, rule(CREDIT, {GPU: "10G"}, replace=True)) == {GPU: MAX}


def test_excluded_prefixes_are_dropped_first() -> None:
    assert after({"cpu": 1, GPU: 1000}, excluded=("nvidia.com/", "example.com/")) == {"cpu": 1}
    assert after({GPU: 1000}, rule(GPU, {CREDIT: "1"}), excluded=("nvidia.com/",)) == {}
