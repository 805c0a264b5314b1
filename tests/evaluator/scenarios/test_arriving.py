"""Manifests as jobs."""

from __future__ import annotations

import pytest

from kumi.api.wire import JsonObject
from kumi.evaluator.manifests import ManifestError
from kumi.evaluator.model import START_MS, Job, Via
from kumi.evaluator.said import CHECKPOINT, RUNS
from kumi.evaluator.scenarios.plays import Stage
from tests.evaluator.scenarios.told import job, jobs, obj, played, pod, spec, step

GROUP = "scheduling.k8s.io/group-name"
VOLCANO = {"schedulerName": "volcano"}
QUEUED = {"kueue.x-k8s.io/queue-name": "q"}


def one(*objects: JsonObject) -> Job:
    (found,) = jobs(*(step(each) for each in objects))
    return found


def priority_class(name: str, value: int, default: bool = False) -> JsonObject:
    return obj("PriorityClass", name, "scheduling.k8s.io/v1", value=value, globalDefault=default)


def workload_class(name: str, value: int) -> JsonObject:
    return obj("WorkloadPriorityClass", name, "kueue.x-k8s.io/v1beta2", value=value)


def group(name: str, least: int = 0, said: dict[str, str] | None = None, **more: object) -> JsonObject:
    return obj("PodGroup", name, "scheduling.volcano.sh/v1beta1", said, spec={"minMember": least, **more})


def training(name: str, workers: int, queue: str = "") -> JsonObject:
    labels = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    template = {"spec": {**spec(), "containers": [{**spec()["containers"][0], "name": "pytorch"}]}}
    specs = {"Worker": {"replicas": workers, "template": template}, "Master": {"replicas": 1, "template": template}}
    return obj("PyTorchJob", name, "kubeflow.org/v1", labels=labels, spec={"pytorchReplicaSpecs": specs})


def test_a_job_in_a_queue_is_a_workload_with_its_pod_sets() -> None:
    found = one(training("t", 3, "q"))
    assert (found.key, found.via, found.queue) == ("default/t", Via.WORKLOAD, "q")
    assert [(role.name, role.count) for role in found.roles] == [("master", 1), ("worker", 3)]
    assert found.roles[0].shape is found.roles[1].shape
    assert dict(found.roles[0].shape.requests) == {"nvidia.com/gpu": 1000}


def test_a_job_in_a_queue_may_do_with_fewer_pods() -> None:
    found = one(job("j", 4, "q", {"kueue.x-k8s.io/job-min-parallelism": "2"}))
    assert (found.pods, found.least, found.via) == (4, 2, Via.WORKLOAD)


def test_a_job_in_no_queue_is_its_pods() -> None:
    assert (one(training("t", 3)).via, one(job("j", 3)).pods) == (Via.POD, 3)


def test_pods_that_name_volcano_are_a_gang_of_as_many_as_is_said() -> None:
    assert (one(job("j", 4, spec=VOLCANO)).via, one(job("j", 4, spec=VOLCANO)).least) == (Via.GANG, 1)
    words = {"scheduling.volcano.sh/group-min-member": "3", "scheduling.volcano.sh/queue-name": "gold"}
    found = one(job("j", 4, said=words, spec=VOLCANO))
    assert (found.least, found.queue) == (3, "gold")
    lone = one(pod("p", spec=VOLCANO, said={"scheduling.volcano.sh/queue-name": "gold"}))
    assert (lone.via, lone.least, lone.queue) == (Via.GANG, 1, "gold")


def test_a_group_has_the_pods_that_name_it_by_role_and_shape() -> None:
    role = {"volcano.sh/task-spec": "worker"}
    pods = [pod(f"w-{i}", said={GROUP: "g", **role}) for i in range(3)]
    found = one(pod("m", 2, {GROUP: "g"}), *pods, pod("w-9", 4, {GROUP: "g", **role}), group("g", 4, queue="gold"))
    assert (found.key, found.via, found.least, found.queue) == ("default/g", Via.GANG, 4, "gold")
    assert [(r.name, r.count, r.shape.requests[0][1]) for r in found.roles] == [
        ("task", 1, 2000),
        ("worker", 3, 1000),
        ("worker.2", 1, 4000),
    ]


