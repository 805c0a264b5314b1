from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.core import Pod
from kumi.jobs import pod_groups
from kumi.jobs.pod_groups import GATE, GROUP_LABEL, RETRIABLE, TOTAL, Group, role_hash, shapes, standing


def pod(
    name: str,
    phase: str = "Pending",
    total: int = 2,
    gated: bool = False,
    cpu: str = "1",
    going: bool = False,
    **more: str,
) -> Pod:
    """`more`: annotations of the group of keys, by the end of their names."""
    meta: dict[str, Any] = {
        "name": name,
        "namespace": "n",
        "uid": name,
        "creationTimestamp": f"2026-01-01T00:00:{(ord(name[-1]) - 48) % 60:02}Z",
        "labels": {GROUP_LABEL: "g"},
        "annotations": {TOTAL: str(total), **{f"kueue.x-k8s.io/{k.replace('_', '-')}": v for k, v in more.items()}},
    }
    if going:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], "schedulingGates": [{"name": GATE}] if gated else []}
    return msgspec.convert({"metadata": meta, "spec": spec, "status": {"phase": phase}}, Pod)


phases = st.sampled_from(["Pending", "Running", "Succeeded", "Failed"])
pods = st.lists(st.tuples(phases, st.booleans(), st.booleans()), max_size=7).map(
    lambda rows: tuple(
        pod(f"p{i}", phase, 3, gated=gated and phase == "Pending", going=going)
        for i, (phase, gated, going) in enumerate(rows)
    )
)


@given(pods)
def test_never_more_pods_than_the_group_has_and_none_is_let_go_without_a_replacement(found: tuple[Pod, ...]) -> None:
    group = Group("g", found)
    if found:
        left = [p for p in group.counted if p not in group.excess]
        live = [p for p in left if p.status.phase != "Succeeded"]
        assert len(left) <= 3 or live == []
    lost = [p for p in found if p not in group.counted]
    assert len(group.counted) + len(lost) - len(group.replaced) >= min(3, len(found))
    assert not set(map(id, group.replaced)) & set(map(id, group.counted))


@given(pods)
def test_what_is_over_has_nothing_running(found: tuple[Pod, ...]) -> None:
    stands = standing(Group("g", found))
    if stands.finished and not stands.succeeded:
        assert not stands.active


def test_excess_takes_the_newest_that_are_still_gated_first() -> None:
    group = Group("g", (pod("a", "Running"), pod("b", gated=True), pod("c", gated=True), pod("d", "Running")))
    assert [p.metadata.name for p in group.excess] == ["c", "b"]
    running = Group("g", (pod("a", "Running"), pod("b", "Running"), pod("d", "Running")))
    assert [p.metadata.name for p in running.excess] == ["d"]


def test_a_group_is_complete_with_all_its_pods_or_with_the_first_where_that_is_enough() -> None:
    assert not Group("g", (pod("a"),)).complete
    assert Group("g", (pod("a"), pod("b"))).complete
    assert Group("g", (pod("a", pod_group_fast_admission="true"),)).complete
    assert not Group("g", (pod("a", "Failed"), pod("b"))).complete
    assert not Group("g", ()).complete
    assert Group("", (pod("a"),)).complete


def test_pods_of_one_shape_are_a_pod_set() -> None:
    made = shapes(Group("g", (pod("a"), pod("b", cpu="2"), pod("c"))))
    assert sorted(s["count"] for s in made) == [1, 2]
    assert [s["name"] for s in made] == sorted(s["name"] for s in made)
    assert all(len(s["name"]) == pod_groups.HASH_LETTERS for s in made)


def test_pods_that_are_still_to_come_are_taken_to_be_like_the_first() -> None:
    (made,) = shapes(Group("g", (pod("a", total=4),)))
    assert made["count"] == 4


def test_a_pod_alone_is_one_pod_set_main() -> None:
    (made,) = shapes(Group("", (pod("a", gated=True),)))
    assert (made["name"], made["count"]) == ("main", 1)
    assert "schedulingGates" not in made["template"]["spec"]


def test_the_hash_is_of_the_shape_alone() -> None:
    spec = {"containers": [{"name": "c"}], "nodeSelector": {"a": "b"}}
    assert role_hash(spec) == role_hash({**spec, "nodeName": "n", "schedulingGates": [{"name": GATE}]})
    assert role_hash(spec) != role_hash({**spec, "nodeSelector": {}})


@pytest.mark.parametrize(
    ("states", "finished", "succeeded"),
    [
        (["Succeeded", "Succeeded"], True, True),
        (["Succeeded", "Running"], False, False),
        (["Succeeded", "Failed"], False, False),
    ],
)
def test_a_group_is_over_when_as_many_have_succeeded_as_it_has(
    states: list[str], finished: bool, succeeded: bool
) -> None:
    stands = standing(Group("g", tuple(pod(f"p{i}", state) for i, state in enumerate(states))))
    assert (stands.finished, stands.succeeded) == (finished, succeeded)


def test_one_that_is_not_to_be_replaced_ends_it_once_nothing_runs() -> None:
    lost = pod("a", "Failed")
    lost.metadata.annotations[RETRIABLE] = "false"
    assert not standing(Group("g", (lost, pod("b", "Running")))).finished
    assert standing(Group("g", (lost, pod("b", "Succeeded")))).finished


def test_a_pod_alone_ends_with_itself() -> None:
    assert standing(Group("", (pod("a", "Failed"),))).finished
    assert standing(Group("", (pod("a", "Succeeded"),))).succeeded
    assert not standing(Group("", (pod("a", "Running"),))).finished


def test_gated_pods_hold_nothing() -> None:
    stands = standing(Group("g", (pod("a", gated=True), pod("b", gated=True))))
    assert (stands.suspended, stands.active) == (True, False)
    assert standing(Group("g", (pod("a", gated=True), pod("b")))).active


def test_the_priority_is_that_of_a_label_before_that_of_the_pods() -> None:
    plain, marked = pod("a"), pod("b")
    assert pod_groups.priority_source(Group("g", (plain,))) is None
    plain.spec.priority_class_name = "pods"
    found = pod_groups.priority_source(Group("g", (plain,)))
    assert found is not None
    assert (found.kind, found.name) == ("PriorityClass", "pods")
    marked.metadata.labels["kueue.x-k8s.io/priority-class"] = "label"
    found = pod_groups.priority_source(Group("g", (plain, marked)))
    assert found is not None
    assert (found.kind, found.name) == ("WorkloadPriorityClass", "label")
