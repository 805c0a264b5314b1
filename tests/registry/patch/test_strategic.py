"""Strategic merge patch: what it changes, in which order, and what its directives do."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.registry.patch import BadPatch, strategic
from kumi.registry.patch.shape import shape_of

SHAPE = shape_of("io.k8s.api.core.v1.Pod")

names = st.sampled_from("abcd")
images = st.sampled_from(["1", "2"])
variables = st.lists(st.fixed_dictionaries({"name": names, "value": images}), max_size=3, unique_by=lambda v: v["name"])
containers = st.lists(
    st.fixed_dictionaries({"name": names, "image": images}, optional={"env": variables, "args": st.lists(images)}),
    max_size=4,
    unique_by=lambda c: c["name"],
)
pods = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {
                "finalizers": st.lists(names, max_size=4, unique=True),
                "labels": st.dictionaries(names, images, max_size=3),
            }
        ),
        "spec": st.fixed_dictionaries({"containers": containers}),
    }
)


def applied(old: dict, patch: Any) -> dict:
    return strategic.apply(copy.deepcopy(old), copy.deepcopy(patch), SHAPE)


def by_name(items: list[dict]) -> dict[str, dict]:
    return {item["name"]: item for item in items}


def diff_lists(old: list[dict], new: list[dict]) -> tuple[list[dict], list[dict]]:
    """Items of a patch, and the order that goes with them."""
    items = []
    for item in new:
        there = by_name(old).get(item["name"], {})
        changed = diff_object(there, item)
        if changed or not there:
            items.append({"name": item["name"], **changed})
    items += [{"name": name, "$patch": "delete"} for name in by_name(old) if name not in by_name(new)]
    return items, [{"name": item["name"]} for item in new]


def diff_object(old: dict, new: dict) -> dict:
    patch: dict = {key: None for key in old if key not in new}
    for key, value in new.items():
        if old.get(key) == value and key in old:
            continue
        if key in ("containers", "env") and old.get(key):
            patch[key], patch[f"$setElementOrder/{key}"] = diff_lists(old[key], value)
        elif key == "finalizers" and old.get(key):
            patch[key] = value
            patch[f"$setElementOrder/{key}"] = value
            patch[f"$deleteFromPrimitiveList/{key}"] = [v for v in old[key] if v not in value]
        elif isinstance(value, dict) and isinstance(old.get(key), dict):
            patch[key] = diff_object(old[key], value)
        else:
            patch[key] = value
    return patch


@given(pods, pods)
def test_applying_the_difference_gives_the_target(old: dict, new: dict) -> None:
    assert applied(old, diff_object(old, new)) == new


@given(pods, pods)
def test_a_patch_without_deletions_loses_nothing(old: dict, patch: dict) -> None:
    new = applied(old, patch)
    assert by_name(old["spec"]["containers"]).keys() <= by_name(new["spec"]["containers"]).keys()
    assert set(old["metadata"]["finalizers"]) | set(patch["metadata"]["finalizers"]) == set(
        new["metadata"]["finalizers"]
    )
    assert new["metadata"]["labels"] == {**old["metadata"]["labels"], **patch["metadata"]["labels"]}


@given(pods, pods)
def test_applying_a_patch_twice_is_applying_it_once(old: dict, patch: dict) -> None:
    once = applied(old, patch)
    assert applied(once, patch) == once


@given(pods, pods)
def test_the_named_items_of_a_list_stand_in_the_order_of_the_patch(old: dict, patch: dict) -> None:
    new = [c["name"] for c in applied(old, patch)["spec"]["containers"]]
    asked = [c["name"] for c in patch["spec"]["containers"]]
    assert [name for name in new if name in asked] == asked


@given(pods, pods)
def test_items_of_the_target_keep_their_order_among_themselves(old: dict, patch: dict) -> None:
    asked = by_name(patch["spec"]["containers"])
    left = [c["name"] for c in old["spec"]["containers"] if c["name"] not in asked]
    new = [c["name"] for c in applied(old, patch)["spec"]["containers"]]
    assert [name for name in new if name in left] == left


def containers_of(patch: Any) -> list[dict]:
    old = {
        "spec": {
            "containers": [
                {"name": "web", "image": "1", "args": ["x"], "env": [{"name": "A", "value": "1"}, {"name": "B"}]},
                {"name": "side", "image": "2"},
            ]
        }
    }
    found: list[dict] = applied(old, {"spec": patch})["spec"]["containers"]
    return found


def test_items_merge_by_their_key_and_scalars_lists_are_replaced() -> None:
    web, third, side = containers_of(
        {
            "containers": [
                {"name": "web", "env": [{"name": "B", "value": "2"}, {"name": "C"}], "args": ["y"]},
                {"name": "third"},
            ]
        }
    )
    assert web == {
        "name": "web",
        "image": "1",
        "args": ["y"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "C"}],
    }
    assert (third, side["name"]) == ({"name": "third"}, "side")


def test_an_item_is_deleted_by_its_key() -> None:
    assert [c["name"] for c in containers_of({"containers": [{"name": "side", "$patch": "delete"}]})] == ["web"]


def test_deleting_what_is_not_there_changes_nothing() -> None:
    found = containers_of({"containers": [{"name": "none", "$patch": "delete"}]})
    assert [c["name"] for c in found] == ["web", "side"]


def test_a_list_is_replaced_on_demand() -> None:
    found = containers_of({"containers": [{"$patch": "replace"}, {"name": "sole", "image": "3"}]})
    assert found == [{"name": "sole", "image": "3"}]


def test_the_order_can_be_set() -> None:
    order = [{"name": "side"}, {"name": "new"}, {"name": "web"}]
    found = containers_of({"$setElementOrder/containers": order, "containers": [{"name": "new"}]})
    assert [c["name"] for c in found] == ["side", "new", "web"]


def test_the_order_alone_reorders() -> None:
    found = containers_of({"$setElementOrder/containers": [{"name": "side"}, {"name": "web"}]})
    assert [c["name"] for c in found] == ["side", "web"]


@pytest.mark.parametrize(
    ("patch", "metadata"),
    [
        ({"annotations": {"$patch": "replace", "c": "3"}}, {"annotations": {"c": "3"}, "finalizers": ["x", "y"]}),
        ({"annotations": {"$patch": "delete"}}, {"annotations": {}, "finalizers": ["x", "y"]}),
        (
            {"annotations": {"$retainKeys": ["b", "c"], "c": "3"}},
            {"annotations": {"b": "2", "c": "3"}, "finalizers": ["x", "y"]},
        ),
        ({"annotations": {"a": None, "z": None}}, {"annotations": {"b": "2"}, "finalizers": ["x", "y"]}),
        ({"annotations": None}, {"finalizers": ["x", "y"]}),
        ({"finalizers": ["z", "x"]}, {"annotations": {"a": "1", "b": "2"}, "finalizers": ["z", "x", "y"]}),
        ({"$deleteFromPrimitiveList/finalizers": ["x"]}, {"annotations": {"a": "1", "b": "2"}, "finalizers": ["y"]}),
        (
            {"$deleteFromPrimitiveList/ownerReferences": ["x"]},
            {"annotations": {"a": "1", "b": "2"}, "finalizers": ["x", "y"]},
        ),
    ],
)
def test_a_directive(patch: dict, metadata: dict) -> None:
    old = {"metadata": {"annotations": {"a": "1", "b": "2"}, "finalizers": ["x", "y"]}}
    assert applied(old, {"metadata": patch}) == {"metadata": metadata}


def test_what_is_new_comes_without_nulls_and_directives() -> None:
    patch = {"spec": {"securityContext": {"a": None, "$patch": "merge", "b": {"$retainKeys": [], "c": [{"d": None}]}}}}
    assert applied({}, patch) == {"spec": {"securityContext": {"b": {"c": [{}]}}}}


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ([], "must be an object"),
        ({"spec": {"containers": [{"image": "3"}]}}, "merge key name"),
        ({"spec": {"containers": [{"name": "web", "$patch": "frob"}]}}, "not for items"),
        ({"spec": {"$patch": "frob"}}, "unknown"),
        ({"spec": {"$setElementOrder/containers": {}}}, "must be lists"),
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": "x"}}, "must be a list"),
        ({"spec": {"$retainKeys": ["a"], "b": 1}}, "misses b"),
        ({"spec": {"$retainKeys": "a"}}, "must be a list"),
        (
            {
                "spec": {
                    "$setElementOrder/containers": [{"name": "web"}, {"name": "new"}],
                    "containers": [{"name": "new"}, {"name": "web", "image": "2"}],
                }
            },
            "does not agree",
        ),
    ],
)
def test_what_is_no_strategic_patch_is_refused(patch: Any, why: str) -> None:
    with pytest.raises(BadPatch, match=why):
        applied({"spec": {"containers": [{"name": "web"}]}, "metadata": {"finalizers": ["x"]}}, patch)