def test_whoever_plays_objects_is_told_the_role_of_each_pod() -> None:
    def told(*objects: JsonObject) -> dict[str, str]:
        (*_, last) = Stage().written([step(each) for each in objects])
        return {obj["metadata"]["name"]: role for (_, obj), role in zip(last.acts, last.roles, strict=True)}

    worker, dotted = ({GROUP: "g", "volcano.sh/task-spec": name} for name in ("w", "w.x"))
    pods = [pod("a", 2, worker), pod("b", 4, dotted), pod("c", 1, worker), pod("d", 2, worker)]
    assert told(*pods, group("g", 4)) == {"g": "", "a": "w", "b": "w.x", "c": "w.3", "d": "w"}
    small = obj("LimitRange", "small", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]})
    asks = {"containers": [{"name": "m", "image": "i", "resources": {"requests": {"cpu": 1}}}]}
    none = {"containers": [{"name": "m", "image": "i"}]}
    assert told(small, group("h"), pod("e", said={GROUP: "h"}, spec=asks), pod("f", said={GROUP: "h"}, spec=none)) == {
        "h": "",
        "e": "task",
        "f": "task",
    }
    labels, said = {**QUEUED, "kueue.x-k8s.io/pod-group-name": "q"}, {"kueue.x-k8s.io/pod-group-total-count": "2"}
    queued = told(pod("x", 1, said, labels=labels), pod("y", 2, said, labels=labels))
    found = one(pod("x", 1, said, labels=labels), pod("y", 2, said, labels=labels))
    assert sorted(queued.values()) == [role.name for role in found.roles]
    assert (told(pod("p")), told(job("j"))) == ({"p": "main"}, {"j": ""})


def test_a_pod_is_a_pod_with_its_labels() -> None:
    found = one(pod("p", labels={"a": "b"}))
    assert (found.key, found.via, found.pods, found.labels) == ("default/p", Via.POD, 1, (("a", "b"),))


