"""What `kumi submit` makes of its words; that it follows a job is tested where a cluster is (test_up.py)."""

from __future__ import annotations

import click
import pytest

from kumi.cli.submit import command_of, environment_of


def test_a_python_script_runs_under_python_and_anything_else_as_it_is() -> None:
    assert command_of(["train.py", "--lr", "1"]) == ["python3", "train.py", "--lr", "1"]
    assert command_of(["./run.sh", "x"]) == ["./run.sh", "x"]


def test_a_variable_has_a_value_or_takes_the_one_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "1")
    assert environment_of(["A=b=c", "HERE", "EMPTY="]) == {"A": "b=c", "HERE": "1", "EMPTY": ""}
    monkeypatch.delenv("HERE")
    with pytest.raises(click.BadParameter, match="HERE=VALUE"):
        environment_of(["HERE"])
