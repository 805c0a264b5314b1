"""Stack speed: it decides as engine speed does; what only it can do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

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
    Put,
    Quota,
    Remove,
    ResourceGroup,
)
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
    for event in played.events():
        if isinstance(event, Arrive) and event.job.via is Via.WORKLOAD:
            assume(len(event.job.roles) == 1)
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


def test_roles_that_no_kind_has_are_told() -> None:
    roles = tuple(Role(name, 2, shape(gpu=1)) for name in ("a", "b"))
    two = Job("team/two", START_MS, roles, runs_ms=1000, via=Via.WORKLOAD, queue="lq")
    with (
        StackRunning(load([Arrive(two)], *quota(8))) as run,
        pytest.raises(KumiError, match="roles that no queued kind"),
    ):
        run.advance(10)


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
