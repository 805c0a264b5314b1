"""Where runs go: joblib's backends, those of Dask and Ray among them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from kumi.api.errors import KumiError
from kumi.evaluator.backends import lost, ready
from tests.evaluator import tiny


class Cluster:
    """What is asked of the packages of a cluster, in their place."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.there = False
        """whether this process is connected to it already"""
        self.answers = True
        self.address: str | None = None

    def client(self, address: str | None = None, **here: Any) -> Any:
        """distributed.Client"""
        if not self.answers:
            raise OSError("Timed out trying to connect")
        self.asked.append(address or here)
        return self

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.asked.append("closed")

    def get_client(self) -> Any:
        """distributed.get_client"""
        if not self.there:
            raise ValueError("No global client found and no address provided")
        return self

    def init(self, **how: Any) -> None:
        """ray.init"""
        if not self.answers:
            raise ConnectionError("Could not find any running Ray instance")
        self.asked.append("init")

    def shutdown(self) -> None:
        """ray.shutdown"""
        self.asked.append("closed")


class KilledWorker(Exception):
    """As Dask has one."""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    distributed = SimpleNamespace(Client=made.client, get_client=made.get_client, KilledWorker=KilledWorker)
    dask = SimpleNamespace(config=SimpleNamespace(get=lambda name, other: made.address))
    ray = SimpleNamespace(is_initialized=lambda: made.there, init=made.init, shutdown=made.shutdown)
    errors = {
        name: type(name, (Exception,), {}) for name in ("RayActorError", "WorkerCrashedError", "OutOfMemoryError")
    }
    modules: dict[str, Any] = {
        "distributed": distributed,
        "dask": dask,
        "ray": ray,
        "ray.util.joblib": SimpleNamespace(register_ray=lambda: None),
        "ray.exceptions": SimpleNamespace(**errors),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("joblib.parallel_config", lambda backend: nullcontext())
    return made


def test_no_more_at_once_than_there_are_runs() -> None:
    for workers, runs, at_once in ((7, 3, 3), (2, 3, 2), (None, 1, 1), (None, 10**6, os.cpu_count())):
        with ready("loky", workers, runs) as found:
            assert found == at_once


def test_a_backend_that_nobody_has_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(KumiError, match="no backend 'slurm': it may be dask, loky"), ready("slurm", 1, 1):
        pass


@pytest.mark.parametrize(
    ("backend", "module", "package"),
    [
        ("ray", "ray", "ray"),
        ("ray", "ray.util.joblib", "ray"),
        ("dask", "distributed", "dask"),
        ("dask", "dask", "dask"),
    ],
)
def test_a_backend_whose_package_is_missing_says_what_to_install(
    backend: str, module: str, package: str, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(KumiError, match=f"pip install '{package}"), ready(backend, 1, 1):
        pass


def test_without_a_cluster_dask_has_processes_of_this_machine_as_long_as_they_are_needed(cluster: Cluster) -> None:
    with ready("dask", 4, 3) as at_once:
        assert at_once == 3
        (here,) = cluster.asked
        assert here["n_workers"] == 3
        assert here["threads_per_worker"] == 1
    assert cluster.asked[1:] == ["closed"]


def test_dask_s_own_configuration_names_a_cluster(cluster: Cluster) -> None:
    cluster.address = "tcp://head:8786"
    with ready("dask", 4, 3):
        pass
    assert cluster.asked == ["tcp://head:8786", "closed"]


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_cluster_that_this_process_is_connected_to_is_used_and_left_as_it_is(backend: str, cluster: Cluster) -> None:
    cluster.there = True
    with ready(backend, 2, 3):
        pass
    assert cluster.asked == []


def test_ray_is_connected_to_and_left(cluster: Cluster) -> None:
    with ready("ray", 2, 3):
        assert cluster.asked == ["init"]
    assert cluster.asked == ["init", "closed"]
    with pytest.raises(ZeroDivisionError), ready("ray", 2, 3):
        raise ZeroDivisionError
    assert cluster.asked == ["init", "closed"] * 2


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_cluster_that_does_not_answer_is_told(backend: str, cluster: Cluster) -> None:
    cluster.answers = False
    with (
        pytest.raises(KumiError, match=rf"the {backend.capitalize()} cluster .* does not answer"),
        ready(backend, 1, 1),
    ):
        pass


@pytest.mark.parametrize("backend", ["loky", "dask", "ray"])
def test_a_worker_that_dies_is_told_and_other_errors_are_left_as_they_are(backend: str, cluster: Cluster) -> None:
    for error in lost(backend):
        with pytest.raises(KumiError, match=f"the backend {backend} lost a worker"), ready(backend, 1, 1):
            raise error
    for other in (AssertionError, TimeoutError):
        with pytest.raises(other), ready(backend, 1, 1):
            raise other


@pytest.mark.parametrize("workers", [None, 2])
def test_a_cluster_without_workers_is_told(
    workers: int | None, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody_comes(jobs: int) -> int:
        raise TimeoutError("no worker in 10 seconds")

    monkeypatch.setattr("joblib.effective_n_jobs", nobody_comes)
    with pytest.raises(KumiError, match="the backend dask has no workers: no worker in"), ready("dask", workers, 1):
        pass
    assert cluster.asked[-1] == "closed"


def test_of_other_backends_nobody_knows_how_they_lose_workers() -> None:
    assert lost("threading") == ()
    assert TerminatedWorkerError in (error for found in lost("loky") for error in found.__subclasses__())


ON_DASK = """
import sys
from distributed import Client, LocalCluster
from kumi.evaluator import evaluate, trace

if __name__ == "__main__":
    load = trace("openb", sys.argv[1], sys.argv[2], inflate=2)

    def figures(**where):
        played = evaluate(load, ["fifo", "random"], seeds=[0, 1], **where)
        return [({**one.summary, "run_s": 0}, one.jobs.table) for one in played]

    here = figures()
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster) as client:
        assert figures(backend="dask") == here
        ran = client.run(lambda: "kumi.evaluator.play" in sys.modules)
        assert list(ran.values()) == [True, True], ran
"""


@pytest.mark.process
@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs dask[distributed]")
def test_dask_s_processes_give_what_one_process_gives(tmp_path: Path) -> None:
    found = tiny.write(tmp_path)
    script = tmp_path / "on_dask.py"
    script.write_text(ON_DASK)
    subprocess.run([sys.executable, str(script), found.jobs, found.nodes], check=True, timeout=120)
