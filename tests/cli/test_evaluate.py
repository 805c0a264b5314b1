"""`kumi evaluate`, from the command line to the files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow.parquet as pq
import pytest

from kumi.api.errors import KumiError
from kumi.cli.main import cli, main
from tests.evaluator import tiny

FIELDS = [
    "policy",
    "seed",
    "jobs",
    "finished",
    "never_started",
    "makespan_s",
    "wait_s",
    "jct_s",
    "allocation_percent",
    "deadlines_met",
    "deadlines_missed",
    "preemptions",
    "lost_work_s",
    "jain_fairness",
    "decisions",
    "run_s",
]
Evaluate = Callable[..., int]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """Runs the command on a small trace; its exit status."""
    made = tiny.write(tmp_path, tasks=30)

    def run(*words: str) -> int:
        try:
            cli(
                ["evaluate", "--format", "openb", "--nodes", made.nodes, "--jobs", made.jobs, "-j", "1", *words],
                standalone_mode=False,
            )
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    return run


def summary(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((out / "summary.json").read_text())
    return found


def test_the_folder_has_a_summary_of_each_run_and_all_jobs(evaluate: Evaluate, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    assert evaluate("--policy", "shortest", "--policy", "fifo", "--seeds", "2", "--out", str(out)) == 0
    runs = summary(out)
    assert [(run["policy"], run["seed"]) for run in runs] == [
        ("shortest", 0),
        ("shortest", 1),
        ("fifo", 0),
        ("fifo", 1),
    ]
    assert list(runs[0])[: len(FIELDS)] == FIELDS
    assert set(runs[0]["wait_s"]) == {"mean", "p50", "p95", "p99", "max"}
    assert runs[0]["allocation_percent"]["nvidia.com/gpu"]["peak"] == 100
    assert pq.read_table(out / "jobs.parquet").num_rows == 4 * 30
    assert sorted(path.name for path in out.iterdir()) == ["jobs.parquet", "summary.json"]


def test_everything_else_is_written_where_it_is_asked_for(evaluate: Evaluate, tmp_path: Path) -> None:
    words = (
        "--policy",
        "fifo",
        "--policy",
        "easy",
        "--report",
        "--metrics",
        "--csv",
        "--compare",
        "--explain",
        "task-1",
    )
    assert evaluate(*words, "--out", str(tmp_path / "out")) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "comparison.json",
        "explained.json",
        "jobs.csv",
        "jobs.parquet",
        "metrics.prom",
        "report.html",
        "summary.json",
    ]


def test_without_a_folder_the_figures_are_only_shown(
    evaluate: Evaluate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    assert evaluate("--policy", "fifo") == 0
    assert "nvidia.com/gpu, peak" in capsys.readouterr().out
    assert sorted(tmp_path.iterdir()) == before


def test_json_has_the_runs_the_comparison_and_the_job(evaluate: Evaluate, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate("--policy", "fifo", "--policy", "easy", "--compare", "--explain", "task-1", "-o", "json")
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert list(found) == ["runs", "comparison", "explained"]
    assert [run["policy"] for run in found["runs"]] == ["fifo", "easy"]
    assert found["explained"][0]["records"][-1]["what"] == "finished"
    assert err == ""


def test_quiet_shows_nothing_but_what_was_asked_for(evaluate: Evaluate, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate("--policy", "fifo", "--quiet")
    assert capsys.readouterr() == ("", "")
    evaluate("--policy", "fifo", "--quiet", "--explain", "task-1")
    assert "task-1 with fifo" in capsys.readouterr().out


def test_a_budget_that_is_used_up_is_no_error_and_is_said(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("--policy", "fifo", "--max-virtual", "50s") == 0
    assert "is partial: The run's budget of virtual time was used up." in capsys.readouterr().out


def test_metrics_are_sent_to_a_receiver(evaluate: Evaluate, capsys: pytest.CaptureFixture[str]) -> None:
    got: list[tuple[str, int]] = []

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((self.path, len(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/api/v1/write"
        try:
            assert evaluate("--policy", "fifo", "--remote-write", url) == 0
        finally:
            server.shutdown()
            thread.join()
    assert got[0][0] == "/api/v1/write"
    assert f"samples sent to {url}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--policy", "nobody"), "kumi: there is no policy nobody"),
        (("--policy", "fifo", "--explain", "tsak-1"), "is it one of openb/task-1"),
        (("--policy", "fifo", "--backend", "slurm"), "joblib has no backend 'slurm'"),
        (("--set", "colour=red"), "a trace has no parameter 'colour'"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_status_1(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = tiny.write(tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["kumi", "evaluate", "--format", "openb", "--nodes", made.nodes, "--jobs", made.jobs, *words]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert said in capsys.readouterr().err


def test_a_line_of_a_trace_that_is_wrong_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tiny.write(tmp_path)
    path = Path(made.jobs)
    path.write_text(path.read_text().replace("task-3,1000", "task-3,many"))
    monkeypatch.setattr(
        sys, "argv", ["kumi", "evaluate", "--format", "openb", "--nodes", made.nodes, "--jobs", made.jobs]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert f"{path}, line 5, column cpu_milli" in capsys.readouterr().err


BREAKS = tiny.plug_in('raise ValueError("boom")')


def test_a_plug_in_that_breaks_is_named_and_takes_no_other_results_with_it(
    evaluate: Evaluate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin, out = tmp_path / "order.py", tmp_path / "out"
    plugin.write_text(BREAKS)
    assert evaluate("-p", "fifo", "-p", str(plugin), "-p", "easy", "--compare", "--out", str(out)) == 1
    told = capsys.readouterr().err
    assert f"order.py seed 0: at 00:00:00 the plug-in order failed ({plugin}, line 11): ValueError: boom" in told
    assert "Traceback" not in told
    assert [run["policy"] for run in summary(out)] == ["fifo", "easy"]
    assert not (out / "comparison.json").exists()
    plugin.write_text(BREAKS.replace('raise ValueError("boom")', "return self"))
    assert evaluate("-p", "fifo", "-p", str(plugin), "-p", "easy", "--compare", "--out", str(out), "--resume") == 0
    assert [run["policy"] for run in summary(out)] == ["fifo", "order", "easy"]


def test_where_no_run_gave_anything_nothing_is_written(
    evaluate: Evaluate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin, out = tmp_path / "order.py", tmp_path / "out"
    plugin.write_text(BREAKS)
    assert evaluate("-p", str(plugin), "--out", str(out)) == 1
    assert not (out / "summary.json").exists()
    assert capsys.readouterr().out == ""


def test_ctrl_c_before_a_run_began_is_told_in_a_line(
    evaluate: Evaluate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"

    def pressed(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("kumi.evaluator.experiments.check", pressed)
    assert evaluate("--out", str(out)) == 130
    assert capsys.readouterr().err == "kumi: interrupted: no results were written\n"
    assert not out.exists()
    monkeypatch.undo()
    monkeypatch.setattr("kumi.cli.progress.Shown.stopped", lambda *_: True)
    assert evaluate("--out", str(out)) == 130
    assert capsys.readouterr().err == "kumi: interrupted before any run began: no results were written\n"
    assert not (out / "summary.json").exists()


def test_a_folder_that_can_not_hold_the_results_is_told_before_anything_is_played(
    evaluate: Evaluate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kumi.evaluator.experiments.run", lambda *_: pytest.fail("it was played"))
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    with pytest.raises(KumiError, match=r"report\.html is to be written, and is a folder"):
        evaluate("--report", "--out", str(tmp_path / "out"))


SLOWLY = """
import sys
from kumi.evaluator import play
play.FIRST_EVENTS = play.MOST_EVENTS = 200
play.SAVE_MS = 0
from kumi.cli.main import main
main()
"""
"""the command, saving a run after every few events"""


def begin(folder: Path, *words: str) -> subprocess.Popen[str]:
    """The command in a process of its own, on a trace of some seconds."""
    made = tiny.write(folder, tasks=20_000, lasts_s=5, most=2)
    said = ["evaluate", "--format", "openb", "--nodes", made.nodes, "--jobs", made.jobs, "--out", str(folder / "out")]
    return subprocess.Popen(
        [sys.executable, "-c", SLOWLY, *said, "--policy", "fifo", "--policy", "spread", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )


def wait_until_it_plays(process: subprocess.Popen[str], folder: Path) -> None:
    """Until a run is saved, or one in another process tells how far it is."""
    end = time.monotonic() + 60
    while not list(folder.glob("out/.checkpoints/*.spent")) + list(folder.glob("kumi-evaluate-*/*.json")):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.process
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_leaves_what_was_played_and_says_that_it_is_partial(tmp_path: Path, workers: str) -> None:
    process = begin(tmp_path, "-j", workers, "--report")
    wait_until_it_plays(process, tmp_path)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "interrupted" in said
    assert "--resume goes on" in said
    runs = summary(tmp_path / "out")
    assert runs
    assert all(run["partial"] and run["stopped"] == "It was stopped." for run in runs)
    assert all(0 < run["jobs"] < 20_000 for run in runs)
    assert (tmp_path / "out" / "report.html").exists()
    assert pq.read_table(tmp_path / "out" / "jobs.parquet").num_rows == sum(run["jobs"] for run in runs)


@pytest.mark.process
def test_a_run_that_was_killed_goes_on_and_comes_to_the_same(tmp_path: Path) -> None:
    limit = ("--max-virtual", "1h")
    process = begin(tmp_path, "-j", "1", *limit)
    wait_until_it_plays(process, tmp_path)
    process.kill()
    process.communicate()
    assert not (tmp_path / "out" / "summary.json").exists()
    again = begin(tmp_path, "-j", "1", *limit, "--resume")
    said, _ = again.communicate(timeout=60)
    assert again.returncode == 0, said
    fresh = tmp_path / "fresh"
    whole = begin(tmp_path, "-j", "1", *limit, "--out", str(fresh))
    assert whole.wait(timeout=60) == 0
    whole.communicate()
    assert [{**run, "run_s": 0} for run in summary(tmp_path / "out")] == [{**run, "run_s": 0} for run in summary(fresh)]
    assert (tmp_path / "out" / "jobs.parquet").read_bytes() == (fresh / "jobs.parquet").read_bytes()
    assert not (tmp_path / "out" / ".checkpoints").exists()


def test_what_a_policy_says_in_vain_is_told_once(
    evaluate: Evaluate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "mine.yaml"
    policy.write_text("tiers: [{plugins: [{name: gang}, {name: extender}]}]\n", "utf-8")
    assert evaluate("--policy", str(policy), "--quiet") == 0
    told = f"kumi: the policy {policy}, line 1: tiers[0].plugins[1].name: extender is not served here: it has no say\n"
    assert capsys.readouterr().err == told
