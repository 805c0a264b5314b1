from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.volcano import PodGroup, Queue
from kumi.api.wire import JsonObject
from kumi.controllers.gangs_of_pods import GangsOfPods
from kumi.registry.patch import merge
from kumi.runtime.reconcile import NOTHING, Create, Delete, Patch
from kumi.testing.view import FakeView, decoded

from .made import GPU, NOW_MS, meta, pod

LOOP = GangsOfPods()


def plain(name: str = "p", scheduler: str = "volcano", **fields: Any) -> JsonObject:
    spec = {"schedulerName": scheduler, **fields.pop("spec", {})}
    return pod(name, spec=spec, **fields)


def owner(kind: str, name: str) -> JsonObject:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}


def maker(kind: str, name: str, replicas: int = 1, **annotations: str) -> JsonObject:
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": meta(name, "team", annotations=annotations),
        "spec": {} if kind == "Job" else {"replicas": replicas},
    }


def of(name: str, phase: str = "Pending") -> JsonObject:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": meta(name, "team"),
        "spec": {},
        "status": {"phase": phase},
    }


def made(*manifests: JsonObject, key: str = "team/p") -> tuple[JsonObject, JsonObject]:
    """The PodGroup that is made, and the pod's patch."""
    create, patch = LOOP.reconcile(FakeView(*manifests), key, NOW_MS).writes
    assert isinstance(create, Create)
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    return create.object, patch.body


def test_a_pod_on_its_own_gets_a_gang_of_one_that_it_owns() -> None:
    group, patch = made(plain(spec={"priorityClassName": "high"}))
    assert group["metadata"]["name"] == "podgroup-uid-p"
    assert [o["uid"] for o in group["metadata"]["ownerReferences"]] == ["uid-p"]
    assert group["spec"] == {"minMember": 1, "minResources": {GPU: "1", "pods": "1"}, "priorityClassName": "high"}
    assert patch["metadata"] == {
        "uid": "uid-p",
        "annotations": {"scheduling.k8s.io/group-name": "podgroup-uid-p"},
    }


def test_the_pods_of_one_maker_share_a_gang_as_large_as_it_says() -> None:
    said = {"scheduling.volcano.sh/group-min-member": "3", "volcano.sh/sla-waiting-time": "1h", "other/x": "y"}
    set_ = maker("ReplicaSet", "rs", **said)
    own = {"scheduling.volcano.sh/queue-name": "q", "volcano.sh/preemptable": "true"}
    labels = {"volcano.sh/x": "1", "app": "a"}
    group, _ = made(set_, plain(ownerReferences=[owner("ReplicaSet", "rs")], annotations=own, labels=labels))
    assert group["metadata"]["name"] == "podgroup-uid-rs"
    assert group["metadata"]["ownerReferences"] == [owner("ReplicaSet", "rs")]
    assert group["metadata"]["annotations"] == {
        "volcano.sh/sla-waiting-time": "1h",
        "volcano.sh/preemptable": "true",
    }
    assert group["metadata"]["labels"] == {"volcano.sh/x": "1"}
    assert group["spec"] == {"minMember": 3, "minResources": {GPU: "3", "pods": "3"}, "queue": "q"}


@pytest.mark.parametrize("text", ["", "many", "-1", "3.5", "99999999999"])
def test_a_minimum_that_can_not_be_read_is_one(text: str) -> None:
    set_ = maker("ReplicaSet", "rs", **{"scheduling.volcano.sh/group-min-member": text})
    group, _ = made(set_, plain(ownerReferences=[owner("ReplicaSet", "rs")]))
    assert group["spec"]["minMember"] == 1


def test_a_later_pod_joins_the_gang_that_is_there() -> None:
    group = {**of("podgroup-uid-rs"), "spec": {"minMember": 1, "minResources": {GPU: "1", "pods": "1"}}}
    view = FakeView(group, plain(ownerReferences=[owner("ReplicaSet", "rs")]))
    (patch,) = LOOP.reconcile(view, "team/p", NOW_MS).writes
    assert isinstance(patch, Patch)


