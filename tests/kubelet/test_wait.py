from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kumi.kubelet.wait import INIT_COMMAND, resolves, wait_for


def test_a_name_that_resolves_ends_the_wait() -> None:
    assert resolves("localhost")
    assert wait_for("localhost", 0) == 0


def test_a_name_in_the_hosts_file_of_the_pod_resolves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hosts").write_text("127.9.0.2 job-master-0 other\n")
    monkeypatch.setenv("KUMI_HOSTS", str(tmp_path / "hosts"))
    assert resolves("job-master-0")
    assert not resolves("master-0.invalid")


def test_a_name_that_never_resolves_ends_with_1_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert wait_for("nobody.invalid", 0) == 1
    assert "did not resolve" in capsys.readouterr().err


@pytest.mark.process
def test_the_command_needs_nothing_but_the_interpreter() -> None:
    done = subprocess.run([*INIT_COMMAND, "localhost"], env={}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert subprocess.run([*INIT_COMMAND], env={}, capture_output=True, check=False).returncode == 1
