"""Starting, finding and ending containers through a real zygote."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kumi.kubelet import mounts, records
from kumi.kubelet.process import MARK, Launcher, Process, Refused, exit_of, stems, sweep
from kumi.kubelet.shim import Request
from tests.kubelet.stage import eventually

pytestmark = pytest.mark.process


@pytest.fixture
async def launcher(tmp_path: Path) -> AsyncIterator[Launcher]:
    found = Launcher(tmp_path / "scratch")
    await found.start()
    yield found
    await found.stop()


def request(directory: Path, script: str, attempt: int = 0) -> Request:
    stem = str(directory / str(attempt))
    return Request(stem, ["/bin/sh", "-c", script], {"PATH": os.environ["PATH"], MARK: stem}, "/")


async def test_isolation_is_found_out(launcher: Launcher) -> None:
    assert launcher.isolation in (mounts.NONE, mounts.MOUNT, mounts.USER)


async def test_a_container_is_started_and_its_end_is_known(launcher: Launcher, tmp_path: Path) -> None:
    process = await launcher.launch(request(tmp_path, "exit 4"))
    await process.ended()
    ended = exit_of(process_stem(tmp_path), 0)
    assert (ended.code, ended.lost) == (4, False)


def process_stem(directory: Path) -> str:
    return str(directory / "0")


async def test_a_container_inherits_no_descriptor_of_anybody(launcher: Launcher, tmp_path: Path) -> None:
    process = await launcher.launch(request(tmp_path, "ls /proc/self/fd; readlink /proc/self/fd/0"))
    await process.ended()
    words = [line.split()[-1] for line in (tmp_path / "0.log").read_text().splitlines()]
    assert words == ["0", "1", "2", "3", "/dev/null"]


async def test_a_refusal_uses_up_the_attempt_only_if_it_began(launcher: Launcher, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refusal:
        await launcher.launch(request(tmp_path, "")._replace(argv=["no-such-program"]))
    assert refusal.value.attempted
    with pytest.raises(Refused) as refusal:
        await launcher.launch(request(tmp_path / "no" / "such", ""))
    assert not refusal.value.attempted


async def test_containers_outlive_the_zygote_and_a_new_one_is_made(launcher: Launcher, tmp_path: Path) -> None:
    process = await launcher.launch(request(tmp_path, f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; exit 6"))
    await launcher.stop()
    again = await launcher.launch(request(tmp_path, "exit 7", attempt=1))
    await again.ended()
    assert exit_of(str(tmp_path / "1"), 0).code == 7
    found = Process.find(str(tmp_path / "0"))
    assert found is not None
    assert found.who == process.who
    (tmp_path / "go").touch()
    await found.ended()
    process.close()
    assert exit_of(str(tmp_path / "0"), 0).code == 6


async def test_a_zygote_that_is_killed_is_replaced(launcher: Launcher, tmp_path: Path) -> None:
    assert launcher._zygote is not None
    launcher._zygote.kill()
    launcher._zygote.wait()
    process = await launcher.launch(request(tmp_path, "exit 0"))
    await process.ended()


async def test_many_start_at_once(launcher: Launcher, tmp_path: Path) -> None:
    requests = [request(tmp_path, f"exit {n}", attempt=n) for n in range(40)]
    for process in await asyncio.gather(*(launcher.launch(r) for r in requests)):
        await process.ended()
    assert [exit_of(r.stem, 0).code for r in requests] == list(range(40))


async def test_signals_go_to_the_container_and_never_to_a_stranger(launcher: Launcher, tmp_path: Path) -> None:
    process = await launcher.launch(request(tmp_path, "while :; do sleep 0.01; done"))
    process.terminate()
    await process.ended()
    process.terminate()
    process.kill()
    assert exit_of(str(tmp_path / "0"), 0).signal == signal.SIGTERM


async def test_what_a_killed_guardian_leaves_is_swept(launcher: Launcher, tmp_path: Path) -> None:
    process = await launcher.launch(request(tmp_path, f"setsid sh -c 'echo $$ > {tmp_path}/orphan; sleep 100' & wait"))
    await eventually(
        lambda: (tmp_path / "orphan").exists() and (tmp_path / "orphan").read_text(), "the orphan is there"
    )
    process.destroy()
    await process.ended()
    ended = exit_of(str(tmp_path / "0"), 9)
    assert (ended.code, ended.reason, ended.lost, ended.finished_ms) == (137, "ContainerStatusUnknown", True, 9)
    orphan = int((tmp_path / "orphan").read_text())
    await eventually(lambda: sweep(str(tmp_path / "0")) == 0, "nothing carries the mark")
    found = records.stat_of(orphan)
    assert found is None or not found[1]


def test_a_start_that_was_under_way_is_found_or_never_happens(tmp_path: Path) -> None:
    assert Process.find(str(tmp_path / "0")) is None
    assert not records.claim(tmp_path / "0.run", {"pid": 1})


def test_another_process_of_the_same_id_is_not_taken_for_it(tmp_path: Path) -> None:
    records.write(tmp_path / "0.run", {"pid": os.getpid(), "ticks": 1, "boot": records.boot_id(), "started_ms": 0})
    assert Process.find(str(tmp_path / "0")) is None


def test_attempts_are_listed_in_order(tmp_path: Path) -> None:
    for name in ("10.run", "9.run", "9.log", "x.run"):
        (tmp_path / name).touch()
    assert stems(tmp_path) == [str(tmp_path / "9"), str(tmp_path / "10")]
    assert stems(tmp_path / "none") == []
