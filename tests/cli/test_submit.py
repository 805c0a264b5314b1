"""What `kumi submit` makes of its words; that it follows a job is tested where a cluster is (test_up.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kumi.cli import submit
from kumi.cli.submit import command, command_of, environment_of, missing_script


def test_a_python_script_runs_under_python_and_anything_else_as_it_is() -> None:
    assert command_of(["train.py", "--lr", "1"]) == ["python3", "train.py", "--lr", "1"]
    assert command_of(["./run.sh", "x"]) == ["./run.sh", "x"]


def test_a_variable_has_a_value_or_takes_the_one_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "1")
    assert environment_of(["A=b=c", "HERE", "EMPTY="]) == {"A": "b=c", "HERE": "1", "EMPTY": ""}
    monkeypatch.delenv("HERE")
    with pytest.raises(click.BadParameter, match="HERE=VALUE"):
        environment_of(["HERE"])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the command would submit: the script's words, then the options."""
    calls: list[Any] = []

    async def note(words: list[str], *rest: Any) -> int:
        calls.append((words, rest[-1]))
        return 0

    monkeypatch.setattr(submit, "_submit", note)
    return calls


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--queue q --workers 4 train.py", ["train.py"]),
        ("train.py --queue q --workers 4", ["train.py"]),
        ("train.py --lr 0.1 --queue q -w 4 data", ["train.py", "--lr", "0.1", "data"]),
        ("-q q -w 4 train.py --lr=0.1 -v", ["train.py", "--lr=0.1", "-v"]),
        ("-q q train.py -w 4 -- --queue mine -w 9", ["train.py", "--queue", "mine", "-w", "9"]),
    ],
)
def test_options_stand_before_or_after_the_script(asked: list[Any], line: str, words: list[str]) -> None:
    assert CliRunner().invoke(command, line.split()).exit_code == 0
    [(said, options)] = asked
    assert said == words
    assert (options["queue"], options["workers"]) == ("q", 4)


def test_an_unknown_option_before_the_script_is_an_error(asked: list[Any]) -> None:
    result = CliRunner().invoke(command, ["--worker", "4", "train.py"])
    assert result.exit_code == 2
    assert "--worker" in result.output
    assert asked == []


def test_a_script_that_is_not_here_is_noticed(tmp_path: Path) -> None:
    there = tmp_path / "train.py"
    assert missing_script(["python3", str(there), "x"]) == str(there)
    there.write_text("")
    assert missing_script(["python3", str(there), "x"]) == ""
    assert missing_script(["sh", "-c", "x.py"]) == ""
