from __future__ import annotations

from typing import Any

import pytest

from kumi.api.apps import ReplicaSet
from kumi.api.claims import PersistentVolumeClaim, StorageClass
from kumi.api.core import Pod, Service
from kumi.api.kueue import Workload
from kumi.api.limits import LimitRange
from kumi.api.meta import ObjectMeta
from kumi.api.metrics import NodeLoad
from kumi.api.volcano import GROUP_NAME_ANNOTATION, PodGroup
from kumi.api.wire import JsonObject
from kumi.bridge.into import AROUND, TYPES, companions, volumeclaim
from kumi.bridge.scheduler_names import OWN_NAMES
from kumi.controllers.scheduler import LATER, Scheduler
from kumi.controllers.unwritten import GANG_MS, REFRESH_AT_ONCE, REFRESH_MS
from kumi.engine.model import NodeUsage, Profile
from kumi.testing.view import decoded

from .made import (
    GPU,
    NOW_MS,
    admitted,
    at,
    cluster_queue,
    local_queue,
    meta,
    node,
    pod,
    pod_template,
    workload,
)
from .table import SET_UP, Table


def test_it_watches_what_the_engine_is_told_of() -> None:
    assert Scheduler().watches == (*AROUND, *companions.TYPES, *volumeclaim.TYPES, *TYPES)


def test_what_somebody_polls_for_it_becomes_part_of_its_state() -> None:
    scheduler = Scheduler(polled=(NodeLoad,))
    assert scheduler.watches == (*AROUND, *companions.TYPES, *volumeclaim.TYPES, *TYPES, NodeLoad)
    load = NodeLoad(metadata=ObjectMeta(name="n1"), cpu=10.0, memory=20.0, measured_ms=5)
    scheduler.apply(NodeLoad, "n1", None, load)
    assert scheduler.state.nodes.usage == {"n1": NodeUsage("n1", 10.0, 20.0, 5)}
    scheduler.apply(NodeLoad, "n1", load, None)
    assert scheduler.state.nodes.usage == {}


def test_one_that_fits_is_admitted_with_its_nodes_and_then_nothing_is_left_to_do() -> None:
    table = Table(workload("a"))
    assert list(table.decide()) == ["admit team/a"]
    (assigned,) = table.workload("a")["status"]["admission"]["podSetAssignments"]
    assert assigned["topologyAssignment"]["slices"][0]["podCounts"] == {"universal": 4}
    assert table.decide() == {}


def test_two_gangs_that_both_fit_the_quota_but_not_the_node_start_one_after_the_other() -> None:
    table = Table(workload("a"), workload("b", creationTimestamp=at(1)))
    assert sorted(table.decide()) == ["admit team/a", "hold team/b"]
    decision = table.workload("b")["status"]["decision"]
    assert (decision["layer"], decision["code"], decision["need"], decision["have"]) == ("Gang", "NODES_FULL", "4", "2")
    assert [h["workload"] for h in decision["holders"]] == ["team/a"]
    done = table.workload("a")
    finished = [*done["status"]["conditions"], {"type": "Finished", "status": "True", "reason": "Succeeded"}]
    table.put({**done, "status": {**done["status"], "conditions": finished}})
    assert list(table.decide()) == ["admit team/b"]


def test_a_refused_admission_is_decided_again() -> None:
    table = Table(workload("a"))
    assert list(table.decide(ok=False)) == ["admit team/a"]
    assert list(table.decide()) == ["admit team/a"]


def test_a_refused_hold_is_decided_again() -> None:
    table = Table(workload("a", gpus=9))
    assert list(table.decide(ok=False)) == ["hold team/a"]
    assert list(table.decide()) == ["hold team/a"]


def test_a_new_scheduler_finds_what_was_admitted_and_has_nothing_to_say() -> None:
    table = Table(workload("a"), workload("b", creationTimestamp=at(1)))
    table.decide()
    again = Table()
    for kind in ("Workload",):
        for (its, _), manifest in sorted(table.objects.items()):
            if its == kind:
                again.put(manifest)
    again.now_ms += REFRESH_MS
    assert [token for token in again.decide() if not token.startswith(LATER)] == []


def of_a_job(name: str, index: int, **fields: Any) -> JsonObject:
    labels = {"kueue.x-k8s.io/podset": "main", "training.kubeflow.org/replica-index": str(index)}
    return pod(name, labels=labels, annotations={"kueue.x-k8s.io/workload": "a"}, **fields)


