"""Tables read back: one row a job, a pod and a bucket, in Parquet and in CSV, run after run."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyarrow import parquet

from kumi.evaluator.tables import Table, table
from tests.evaluator.told import Told, shape, small


def rows(path: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = parquet.read_table(path).to_pylist()
    return found


def written(folder: Path, name: str, *policies: str) -> Path:
    path = folder / name
    with Table(path, name.partition(".")[0]) as into:  # type: ignore[arg-type]
        for policy in policies:
            into.add(small().facts, policy, 7)
    return path


def test_a_job_is_a_row_of_all_that_is_known_of_it(tmp_path: Path) -> None:
    found = {row["job"]: row for row in rows(written(tmp_path, "jobs.parquet", "fifo"))}
    second = found["default/second"]
    started = datetime(2026, 1, 1, tzinfo=UTC)
    assert second == {
        "policy": "fifo", "seed": 7, "job": "default/second", "namespace": "default", "tenant": "blue", "queue": "gold",
        "outcome": "finished", "why": None, "priority": 0, "pods": 1, "cpu_cores": 0, "memory_bytes": 0, "gpus": 1, "other": "",
        "arrival": started, "first_start": started, "last_start": started.replace(second=50),
        "end": started.replace(minute=1, second=25), "deadline": None, "work_ms": 50_000, "said_ms": None, "wait_ms": 0,
        "queued_ms": 30_000, "ran_ms": 55_000, "jct_ms": 85_000, "tardiness_ms": None, "slowdown": 1.7,
        "bounded_slowdown": 1.7, "preemptions": 1, "node_losses": 0, "lost_ms": 5_000, "wasted_ms": 5_000,
        "deadline_met": None, "node": "n2",
    }  # fmt: skip


def test_a_job_that_never_ran_says_why_and_has_no_times(tmp_path: Path) -> None:
    giant = next(row for row in rows(written(tmp_path, "jobs.parquet", "fifo")) if row["job"] == "default/giant")
    assert (giant["outcome"], giant["why"]) == ("waiting", "no node has 64 of nvidia.com/gpu")
    assert [giant[name] for name in ("first_start", "end", "wait_ms", "jct_ms", "slowdown", "node")] == [None] * 6
    assert giant["deadline_met"] is False


def test_runs_follow_each_other_in_one_file(tmp_path: Path) -> None:
    found = rows(written(tmp_path, "jobs.parquet", "fifo", "drf"))
    assert [row["policy"] for row in found] == ["fifo"] * 4 + ["drf"] * 4


def test_csv_has_the_same_rows(tmp_path: Path) -> None:
    with written(tmp_path, "jobs.csv", "fifo", "drf").open(newline="") as lines:
        found = list(csv.DictReader(lines))
    assert [row["job"] for row in found] == ["default/first", "default/second", "default/giant", "default/third"] * 2
    assert (found[1]["policy"], found[1]["jct_ms"], found[2]["end"]) == ("fifo", "85000", "")


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
    files = [written(tmp_path / name, "jobs.parquet", "fifo").read_bytes() for name in ("a", "b")]
    assert files[0] == files[1]


def test_a_pod_on_a_node_is_a_row(tmp_path: Path) -> None:
    found = rows(written(tmp_path, "placements.parquet", "fifo"))
    assert [(row["job"], row["node"], row["gpus"]) for row in found] == [
        ("default/first", "n1", 2),
        ("default/second", "n2", 1),
        ("default/third", "n2", 1),
        ("default/second", "n2", 1),
    ]


def test_devices_are_named_where_somebody_says_which() -> None:
    told = Told()
    told.place(told.job("a", 0, gpus=2, pods=2), 0, "n1", "n1", devices=((0, 3), (1, 2)))
    told.place(told.job("b", 0), 0, "n2")
    assert table(told.close(5), "placements", "p", 0)["devices"].to_pylist() == ["0,3", "1,2", None]


def test_a_pod_that_is_still_there_has_no_end() -> None:
    told = Told()
    told.start(told.job("a", 0, runs=None), 0, "n1")
    assert table(told.close(5), "placements", "p", 0)["to"].to_pylist() == [None]


def test_a_bucket_of_a_series_is_a_row(tmp_path: Path) -> None:
    found = rows(written(tmp_path, "series.parquet", "fifo"))
    running = [row for row in found if row["series"] == "running"]
    assert len(running) == 599, "100 s in buckets of 167 ms"
    assert running[0]["mean"] == 2
    assert {row["label"] for row in found if row["series"] == "dominant_share"} == {"red", "blue"}


@pytest.mark.parametrize("which", ["jobs", "placements", "series"])
def test_a_run_without_jobs_has_the_same_columns(which: str) -> None:
    empty, full = table(Told().close(1), which, "p", 0), table(small().facts, which, "p", 0)  # type: ignore[arg-type]
    assert empty.schema.names == full.schema.names
    assert empty.schema.types == full.schema.types


def test_resources_that_have_no_column_are_named() -> None:
    told = Told()
    told.job("a", 0, shape=shape(0, cpu=2), pods=3)
    odd = shape(1)
    told.job("b", 0, shape=odd.__class__((*odd.requests, ("example.com/fpga", 2000), ("ephemeral-storage", 5))))
    found = table(told.close(1), "jobs", "p", 0)
    assert found["cpu_cores"].to_pylist() == [6, 0]
    assert found["other"].to_pylist() == ["", "ephemeral-storage=5,example.com/fpga=2"]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"jobs\.xls: a table is"):
        Table(tmp_path / "jobs.xls", "jobs")


def test_many_rows_come_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kumi.evaluator.tables.ROWS", 3)
    assert parquet.ParquetFile(written(tmp_path, "jobs.parquet", "fifo", "drf")).num_row_groups == 4
