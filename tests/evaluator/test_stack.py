"""Stack speed: it decides as engine speed does; what only it can do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from kumi.api.core import ConfigMap, Pod
from kumi.api.errors import KumiError
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.engine.model import (
    ClusterQueue,
    Evictable,
    Flavor,
    FlavorQuotas,
    LocalQueue,
    Namespace,
    Node,
    Noun,
    Preemption,
    Profile,
    Put,
    Quota,
    Remove,
    ResourceGroup,
    Strategy,
    Taint,
)
from kumi.engine.settings import Discipline, QueueOrder, Settings
from kumi.evaluator.budget import Budget
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change, Event, Job, Load, Policy, Role, Via, What
from kumi.evaluator.scenarios import load_scenario
from kumi.evaluator.stack import StackRun
from kumi.registry.requests import Target
from kumi.testing.builders import node, shape
from tests.evaluator.loads import loads, policies
from tests.evaluator.speeds import Heard, at_engine_speed, at_stack_speed

FIFO = Policy("fifo")
DATA = Path(__file__).parent / "data" / "stack"
WRITTEN: tuple[tuple[type[Object], str], ...] = ((ConfigMap, "settings"), (Pod, "gang-a"))


def job(name: str, at: float = 0, *, gpus: int = 1, pods: int = 1, runs: float | None = 10, **more: object) -> Job:
    """One role; times in seconds after the start."""
    return Job(
        key=f"team/{name}",
        arrives_ms=START_MS + round(at * 1000),
        roles=(Role("main", pods, shape(gpu=gpus, cpu=1, memory="1Gi")),),
        runs_ms=None if runs is None else round(runs * 1000),
        **more,  # type: ignore[arg-type]
    )


def whole(name: str) -> Node:
    """Four GPUs."""
    return node(name, gpu=4, cpu=8, memory="64Gi")


def quota(gpus: int, **more: object) -> tuple[Noun, ...]:
    """A queue `team/lq` with so many."""
    amounts = (("nvidia.com/gpu", Quota(gpus * 1000)), ("cpu", Quota(100_000)), ("memory", Quota(2**50)))
    group = ResourceGroup(tuple(name for name, _ in amounts), (FlavorQuotas("any", amounts),))
    queue = ClusterQueue("cq", (group,), **more)  # type: ignore[arg-type]
    return Namespace("team"), Flavor("any"), queue, LocalQueue("team/lq", "cq")


def load(events: list[Event], *setting: Noun) -> Load:
    """Two nodes, and these."""
    ordered = sorted(events, key=lambda event: event.at_ms)
    return Load("test", (whole("n0"), whole("n1"), *setting), lambda: iter(ordered), size=len(ordered))


def both(played: Load, policy: Policy = FIFO) -> Heard:
    """What is heard of a load at both speeds, which is the same."""
    fast, slow = at_engine_speed(played, policy), at_stack_speed(played, policy)
    assert slow.decisions == fast.decisions
    assert slow.happenings == fast.happenings
    assert [key for key, _ in slow.waiting] == [key for key, _ in fast.waiting]
    return slow


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(played=loads(), policy=policies())
def test_both_speeds_decide_alike(played: Load, policy: Policy) -> None:
    both(played, policy)


def test_pods_wait_for_room() -> None:
    heard = both(load([Arrive(job(f"j{n}", n / 2, gpus=3, runs=7 + n / 10)) for n in range(6)]))
    assert [d[3] for d in heard.decisions if d[1] == "Bind"] == ["n0", "n1"] * 3


def test_gangs_start_whole() -> None:
    heard = both(load([Arrive(job(f"g{n}", n, pods=5, via=Via.GANG, least=5)) for n in range(3)]))
    assert [h[0] for h in heard.happenings if h[1] == "started"] == [0, 10_000, 20_000]


def test_workloads_share_a_quota_and_preempt() -> None:
    low = job("low", 0, gpus=2, pods=2, via=Via.WORKLOAD, queue="lq", checkpoint_ms=3000, runs=30)
    high = job("high", 10, gpus=2, pods=2, via=Via.WORKLOAD, queue="lq", priority=10, runs=5)
    heard = both(load([Arrive(low), Arrive(high)], *quota(6, preemption=Preemption(within=Evictable.LOWER_PRIORITY))))
    assert (10_000, "preempted", "team/low", 9000) in heard.happenings
    assert (36_000, "finished", "team/low", 30_000) in heard.happenings


def test_more_important_pods_preempt() -> None:
    events: list[Event] = [Arrive(job(f"low{n}", 0, gpus=4, runs=100)) for n in range(2)]
    heard = both(load([*events, Arrive(job("high", 5, gpus=4, priority=5, runs=10))]))
    assert (5000, "preempted", "team/low0", 0) in heard.happenings or (
        5000,
        "preempted",
        "team/low1",
        0,
    ) in heard.happenings


@pytest.mark.parametrize("via", list(Via))
@pytest.mark.parametrize("lost", [Remove(Node, "n0"), Put(node("n0", gpu=4, cpu=8, memory="64Gi", ready=False))])
def test_a_node_is_lost_and_comes_back(via: Via, lost: Put | Remove) -> None:
    here = job(
        "here", 0, gpus=4, pods=2, via=via, queue="lq" if via is Via.WORKLOAD else "", runs=20, checkpoint_ms=4000
    )
    events: list[Event] = [
        Arrive(here),
        Change(START_MS + 9000, (lost,)),
        Change(START_MS + 15_000, (Put(whole("n0")),)),
    ]
    heard = both(load(events, *quota(8)))
    assert (9000, "lost", "team/here", 8000) in heard.happenings
    assert (27_000, "finished", "team/here", 20_000) in heard.happenings


@pytest.mark.parametrize(
    "lost", [Remove(Node, "n0"), Put(replace(whole("n0"), taints=(Taint("spot", "", "NoExecute"),)))]
)
def test_a_workload_and_a_pod_that_lose_their_node_together_come_back_in_the_same_order(lost: Put | Remove) -> None:
    events: list[Event] = [Arrive(job("alone")), Arrive(job("queued", via=Via.WORKLOAD, queue="lq"))]
    heard = both(load([*events, Change(START_MS + 4500, (lost,))], *quota(1)))
    assert [d[1] for d in heard.decisions if d[0] == 4500] == ["Evict", "Admit", "Bind", "Bind"]


def test_queues_that_gangs_bring_are_as_old_as_these_and_the_usual_one_as_the_cluster() -> None:
    queues = {"first": "z", "second": "a", "usual": ""}
    gangs = [Arrive(job(name, n, via=Via.GANG, queue=queue)) for n, (name, queue) in enumerate(queues.items())]
    heard = both(replace(load([*gangs, Change(START_MS + 4000, (Put(whole("n0")),))]), setting=()))
    assert [d[2] for d in heard.decisions if d[1] == "Bind"] == ["team/usual", "team/first", "team/second"]


def test_pods_that_lose_their_node_together_come_back_by_name() -> None:
    events: list[Event] = [Arrive(job("z")), Arrive(job("m", 1)), Arrive(job("a", 2))]
    heard = both(load([*events, Change(START_MS + 5000, (Remove(Node, "n0"),))]))
    assert [d[2] for d in heard.decisions if d[0] == 5000] == ["team/a", "team/m", "team/z"]


@pytest.mark.parametrize("via", list(Via))
def test_a_node_that_fails_and_is_back_at_the_same_instant_has_lost_its_pods(via: Via) -> None:
    here = job("here", via=via, queue="lq" if via is Via.WORKLOAD else "", runs=8)
    failed = Put(node("n0", gpu=4, cpu=8, memory="64Gi", ready=False))
    events: list[Event] = [Arrive(here), *(Change(START_MS + 3000, (one,)) for one in (failed, Put(whole("n0"))))]
    heard = both(load(events, *quota(1)))
    assert (3000, "lost", "team/here", 0) in heard.happenings
    assert (11_000, "finished", "team/here", 8000) in heard.happenings


def test_where_others_place_the_pods_there_must_be_somebody() -> None:
    with pytest.raises(KumiError, match="says `placement: none`: at stack speed pods run on nodes"):
        StackRun(load([Arrive(job("j"))]), Policy("quota", Profile(places=False)), 0)


def test_a_line_knows_how_long_the_pods_of_workloads_say_that_they_run() -> None:
    easy = Policy("easy", Profile(settings=Settings(line=Discipline.EASY, order=QueueOrder.SHORTEST)))
    queued = job("queued", 0, via=Via.WORKLOAD, queue="lq", runs=5, said_ms=1000)
    lost = Change(START_MS + 2000, (Put(node("n0", gpu=4, cpu=8, memory="64Gi", ready=False)),))
    events: list[Event] = [Arrive(job("waits", pods=4, runs=5)), Arrive(queued), lost]
    heard = both(load([*events, Arrive(job("short", 7, runs=2, said_ms=3000))], *quota(4)), easy)
    assert [d[2] for d in heard.decisions if d[:2] == (7000, "Bind")] == ["team/waits/0/3"]


def test_deleted_jobs_are_gone() -> None:
    events: list[Event] = [Arrive(job("endless", 0, gpus=4, pods=2, runs=None)), Arrive(job("waits", 1, gpus=4))]
    heard = both(load([*events, Cancel(START_MS + 2000, "team/waits"), Cancel(START_MS + 3000, "team/endless")]))
    assert (2000, "cancelled", "team/waits", 0) in heard.happenings
    assert (3000, "finished", "team/endless", 3000) in heard.happenings


def test_a_share_of_a_gpu_is_placed_as_at_engine_speed() -> None:
    shared = replace(shape(gpu="460m", cpu=1, memory="1Gi"), share=460)
    events = [Arrive(Job(f"team/s{n}", START_MS, (Role("main", 1, shared),), runs_ms=5000)) for n in range(10)]
    both(load(list(events)))


def test_a_scenario_is_played_as_it_was_written_and_decided_as_at_engine_speed() -> None:
    scenario = load_scenario(DATA / "scenario.yaml")
    heard = both(scenario.load(0))
    assert (12_000, "lost", "team/train", 10_000) in heard.happenings
    assert (9000, "cancelled", "team/alone", 0) in heard.happenings
    run = StackRun(scenario.load(0), FIFO, 0)
    while run.advance(100):
        pass
    settings_map, gang = (run.world.registry.find(Target(SCHEME.of(t), "team", name)) for t, name in WRITTEN)
    assert settings_map is not None
    assert settings_map["data"] == {"a": "b"}
    assert gang is not None
    assert gang["status"]["phase"] == "Succeeded"
    run.close()


def test_what_controllers_make_pods_of_is_played_at_stack_speed_alone(tmp_path: Path) -> None:
    container = "{name: c, image: i, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}}"
    (tmp_path / "web.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: team}\nspec:\n  replicas: 3\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        f"    spec: {{containers: [{container}]}}\n"
    )
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "cluster: {nodes: [{name: n, offers: {cpu: 8, memory: 8Gi, nvidia.com/gpu: 4}}]}\n"
        "arrivals: [{at: 1s, manifests: [web.yaml]}]\n"
    )
    played = load_scenario(file).load(0)
    assert [d[:2] for d in at_stack_speed(played, FIFO).decisions] == [(1000, "Bind")] * 3
    with pytest.raises(KumiError, match="a Deployment makes its pods by a controller"):
        at_engine_speed(played, FIFO)


def test_a_policy_s_own_queues_take_the_place_of_those_that_are_written() -> None:
    played = load_scenario(DATA / "scenario.yaml").load(0)
    cohort = quota(2)[2]
    heard = both(played, Policy("half", nouns=(cohort,)))
    assert (24_000, "placed", "team/train-2", ((0, "big-1"), (0, "big-1"))) not in heard.happenings
    assert [h[2] for h in heard.happenings if h[:2] == (1000, "started")] == ["team/train"]
    assert not [h for h in heard.happenings if h[1:3] == ("started", "team/train-2") and h[0] < 21_000]


def test_equal_seeds_give_equal_runs() -> None:
    played = load([Arrive(job(f"j{n}", 0, gpus=3)) for n in range(4)])
    first, second = at_stack_speed(played, FIFO, 7), at_stack_speed(played, FIFO, 7)
    assert (first.decisions, first.happenings) == (second.decisions, second.happenings)


def test_a_job_that_the_api_refuses_is_over_and_the_run_goes_on() -> None:
    wrong = Job("team/Wrong_Name", START_MS, (Role("main", 1, shape(gpu=1)),), runs_ms=1000)
    heard = at_stack_speed(load([Arrive(wrong), Arrive(job("right"))]), FIFO)
    assert (0, What.REFUSED.value, "team/Wrong_Name", 0) in heard.happenings
    assert (10_000, "finished", "team/right", 10_000) in heard.happenings
    assert heard.waiting == []


def test_who_never_runs_is_told_why() -> None:
    heard = at_stack_speed(load([Arrive(job("huge", gpus=9))]), FIFO)
    ((key, why),) = heard.waiting
    assert key == "team/huge"
    assert "gpu" in why


def odd(name: str, at: float, pods: tuple[int, ...], **more: object) -> Job:
    """A workload of roles that no queued kind has."""
    roles = tuple(Role(f"r{number}", many, shape(gpu=1, cpu=1, memory="1Gi")) for number, many in enumerate(pods))
    made = job(name, at, via=Via.WORKLOAD, queue="lq", **more)  # type: ignore[arg-type]
    return replace(made, roles=roles)


def test_roles_that_no_kind_has_are_played_as_at_engine_speed() -> None:
    low = odd("low", 0, (2, 2), runs=30, checkpoint_ms=3000)
    high = odd("high", 10, (2, 1, 1), priority=10, runs=5)
    last = odd("last", 11, (1, 1, 2), runs=4, said_ms=2000)
    preempts = quota(6, preemption=Preemption(within=Evictable.LOWER_PRIORITY))
    lost = Change(START_MS + 20_000, (Remove(Node, "n0"), Remove(Node, "n1")))
    back = Change(START_MS + 22_000, (Put(whole("n0")), Put(whole("n1"))))
    heard = both(load([Arrive(low), Arrive(high), Arrive(last), lost, back], *preempts))
    assert (10_000, "preempted", "team/low", 9000) in heard.happenings
    assert [h[2] for h in heard.happenings if h[1] == "lost"] == ["team/low"]
    assert {h[2] for h in heard.happenings if h[1] == "finished"} == {"team/high", "team/last", "team/low"}
    assert heard.waiting == []


def test_workloads_of_one_second_stand_in_line_as_their_jobs_came_whoever_makes_them() -> None:
    events = [Arrive(job("one", via=Via.WORKLOAD, queue="lq")), Arrive(odd("many", 0, (9, 9)))]
    heard = both(load(list(events), *quota(8, strategy=Strategy.STRICT)))
    assert (0, "started", "team/one", 0) in heard.happenings


PODS = "{spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}"
QUEUED = f"""
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {{name: alone, namespace: team}}
spec:
  queueName: lq
  priority: 3
  podSets:
  - {{name: a, count: 3, template: {PODS}}}
  - {{name: b, count: 2, template: {PODS}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: rounds, namespace: team, labels: {{kueue.x-k8s.io/queue-name: lq}}, annotations: {{x/execution-duration: 4s}}}}
