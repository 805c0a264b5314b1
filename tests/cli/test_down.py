"""`kumi down` where nothing runs; that it stops a cluster and leaves no process is tested in test_up.py."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from kumi.cli.down import command


def test_nothing_to_stop_is_no_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--data-dir", str(tmp_path)])
    assert done.exit_code == 0
    assert "no cluster runs in" in done.output
