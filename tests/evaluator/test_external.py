"""External schedulers: first_fit.py in another process, over real HTTP."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.engine.model import (
    ClusterQueue,
    Flavor,
    FlavorQuotas,
    LocalQueue,
    Namespace,
    Node,
    Quota,
    Remove,
    ResourceGroup,
)
from kumi.evaluator.budget import REAL_TIME_SPENT, STOPPED, Budget
from kumi.evaluator.external import External, ExternalRun
from kumi.evaluator.model import START_MS, Arrive, Change, Event, Job, Load, Policy, Role, Via
from kumi.testing.builders import node, shape
from tests.evaluator.speeds import Heard

pytestmark = pytest.mark.process

PEER = Path(__file__).parent / "first_fit.py"
FIFO = Policy("fifo")
NAME = "theirs"


def job(name: str, at: float = 0, *, gpus: int = 1, pods: int = 1, runs: float | None = 10, **more: object) -> Job:
    """Times in seconds after the start."""
    return Job(
        key=f"team/{name}",
        arrives_ms=START_MS + round(at * 1000),
        roles=(Role("main", pods, shape(gpu=gpus, cpu=1, memory="1Gi")),),
        runs_ms=None if runs is None else round(runs * 1000),
        **more,  # type: ignore[arg-type]
    )


def played(
    tmp_path: Path, events: list[Event], how: str = "", *setting: object, limit_s: float = 30, first_s: float = 60
) -> tuple[Heard, ExternalRun]:
    """A run with the peer on two nodes of four GPUs."""
    nodes = tuple(node(f"n{n}", gpu=4, cpu=8, memory="64Gi") for n in range(2))
    ordered = sorted(events, key=lambda event: event.at_ms)
    command = f"{sys.executable} {PEER} {{kubeconfig}} {NAME} {how}"
    external = External(command, NAME, limit_s=limit_s, first_s=first_s, log=str(tmp_path / "log"))
    load = Load("test", (*nodes, *setting), lambda: iter(ordered))  # type: ignore[arg-type]
    run = ExternalRun(load, FIFO, 0, [heard := Heard()], external=external)
    try:
        while run.advance(100):
            pass
    finally:
        run.close()
    heard.happenings.sort(key=repr)
    return heard, run


def test_it_places_pods_and_virtual_time_waits_for_it(tmp_path: Path) -> None:
    events: list[Event] = [Arrive(job(f"j{n}", n / 10, gpus=3)) for n in range(4)]
    heard, run = played(tmp_path, events)
    assert [d for d in heard.decisions if d[1] == "Bind"] == [
        (0, "Bind", "team/j0", "n0"),
        (100, "Bind", "team/j1", "n1"),
        (10_000, "Bind", "team/j2", "n0"),
        (10_100, "Bind", "team/j3", "n1"),
    ]
    assert [h[2] for h in heard.happenings if h[1] == "finished"] == ["team/j0", "team/j1", "team/j2", "team/j3"]
    assert run.more["exact"] is False
    assert (run.late, run.more["settled_late"]) == (0, 0)


def test_what_fits_nowhere_is_told_in_its_words(tmp_path: Path) -> None:
    heard, run = played(tmp_path, [Arrive(job("huge", gpus=9))])
    ((key, why),) = heard.waiting
    assert (key, why.partition(" (")[0]) == ("team/huge", "none of 2 nodes has room")
    assert run.late == 0


def test_one_that_says_nothing_is_not_waited_for_longer_than_the_limit(tmp_path: Path) -> None:
    events: list[Event] = [Arrive(job(f"j{n}", n, gpus=4)) for n in range(3)]
    heard, run = played(tmp_path, events, "--mute", limit_s=0.3)
    assert [h[2] for h in heard.happenings if h[1] == "finished"] == ["team/j0", "team/j1", "team/j2"]
    assert run.late == run.more["settled_late"] == 1


def test_a_node_that_goes_takes_its_pods_along_and_they_come_anew(tmp_path: Path) -> None:
    events = [Arrive(job("j", 0, pods=2, gpus=2)), Change(START_MS + 4000, (Remove(Node, "n0"),))]
    heard, _ = played(tmp_path, list(events))
    assert (4000, "lost", "team/j", 0) in heard.happenings
    assert (14_000, "finished", "team/j", 10_000) in heard.happenings


def test_kumi_decides_about_quota_and_the_scheduler_about_nodes(tmp_path: Path) -> None:
    quotas = FlavorQuotas("any", (("nvidia.com/gpu", Quota(4000)), ("cpu", Quota(100_000)), ("memory", Quota(2**50))))
    queue = ClusterQueue("cq", (ResourceGroup(tuple(name for name, _ in quotas.quotas), (quotas,)),))
    setting = (Namespace("team"), Flavor("any"), queue, LocalQueue("team/lq", "cq"))
    events: list[Event] = [Arrive(job(f"j{n}", n, pods=2, gpus=2, via=Via.WORKLOAD, queue="lq")) for n in range(2)]
    heard, _ = played(tmp_path, events, "", *setting)
    assert [d[:3] for d in heard.decisions if d[1] == "Admit"] == [
        (0, "Admit", "team/j0"),
        (10_000, "Admit", "team/j1"),
    ]
    assert (20_000, "finished", "team/j1", 10_000) in heard.happenings


def test_a_scheduler_that_ends_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(KumiError, match=r"the scheduler has ended \(1\); it said last:(.|\n)*this is too much"):
        played(tmp_path, [Arrive(job("j"))], "--die")


def test_a_command_that_can_not_be_started_is_told() -> None:
    load = Load("test", (), lambda: iter([]))
    with pytest.raises(KumiError, match="the scheduler can't be started"):
        ExternalRun(load, FIFO, 0, external=External("/nowhere/scheduler {kubeconfig}"))


@pytest.mark.parametrize("spent", [False, True])
def test_a_run_that_waits_for_its_first_answer_is_stopped_at_once(spent: bool) -> None:
    asked = []

    def interrupted() -> bool:
        asked.append(True)
        return not spent and len(asked) > 1

    load = Load("test", (node("n0", gpu=4),), lambda: iter([Arrive(job("j")), Arrive(job("k", 9))]))
    budget = Budget(real_s=0.0, clock=lambda: float(len(asked))) if spent else None
    external = External(name=NAME, first_s=600)
    run = ExternalRun(load, FIFO, 0, [heard := Heard()], budget, external, interrupted=interrupted)
    assert not run.advance(10)
    run.close()
    assert run.stopped == (REAL_TIME_SPENT if spent else STOPPED)
    assert (run.late, [key for key, _ in heard.waiting]) == (0, ["team/j"])


def test_the_scheduler_is_a_process_group_of_its_own_and_ends_with_the_run(tmp_path: Path) -> None:
    """A terminal's Ctrl-C is for the run alone; what the command has started ends as well."""
    told = tmp_path / "pids"
    command = f"sh -c 'sleep 600 & echo $$ $! > {told}; {sys.executable} {PEER} $0 {NAME}; true' {{kubeconfig}}"
    load = Load("test", (node("n0", gpu=4, cpu=8, memory="64Gi"),), lambda: iter([Arrive(job("j"))]))
    run = ExternalRun(load, FIFO, 0, external=External(command, NAME))
    while run.advance(10):
        pass
    shell, sleeper = map(int, told.read_text().split())
    assert os.getpgid(sleeper) == shell != os.getpgid(0)
    run.close()
    ends_s = time.monotonic() + 10
    while _runs(sleeper) and time.monotonic() < ends_s:
        time.sleep(0.01)
    assert not _runs(sleeper)


def _runs(pid: int) -> bool:
    """Neither gone nor a zombie that nobody has asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_nobody_who_answers_is_told_with_the_kubeconfig(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    load = Load("test", (node("n0", gpu=4),), lambda: iter([Arrive(job("j"))]))
    external = External(name=NAME, limit_s=0.05, first_s=0.1, kubeconfig=str(kubeconfig))
    run = ExternalRun(load, FIFO, 0, external=external)
    assert "server: https://127.0.0.1" in kubeconfig.read_text()
    with pytest.raises(KumiError, match=f"no scheduler has said anything of pods that name {NAME}(.|\n)*{kubeconfig}"):
        run.advance(10)
    run.close()