@pytest.mark.parametrize(
    "other",
    [
        plain(scheduler="default-scheduler"),
        plain(annotations={"scheduling.k8s.io/group-name": "mine"}),
        plain(annotations={"kueue.x-k8s.io/workload": "w"}),
        plain(deletionTimestamp="2026-01-01T00:00:00Z"),
    ],
)
def test_other_pods_are_left_alone(other: JsonObject) -> None:
    assert LOOP.reconcile(FakeView(other), "team/p", NOW_MS) == NOTHING
    assert LOOP.reconcile(FakeView(), "team/p", NOW_MS) == NOTHING


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
def test_a_maker_that_wants_no_pods_has_no_gang(kind: str) -> None:
    key = f"maker/{kind}/team/s"
    view = FakeView(maker(kind, "s", 0), of("podgroup-uid-s"))
    (delete,) = LOOP.reconcile(view, key, NOW_MS).writes
    assert isinstance(delete, Delete)
    assert delete.name == "podgroup-uid-s"
    assert LOOP.reconcile(FakeView(maker(kind, "s", 1), of("podgroup-uid-s")), key, NOW_MS) == NOTHING
    assert LOOP.reconcile(FakeView(maker(kind, "s", 0)), key, NOW_MS) == NOTHING
    assert LOOP.reconcile(FakeView(), key, NOW_MS) == NOTHING


MIN = "scheduling.volcano.sh/group-min-member"


def joined(name: str, kind: str, **fields: Any) -> JsonObject:
    """A pod of the maker `s` that is in its gang."""
    said = {"scheduling.k8s.io/group-name": "podgroup-uid-s", **fields.pop("annotations", {})}
    return plain(name, ownerReferences=[owner(kind, "s")], annotations=said, **fields)


def settled(view: FakeView, key: str) -> JsonObject | None:
    """What the gang is changed by; looked at again, there is nothing more to change."""
    writes = LOOP.reconcile(view, key, NOW_MS).writes
    if not writes:
        return None
    (patch,) = writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    known = view.get(PodGroup, "team", "podgroup-uid-s")
    assert known is not None
    there = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", **msgspec.to_builtins(known)}
    view.put(merge.apply(there, patch.body))
    assert LOOP.reconcile(view, key, NOW_MS) == NOTHING
    return patch.body


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "DaemonSet", "Job"])
def test_another_minimum_of_the_maker_becomes_that_of_its_gang(kind: str) -> None:
    group = {**of("podgroup-uid-s"), "spec": {"minMember": 1, "minResources": {GPU: "1", "pods": "1"}, "queue": "q"}}
    set_ = maker(kind, "s", **{MIN: "3"})
    body = settled(FakeView(set_, group, joined("a", kind), joined("b", kind)), f"maker/{kind}/team/s")
    assert body is not None
    assert body["spec"] == {"minMember": 3, "minResources": {GPU: "3", "pods": "3"}}


def test_the_youngest_pod_tells_what_one_asks_for() -> None:
    group = {**of("podgroup-uid-s"), "spec": {"minMember": 1, "minResources": {"memory": "1Gi", "pods": "1"}}}
    old = joined("z", "StatefulSet", creationTimestamp="2026-01-01T00:00:00Z")
    new = joined("a", "StatefulSet", creationTimestamp="2026-01-01T00:00:01Z", spec={"priorityClassName": "high"})
    view = FakeView(maker("StatefulSet", "s", **{"volcano.sh/x": "1"}), group, old, new)
    body = settled(view, "maker/StatefulSet/team/s")
    assert body is not None
    assert body["spec"] == {"minResources": {"memory": None, GPU: "1", "pods": "1"}, "priorityClassName": "high"}
    assert body["metadata"]["annotations"] == {"volcano.sh/x": "1"}