def test_pods_of_an_admitted_gang_are_bound_to_their_places() -> None:
    table = Table(workload("a"))
    table.decide()
    for index in range(4):
        table.put(of_a_job(f"p{index}", index))
    bound = table.decide()
    assert sorted(bound) == [f"bind uid-p{index}" for index in range(4)]
    assert {table.objects["Pod", f"team/p{i}"]["spec"]["nodeName"] for i in range(4)} == {"n1"}


def test_a_gang_that_is_being_created_is_no_news_and_one_that_stays_incomplete_is() -> None:
    table = Table(workload("a"))
    table.decide()
    for index in range(3):
        table.put(of_a_job(f"p{index}", index))
    assert table.decide() == {}
    assert table.scheduler.decide(NOW_MS).wake_at_ms == NOW_MS + GANG_MS
    table.now_ms += GANG_MS
    told = table.decide()
    assert sorted(told) == [f"later unplaced uid-p{index}" for index in range(3)]
    assert {note.reason for step in told.values() for note in step.notes} == {"FailedScheduling"}
    table.put(of_a_job("p3", 3))
    assert len(table.decide()) == 4


def test_a_gang_that_is_complete_in_time_was_never_incomplete() -> None:
    table = Table(workload("a"))
    table.decide()
    for index in range(4):
        table.put(of_a_job(f"p{index}", index))
        table.decide()
    table.now_ms += GANG_MS
    assert table.decide() == {}


def test_a_pod_that_fits_nowhere_is_told_why() -> None:
    table = Table(pod("big", spec={"containers": [{"name": "c", "resources": {"requests": {"cpu": "1000"}}}]}))
    (step,) = table.decide().values()
    assert [note.reason for note in step.notes] == ["FailedScheduling"]


def test_a_pod_of_another_scheduler_is_not_bound() -> None:
    assert Table(pod("theirs", spec={"schedulerName": "somebody"})).decide() == {}


def test_a_drained_queue_evicts() -> None:
    table = Table(workload("a"))
    table.decide()
    table.put(cluster_queue(stopPolicy="HoldAndDrain"))
    assert list(table.decide()) == ["evict team/a"]
    told = {c["type"]: c["reason"] for c in table.workload("a")["status"]["conditions"] if c["status"] == "True"}
    assert told["Evicted"] == "ClusterQueueStopped"
    assert told["QuotaReserved"] == "QuotaReserved"


def test_a_workload_that_cannot_be_read_is_as_if_it_were_not_there() -> None:
    table = Table(workload("a"))
    table.decide()
    broken = admitted()
    broken["admission"]["podSetAssignments"][0]["resourceUsage"] = {"cpu": "lots"}
    table.put(workload("a", status=broken))
    table.put(workload("b", gpus=6))
    assert list(table.decide()) == ["admit team/b"]


def test_what_is_gone_frees_its_room() -> None:
    table = Table(workload("a"), workload("b", creationTimestamp=at(1)))
    table.decide()
    table.remove(Workload, "team/a")
    assert list(table.decide()) == ["admit team/b"]


def test_another_workload_of_the_name_is_another_one() -> None:
    table = Table(workload("a", gpus=6))
    table.decide()
    table.put(workload("a", gpus=5, uid="uid-again"))
    assert list(table.decide()) == ["admit team/a"]


def test_nothing_is_said_of_a_workload_that_is_going() -> None:
    assert Table(workload("a", gpus=9, deletionTimestamp=at(0))).decide() == {}


def test_a_back_off_is_a_time_to_look_again() -> None:
    table = Table(workload("a", status={"requeueState": {"count": 1, "requeueAt": at(30)}}))
    table.decide()
    assert table.scheduler.decide(NOW_MS).wake_at_ms == NOW_MS + 30_000
    table.now_ms = NOW_MS + 30_000
    assert list(table.decide()) == ["admit team/a"]


def waiting_for_nodes() -> Table:
    """`b` is held for want of nodes; of the six GPUs `a` has four."""
    table = Table(cluster_queue(gpus=99), workload("a"), workload("b", gpus=6, creationTimestamp=at(1)))
    assert sorted(table.decide()) == ["admit team/a", "hold team/b"]
    return table


