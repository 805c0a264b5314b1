"""How far runs are, on standard error."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from kumi.cli import progress as shown_module
from kumi.cli.progress import Shown, interruptible, line
from kumi.evaluator.watch import Progress, Slips

HALF = Progress(0, "fifo seed 0", 5_000, 0, 10_000, 93_784_000, 2_000)


def test_a_line_has_virtual_time_speed_and_the_expected_end() -> None:
    assert line(HALF) == "1d 02:03:04 played, 2,500 events/s, 00:00:02 to go"


def test_where_nobody_knows_the_end_none_is_said() -> None:
    assert line(Progress(0, "x", 5, 0, None, 1000, 1000)) == "00:00:01 played, 5 events/s"


def test_a_short_run_says_nothing_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Shown(terminal=False)
    shown.told(HALF)
    shown.close()
    assert capsys.readouterr() == ("", "")


def test_a_long_run_says_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown_module, "EVERY_S", 0.0)
    Shown(terminal=False).told(HALF)
    assert capsys.readouterr() == ("", f"fifo seed 0: {line(HALF)}\n")


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_module, "EVERY_S", 0.0)
    monkeypatch.setattr(shown_module, "AFTER_S", 0.0)
    for terminal in (True, False):
        shown = Shown(quiet=True, terminal=terminal)
        shown.told(HALF)
        shown.stop()
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_bar_a_run_on_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown_module, "AFTER_S", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    shown = Shown(terminal=True)
    shown.told(HALF)
    shown.told(Progress(1, "easy seed 0", 10, 0, None, 1000, 1000))
    shown.close()
    out, err = capsys.readouterr()
    assert out == ""
    assert "fifo seed 0" in err
    assert "easy seed 0" in err


def test_the_first_ctrl_c_stops_the_runs_and_the_second_one_ends_all(tmp_path: Path) -> None:
    shown, slips = Shown(quiet=True), Slips(tmp_path)
    before = signal.getsignal(signal.SIGINT)
    with interruptible(shown, None):
        os.kill(os.getpid(), signal.SIGINT)
        assert shown.stopped()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert not slips.stopped()


def test_ctrl_c_reaches_runs_elsewhere_through_their_slips_and_their_progress_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown_module, "LOOK_S", 0.001)
    monkeypatch.setattr(shown_module, "EVERY_S", 0.0)
    shown, slips = Shown(terminal=False), Slips(tmp_path)
    with interruptible(shown, slips):
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())  # what processes inherit that begin here
        slips.told(HALF)
        while "fifo seed 0" not in capsys.readouterr().err:
            pass
        os.kill(os.getpid(), signal.SIGINT)
        while not slips.stopped():
            pass
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert shown.stopped()
