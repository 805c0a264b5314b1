"""One shim in a process of its own, without a node."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from kumi.kubelet import records
from kumi.kubelet.log_files import LIMITS, PREFIX_BYTES, Limits, files_of
from kumi.kubelet.process import Process
from kumi.kubelet.shim import KILL_ALL, Request, run

pytestmark = pytest.mark.process


class Shim:
    """A forked shim; `report` is what it said."""

    def __init__(
        self,
        directory: Path,
        script: str,
        argv: list[str] | None = None,
        working_dir: str = "/",
        log: Limits = LIMITS,
    ) -> None:
        self.stem = str(directory / "0")
        own = {"PATH": os.environ["PATH"]}
        request = Request(self.stem, argv or ["/bin/sh", "-c", script], own, working_dir, log=list(log))
        read_end, write_end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read_end)
            run(request, write_end)
        os.close(write_end)
        with open(read_end, "rb") as pipe:
            self.report: dict[str, Any] = json.loads(pipe.readline())

    def wait(self) -> records.Record:
        """How the container ended."""
        os.waitpid(self.pid, 0)
        found = records.read(f"{self.stem}.exit")
        assert found is not None
        return found

    @property
    def text(self) -> str:
        """The log without its prefixes."""
        lines = Path(f"{self.stem}.log").read_bytes().splitlines(keepends=True)
        return b"".join(x[PREFIX_BYTES:] if x[38:39] == b"F" else x[PREFIX_BYTES:-1] for x in lines).decode()


def until(path: Path) -> None:
    for _ in range(2000):
        if path.exists():
            return
        time.sleep(0.005)
    raise AssertionError(f"{path} never was there")


def test_it_reports_who_it_is_and_records_how_the_container_ended(tmp_path: Path) -> None:
    shim = Shim(tmp_path, "echo out; echo err >&2; exit 3")
    assert shim.report["pid"] == shim.pid
    ended = shim.wait()
    assert (ended["code"], ended["signal"], ended["reason"]) == (3, 0, "Error")
    assert ended["started_ms"] <= ended["finished_ms"]
    assert sorted(shim.text.split()) == ["err", "out"]


def test_output_without_a_newline_is_kept_as_it_is(tmp_path: Path) -> None:
    shim = Shim(tmp_path, "printf 'a\\nb'")
    shim.wait()
    assert shim.text == "a\nb"


def test_nothing_of_a_lot_of_output_is_lost(tmp_path: Path) -> None:
    shim = Shim(tmp_path, "seq 1 100000")
    shim.wait()
    assert shim.text == "".join(f"{n}\n" for n in range(1, 100001))


def test_sigterm_reaches_the_whole_group(tmp_path: Path) -> None:
    shim = Shim(
        tmp_path, f"sh -c 'trap \"echo inner; exit\" TERM; touch {tmp_path}/up; while :; do sleep 0.01; done' & wait"
    )
    until(tmp_path / "up")
    os.kill(shim.pid, signal.SIGTERM)
    ended = shim.wait()
    assert (ended["code"], ended["signal"]) == (143, 15)


def test_kill_all_kills_what_ignores_sigterm(tmp_path: Path) -> None:
    shim = Shim(tmp_path, f"trap '' TERM; touch {tmp_path}/up; while :; do sleep 0.01; done")
    until(tmp_path / "up")
    os.kill(shim.pid, signal.SIGTERM)
    os.kill(shim.pid, KILL_ALL)
    assert shim.wait()["signal"] == signal.SIGKILL


def test_orphans_in_other_sessions_are_killed_when_the_container_ends(tmp_path: Path) -> None:
    shim = Shim(
        tmp_path,
        f"setsid sh -c 'echo $$ > {tmp_path}/orphan; sleep 100' & while [ ! -s {tmp_path}/orphan ]; do :; done",
    )
    assert shim.wait()["code"] == 0
    assert records.stat_of(int((tmp_path / "orphan").read_text())) is None


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["nothing-such"], 'exec: "nothing-such": executable file not found in $PATH'),
        (["/no/such"], 'exec: "/no/such": stat /no/such: no such file or directory'),
        (["/etc/passwd"], 'exec: "/etc/passwd": permission denied'),
    ],
)
def test_a_program_that_can_not_be_executed_is_a_start_error(tmp_path: Path, argv: list[str], message: str) -> None:
    shim = Shim(tmp_path, "", argv)
    assert shim.report == {"failed": message}
    ended = shim.wait()
    assert (ended["code"], ended["reason"], ended["message"]) == (128, "StartError", message)


def test_a_working_directory_that_is_not_there_is_a_start_error(tmp_path: Path) -> None:
    shim = Shim(tmp_path, "true", working_dir="/no/such")
    assert "working directory" in shim.report["failed"]
    shim.wait()


def test_of_two_that_want_one_attempt_the_second_leaves(tmp_path: Path) -> None:
    records.claim(tmp_path / "0.run", {"pid": 1})
    shim = Shim(tmp_path, f"touch {tmp_path}/ran")
    os.waitpid(shim.pid, 0)
    assert shim.report == {"taken": True}
    assert not (tmp_path / "ran").exists()


def test_nothing_starts_where_the_pods_directory_is_gone(tmp_path: Path) -> None:
    home = tmp_path / "pod"
    with pytest.raises(ValueError, match="Expecting value"):  # it leaves without a word
        Shim(home / "main", f"touch {tmp_path}/ran")
    assert os.listdir(tmp_path) == []


def test_on_a_full_disk_the_end_is_told_as_soon_as_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, refused = records.claim, [1, 1]

    def full(path: str, record: records.Record) -> bool:
        if path.endswith(".exit") and refused:
            refused.pop()
            raise OSError(errno.ENOSPC, "No space left on device")
        return claim(path, record)

    monkeypatch.setattr(records, "claim", full)
    monkeypatch.setattr("kumi.kubelet.shim._FULL_DISK_S", 0.01)
    assert Shim(tmp_path, "exit 3").wait()["code"] == 3


def test_an_attempt_that_is_nobodys_has_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = records.claim

    def full(path: str, record: records.Record) -> bool:
        if path.endswith(".run"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return claim(path, record)

    with monkeypatch.context() as patch:
        patch.setattr(records, "claim", full)
        with pytest.raises(ValueError, match="Expecting value"):
            Shim(tmp_path, "exit 3")
    assert Shim(tmp_path, "exit 3").wait()["code"] == 3


def test_kill_all_reaches_also_a_shim_that_somebody_stopped(tmp_path: Path) -> None:
    shim = Shim(tmp_path, f"touch {tmp_path}/on; sleep 100")
    until(tmp_path / "on")
    os.kill(shim.pid, signal.SIGSTOP)
    process = Process.find(shim.stem)
    assert process is not None
    process.kill()
    process.close()
    assert shim.wait()["signal"] == signal.SIGKILL


def test_the_container_has_default_signals(tmp_path: Path) -> None:
    shim = Shim(tmp_path, "grep -E 'Sig(Blk|Ign)' /proc/self/status")
    shim.wait()
    masks = dict(line.split() for line in shim.text.splitlines())
    assert list(masks) == ["SigBlk:", "SigIgn:"]
    # the C library keeps two real-time signals to itself: nobody can set them, so they are as this test inherited them
    own = [n for n in range(1, 65) if n not in signal.valid_signals()]
    for mask in masks.values():
        assert int(mask, 16) & ~sum(1 << (n - 1) for n in own) == 0


def test_a_line_that_is_not_complete_is_in_the_log_while_the_container_runs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    shim = Shim(tmp_path, "printf 'Password: '; read answer < gate; echo $answer", working_dir=str(tmp_path))
    for _ in range(2000):
        if shim.text == "Password: ":
            break
        time.sleep(0.005)
    assert shim.text == "Password: "
    (tmp_path / "gate").write_text("secret\n")
    assert shim.wait()["code"] == 0
    assert shim.text == "Password: secret\n"


def test_the_log_on_disk_is_bounded_and_its_end_is_kept(tmp_path: Path) -> None:
    shim = Shim(tmp_path, "seq 100000", log=Limits(50_000, 3))
    assert shim.wait()["code"] == 0
    paths = [path for _, path in files_of(shim.stem)]
    assert len(paths) == 3
    assert sum(os.path.getsize(path) for path in paths) <= 150_000
    assert Path(paths[-1]).read_bytes().endswith(b" F 100000\n")
