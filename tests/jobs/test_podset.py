"""Templates at admission and after eviction."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetInfo, PodSetShape, StartConflict
from kumi.jobs.podset import carries_admission, paired, replacing, restored, start_template, stop_template
from tests.jobs.world import merged

MAPS = st.dictionaries(st.sampled_from("abc"), st.just("v"), max_size=3)
TOLERATIONS = st.lists(st.sampled_from([{"key": "x"}, {"key": "y", "effect": "NoSchedule"}]), max_size=2, unique_by=str)
TEMPLATES = st.builds(
    lambda labels, annotations, selector, tolerations, gates: {
        "metadata": {k: v for k, v in (("labels", labels), ("annotations", annotations)) if v},
        "spec": {
            "containers": [{"name": "c"}],
            **{
                k: v
                for k, v in (("nodeSelector", selector), ("tolerations", tolerations), ("schedulingGates", gates))
                if v
            },
        },
    },
    MAPS,
    MAPS,
    MAPS,
    TOLERATIONS,
    st.lists(st.just({"name": "mine"}), max_size=1),
)
INFOS = st.builds(
    PodSetInfo,
    name=st.just("main"),
    count=st.just(1),
    node_selector=MAPS,
    labels=MAPS,
    annotations=MAPS,
    tolerations=TOLERATIONS.map(tuple),
    scheduling_gates=st.lists(st.sampled_from(["gate", "mine"]), unique=True).map(tuple),
)


@given(TEMPLATES, INFOS)
def test_stop_undoes_start(template: JsonObject, info: PodSetInfo) -> None:
    started = merged(template, start_template(template, info))
    back = merged(started, stop_template(started, template))
    assert _five(back) == _five(template)


@given(TEMPLATES, INFOS)
def test_starting_twice_adds_nothing(template: JsonObject, info: PodSetInfo) -> None:
    started = merged(template, start_template(template, info))
    assert start_template(started, info) == {}


@given(TEMPLATES, INFOS)
def test_everything_that_admission_adds_is_there(template: JsonObject, info: PodSetInfo) -> None:
    started = merged(template, start_template(template, info))
    assert info.node_selector.items() <= started["spec"].get("nodeSelector", {}).items()
    assert info.labels.items() <= started["metadata"].get("labels", {}).items()
    assert all(t in started["spec"].get("tolerations", []) for t in info.tolerations)
    assert {g["name"] for g in started["spec"].get("schedulingGates", [])} >= set(info.scheduling_gates)


def _five(template: JsonObject) -> list[Any]:
    meta, spec = template["metadata"], template["spec"]
    found = [meta.get("labels"), meta.get("annotations"), spec.get("nodeSelector")]
    return [f or None for f in (*found, spec.get("tolerations"), spec.get("schedulingGates"))]


@pytest.mark.parametrize(
    ("template", "field"),
    [
        ({"metadata": {"labels": {"k": "mine"}}}, "labels"),
        ({"metadata": {"annotations": {"k": "mine"}}}, "annotations"),
        ({"spec": {"nodeSelector": {"k": "mine"}}}, "nodeSelector"),
    ],
)
def test_another_value_at_the_same_key_is_a_conflict(template: JsonObject, field: str) -> None:
    info = PodSetInfo("main", 1, node_selector={"k": "theirs"}, labels={"k": "theirs"}, annotations={"k": "theirs"})
    with pytest.raises(StartConflict, match=rf"{field}\[k\]"):
        start_template(template, info)


def test_the_same_value_at_the_same_key_is_fine() -> None:
    assert start_template({"spec": {"nodeSelector": {"k": "v"}}}, PodSetInfo("main", 1, node_selector={"k": "v"})) == {}


def test_a_toleration_is_appended_after_the_users_own() -> None:
    template: JsonObject = {"spec": {"tolerations": [{"key": "own"}]}}
    info = PodSetInfo("main", 1, tolerations=({"key": "own"}, {"key": "gpu"}))
    assert start_template(template, info) == {"spec": {"tolerations": [{"key": "own"}, {"key": "gpu"}]}}


def test_a_template_as_it_is_stored_needs_no_patch() -> None:
    template: JsonObject = {"metadata": {"labels": {"a": "b"}}, "spec": {"nodeSelector": {}}}
    assert stop_template(template, {"metadata": {"labels": {"a": "b"}}}) == {}


def test_replacing_a_map_takes_its_other_keys_out() -> None:
    assert replacing({"a": "1", "b": "2"}, {"b": "3"}) == {"a": None, "b": "3"}
    assert replacing({"a": "1"}, None) is None
    assert replacing([1], [2]) == [2]


def test_pod_sets_are_paired_by_name() -> None:
    shapes = [PodSetShape("a", 1, {}), PodSetShape("b", 1, {})]
    pairs = list(paired(shapes, [PodSetInfo("b", 2), PodSetInfo("a", 1)]))
    assert [(s.name, i.count) for s, i in pairs] == [("a", 1), ("b", 2)]


@pytest.mark.parametrize("names", [("a",), ("a", "c"), ("a", "b", "c")])
def test_other_pod_sets_than_the_jobs_can_not_start_it(names: tuple[str, ...]) -> None:
    with pytest.raises(StartConflict):
        paired([PodSetShape("a", 1, {}), PodSetShape("b", 1, {})], [PodSetInfo(n, 1) for n in names])


def test_nothing_is_restored_when_the_pod_sets_are_others_by_now() -> None:
    assert list(restored([PodSetShape("a", 1, {})], [PodSetShape("a", 1, {}), PodSetShape("b", 1, {})])) == []


def test_the_pod_sets_label_tells_a_started_template() -> None:
    started: JsonObject = {"metadata": {"labels": {"kueue.x-k8s.io/podset": "main"}}}
    assert carries_admission(started, {})
    assert not carries_admission({}, {})
    assert not carries_admission(started, started)