def test_where_only_numbers_moved_no_event_is_told() -> None:
    table = waiting_for_nodes()
    table.put(node(gpus=7))
    (step,) = table.decide().values()
    assert step.token == "later hold team/b"
    assert step.notes == ()
    assert table.workload("b")["status"]["decision"]["have"] == "3"


def test_numbers_that_move_again_wait_for_their_turn() -> None:
    table = waiting_for_nodes()
    table.put(node(gpus=7))
    table.decide()
    table.put(node(gpus=8))
    table.put(node(gpus=9))
    batch = table.scheduler.decide(NOW_MS)
    assert batch.steps == ()
    assert batch.wake_at_ms == NOW_MS + REFRESH_MS
    table.now_ms += REFRESH_MS
    assert list(table.decide()) == ["later hold team/b"]
    assert table.workload("b")["status"]["decision"]["have"] == "5"


def test_a_refused_refresh_is_made_again() -> None:
    table = waiting_for_nodes()
    table.put(node(gpus=7))
    assert list(table.decide(ok=False)) == ["later hold team/b"]
    table.now_ms += REFRESH_MS
    assert list(table.decide()) == ["later hold team/b"]


def test_a_new_answer_takes_the_place_of_numbers_that_wait() -> None:
    table = waiting_for_nodes()
    table.put(node(gpus=7))
    table.decide()
    table.put(node(gpus=8))
    table.scheduler.decide(NOW_MS)
    table.put(node(gpus=10))
    assert list(table.decide()) == ["admit team/b"]
    table.now_ms += REFRESH_MS
    assert table.decide() == {}


def test_only_so_many_are_refreshed_at_a_time_and_each_has_its_turn() -> None:
    names = [f"w{i:02}" for i in range(REFRESH_AT_ONCE + 2)]
    queues = [
        m for n in names for m in (cluster_queue(n, gpus=999), local_queue(n, queue=n))
    ]  # the first of each queue
    table = Table(*queues, *(workload(n, gpus=100 + i, queue=n) for i, n in enumerate(names)))
    assert len(table.decide()) == len(names)
    table.put(node(gpus=7))
    refreshed = list(table.decide())
    assert len(refreshed) == REFRESH_AT_ONCE
    table.put(node(gpus=8))
    table.now_ms += REFRESH_MS
    refreshed += list(table.decide())[:2]
    assert sorted(refreshed) == [f"later hold team/{name}" for name in names]


