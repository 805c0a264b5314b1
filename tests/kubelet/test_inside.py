"""Commands inside a running container, through a real zygote."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kumi.kubelet import inside, mounts
from kumi.kubelet.process import MARK, Launcher, Process, Refused
from kumi.kubelet.sandbox_view import Plan
from kumi.kubelet.shim import Request
from tests.kubelet.stage import eventually

pytestmark = pytest.mark.process
KINDS = [
    pytest.param(mounts.MOUNT, marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can")),
    pytest.param(mounts.USER, marks=pytest.mark.needs("user namespaces")),
    pytest.param(mounts.SANDBOX, marks=pytest.mark.needs("bubblewrap")),
]


@pytest.fixture
async def launcher(tmp_path: Path) -> AsyncIterator[Launcher]:
    found = Launcher(tmp_path / "scratch")
    await found.start()
    yield found
    await found.stop()


async def start(
    launcher: Launcher, directory: Path, script: str = "sleep 60", **more: object
) -> tuple[Process, Request]:
    """A container that runs a script."""
    stem = str(directory / "0")
    given = {"PATH": os.environ["PATH"], MARK: stem, "COLOR": "blue"}
    request = Request(stem, ["/bin/sh", "-c", script], given, "/")._replace(**more)
    return await launcher.launch(request), request


def within(process: Process, request: Request, script: str) -> inside.Request:
    return inside.Request(
        list(process.who), ["/bin/sh", "-c", script], request.environment, request.working_dir, request.isolation
    )


async def run(launcher: Launcher, request: inside.Request) -> tuple[int, str]:
    """Its exit code and what it said."""
    output, end = os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        code = await launcher.run_inside(request, [nothing, end, end])
        os.set_blocking(output, False)
        try:
            return code, os.read(output, 1 << 16).decode()
        except BlockingIOError:
            return code, ""
    finally:
        os.close(output)


async def test_a_command_has_the_container_s_environment_and_directory(launcher: Launcher, tmp_path: Path) -> None:
    process, request = await start(launcher, tmp_path, working_dir="/usr")
    assert await run(launcher, within(process, request, "echo $COLOR; pwd; exit 3")) == (3, "blue\n/usr\n")
    process.kill()


@pytest.mark.parametrize("isolation", KINDS)
async def test_a_command_sees_the_container_s_mounts_and_host_name(
    launcher: Launcher, tmp_path: Path, isolation: str
) -> None:
    (tmp_path / "volume").mkdir()
    (tmp_path / "volume" / "file").write_text("inside\n")
    found = [[str(tmp_path / "volume"), "/data/of/the/pod", False]]
    staging = tmp_path / "root"
    staging.mkdir()
    plan = list(Plan(shutil.which("bwrap") or ""))
    process, request = await start(
        launcher, tmp_path, isolation=isolation, hostname="box", mounts=found, staging=str(staging), sandbox=plan
    )
    script = "cat /data/of/the/pod/file; uname -n; echo more > /data/of/the/pod/more; kill -0 $PPID 2>&1; exit 4"
    code, said = await run(launcher, within(process, request, script))
    assert (code, said.split()[:2]) == (4, ["inside", "box"])
    assert (tmp_path / "volume" / "more").read_text() == "more\n"
    process.kill()


@pytest.mark.parametrize("isolation", KINDS)
async def test_a_command_has_a_terminal_in_every_isolation(launcher: Launcher, tmp_path: Path, isolation: str) -> None:
    staging = tmp_path / "root"
    staging.mkdir()
    plan = list(Plan(shutil.which("bwrap") or ""))
    process, request = await start(
        launcher, tmp_path, isolation=isolation, hostname="box", staging=str(staging), sandbox=plan
    )
    ours, theirs = os.openpty()
    asked = within(process, request, "test -t 0 && stty size </dev/tty")._replace(terminal=True)
    assert await launcher.run_inside(asked, [theirs, theirs, theirs]) == 0
    assert os.read(ours, 100).split() == [b"0", b"0"]
    os.close(ours)
    process.kill()


async def test_a_signal_is_told_as_128_and_its_number(launcher: Launcher, tmp_path: Path) -> None:
    process, request = await start(launcher, tmp_path)
    assert (await run(launcher, within(process, request, "kill -9 $$")))[0] == 137
    process.kill()


async def test_a_program_that_is_not_there_is_refused(launcher: Launcher, tmp_path: Path) -> None:
    process, request = await start(launcher, tmp_path)
    with pytest.raises(Refused, match="executable file not found"):
        await run(launcher, within(process, request, "")._replace(argv=["no-such-program"]))
    process.kill()


async def test_a_container_that_has_ended_takes_no_command(launcher: Launcher, tmp_path: Path) -> None:
    process, request = await start(launcher, tmp_path, "exit 0")
    await process.ended()
    with pytest.raises(Refused, match="not running"):
        await run(launcher, within(process, request, "echo"))


async def test_a_command_ends_with_its_container(launcher: Launcher, tmp_path: Path) -> None:
    process, request = await start(launcher, tmp_path)
    there = tmp_path / "pid"
    command = asyncio.create_task(
        run(launcher, within(process, request, f"echo $$ > {there}.new; mv {there}.new {there}; sleep 60"))
    )
    await eventually(there.exists, "the command runs")
    process.kill()
    with pytest.raises(Refused):
        await command
    await eventually(lambda: not alive(int(there.read_text())), "the command is gone")


async def test_a_command_whose_asker_leaves_is_killed_with_all_below_it(launcher: Launcher, tmp_path: Path) -> None:
    process, request = await start(launcher, tmp_path)
    there = tmp_path / "pid"
    script = f"setsid sleep 61 & echo $! > {there}.new; mv {there}.new {there}; sleep 60"
    command = asyncio.create_task(run(launcher, within(process, request, script)))
    await eventually(there.exists, "the command runs")
    command.cancel()
    await asyncio.gather(command, return_exceptions=True)
    await eventually(lambda: not alive(int(there.read_text())), "its child is gone")
    process.kill()


async def test_what_a_command_leaves_in_the_background_goes_on_until_the_container_ends(
    launcher: Launcher, tmp_path: Path
) -> None:
    process, request = await start(launcher, tmp_path)
    code, said = await run(launcher, within(process, request, "sleep 60 >/dev/null 2>&1 & echo $!"))
    assert code == 0
    assert alive(int(said))
    process.kill()
    await eventually(lambda: not alive(int(said)), "the background is gone")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
