from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kumi.api.core import Node, Pod, PodSpec
from kumi.api.errors import ApiError
from kumi.api.measures import merged
from kumi.api.meta import Object, ObjectMeta
from kumi.api.metrics import NODE_METRICS, NodeLoad
from kumi.api.scheme import load
from kumi.cli.loops import ALL, BARE, NONE, OWN, Loops
from kumi.controllers import MakeDeciders
from kumi.controllers.scheduler import Scheduler
from kumi.engine.measuring import Measuring
from kumi.engine.model import Profile
from kumi.runtime.polling import Source
from kumi.runtime.reconcile import Controller
from kumi.runtime.view import View
from kumi.testing.fake_client import FakeClient

load()


def test_bare_is_a_part_of_all_and_none_is_nothing() -> None:
    bare = {controller.name for controller in BARE()[0]}
    everything = {controller.name for controller in ALL()[0]}
    assert bare < everything
    assert {"job-controller", "replicaset-controller", "deployment-controller", "kumi-namespaces"} <= bare
    assert NONE() == ((), ())


def test_beside_kubernetes_only_pods_that_name_kumi_are_placed_and_its_own_loops_run() -> None:
    controllers, deciders = OWN()
    names = {controller.name for controller in controllers}
    assert names < {controller.name for controller in ALL()[0]}
    assert not names & {"job-controller", "gangs-of-pods", "kumi-namespaces"}
    pods = [
        Pod(metadata=ObjectMeta(name=name, namespace="ns", uid=name), spec=PodSpec(scheduler_name=name))
        for name in ("kumi", "default-scheduler", "volcano")
    ]
    for choice, waits in ((deciders, {"kumi"}), (ALL()[1], {"kumi", "default-scheduler"})):
        scheduler = next(d for make in choice for d in make() if isinstance(d, Scheduler))
        for pod in pods:
            scheduler.apply(Pod, pod.key, None, pod)
        assert {uid for uid, pod in scheduler.state.pods.by_uid.items() if not pod.gated} == waits


async def test_each_decider_is_a_check_of_its_own_and_every_queue_is_measured(tmp_path: Path) -> None:
    loops = Loops(FakeClient(load()), ALL, tmp_path)
    checks = loops.checks()
    assert {"scheduler", "queue-status", "garbage-collector"} <= checks.keys()
    assert all(check() for check in checks.values())
    families = {family.name: family for family in merged(loops.measures())}
    queues = {sample.labels for sample in families["workqueue_depth"].samples}
    assert queues == {(controller.name,) for controller in ALL()[0]}
    sound = {sample.labels: sample.value for sample in families["kumi_decider_sound"].samples}
    assert sound[("kumi-scheduler",)] == 1


def test_all_loops_have_names_of_their_own() -> None:
    names = [controller.name for controller in ALL()[0]]
    assert len(names) == len(set(names))


async def test_who_waits_is_asked_of_the_scheduler_where_there_is_one(tmp_path: Path) -> None:
    everything = Loops(FakeClient(load()), ALL, tmp_path)
    assert everything.pending("none") is None
    assert everything.cluster_queue_of("team/none") is None
    with pytest.raises(ApiError, match="no scheduler runs"):
        Loops(FakeClient(load()), NONE, tmp_path).pending("none")


async def test_all_are_made_anew_when_the_policy_changes_and_checks_follow(tmp_path: Path) -> None:
    made: list[int] = []
    changes = asyncio.Event()

    def choice() -> tuple[Sequence[Controller], Sequence[MakeDeciders]]:
        made.append(1)
        return ALL()

    async def changed() -> None:
        await changes.wait()
        changes.clear()

    client = FakeClient(load())
    loops = Loops(client, choice, tmp_path, changed)
    check = loops.checks()["scheduler"]
    running = asyncio.create_task(loops.run())
    changes.set()
    for _ in range(1000):
        if len(made) == 2:
            break
        await asyncio.sleep(0.005)
    assert len(made) == 2
    assert check()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def ends(*, work: BaseException | None, change: BaseException | None, tmp_path: Path) -> list[str]:
    """Runs loops of which one part ends by that error; None: it goes on until it is cancelled. Who was left running."""
    running: list[str] = []

    async def part(name: str, error: BaseException | None) -> None:
        running.append(name)
        try:
            await asyncio.sleep(0)
            if error is not None:
                raise error
            await asyncio.Event().wait()
        finally:
            running.remove(name)

    loops = Loops(FakeClient(load()), NONE, tmp_path, lambda: part("change", change))
    loops._run = lambda: part("work", work)  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="bad"):
        await loops.run()
    return running


@pytest.mark.parametrize(
    ("work", "change"), [(ValueError("bad"), None), (None, ValueError("bad")), (ValueError("bad"), KeyError("x"))]
)
async def test_when_one_part_fails_all_end_and_its_error_is_told(
    tmp_path: Path, work: BaseException | None, change: BaseException | None
) -> None:
    assert await ends(work=work, change=change, tmp_path=tmp_path) == []


BY_USAGE = Profile(measuring=Measuring())


@pytest.mark.parametrize("choice", [ALL, OWN])
def test_the_scheduler_hears_of_loads_where_the_policy_wants_to_know(
    choice: Callable[[Profile], tuple[Sequence[Controller], Sequence[MakeDeciders]]],
) -> None:
    for profile, told in ((BY_USAGE, True), (Profile(), False)):
        scheduler = next(d for make in choice(profile)[1] for d in make() if isinstance(d, Scheduler))
        assert (NodeLoad in scheduler.watches) is told


async def test_what_cant_be_watched_is_polled_for_the_scheduler_and_measured(tmp_path: Path) -> None:
    client = FakeClient(load())
    await client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})

    async def read(view: View, now_ms: int) -> Sequence[Object]:
        nodes = [node.metadata.name for node in view.list(Node)]
        return [NodeLoad(metadata=ObjectMeta(name=name), cpu=42.0, measured_ms=now_ms) for name in nodes]

    source = Source("the source", NODE_METRICS, NodeLoad, (Node,), 10, read)
    loops = Loops(client, lambda: ALL(BY_USAGE), tmp_path, sources=lambda: (source,))
    families = {family.name: family for family in merged(loops.measures())}
    assert families["kumi_poll_source_up"].samples[0].labels == ("the source",)
    running = asyncio.create_task(loops.run())
    scheduler = next(d for pump in loops._pumps for d in pump.deciders if isinstance(d, Scheduler))
    async with asyncio.timeout(20):
        while "n1" not in scheduler.state.nodes.usage:
            await asyncio.sleep(0.005)
    assert scheduler.state.nodes.usage["n1"].cpu == 42.0
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
