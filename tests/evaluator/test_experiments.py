"""Policies x parameters x seeds: in order, the same for any number of workers, under any hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from joblib import register_parallel_backend
from joblib.parallel import BACKENDS, ParallelBackendBase

from kumi.api.errors import KumiError
from kumi.engine.model import Profile
from kumi.evaluator.experiments import Experiment, check, in_this_process, run
from kumi.evaluator.failures import SomeFailed
from kumi.evaluator.model import Arrive, Load, Policy
from kumi.evaluator.play import Played
from kumi.evaluator.watch import Progress, Silent, Slips
from tests.evaluator import tiny


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    return Experiment(tiny.write(tmp_path), ("fifo", "shortest"), (0, 1), (("inflate", (1.0, 2.0)),))


def keys(load: Load) -> list[str]:
    return [event.job.key for event in load.events() if isinstance(event, Arrive)]


def names(played: list[Played | None]) -> list[str]:
    assert all(one is not None for one in played)
    return [f"{one.label} {one.seed}" for one in played if one is not None]


def figures(played: list[Played | None]) -> list[dict[str, object]]:
    return [{key: value for key, value in one.summary.items() if key != "run_s"} for one in played if one is not None]


def test_every_policy_with_every_parameter_and_every_seed_in_that_order(experiment: Experiment) -> None:
    tasks = experiment.tasks()
    assert [task.number for task in tasks] == list(range(8))
    assert {task.of for task in tasks} == {8}
    assert [task.name for task in tasks[:5]] == [
        "fifo inflate=1.0 seed 0",
        "fifo inflate=1.0 seed 1",
        "fifo inflate=2.0 seed 0",
        "fifo inflate=2.0 seed 1",
        "shortest inflate=1.0 seed 0",
    ]


def test_the_last_parameter_turns_fastest(experiment: Experiment) -> None:
    two = Experiment(experiment.source, ("fifo",), grid=(("inflate", (1, 2)), ("compress_time", (3, 4))))
    assert [dict(task.parameters) for task in two.tasks()] == [
        {"inflate": 1, "compress_time": 3},
        {"inflate": 1, "compress_time": 4},
        {"inflate": 2, "compress_time": 3},
        {"inflate": 2, "compress_time": 4},
    ]


def test_workers_give_what_one_process_gives_in_the_same_order(experiment: Experiment, tmp_path: Path) -> None:
    tasks = experiment.tasks()
    slips = Slips(tmp_path / "slips")
    alone, two = run(tasks, Silent()), run(tasks, slips, workers=2)
    assert names(two) == names(alone) == [task.name.replace("seed ", "") for task in tasks]
    assert figures(two) == figures(alone)


def test_one_task_needs_no_other_process_and_no_joblib(experiment: Experiment) -> None:
    assert in_this_process(experiment.tasks()[:1], 8, "loky")
    assert in_this_process(experiment.tasks(), 1, "loky")
    assert not in_this_process(experiment.tasks(), 2, "loky")
    assert not in_this_process(experiment.tasks()[:1], 1, "ray")


SCRIPT = """
import sys
from kumi.cli.main import cli
cli(sys.argv[1:], standalone_mode=False)
assert ("joblib" in sys.modules) is ({workers} > 1), "joblib"
assert "rich" not in sys.modules, "rich"
"""


@pytest.mark.process
def test_files_are_byte_equal_for_any_number_of_workers_and_any_hash_seed(tmp_path: Path) -> None:
    trace = tiny.write(tmp_path)
    found = {}
    for hash_seed, workers in (("1", 1), ("2", 1), ("1", 2)):
        out = tmp_path / f"{hash_seed}-{workers}"
        said = [
            "evaluate",
            "--format",
            "openb",
            "--nodes",
            trace.nodes,
            "--jobs",
            trace.jobs,
            "--out",
            str(out),
            "--quiet",
        ]
        said += ["--policy", "random", "--policy", "drf", "--inflate", "4", "--seeds", "2", "-j", str(workers), "--csv"]
        said += ["--compare", "--explain", "task-4"]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(workers=workers), *said], check=True, env=environment, timeout=120
        )
        summary = json.loads((out / "summary.json").read_text())
        assert [(one["policy"], one["seed"]) for one in summary] == [
            ("random", 0),
            ("random", 1),
            ("drf", 0),
            ("drf", 1),
        ]
        for one in summary:
            del one["run_s"]
        files = [
            (out / name).read_bytes() for name in ("jobs.parquet", "jobs.csv", "comparison.json", "explained.json")
        ]
        found[hash_seed, workers] = (json.dumps(summary), *files)
    assert len(set(found.values())) == 1


class After:
    """Stops the experiment once it was asked so often."""

    def __init__(self, times: int) -> None:
        self.times = times

    def told(self, progress: Progress) -> None:
        pass

    def stopped(self) -> bool:
        self.times -= 1
        return self.times < 0


def test_what_was_not_begun_when_it_was_stopped_has_no_result(experiment: Experiment) -> None:
    played = run(experiment.tasks(), After(2))
    assert played[0] is not None
    assert played[-1] is None


def test_a_stop_reaches_the_workers(experiment: Experiment, tmp_path: Path) -> None:
    slips = Slips(tmp_path)
    slips.stop()
    assert run(experiment.tasks(), slips, workers=2) == [None] * 8


class FakeCluster(ParallelBackendBase):  # type: ignore[misc]
    """A backend as other packages bring one: what it is given is run when it is asked for."""

    asked: list[int] = []
    folder = Path()
    """where its workers stand"""
    supports_retrieve_callback = False
    uses_threads = True

    def configure(self, n_jobs: int = 1, parallel: object = None, **_: object) -> int:
        self.parallel = parallel
        self.asked.append(n_jobs)
        return n_jobs

    def effective_n_jobs(self, n_jobs: int) -> int:
        return 3 if n_jobs == -1 else n_jobs

    def submit(self, func: object, callback: object = None) -> object:
        class Future:
            def get(self, timeout: float | None = None) -> object:
                return self.value

        future, here = Future(), Path.cwd()
        os.chdir(self.folder)
        try:
            future.value = func()  # type: ignore[attr-defined, operator]
        finally:
            os.chdir(here)
        if callback is not None:
            callback(future)  # type: ignore[operator]
        return future

    apply_async = submit


@pytest.fixture
def cluster() -> Iterator[str]:
    register_parallel_backend("fake-cluster", FakeCluster)
    FakeCluster.asked.clear()
    FakeCluster.folder = Path()
    yield "fake-cluster"
    del BACKENDS["fake-cluster"]


def test_a_backend_that_somebody_registered_is_named_and_used(experiment: Experiment, cluster: str) -> None:
    tasks = experiment.tasks()[:3]
    played = run(tasks, Silent(), workers=7, backend=cluster)
    assert FakeCluster.asked == [3]  # no more workers than runs
    assert figures(played) == figures(run(tasks, Silent()))


def test_all_of_a_cluster_is_used_where_nobody_says_how_many(experiment: Experiment, cluster: str) -> None:
    run(experiment.tasks()[:5], Silent(), workers=None, backend=cluster)
    run(experiment.tasks()[:2], Silent(), workers=None, backend=cluster)
    assert FakeCluster.asked == [3, 2]


def test_a_cluster_is_told_whole_paths(
    experiment: Experiment, cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text("scoring: spread\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    trace = replace(experiment.source, jobs="tasks.csv", nodes="nodes.csv")  # type: ignore[type-var]
    FakeCluster.folder = tmp_path / "elsewhere"
    tasks = replace(experiment, source=trace, policies=("fifo", "mine.yaml"), grid=()).tasks()
    played = run(tasks, Silent(), backend=cluster)
    assert names(played) == ["fifo 0", "fifo 1", "mine 0", "mine 1"]


def test_a_policy_that_is_wrong_is_told_before_anything_is_played(experiment: Experiment, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("scoring: tetris\n")
    with pytest.raises(KumiError, match=r"line 1: scoring"):
        check(Experiment(experiment.source, ("fifo", str(wrong))))
    with pytest.raises(KumiError, match="no policy nobody"):
        check(Experiment(experiment.source, ("nobody",)))


def test_a_job_that_no_run_has_is_told_before_anything_is_played_with_near_ones(experiment: Experiment) -> None:
    whole = replace(experiment, grid=())
    check(replace(whole, explain="task-7"))
    with pytest.raises(KumiError, match="is it one of openb/task-7"):
        check(replace(whole, explain="tsak-7"))


def test_a_job_that_one_of_the_runs_draws_is_enough(experiment: Experiment) -> None:
    drawn = [set(keys(task.source.load(task.seed))) for task in experiment.tasks()[:4]]
    one = min(set().union(*drawn) - set.intersection(*drawn))
    check(replace(experiment, explain=one))


def test_two_policies_of_one_name_are_refused(experiment: Experiment, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for file in (tmp_path / "mine.yaml", tmp_path / "a" / "mine.yaml"):
        file.write_text("scoring: spread\n")
    with pytest.raises(KumiError, match="two policies are named mine"):
        check(Experiment(experiment.source, (str(tmp_path / "mine.yaml"), str(tmp_path / "a" / "mine.yaml"))))
    check(Experiment(experiment.source, ("fifo", Policy("mine", Profile()))))


BREAKS = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Breaks:
    @classmethod
    def configured(cls, option):
        return cls()

    def open(self, session):
        raise ValueError("boom")
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_breaks_down_takes_no_other_with_it(experiment: Experiment, tmp_path: Path, workers: int) -> None:
    (tmp_path / "breaks.py").write_text(BREAKS)
    (tmp_path / "slips").mkdir()
    slips = Slips(tmp_path / "slips")
    some = Experiment(experiment.source, ("fifo", str(tmp_path / "breaks.py"), "shortest"), (0, 1))
    with pytest.raises(SomeFailed, match=r"breaks\.py seed 0: at .* the plug-in breaks failed(.|\n)*seed 1") as failed:
        run(some.tasks(), slips, workers=workers)
    assert names(list(failed.value.played)) == ["fifo 0", "fifo 1", "shortest 0", "shortest 1"]
    assert not slips.stopped()


def test_what_goes_wrong_in_a_worker_is_told_as_plain_words_and_stops_the_others(
    experiment: Experiment, tmp_path: Path
) -> None:
    text = (tmp_path / "tasks.csv").read_text().replace("task-3,1000", "task-3,many")
    (tmp_path / "tasks.csv").write_text(text)
    (tmp_path / "slips").mkdir()
    slips = Slips(tmp_path / "slips")
    with pytest.raises(KumiError, match="line 5"):
        run(experiment.tasks(), slips, workers=2)
    assert slips.stopped()
