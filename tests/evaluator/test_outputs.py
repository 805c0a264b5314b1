"""What an experiment leaves in its folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kumi.evaluator.compare import compare
from kumi.evaluator.experiments import Experiment, run
from kumi.evaluator.outputs import Wanted, replacing, write
from kumi.evaluator.play import Played
from kumi.evaluator.watch import Silent
from tests.evaluator import tiny


@pytest.fixture
def played(tmp_path: Path) -> list[Played]:
    experiment = Experiment(
        tiny.write(tmp_path), ("shortest", "fifo"), (1, 0), (("inflate", (8.0, 9.0)),), explain="openb/task-1"
    )
    return [one for one in run(experiment.tasks(), Silent()) if one is not None]


def names(files: Sequence[Path]) -> list[str]:
    return [file.name for file in files]


def test_the_summary_and_the_jobs_are_in_the_order_asked_for(played: list[Played], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    write(out, played, Wanted())
    summary = json.loads((out / "summary.json").read_text())
    assert [(one["policy"], one["parameters"]["inflate"], one["seed"]) for one in summary] == [
        (policy, inflate, seed) for policy in ("shortest", "fifo") for inflate in (8.0, 9.0) for seed in (1, 0)
    ]
    jobs = pq.read_table(out / "jobs.parquet").to_pylist()
    runs = list(dict.fromkeys((job["policy"], job["seed"]) for job in jobs))
    assert runs == [(one.label, one.seed) for one in played]
    assert runs[0] == ("shortest inflate=8.0", 1)
    assert len(jobs) == sum(one["jobs"] for one in summary)


def test_only_what_is_wanted_is_written_and_the_summary_comes_last(played: list[Played], tmp_path: Path) -> None:
    plain = [one for one in played[:1] if one]
    found = write(tmp_path, plain, Wanted(csv=True, report=True, metrics=True), compare([one.summary for one in plain]))
    assert names(found) == [
        "jobs.parquet",
        "jobs.csv",
        "comparison.json",
        "explained.json",
        "report.html",
        "metrics.prom",
        "summary.json",
    ]
    assert all(file.stat().st_size for file in found)
    assert not list(tmp_path.glob(".part-*"))


def test_the_records_of_a_job_say_whose_they_are(played: list[Played], tmp_path: Path) -> None:
    write(tmp_path, played, Wanted())
    first, *_ = json.loads((tmp_path / "explained.json").read_text())
    assert (first["policy"], first["seed"], first["parameters"]) == ("shortest", 1, {"inflate": 8.0})
    assert first["records"][0]["what"] == "arrived"


def test_runs_with_parameters_are_told_apart_in_the_metrics(played: list[Played], tmp_path: Path) -> None:
    write(tmp_path, played, Wanted(metrics=True))
    text = (tmp_path / "metrics.prom").read_text()
    assert 'policy="fifo inflate=8.0"' in text
    assert 'policy="fifo inflate=9.0"' in text


def test_no_run_at_all_is_an_empty_list(tmp_path: Path) -> None:
    assert names(write(tmp_path, [], Wanted(csv=True))) == ["summary.json"]
    assert json.loads((tmp_path / "summary.json").read_text()) == []


def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    path.write_text("before")

    def fails() -> None:
        with replacing(path) as part:
            part.write_text("half")
            assert path.read_text() == "before"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with replacing(path) as part:
        part.write_text("after")
    assert path.read_text() == "after"
