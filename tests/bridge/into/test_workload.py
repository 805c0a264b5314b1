from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kumi.api import kueue
from kumi.bridge.into.shape import Shapes
from kumi.bridge.into.workload import admission, workload
from kumi.bridge.out.admit import admission_json
from kumi.engine import model

names = st.text(alphabet="ab-1", min_size=1, max_size=5)
resources = st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "pods"])


def pairs(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[tuple[str, Any], ...]]:
    return st.dictionaries(resources, values, max_size=3).map(lambda d: tuple(sorted(d.items())))


assigned = st.builds(
    model.PodSetAssigned,
    name=names,
    count=st.integers(0, 9),
    flavors=pairs(names),
    usage=pairs(st.integers(0, 2**50)),
    nodes=st.lists(st.tuples(names, st.integers(1, 4)), max_size=4).map(tuple),
)
admissions = st.builds(model.Admission, names, st.lists(assigned, max_size=3).map(tuple))


@given(admissions)
def test_an_admission_is_read_back_as_it_was_written(value: model.Admission) -> None:
    assert admission(msgspec.convert(admission_json(value), kueue.Admission)) == value


def read(status: dict[str, Any] | None = None, spec: dict[str, Any] | None = None, **metadata: Any) -> model.Workload:
    view = {
        "metadata": {
            "name": "w",
            "namespace": "n",
            "uid": "u",
            "creationTimestamp": "1970-01-01T00:00:05Z",
            **metadata,
        },
        "spec": {"queueName": "q", "podSets": [{"name": "main", "count": 2, "template": {"spec": {}}}], **(spec or {})},
        "status": status or {},
    }
    return workload(msgspec.convert(view, kueue.Workload), Shapes())


def condition(type: str, status: str = "True") -> dict[str, str]:
    return {"type": type, "status": status, "reason": "R"}


HELD = {"clusterQueue": "c", "podSetAssignments": [{"name": "main", "count": 2}]}


def test_what_waits() -> None:
    made = read(spec={"priority": 5})
    assert (made.key, made.uid, made.namespace, made.queue, made.priority, made.created_ms) == (
        "n/w",
        "u",
        "n",
        "n/q",
        5,
        5000,
    )
    assert [(p.name, p.count) for p in made.pod_sets] == [("main", 2)]
    assert made.admission is None
    assert made.active


def test_its_job_is_named_for_people() -> None:
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "bert", "uid": "x", "controller": True}
    assert read(ownerReferences=[owner]).job == "PyTorchJob n/bert"
    assert read().job == "Workload n/w"


def test_evicted_lasts_as_long_as_it_holds_quota() -> None:
    assert read({"admission": HELD, "conditions": [condition("Evicted")]}).evicted
    assert not read({"conditions": [condition("Evicted")]}).evicted
    assert not read({"admission": HELD, "conditions": [condition("Evicted", "False")]}).evicted


def test_one_that_is_being_deleted_keeps_its_quota_and_starts_no_more() -> None:
    going = "2026-01-01T00:00:00Z"
    assert read({"admission": HELD}, deletionTimestamp=going).evicted
    assert not read(deletionTimestamp=going).active


def test_finished_held_and_backing_off() -> None:
    assert read({"conditions": [condition("Finished")]}).finished
    assert not read(spec={"active": False}).active
    assert read({"requeueState": {"count": 1, "requeueAt": "1970-01-01T00:01:00Z"}}).requeue_at_ms == 60_000


def test_its_turn_is_its_creation_unless_it_failed_to_get_ready() -> None:
    went = {"lastTransitionTime": "1970-01-01T00:02:00Z"}
    assert read().queued_ms == 0
    assert read({"conditions": [{**condition("Evicted"), **went, "reason": "ClusterQueueStopped"}]}).queued_ms == 0
    assert read({"conditions": [{**condition("Evicted"), **went, "reason": "PodsReadyTimeout"}]}).queued_ms == 120_000


def test_the_revision_is_known_where_it_is_a_number() -> None:
    assert read(resourceVersion="17").revision == 17
    assert read(resourceVersion="x1").revision == 0
