from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api import kueue
from kumi.api.errors import KumiError
from kumi.api.limits import LimitRange
from kumi.api.node import RuntimeClass
from kumi.bridge.into.adjusted import Around
from kumi.bridge.into.shape import Shapes
from kumi.bridge.into.workload import admission, workload
from kumi.bridge.out.admit import admission_json
from kumi.engine import model
from kumi.engine.reasons import Code, Reason
from kumi.engine.settings import QueueOrder, RequeueTime, Settings, Transformation

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


def read(
    status: dict[str, Any] | None = None,
    spec: dict[str, Any] | None = None,
    settings: Settings | None = None,
    around: Around | None = None,
    **metadata: Any,
) -> model.Workload:
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
    return workload(msgspec.convert(view, kueue.Workload), Shapes(), settings, around)


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


def test_its_turn_is_its_creation_where_settings_say_so_but_not_after_a_check() -> None:
    by_creation = Settings(requeue_time=RequeueTime.CREATION)
    went = {"lastTransitionTime": "1970-01-01T00:02:00Z"}
    for reason, turn in (("PodsReadyTimeout", 0), ("AdmissionCheck", 120_000)):
        conditions = [{**condition("Evicted"), **went, "reason": reason}]
        assert read({"conditions": conditions}, settings=by_creation).queued_ms == turn


def test_one_that_gave_way_to_a_borrower_goes_just_behind_it_where_priority_does_not_order() -> None:
    reclaimed = {**condition("Preempted"), "lastTransitionTime": "1970-01-01T00:02:00Z"}
    reclaimed["reason"] = "InCohortReclaimWhileBorrowing"
    assert read({"conditions": [reclaimed]}, settings=Settings(priority_in_cohort=False)).queued_ms == 120_001
    assert read({"conditions": [reclaimed]}).queued_ms == 0


@pytest.mark.parametrize(("boost", "priority"), [("-7", -2), ("10", 15), ("x", 5), ("٣", 5)])
def test_a_boost_is_added_to_the_priority_where_it_is_a_number(boost: str, priority: int) -> None:
    made = read(spec={"priority": 5}, annotations={"kueue.x-k8s.io/priority-boost": boost})
    assert made.priority == priority


def test_what_checks_say_of_it() -> None:
    made = read(
        {
            "admission": HELD,
            "admissionChecks": [{"name": "c", "state": "Ready"}],
            "conditions": [
                {**condition("QuotaReserved"), "lastTransitionTime": "1970-01-01T00:00:09Z"},
                condition("Admitted"),
                condition("PodsReady"),
            ],
        }
    )
    assert made.checks == (model.CheckState("c", "Ready"),)
    assert (made.reserved_ms, made.admitted, made.pods_ready) == (9000, True, True)


def test_what_its_annotations_say() -> None:
    said = {"admission-gated-by": "a.b/c, d.e/f", "workload-allowed-resource-flavors": "x,y"}
    said["workload-slice-replacement-for"] = "n/old"
    made = read(annotations={f"kueue.x-k8s.io/{name}": text for name, text in said.items()})
    assert (made.gates, made.allowed_flavors, made.replaces) == (("a.b/c", "d.e/f"), ("x", "y"), "n/old")
    assert (read().gates, read().allowed_flavors, read().replaces) == ((), None, "")


def test_fewer_pods_groups_and_pods_given_back() -> None:
    pod_set = {
        "name": "main",
        "count": 3,
        "minCount": 2,
        "template": {},
        "topologyRequest": {"required": "rack", "podSetGroupName": "g"},
    }
    made = read({"reclaimablePods": [{"name": "main", "count": 1}]}, spec={"podSets": [pod_set]})
    (pods,) = made.pod_sets
    assert (pods.least, pods.group, pods.reclaimed) == (2, "g", 1)
    assert pods.topology == '{"podSetGroupName":"g","required":"rack"}'


def asking(requests: dict[str, str], limits: dict[str, str] | None = None, **pod: Any) -> dict[str, Any]:
    container = {"name": "c", "resources": {"requests": requests, "limits": limits or {}}}
    return {"podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": [container], **pod}}}]}