def test_another_pod_of_the_name_leaves_no_trace_of_the_first() -> None:
    table = Table(
        pod("p", spec={"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {GPU: "6"}}}]})
    )
    table.put(pod("p", uid="uid-again", spec={"nodeName": "n1", "containers": [{"name": "c"}]}))
    table.put(workload("a", gpus=6))
    assert list(table.decide()) == ["admit team/a"]


def claim(phase: str = "Pending") -> JsonObject:
    bound = {"volumeName": "pv"} if phase == "Bound" else {}
    spec = {"accessModes": ["ReadWriteOncePod"], "storageClassName": "local", **bound}
    meta = {"name": "data", "namespace": "team", "uid": "uid-data"}
    made = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}
    return {**made, "status": {"phase": phase}}


def volume() -> JsonObject:
    spec = {"accessModes": ["ReadWriteOncePod"], "claimRef": {"namespace": "team", "name": "data", "uid": "uid-data"}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec}


def with_claim(name: str) -> JsonObject:
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    return pod(name, spec={"containers": [{"name": "c"}], "volumes": volumes})


def test_a_pod_waits_for_its_claim_then_for_the_other_pod_that_uses_it() -> None:
    table = Table(with_claim("p"))
    (step,) = table.decide(ok=False).values()
    assert "PersistentVolumeClaim data does not exist" in str(step.writes)
    table.put(claim())
    (step,) = table.decide(ok=False).values()
    assert "PersistentVolumeClaim data has no volume yet" in str(step.writes)
    table.put(volume())
    table.put(claim("Bound"))
    assert list(table.decide()) == ["bind uid-p"]
    table.put(with_claim("q"))
    (step,) = table.decide(ok=False).values()
    assert "is ReadWriteOncePod, and another pod uses it" in str(step.writes)
    used = table.objects["Pod", "team/p"]
    table.put({**used, "status": {"phase": "Succeeded"}})
    assert list(table.decide()) == ["bind uid-q"]


def test_a_job_is_not_admitted_before_its_claim_can_be_used() -> None:
    one = workload("a", gpus=1)
    template = one["spec"]["podSets"][0]["template"]
    template["spec"]["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    table = Table(one)
    assert list(table.decide()) == ["hold team/a"]
    assert table.workload("a")["status"]["decision"]["code"] == "CLAIM_NOT_FOUND"
    table.put(volume())
    table.put(claim("Bound"))
    assert list(table.decide()) == ["admit team/a"]


def test_a_claim_that_is_gone_is_missed_again() -> None:
    table = Table(volume(), claim("Bound"))
    table.remove(PersistentVolumeClaim, "team/data")
    table.put(with_claim("p"))
    (step,) = table.decide(ok=False).values()
    assert "does not exist" in str(step.writes)


def unreadable(obj: JsonObject) -> JsonObject:
    """The volume or the class with a place that has no key."""
    if obj["kind"] == "StorageClass":
        return {**obj, "allowedTopologies": [{"matchLabelExpressions": [{"values": ["a"]}]}]}
    terms = [{"matchExpressions": [{"operator": "In", "values": ["a"]}]}]
    return {**obj, "spec": {**obj["spec"], "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}}


@pytest.mark.parametrize("first", [True, False])
def test_a_volume_that_cannot_be_read_is_as_if_it_were_not_there(first: bool) -> None:
    table = Table(claim("Bound"), with_claim("p"), *(() if first else (volume(),)))
    table.put(unreadable(volume()))
    (step,) = table.decide(ok=False).values()
    assert "PersistentVolumeClaim data has lost its volume" in str(step.writes)
    table.put(volume())
    assert list(table.decide()) == ["bind uid-p"]


@pytest.mark.parametrize("first", [True, False])
def test_a_class_that_cannot_be_read_is_as_if_it_were_not_there(first: bool) -> None:
    made = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"}}
    class_ = {**made, "provisioner": "x.csi", "volumeBindingMode": "WaitForFirstConsumer"}
    table = Table(claim(), with_claim("p"), *(() if first else (class_,)))
    table.put(unreadable(class_))
    (step,) = table.decide(ok=False).values()
    assert "PersistentVolumeClaim data has no volume yet" in str(step.writes)
    table.remove(StorageClass, "local")
    table.put(class_)
    assert list(table.decide()) == ["bind uid-p"]


def test_a_pod_that_cannot_be_read_is_as_if_it_were_not_there() -> None:
    terms = [{"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"operator": "Exists"}]}}]
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    table = Table(pod(spec={**of_gpus(1), "affinity": near}))
    assert table.decide() == {}
    table.put(pod(spec=of_gpus(1)))
    assert list(table.decide()) == ["bind uid-p"]


def limit_range(**item: Any) -> JsonObject:
    spec = {"limits": [{"type": "Container", **item}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta("limits", "team"), "spec": spec}


def test_a_limit_range_is_heeded_and_those_who_wait_are_read_again_when_it_goes() -> None:
    table = Table(limit_range(max={GPU: "0"}), workload("a", gpus=1))
    assert list(table.decide()) == ["hold team/a"]
    assert table.workload("a")["status"]["decision"]["code"] == "OUTSIDE_LIMIT_RANGE"
    table.remove(LimitRange, "team/limits")
    assert list(table.decide()) == ["admit team/a"]


def test_a_limit_range_that_comes_late_counts_for_those_who_wait() -> None:
    table = Table(workload("a", gpus=1, spec={"queueName": "nowhere"}))
    table.decide()
    table.put(limit_range(max={GPU: "0"}))
    table.put(local_queue("nowhere"))
    assert list(table.decide()) == ["hold team/a"]
    assert table.workload("a")["status"]["decision"]["code"] == "OUTSIDE_LIMIT_RANGE"


@pytest.mark.parametrize("before", [{"max": {GPU: "0"}}, {}])
def test_a_limit_range_that_cannot_be_read_is_as_if_it_were_not_there(before: dict[str, Any]) -> None:
    table = Table(limit_range(**before), workload("a", gpus=1))
    table.put(limit_range(max={GPU: "much"}))
    assert list(table.decide()) == ["admit team/a"]


def test_settling_an_unknown_step_is_a_bug() -> None:
    with pytest.raises(KeyError):
        Scheduler().settle("no such step", True, "")


def pod_group(name: str = "g", least: int = 2, **spec: Any) -> JsonObject:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": meta(name, "team"),
        "spec": {"minMember": least, "queue": "default", **spec},
    }


def default_queue() -> JsonObject:
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": meta("default"), "spec": {}}


def member(name: str, group: str = "g", **fields: Any) -> JsonObject:
    return pod(name, annotations={"scheduling.k8s.io/group-name": group}, **fields)


def test_a_pod_group_is_bound_whole_and_its_status_says_so() -> None:
    table = Table(default_queue(), pod_group(), member("a"))
    assert sorted(table.decide()) == ["gangphase team/g"]
    table.put(member("b"))
    done = table.decide()
    assert {"bind uid-a", "bind uid-b"} <= done.keys()
    for name in "ab":
        bound = table.objects["Pod", f"team/{name}"]
        table.put({**bound, "status": {"phase": "Running"}})
    assert list(table.decide()) == ["gangphase team/g"]
    status = table.objects["PodGroup", "team/g"]["status"]
    assert (status["phase"], status["running"]) == ("Running", 2)
    assert table.decide() == {}


def test_what_is_refused_of_a_gang_is_decided_again() -> None:
    table = Table(default_queue(), pod_group(), member("a"), member("b"))
    first = table.decide(ok=False)
    assert {"bind uid-a", "bind uid-b", "gangphase team/g"} == first.keys()
    assert table.decide().keys() >= first.keys()


def test_pods_that_name_volcano_wait_for_their_pod_group_and_others_do_not() -> None:
    named = {"schedulerName": "volcano"}
    table = Table(default_queue(), pod("plain"), pod("gang", spec=named))
    assert list(table.decide()) == ["bind uid-plain"]
    table.put(pod_group("own", 1))
    table.put(member("gang", "own", spec=named))
    assert "bind uid-gang" in table.decide()


@pytest.mark.parametrize("first", ["group", "pods"])
def test_beside_another_scheduler_a_pod_group_is_left_alone_until_a_pod_of_kumis_is_in_it(first: str) -> None:
    table = Table(default_queue())
    table.scheduler = Scheduler(schedulers=OWN_NAMES)
    for manifest in (*SET_UP, default_queue()):
        table.put(manifest)
    theirs = [pod_group(), *(member(name, spec={"schedulerName": "volcano"}) for name in "ab")]
    for manifest in theirs if first == "group" else theirs[::-1]:
        table.put(manifest)
    assert table.decide() == {}
    table.put(pod_group())
    assert table.decide() == {}
    for name in "cd":
        table.put(member(name, spec={"schedulerName": "kumi"}))
    assert sorted(table.decide()) == ["bind uid-c", "bind uid-d", "gangphase team/g"]
    assert table.objects["PodGroup", "team/g"]["status"]["phase"] == "Running"
    table.remove(PodGroup, "team/g")
    for name in "cd":
        table.remove(Pod, f"team/{name}")
    table.put(pod_group())
    assert table.decide() == {}


def test_who_waits_for_it_is_known_gangs_first_then_pods_then_workloads() -> None:
    table = Table(
        default_queue(), workload(gpus=2), pod("z"), pod("a"), pod_group("g", 9), member("b"), pod_group("run", 1)
    )
    table.put(member("c", "run"))
    table.put(pod("theirs", spec={"schedulerName": "other"}))
    waits = [(one["kind"], one["name"]) for one in table.scheduler.awaited_by()]
    assert waits == [
        ("PodGroup", "g"),
        ("PodGroup", "run"),
        ("Pod", "a"),
        ("Pod", "z"),
        ("Workload", "w"),
    ]
    table.decide()
    assert [(one["kind"], one["name"]) for one in table.scheduler.awaited_by()] == [("PodGroup", "g")]


def test_a_new_scheduler_finds_pod_groups_as_they_are_and_writes_nothing() -> None:
    table = Table(default_queue(), pod_group(), member("a"), member("b"))
    table.decide()
    again = Table()
    for manifest in table.objects.values():
        again.put(manifest)
    assert all(step.writes == () for step in again.decide().values())
    assert again.decide() == {}


def test_what_it_last_decided_can_be_read_written_or_not() -> None:
    table = Table(workload("a", 1))
    table.scheduler.decide(NOW_MS)
    assert [type(decision).__name__ for decision in table.scheduler.decided] == ["Admit"]
    table.scheduler.decide(NOW_MS)
    assert table.scheduler.decided == ()


def test_a_pod_that_is_evicted_is_told_for_whom() -> None:
    low = pod("low", spec={"nodeName": "n1", "priority": 1, **of_gpus(6)}, status={"phase": "Running"})
    table = Table(low, pod("high", spec={"priority": 9, **of_gpus(6)}))
    steps = table.scheduler.decide(NOW_MS).steps
    (note,) = next(step for step in steps if step.token == "evictpod uid-low").notes
    assert note.message == "It makes room for pod team/high, which goes first."


def of_gpus(gpus: int) -> JsonObject:
    return dict(pod_template(gpus)["spec"])


def labelled_service(**selector: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta("s", "team"), "spec": {"selector": selector}}


def is_spread(table: Table, uid: str = "uid-p") -> bool:
    said = table.scheduler.state.pods.by_uid[uid].shape.neighbours
    return said is not None and bool(said.spread)


def test_a_pod_that_waits_is_read_again_when_its_service_comes_or_goes() -> None:
    table = Table(pod(labels={"app": "x"}), pod("other", labels={"app": "y"}))
    assert not is_spread(table)
    table.put(labelled_service(app="x"))
    assert (is_spread(table), is_spread(table, "uid-other")) == (True, False)
    table.put(labelled_service(app="y"))
    assert (is_spread(table), is_spread(table, "uid-other")) == (False, True)
    table.remove(Service, "team/s")
    assert (is_spread(table), is_spread(table, "uid-other")) == (False, False)


def test_a_service_that_is_another_one_under_the_same_name_is_learned_anew() -> None:
    table = Table(pod(labels={"app": "x"}), pod("other", labels={"app": "y"}), labelled_service(app="x"))
    for selector, found in (({"app": "y"}, (False, True)), ({}, (False, False))):
        other = labelled_service(**selector)
        table.put({**other, "metadata": {**other["metadata"], "uid": f"another {selector}"}})
        assert (is_spread(table), is_spread(table, "uid-other")) == found


def replica_set(**expression: str) -> JsonObject:
    selector = {"matchLabels": {"app": "x"}, "matchExpressions": [expression] if expression else []}
    made = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {**meta("r", "team"), "uid": "uid-r"}}
    return {**made, "spec": {"selector": selector}}


def test_a_maker_that_cannot_be_read_is_as_if_it_were_not_there() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "uid-r", "controller": True}
    table = Table(pod(labels={"app": "x"}, ownerReferences=[owner]))
    for written, found in ((replica_set(), True), (replica_set(operator="Exists"), False), (replica_set(), True)):
        table.put(written)
        assert is_spread(table) is found
    table.remove(ReplicaSet, "team/r")
    assert not is_spread(table)


def test_a_pod_that_says_how_it_is_spread_or_is_a_gangs_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"topologySpreadConstraints": [{"topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}]}
    gang: dict[str, Any] = {"annotations": {GROUP_NAME_ANNOTATION: "g"}}
    labels: dict[str, Any] = {"labels": {"app": "x"}}
    table = Table(
        pod(**labels), pod("said", **labels, spec=said), pod("member", **labels, **gang), pod("late", **labels)
    )
    table.put(pod("late", **labels, **gang))
    again: list[str] = []
    spread = companions.Companions.spread

    def counted(self: companions.Companions, pod: Pod) -> Any:
        again.append(pod.metadata.name)
        return spread(self, pod)

    monkeypatch.setattr(companions.Companions, "spread", counted)
    table.put(labelled_service(app="x"))
    assert again == ["p"]


def test_a_pod_that_has_its_node_is_not_read_again() -> None:
    table = Table(pod(labels={"app": "x"}, spec={"nodeName": "n1"}))
    table.put(labelled_service(app="x"))
    assert not is_spread(table)
    table.remove(Pod, "team/p")
    table.put(labelled_service(app="y"))


@pytest.mark.parametrize(("profile", "found"), [("kumi", False), ("volcano", True)])
def test_only_volcano_spreads_gangs_by_their_service(profile: str, found: bool) -> None:
    scheduler = Scheduler(Profile(profile))
    for manifest in (labelled_service(app="x"), pod(labels={"app": "x"}, annotations={GROUP_NAME_ANNOTATION: "g"})):
        obj = decoded(manifest)
        scheduler.apply(type(obj), obj.key, None, obj)
    said = scheduler.state.pods.by_uid["uid-p"].shape.neighbours
    assert (said is not None) is found
