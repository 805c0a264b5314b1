"""Jobs as the objects that their owners would submit."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.core import Pod
from kumi.api.errors import KumiError
from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.bridge.into.pod import pod as noun_of
from kumi.bridge.into.shape import Shapes
from kumi.engine.model import (
    HostPort,
    Neighbours,
    PodShape,
    PodTerm,
    Requirement,
    SpreadTerm,
    Toleration,
)
from kumi.evaluator import job_objects
from kumi.evaluator.job_objects import NOTHING, of_life, pod_object, role_of, workload_object, written
from kumi.evaluator.life import Life
from kumi.evaluator.model import START_MS, Job, Role, Via
from kumi.testing.stage import Stage

NOW = format_time(START_MS)
IN = Requirement("zone", "In", ("a", "b"))
APP = (Requirement("app", "In", ("x",)),)
NEAR = PodTerm("zone", APP, ("other",), (Requirement("team", "Exists"),))
PLAIN = PodShape((("cpu", 1000), ("memory", 2**30), ("nvidia.com/gpu", 2000)))
SHAPES = {
    "plain": PLAIN,
    "selects": PodShape(PLAIN.requests, (("kind", "big"),), (Toleration("spot", "Equal", "x", "NoSchedule"),)),
    "affinity": PodShape(PLAIN.requests, affinity=((IN,), (Requirement("gpu", "Exists"),)), preferred=((5, (IN,)),)),
    "ports": PodShape(PLAIN.requests, ports=(HostPort(80), HostPort(53, "UDP", "10.0.0.1"))),
    "neighbours": PodShape(PLAIN.requests, neighbours=Neighbours((NEAR,), (), (), ((7, NEAR),))),
    "spread": PodShape(
        PLAIN.requests, neighbours=Neighbours(spread=(SpreadTerm("zone", APP, 2, True, 3, False, True),))
    ),
    "little": PodShape(PLAIN.requests[2:], scored=(100, 200 * 2**20)),
    "shared": PodShape((("cpu", 1000), ("memory", 2**30), ("nvidia.com/gpu", 460)), share=460),
}
"""as the bridge makes them, but for what it adds: images"""


def job(shape: PodShape = PLAIN, **more: Any) -> Job:
    """Two pods of one role."""
    roles = more.pop("roles", (Role("main", 2, shape),))
    return Job(key="team/j", arrives_ms=START_MS, roles=roles, runs_ms=1000, **more)


async def stored(*manifests: JsonObject) -> list[JsonObject]:
    """As the API keeps them."""
    stage = Stage()
    await stage.open("team")
    return [await stage.make(manifest) for manifest in manifests]


@pytest.mark.parametrize("name", SHAPES)
async def test_what_is_read_of_a_pod_is_the_shape_that_it_was_made_of(name: str) -> None:
    shape = SHAPES[name]
    (made,) = await stored(pod_object(job(shape), Via.POD, (0, 1)))
    found = noun_of(msgspec.convert(made, Pod), Shapes())
    assert [r for r in found.shape.requests if r[1]] == list(shape.requests)
    assert _rest(found.shape) == _rest(shape)
    assert found.key == "team/j-main-1"


def _rest(shape: PodShape) -> tuple[Any, ...]:
    """All but the requests, volumes, images, and what the API lets every pod endure."""
    endures = tuple(t for t in shape.tolerations if not t.key.startswith("node.kubernetes.io/"))
    first = (shape.node_selector, endures, shape.affinity, (), shape.preferred, shape.ports, shape.neighbours)
    return (*first, (), shape.containers, shape.scored, shape.whole_cpus, shape.share)


def test_lengths_and_deadlines_are_said_to_the_millisecond() -> None:
    said = job(said_ms=1234, deadline_ms=START_MS + 5678)
    made = pod_object(said, Via.POD, (0, 0))
    found = noun_of(msgspec.convert({**made, "metadata": {**made["metadata"], "uid": "u"}}, Pod), Shapes())
    assert (found.member.execution_ms, found.member.deadline_ms) == (1234, START_MS + 5678)


async def test_a_gang_is_a_group_and_pods_that_name_it() -> None:
    made = of_life(Life(job(least=1, queue="gold", priority=5), Via.GANG), START_MS)
    assert made.group is not None
    assert made.group["spec"] == {
        "minMember": 1,
        "queue": "gold",
        "minResources": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "2"},
        "priorityClassName": "priority5",
    }
    annotations = made.pods[0, 1]["metadata"]["annotations"]
    assert annotations == {"scheduling.k8s.io/group-name": "j", "volcano.sh/task-spec": "main"}
    assert list(made.pods) == [(0, 0), (0, 1)]


async def test_a_workload_of_one_role_is_a_queued_job_that_the_api_takes() -> None:
    (made,) = await stored(workload_object(job(queue="lq", least=1)))
    assert (made["kind"], made["metadata"]["labels"]) == ("Job", {"kueue.x-k8s.io/queue-name": "lq"})
    assert made["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] == "1"
    assert (made["spec"]["parallelism"], made["spec"]["completions"]) == (2, 2)


async def test_a_workload_of_several_roles_is_one_that_the_api_takes() -> None:
    two = job(roles=(Role("lead", 1, PLAIN), Role("rest", 3, PLAIN)), queue="lq", priority=7, said_ms=2000)
    (made,) = await stored(workload_object(two))
    assert (made["kind"], made["metadata"]["name"]) == ("Workload", "job-j")
    assert (made["spec"]["queueName"], made["spec"]["priority"]) == ("lq", 7)
    assert {pods["name"]: pods["count"] for pods in made["spec"]["podSets"]} == {"lead": 1, "rest": 3}
    assert made["metadata"]["annotations"] == {"kumi.dev/execution-duration": "2000ms"}


def test_the_role_of_a_pod_is_its_pod_set_or_what_its_replicas_are() -> None:
    two = job(roles=(Role("master", 1, PLAIN), Role("worker", 3, PLAIN)))
    for label in ("training.kubeflow.org/replica-type", "kueue.x-k8s.io/podset"):
        worker = msgspec.convert({"metadata": {"labels": {label: "worker"}}}, Pod)
        assert (role_of(two, worker), role_of(two, Pod())) == (1, 0)


def test_volumes_are_refused() -> None:
    with pytest.raises(KumiError, match="pods with volumes"):
        pod_object(job(PodShape((), volume_claims=("team/c",))), Via.POD, (0, 0))


def _pod(name: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}


def test_pods_that_somebody_wrote_have_the_places_of_their_roles() -> None:
    roles = (Role("ps", 1, PLAIN), Role("worker", 2, PLAIN))
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "j"}}
    pods = [_pod("a"), _pod("b"), _pod("c")]
    found = written(job(roles=roles, via=Via.GANG), [group, *pods], ["", "worker", "ps", "worker"])
    assert (found.group, found.made_of, found.stays) == (group, None, True)
    assert {seat: pod["metadata"]["name"] for seat, pod in found.pods.items()} == {
        (0, 0): "b",
        (1, 0): "a",
        (1, 1): "c",
    }
    assert NOTHING.pods == {}


def test_a_workload_is_alone_and_what_a_controller_makes_pods_of_is_not() -> None:
    for kind, is_alone in (("Workload", True), ("Job", False)):
        assert written(job(via=Via.WORKLOAD), [{"apiVersion": "x/v1", "kind": kind}], [""]).is_alone is is_alone


def test_a_job_that_runs_in_rounds_is_one_round_as_long_as_all() -> None:
    meta = {"name": "j", "annotations": {"x/execution-duration": "3s", "kept": "yes"}}
    manifest = {"kind": "Job", "metadata": meta, "spec": {"parallelism": 2, "completions": 5}}
    made = written(job(said_ms=9000), [manifest], [""]).made_of
    assert made is not None
    assert made["spec"] == {"parallelism": 2, "completions": 2}
    assert made["metadata"]["annotations"] == {"kept": "yes", "kumi.dev/execution-duration": "9s"}
    one = {"kind": "Job", "metadata": meta, "spec": {"parallelism": 2, "completions": 2}}
    assert written(job(), [one], [""]).made_of is one


def test_what_says_nothing_of_how_many_at_a_time_has_one() -> None:
    for said in ({}, {"parallelism": None}):
        made = written(job(), [{"kind": "Job", "spec": {**said, "completions": 3}}], [""]).made_of
        assert made is not None
        assert made["spec"] == {**said, "completions": 2}
    one = {"kind": "Job", "spec": {"parallelism": None, "completions": None}}
    assert written(job(), [one], [""]).made_of is one


def test_names_are_those_of_engine_speed() -> None:
    assert job_objects.name_of(job(), (0, 1)) == "j-main-1"
    assert job_objects.name_of(job(roles=(Role("main", 1, PLAIN),)), (0, 0)) == "j"
