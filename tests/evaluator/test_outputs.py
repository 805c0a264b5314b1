"""What an experiment leaves in its folder."""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kumi.api.errors import KumiError
from kumi.evaluator.compare import compare
from kumi.evaluator.experiments import Experiment, run
from kumi.evaluator.outputs import Wanted, prepare, write
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


def test_where_one_file_can_not_be_written_all_are_as_they_were(
    played: list[Played], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    write(out, played[:1], Wanted(report=True))
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(path: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(KumiError, match=r"can't be written to .*report\.html\): No space left on device.*--out"):
        write(out, played, Wanted(report=True))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_what_an_earlier_experiment_left_goes_and_what_others_wrote_stays(played: list[Played], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    everything = Wanted(csv=True, report=True, metrics=True)
    many = names(write(out, played, everything, compare([one.summary for one in played])))
    assert sorted(path.name for path in out.iterdir()) == sorted(many)
    (out / "theirs.txt").write_text("notes")
    plain = [replace(one, explained=()) for one in played]
    kept = names(write(out, plain, Wanted()))
    assert sorted(path.name for path in out.iterdir()) == sorted(["theirs.txt", *kept])
    theirs = {"jobs.csv": "name,cpus\n", "report.html": "<html>", "metrics.prom": "up 1\n", "comparison.json": "[]"}
    for name, text in theirs.items():
        (out / name).write_text(text)
    write(out, plain, Wanted())
    assert {name: (out / name).read_text() for name in theirs} == theirs


def test_a_folder_that_can_not_hold_the_results_is_told_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KumiError, match=r"can't be written to .*file.inside"):
        prepare(tmp_path / "file" / "inside", ["summary.json"])
    (tmp_path / "summary.json").mkdir()
    with pytest.raises(KumiError, match=r"summary\.json is to be written, and is a folder"):
        prepare(tmp_path, ["jobs.parquet", "summary.json"])
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("")
    with pytest.raises(KumiError, match=r"jobs\.csv is to be written, and is read"):
        prepare(tmp_path, ["jobs.csv"], [str(jobs)])
    prepare(tmp_path / "new" / "folder", ["jobs.csv"], [str(jobs)])
    assert list((tmp_path / "new" / "folder").iterdir()) == []