def test_what_pods_count_for_in_quota_is_apart_from_what_they_request() -> None:
    rule = Transformation("cpu", (("credits", 2 * 10**9),), replace=True)
    found = read(spec=asking({"cpu": "2", "memory": "1"}), settings=Settings(transformations=(rule,)))
    assert found.pod_sets[0].quota == (("credits", 4), ("memory", 1))
    assert found.pod_sets[0].shape.requests == (("cpu", 2000), ("memory", 1))
    assert read(spec=asking({"cpu": "2"})).pod_sets[0].quota is None


@pytest.mark.parametrize(
    ("text", "added"),
    [("5", 5), ("-3", -3), ("+2", 2), ("", 0), ("x", 0), ("1.5", 0), ("2147483648", 0), ("\u0665", 0)],
)
def test_a_boost_counts_where_it_is_a_number_of_32_bits_and_settings_say_so(text: str, added: int) -> None:
    boosted = {"annotations": {kueue.BOOST_ANNOTATION: text}}
    assert read(spec={"priority": 10}, **boosted).priority == 10 + added
    assert read(spec={"priority": 10}, settings=Settings(priority_boost=False), **boosted).priority == 10


def test_requests_above_limits_are_refused_until_there_is_an_admission() -> None:
    spec = asking({"cpu": "2"}, {"cpu": "1"})
    found = read(spec=spec).refused
    assert found == Reason(
        Code.REQUESTS_ABOVE_LIMITS, resource="cpu", detail="spec.podSets[0].template.spec.containers[0]"
    )
    assert read({"admission": {"clusterQueue": "cq", "podSetAssignments": []}}, spec).refused is None
    assert read(spec=asking({"cpu": "1"}, {"cpu": "1"})).refused is None


def test_what_is_around_a_namespaces_pods_counts() -> None:
    item = {"type": "Container", "defaultRequest": {"memory": "1Gi"}, "max": {"cpu": "1"}}
    limits = msgspec.convert({"metadata": {"name": "l", "namespace": "n"}, "spec": {"limits": [item]}}, LimitRange)
    kata = {"metadata": {"name": "kata"}, "handler": "kata", "overhead": {"podFixed": {"cpu": "100m"}}}
    around = Around()
    around.put(limits)
    around.put(msgspec.convert(kata, RuntimeClass))
    found = read(spec=asking({"cpu": "1"}, runtimeClassName="kata"), around=around)
    assert found.pod_sets[0].shape.requests == (("cpu", 1100), ("memory", 2**30))
    assert found.refused is None
    over = read(spec=asking({"cpu": "1100m"}), around=around).refused
    assert over is not None
    assert (over.code, over.resource) == (Code.OUTSIDE_LIMIT_RANGE, "cpu")
    assert read(spec=asking({"cpu": "1100m"})).refused is None


def test_a_pods_own_resources_are_what_it_requests() -> None:
    spec = asking({"cpu": "1"}, resources={"requests": {"cpu": "3"}, "limits": {"memory": "2"}})
    assert read(spec=spec).pod_sets[0].shape.requests == (("cpu", 3000), ("memory", 2))


def test_its_turn_is_its_latest_start_where_the_order_is_by_slack() -> None:
    spec = asking({"cpu": "1"})
    spec["podSets"][0]["template"]["metadata"] = {"annotations": {"a/deadline-duration": "1m"}}
    usual, by_slack = read(spec=spec), read(spec=spec, settings=Settings(order=QueueOrder.LEAST_SLACK))
    assert usual.queued_ms == 0
    assert by_slack.queued_ms == by_slack.created_ms + 60_000
    assert read(spec=spec, settings=Settings(order=QueueOrder.FAIR)).queued_ms == 0
    without = read(spec=asking({"cpu": "1"}), settings=Settings(order=QueueOrder.LEAST_SLACK))
    assert without.queued_ms > by_slack.queued_ms


@pytest.mark.parametrize(
    ("status", "metadata"),
    [
        ({"requeueState": {"requeueAt": "soon"}}, {}),
        ({"conditions": [condition("QuotaReserved") | {"lastTransitionTime": "2026-11-30T01:02:03"}]}, {}),
        ({}, {"creationTimestamp": "soon"}),
    ],
)
def test_a_time_that_is_none_cannot_be_read(status: dict[str, Any], metadata: dict[str, Any]) -> None:
    with pytest.raises(KumiError, match="is not a time"):
        read(status, **metadata)