def test_a_pod_of_another_template_changes_the_gang_that_it_joins() -> None:
    group = {**of("podgroup-uid-s"), "spec": {"minMember": 2, "minResources": {GPU: "2", "pods": "2"}}}
    view = FakeView(maker("ReplicaSet", "s", **{MIN: "4"}), group, plain(ownerReferences=[owner("ReplicaSet", "s")]))
    change, join = LOOP.reconcile(view, "team/p", NOW_MS).writes
    assert isinstance(change, Patch)
    assert isinstance(join, Patch)
    assert (change.name, join.name) == ("podgroup-uid-s", "p")
    assert isinstance(change.body, dict)
    assert change.body["spec"] == {"minMember": 4, "minResources": {GPU: "4", "pods": "4"}}


def test_what_others_say_of_a_gang_stays() -> None:
    group = of("podgroup-uid-s")
    group["metadata"]["annotations"] = {"volcano.sh/mine": "1"}
    group["spec"] = {"minMember": 1, "minResources": {GPU: "1", "pods": "1"}, "queue": "q"}
    view = FakeView(maker("ReplicaSet", "s"), group, joined("a", "ReplicaSet"))
    assert settled(view, "maker/ReplicaSet/team/s") is None


def test_pods_that_are_going_or_of_another_gang_tell_nothing() -> None:
    going = joined("a", "ReplicaSet", deletionTimestamp="2026-01-01T00:00:00Z")
    other = joined("b", "ReplicaSet", annotations={"scheduling.k8s.io/group-name": "mine"})
    view = FakeView(maker("ReplicaSet", "s", **{MIN: "3"}), of("podgroup-uid-s"), going, other)
    assert settled(view, "maker/ReplicaSet/team/s") is None


def test_it_looks_at_pods_that_name_volcano_and_at_what_makers_say() -> None:
    keys = {type_.__name__: keys for type_, keys in LOOP.watches.keys.items()}
    named, other, set_ = (decoded(m) for m in (plain(), plain(scheduler="x"), maker("StatefulSet", "s")))
    assert keys["Pod"](named) == ("team/p",)
    assert keys["Pod"](other) == ()
    assert keys["StatefulSet"](set_) == ("maker/StatefulSet/team/s",)
    matters = LOOP.watches.matters[type(set_)]
    assert not matters(set_, decoded({**maker("StatefulSet", "s", 3), "status": {"replicas": 3}}))
    assert matters(set_, decoded(maker("StatefulSet", "s", 0)))
    assert matters(set_, decoded(maker("StatefulSet", "s", **{MIN: "2"})))


def test_the_gang_says_of_time_what_the_maker_says() -> None:
    said = {"kumi.dev/deadline": "2026-01-01T00:00:00Z", "a/execution-duration": "1m"}
    job = maker("Job", "j", **said)
    group, _ = made(job, plain(ownerReferences=[{**owner("Job", "j"), "apiVersion": "batch/v1"}]))
    assert group["metadata"]["annotations"] == {
        "kumi.dev/deadline": "2026-01-01T00:00:00Z",
        "kumi.dev/execution-duration": "60s",
    }


def test_a_queue_that_comes_opens_or_closes_wakes_the_pods_that_have_no_group_yet() -> None:
    def queue(state: str, weight: int) -> JsonObject:
        meta_, spec = meta("q"), {"weight": weight}
        kind = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
        return {**kind, "metadata": meta_, "spec": spec, "status": {"state": state}}

    opened, other, closed = (decoded(queue(*of)) for of in (("Open", 1), ("Open", 2), ("Closed", 2)))
    view = FakeView(plain(), plain("other", "kumi"), plain("has", annotations={"scheduling.k8s.io/group-name": "g"}))
    assert LOOP.watches.related[Queue](opened, view) == ("team/p",)
    assert LOOP.watches.keys[Queue](opened) == ()
    matters = LOOP.watches.matters[Queue]
    assert (matters(opened, other), matters(other, closed)) == (False, True)
