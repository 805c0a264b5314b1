"""The group of commands: quick to start, every command there, errors as one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from kumi.cli import main
from kumi.cli.main import COMMANDS, cli


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_listed_is_there_and_has_help(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.help
    assert command.name == name


def test_an_unknown_command_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kumi.cli.main", "potato"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "No such command 'potato'" in done.stderr


def test_help_imports_neither_http_nor_arrays() -> None:
    code = (
        "import sys; from kumi.cli.main import cli; cli(['--help'], standalone_mode=False);"
        "sys.exit(any(m in sys.modules for m in ('aiohttp', 'numpy', 'msgspec')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_an_error_is_one_line_and_exit_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kumi", "why", "x", "--kubeconfig", "/nowhere/kubeconfig"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("kumi: ")


def test_a_folder_that_can_t_be_made_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "argv", ["kumi", "up", "--data-dir", str(tmp_path / "file" / "below")])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == f"kumi: Not a directory: {tmp_path / 'file' / 'below'}\n"
