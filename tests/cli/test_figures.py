"""An experiment's figures in 80 columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kumi.cli import figures
from kumi.cli.figures import WIDTH, cell, rows
from kumi.evaluator.compare import compare
from kumi.evaluator.experiments import Experiment, run
from kumi.evaluator.play import Played
from kumi.evaluator.student import Interval
from kumi.evaluator.watch import Silent
from tests.evaluator import tiny


@pytest.mark.parametrize(
    ("mean", "half", "unit", "said"),
    [
        (8152, None, "", "8,152"),
        (0, None, "", "0"),
        (0, 0.0, "time", "0 s"),
        (4510, None, "time", "1.25 h"),
        (59.96, None, "time", "60.0 s"),
        (0.25, None, "time", "250 ms"),
        (200_000, 3600, "time", "2.31 ± 0.0417 d"),
        (93.123, 0.44, "%", "93.1 ± 0.44 %"),
        (100, None, "%", "100 %"),
        (43_772.5, None, "", "43,772"),
    ],
)
def test_a_cell_has_a_number_its_width_and_one_unit(mean: float, half: float | None, unit: str, said: str) -> None:
    assert cell(Interval(mean, half, 2), unit) == said


def summary(**more: Any) -> dict[str, Any]:
    return {"jobs": 3, "finished": 3, "never_started": 0, "wait_s": {"mean": None}, "run_s": 0.5, **more}


def test_rows_that_say_nothing_are_left_out_but_for_those_that_always_stand() -> None:
    found = {row[0]: row[1:] for row in rows({"a": [summary(preemptions=0)], "b": [summary(deadlines_missed=2)]})}
    assert found == {
        "jobs": ("3", "3"),
        "finished": ("3", "3"),
        "never started": ("0", "0"),
        "wait, mean": ("-", "-"),
        "deadlines missed": ("-", "2"),
        "took": ("500 ms", "500 ms"),
    }


def test_each_resource_has_a_row() -> None:
    allocated = {"cpu": {"mean": 1.0, "peak": 2.0}, "nvidia.com/gpu": {"mean": 3.0, "peak": 4.0}}
    found = {row[0]: row[1] for row in rows({"a": [summary(allocation_percent=allocated)]})}
    assert found["nvidia.com/gpu, mean"] == "3 %"
    assert found["cpu, peak"] == "2 %"


def test_seeds_are_a_mean_and_its_interval() -> None:
    found = dict(rows({"a": [summary(wait_s={"mean": wait}) for wait in (10.0, 20.0)]}))
    assert found["wait, mean"] == "15 ± 63.5 s"  # t(1) = 12.7, s = 7.07, n = 2


@pytest.fixture
def played(tmp_path: Path) -> list[Played]:
    policies = ("fifo", "shortest", "least-slack-preemptive", "earliest-deadline", "conservative", "fragmentation")
    experiment = Experiment(tiny.write(tmp_path), policies, (0, 1), explain="task-3")
    return [one for one in run(experiment.tasks(), Silent()) if one is not None]


def test_the_tables_fit_in_eighty_columns_and_name_every_policy(
    played: list[Played], capsys: pytest.CaptureFixture[str]
) -> None:
    figures.show(played)
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= WIDTH
    for one in played:
        assert one.policy in out
    assert "nvidia.com/gpu, peak" in out


def test_a_partial_run_is_marked_and_says_why(played: list[Played], capsys: pytest.CaptureFixture[str]) -> None:
    figures.show([replace(played[0], stopped="It was stopped."), played[2]])
    out = capsys.readouterr().out
    assert "fifo*" in out
    assert "shortest*" not in out
    assert "* fifo, seed 0, is partial: It was stopped." in out


def test_seeds_that_were_cut_short_alike_are_told_together(
    played: list[Played], capsys: pytest.CaptureFixture[str]
) -> None:
    figures.show([replace(one, stopped="It was stopped.") for one in played[:2]])
    assert "* fifo, seeds 0, 1, are partial: It was stopped." in capsys.readouterr().out


def test_where_nothing_is_whole_nothing_is_compared_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    figures.show_comparison(compare([{"policy": "a", "seed": 0, "partial": True}, {"policy": "b", "seed": 0}]))
    assert "nothing to compare" in capsys.readouterr().out


def test_what_the_reader_of_a_trace_notes_is_said_once(
    played: list[Played], capsys: pytest.CaptureFixture[str]
) -> None:
    figures.show([replace(one, notes=("two jobs have no times",)) for one in played])
    assert capsys.readouterr().out.count("note: two jobs have no times") == 1


def test_who_never_started_is_named_with_the_reason(played: list[Played], capsys: pytest.CaptureFixture[str]) -> None:
    figures.show(played)
    said = " ".join(capsys.readouterr().out.split())
    assert "never started with fifo, shortest, earliest-deadline, conservative, fragmentation: openb/task-2" in said
    assert "fragmentation: openb/task-2 and 3 more: No node takes the pod: 2 nodes are too small" in said
    assert "never started with least-slack-preemptive: openb/task-2 and 3 more: 0 of the 1 pods" in said
    figures.show([replace(one, stopped="It was stopped.") for one in played])
    assert "never started with" not in capsys.readouterr().out


def test_who_wins_is_named_with_how_much(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        {"policy": p, "seed": s, "wait_s": {"mean": 100.0 * s + more}, "finished": 3}
        for p, more in (("fifo", 60.0), ("shortest", 0.0))
        for s in (1, 2, 3)
    ]
    figures.show_comparison(compare(runs))
    assert capsys.readouterr().out.splitlines() == [
        "",
        "fifo against shortest, 3 seeds",
        "  wait_s.mean: shortest is better than fifo by 1 min",
        "  the same for all: finished",
    ]


def test_one_seed_names_nobody_and_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    waits = (("a", 1), ("b", 2), ("c", 1))
    runs = [{"policy": p, "seed": 0, "wait_s": {"mean": w}, "parameters": {"inflate": 2}} for p, w in waits]
    figures.show_comparison(compare(runs))
    out = " ".join(capsys.readouterr().out.split())
    assert "a against b against c, 1 seed, inflate=2" in out
    assert "no noise is known (one seed alone: --seeds 10), so that nobody wins" in out
    assert "wait_s.mean: a, c, 1 s" in out


def test_the_life_of_a_job_is_told_for_each_run(played: list[Played], capsys: pytest.CaptureFixture[str]) -> None:
    figures.show_explained([played[0], replace(played[2], explained=())], "task-3")
    out = capsys.readouterr().out
    assert "task-3 with fifo, seed 0" in out
    assert "00:00:30  arrived" in out
    assert "is not among the jobs of this run" in out