spec: {{parallelism: 2, completions: 5, template: {{spec: {{restartPolicy: Never, containers: [
  {{name: c, image: i, resources: {{requests: {{cpu: 1, memory: 1Gi}}}}}}]}}}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: plain, namespace: team, annotations: {{x/execution-duration: 3s}}}}
spec: {{parallelism: 2, completions: 4, template: {{spec: {{restartPolicy: Never, containers: [
  {{name: c, image: i, resources: {{requests: {{cpu: 1, memory: 1Gi}}}}}}]}}}}}}
"""


@pytest.fixture
def queued(tmp_path: Path) -> Path:
    """A scenario with what only queues know, again and again."""
    (tmp_path / "jobs.yaml").write_text(QUEUED)
    (tmp_path / "objects.yaml").write_text((DATA / "objects.yaml").read_text())
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "cluster: {nodes: [{name: n, count: 2, offers: {cpu: 4, memory: 64Gi, nvidia.com/gpu: 4}}]}\n"
        "queues: [objects.yaml]\n"
        "arrivals: [{at: 1s, every: 3s, times: 4, manifests: [jobs.yaml], runs: 5s, checkpoint: 2s}]\n"
        "maintenance: [{nodes: [n-0], at: 9s, for: 4s}]\n"
    )
    return file


def test_workloads_alone_and_jobs_that_run_in_rounds_are_played_as_at_engine_speed(queued: Path) -> None:
    heard = both(load_scenario(queued).load(0))
    done = [h[2] for h in heard.happenings if h[1] == "finished"]
    names = [f"team/{name}{number}" for name in ("alone", "rounds", "plain") for number in ("", "-2", "-3", "-4")]
    assert sorted(done) == sorted(names)
    assert [h for h in heard.happenings if h[1] == "lost"]


def queued_pod(name: str, *, cpus: int = 1, group: str = "", of: int = 0, priority: str = "") -> str:
    """A pod in a queue, alone or as one of a group."""
    labels = {"kueue.x-k8s.io/queue-name": "lq"} | ({"kueue.x-k8s.io/pod-group-name": group} if group else {})
    said = {"kueue.x-k8s.io/pod-group-total-count": str(of)} if group else {}
    resources = {"requests": {"cpu": cpus, "memory": "1Gi"}, "limits": {"nvidia.com/gpu": 1}}
    spec = {"containers": [{"name": "c", "image": "i", "resources": resources}]} | (
        {"priorityClassName": priority} if priority else {}
    )
    meta = {"name": name, "namespace": "team", "labels": labels, "annotations": said}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})


def test_pods_of_queues_are_played_as_at_engine_speed(tmp_path: Path) -> None:
    objects = (
        (DATA / "objects.yaml")
        .read_text()
        .replace(
            "  namespaceSelector: {}", "  namespaceSelector: {}\n  preemption: {withinClusterQueue: LowerPriority}"
        )
    )
    (tmp_path / "objects.yaml").write_text(objects)
    group = [queued_pod(f"w{n}", cpus=1 + n % 2, group="whole", of=3) for n in range(3)]
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "cluster: {nodes: [{name: n, count: 2, offers: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 4}}]}\n"
        "queues: [objects.yaml]\n"
        "arrivals:\n"
        f"- {{at: 1s, every: 7s, times: 3, manifests: [{queued_pod('a')}, {queued_pod('b')}], runs: 8s, checkpoint: 2s}}\n"
        f"- {{at: 2s, every: 9s, times: 3, manifests: [{', '.join(group)}], runs: 10s}}\n"
        f"- {{at: 5s, every: 8s, times: 2, manifests: [{queued_pod('high', priority='high')}], runs: 6s}}\n"
        f"- {{at: 6s, manifests: [{queued_pod('gives-up')}], runs: 6s, deleteAfter: 3s}}\n"
        "maintenance: [{nodes: [n-0], at: 15s, for: 4s}, {nodes: [n-1], at: 30s, for: 1s}]\n"
    )
    heard = both(load_scenario(file).load(0))
    assert {h[2] for h in heard.happenings if h[1] == "preempted"}
    assert {h[2] for h in heard.happenings if h[1] == "lost"}
    assert len([h for h in heard.happenings if h[1] == "finished"]) == 11
    assert heard.waiting == []


def test_a_budget_of_virtual_time_ends_a_run() -> None:
    run = StackRun(load([Arrive(job("j", runs=100))]), FIFO, 0, budget=Budget(virtual_ms=50_000))
    while run.advance(10):
        pass
    run.close()
    assert run.stopped == "The run's budget of virtual time was used up."


class StackRunning:
    """A run that is closed whatever happens."""

    def __init__(self, played: Load) -> None:
        self.run = StackRun(played, FIFO, 0)

    def __enter__(self) -> StackRun:
        return self.run

    def __exit__(self, *_: object) -> None:
        self.run.close()
