"""Steps as the engine's events."""

from __future__ import annotations

import pytest

from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject
from kumi.engine.model import ClusterQueue, Namespace, Node, PodShape, Put, Remove, VolumeClaim
from kumi.evaluator.manifests import ManifestError
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change, Job, Role
from kumi.evaluator.scenarios.plays import Stage
from kumi.evaluator.scenarios.steps import Told
from tests.evaluator.scenarios.told import job, jobs, names, node, obj, played, pod, step

QUEUE = obj("ClusterQueue", "q", "kueue.x-k8s.io/v1beta2", spec={"resourceGroups": []})


def test_an_instant_is_one_change_then_cancels_then_arrivals() -> None:
    events = played(
        step(pod("a")),
        step(node("n")),
        step(pod("b"), 1),
        step(pod("a"), 1, "delete"),
        step(node("m"), 1),
        step(node("n"), 1, "delete"),
    )
    assert names(events) == ["Change", "Arrive", "Change", "Cancel", "Arrive"]
    second = events[2]
    assert isinstance(second, Change)
    assert [type(delta) for delta in second.deltas] == [Put, Remove]
    assert events[3] == Cancel(START_MS + 1000, "default/a")


def test_kinds_that_the_engine_is_told_of_are_changes_and_others_mean_nothing() -> None:
    service = obj("Service", "s", spec={"ports": [{"port": 80}]})
    (change,) = played(step(QUEUE), step(service), step(obj("ConfigMap", "c", data={})))
    assert isinstance(change, Change)
    nouns = [delta.noun for delta in change.deltas if isinstance(delta, Put)]
    assert [type(noun) for noun in nouns] == [ClusterQueue, Namespace]


def test_a_namespace_is_there_as_soon_as_something_is_in_it_once() -> None:
    events = played(step(pod("a", namespace="x")), step(pod("b", namespace="x"), 1))
    first, *others = events
    assert isinstance(first, Change)
    assert [
        delta.noun.name for delta in first.deltas if isinstance(delta, Put) and isinstance(delta.noun, Namespace)
    ] == ["x"]
    assert names(others) == ["Arrive", "Arrive"]
    assert names(played(step(obj("Namespace", "x")), step(pod("a", namespace="x"), 1))) == ["Change", "Arrive"]


def test_an_update_changes_what_it_says_and_leaves_the_rest() -> None:
    closed = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"unschedulable": True}}
    *_, change = played(step(node("n", gpus=3)), step(closed, 1, "update"))
    assert isinstance(change, Change)
    (delta,) = change.deltas
    assert isinstance(delta, Put)
    assert isinstance(delta.noun, Node)
    assert (delta.noun.unschedulable, dict(delta.noun.allocatable)["nvidia.com/gpu"]) == (True, 3000)


def test_a_claim_is_known_with_what_is_behind_it() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    (change,) = played(step(obj("PersistentVolumeClaim", "c", spec=spec)))
    assert isinstance(change, Change)
    assert any(
        isinstance(d, Put) and isinstance(d.noun, VolumeClaim) and d.noun.waits == "unbound" for d in change.deltas
    )


def test_a_job_may_come_again_after_it_was_deleted_as_another_one() -> None:
    found = jobs(step(job("j")), step(job("j"), 5, "delete"), step(job("j"), 9))
    assert [(each.key, each.arrives_ms) for each in found] == [
        ("default/j", START_MS),
        ("default/j-2", START_MS + 9000),
    ]


def test_what_is_created_and_deleted_at_one_instant_never_was() -> None:
    assert names(played(step(pod("a")), step(pod("a"), 0, "delete"))) == ["Change"]


def test_a_gang_goes_with_its_group_or_with_its_last_pod() -> None:
    group = obj("PodGroup", "g", "scheduling.volcano.sh/v1beta1", spec={"minMember": 1})
    pods = [pod(name, said={"scheduling.k8s.io/group-name": "g"}) for name in "ab"]
    coming = [step(group), *(step(each) for each in pods)]
    assert names(played(*coming, step(group, 1, "delete"), *(step(p, 2, "delete") for p in pods)))[2:] == ["Cancel"]
    one = [step(each, at, "delete") for at, each in enumerate(pods, 1)]
    events = played(*coming, *one)
    assert [event.at_ms - START_MS for event in events if isinstance(event, Cancel)] == [2000]


def test_events_of_a_trace_stand_between_as_they_are() -> None:
    shape = PodShape((("cpu", 1),))
    told = Arrive(Job("ns/j", START_MS, (Role("main", 1, shape),), 5))
    events = list(
        Stage().events([Told(Change(START_MS, (Put(Namespace("z")),))), Told(told), Told(Cancel(START_MS + 1, "ns/j"))])
    )
    assert names(events) == ["Change", "Arrive", "Cancel"]
    first = events[0]
    assert isinstance(first, Change)
    assert len(first.deltas) == 2, "its namespace, too"
    assert events[1] is told


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([step(pod("a")), step(pod("a"), 1)], "Pod a: is created, and is there already"),
        ([step(pod("a")), step(pod("a"))], "Pod a: is created, and is there already"),
        ([step(node("n"), 0, "delete")], "Node n: can't be deleted: it isn't there"),
        ([step(node("n"), 0, "update")], "Node n: can't be updated: it isn't there"),
        ([step(pod("a"), 0, "delete")], "Pod a: can't be deleted: it isn't there"),
        ([step(job("j")), step(job("j"), 1, "update")], "a job can't change while it is there"),
        ([step(obj("Deployment", "d", "apps/v1"))], "a Deployment makes its pods by a controller"),
    ],
)
def test_what_can_not_be_is_told(steps: list[object], says: str) -> None:
    with pytest.raises(ManifestError, match=says):
        played(*steps)  # type: ignore[arg-type]


@pytest.mark.parametrize("made", [pod("late"), node("late")])
def test_what_comes_after_the_last_year_is_told(made: JsonObject) -> None:
    with pytest.raises(KumiError, match="late: comes after the year 9999"):
        played(step(made, 400_000_000_000))