def test_pods_in_a_queue_are_a_workload_alone_or_as_a_group() -> None:
    assert (one(pod("p", labels=QUEUED)).via, one(pod("p", labels=QUEUED)).roles[0].name) == (Via.WORKLOAD, "main")
    labels, said = {**QUEUED, "kueue.x-k8s.io/pod-group-name": "g"}, {"kueue.x-k8s.io/pod-group-total-count": "3"}
    found = one(*(pod(f"p{i}", 1 + i // 2, said, labels=labels) for i in range(3)))
    assert (found.key, found.via, found.queue) == ("default/g", Via.WORKLOAD, "q")
    assert sorted(role.count for role in found.roles) == [1, 2]
    assert found.renews
    with pytest.raises(ManifestError, match="1 pods of its group 'g' are created at this moment, 3 belong to it"):
        one(pod("p", said=said, labels=labels))


def test_a_workload_may_stand_alone() -> None:
    pod_set = {"name": "main", "count": 3, "minCount": 2, "template": {"spec": spec(restartPolicy="Never")}}
    inside = {"queueName": "q", "priority": 5, "podSets": [pod_set]}
    found = one(obj("Workload", "w", "kueue.x-k8s.io/v1beta2", spec=inside))
    assert (found.key, found.via, found.queue, found.priority, found.least) == ("default/w", Via.WORKLOAD, "q", 5, 2)


def test_jobs_in_queues_are_called_by_their_kind() -> None:
    pod_set = {"name": "a", "count": 2, "template": {"spec": spec()}}
    alone = obj("Workload", "w", "kueue.x-k8s.io/v1beta2", spec={"queueName": "q", "podSets": [pod_set]})
    labels, said = {**QUEUED, "kueue.x-k8s.io/pod-group-name": "g"}, {"kueue.x-k8s.io/pod-group-total-count": "2"}
    assert [one(training("t", 3, "q")).kind, one(job("j", 4, "q")).kind] == ["PyTorchJob", "Job"]
    assert [one(alone).kind, one(pod("p", labels=QUEUED)).kind] == ["Workload", "Pod"]
    assert one(*(pod(name, said=said, labels=labels) for name in "ab")).kind == "Workload"


def test_lengths_are_what_annotations_say_of_the_job_or_its_templates() -> None:
    words = {"x/execution-duration": "1h", "x/deadline-duration": "2h", RUNS: "90m", CHECKPOINT: "10m"}
    of_job, of_template = one(job("j", said=words)), one(job("j", meta={"annotations": words}))
    for found in (of_job, of_template):
        assert (found.said_ms, found.runs_ms, found.checkpoint_ms) == (3_600_000, 5_400_000, 600_000)
        assert found.deadline_ms == START_MS + 7_200_000
    assert (one(pod("p")).runs_ms, one(pod("p")).said_ms) == (None, None)


def test_a_job_with_more_completions_than_pods_runs_in_rounds() -> None:
    found = one(job("j", 2, completions=5, said={"x/execution-duration": "1m", RUNS: "2m"}))
    assert (found.pods, found.said_ms, found.runs_ms) == (2, 180_000, 360_000)


def test_a_gang_runs_as_long_as_its_longest_pod_and_is_due_as_its_group_says() -> None:
    pods = [pod(f"p{i}", said={GROUP: "g", "x/execution-duration": f"{i}m"}) for i in (1, 3, 2)]
    found = one(group("g", 3, {"x/deadline-duration": "1h"}), *pods)
    assert (found.runs_ms, found.said_ms, found.deadline_ms) == (180_000, 180_000, START_MS + 3_600_000)


def test_priorities_are_those_of_the_classes() -> None:
    classes = (priority_class("high", 10), priority_class("usual", 1, default=True), workload_class("first", 99))
    assert one(*classes, pod("p")).priority == 1
    assert one(*classes, pod("p", spec={"priorityClassName": "high"})).priority == 10
    assert one(*classes, job("j", queue="q")).priority == 1
    assert one(*classes, job("j", queue="q", labels={"kueue.x-k8s.io/priority-class": "first"})).priority == 99
    assert one(*classes, job("j", spec={"priorityClassName": "high"})).priority == 10
    labels = {**QUEUED, "kueue.x-k8s.io/priority-class": "first"}
    assert one(*classes, pod("p", labels=labels)).priority == 99
    gang = (pod("a", said={GROUP: "g"}), group("g", 1, priorityClassName="high"))
    assert one(*classes, *gang).priority == 10
    assert one(pod("p", spec={"priorityClassName": "system-node-critical"})).priority == 2_000_001_000


def test_what_is_around_counts_for_the_jobs_after_it() -> None:
    limit = {"type": "Container", "defaultRequest": {"cpu": "2"}}
    events = [
        step(job("a")),
        step(obj("LimitRange", "l", spec={"limits": [limit]}), 1),
        step(job("b"), 2),
        step(pod("c"), 2),
    ]
    events += [step(obj("LimitRange", "l"), 3, "delete"), step(job("d"), 4)]
    found = {each.key: dict(each.roles[0].shape.requests).get("cpu") for each in jobs(*events)}
    assert found == {"default/a": None, "default/b": 2000, "default/c": 2000, "default/d": None}


def test_jobs_come_in_the_order_of_their_manifests() -> None:
    gang = [group("g", 1), pod("x", said={GROUP: "g"})]
    found = jobs(*(step(each) for each in (pod("b"), gang[1], pod("a"), gang[0])))
    assert [each.key for each in found] == ["default/b", "default/g", "default/a"]


@pytest.mark.parametrize(
    ("objects", "says"),
    [
        ([pod("p", said={GROUP: "g"})], "Pod p: its PodGroup 'g' is not created at the same moment"),
        ([group("g", 1)], "PodGroup g: no pod that names it is created at the same moment"),
        ([pod("p", spec={"priorityClassName": "none"})], "Pod p: names a PriorityClass 'none' that isn't there"),
        ([job("j", queue="q", labels={"kueue.x-k8s.io/priority-class": "x"})], "Job j: names a priority class"),
        (
            [pod("p", labels={**QUEUED, "kueue.x-k8s.io/priority-class": "x"})],
            "a WorkloadPriorityClass 'x' that isn't there",
        ),
        ([job("j", suspend=True)], "Job j: is suspended, and in no queue: it never starts"),
    ],
)
def test_what_can_not_be_is_told(objects: list[JsonObject], says: str) -> None:
    with pytest.raises(ManifestError, match=says):
        played(*(step(each) for each in objects))
