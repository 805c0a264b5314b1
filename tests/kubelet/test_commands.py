"""Commands in the containers of a machine."""

from __future__ import annotations

import asyncio

import pytest

from kumi.api.errors import ApiError, KumiError
from kumi.kubelet.commands import ProcessCommand, ProcessCommands
from kumi.runtime.streams import ExecOptions
from tests.kubelet.stage import Cluster, container, pod, state

pytestmark = pytest.mark.process


async def execute(cluster: Cluster, script: str, *, stdin: bool = False, terminal: bool = False) -> ProcessCommand:
    """A command in the pod `p`, which is made if it is not there."""
    if await cluster.get("p") is None:
        await cluster.run(pod("p", container("exec sleep 60", env=[{"name": "WORD", "value": "yes"}])))
    found = await cluster.until("p", lambda p: "running" in state(p), "running")
    commands = ProcessCommands()
    commands.serve(cluster.machine)
    return await commands.execute(found, ExecOptions("main", ("/bin/sh", "-c", script), stdin, terminal))


async def all_of(command: ProcessCommand, stream: str = "stdout") -> str:
    said = b""
    while piece := await command.read(stream):
        said += piece
    return said.decode()


async def test_a_command_says_things_on_two_streams_and_ends_with_a_code(cluster: Cluster) -> None:
    command = await execute(cluster, "echo $WORD; echo no >&2; exit 3")
    found = await asyncio.gather(all_of(command), all_of(command, "stderr"), command.code())
    assert found == ["yes\n", "no\n", 3]
    await command.close()


async def test_its_input_reaches_it_whole_and_ends(cluster: Cluster) -> None:
    command = await execute(cluster, "wc -c; echo end", stdin=True)
    await command.write(b"x" * 300_000)
    await command.close_input()
    assert (await all_of(command)).split() == ["300000", "end"]
    await command.close()


async def test_input_that_nobody_reads_is_lost_when_the_command_ends(cluster: Cluster) -> None:
    command = await execute(cluster, "sleep 0.1", stdin=True)
    await asyncio.wait_for(command.write(b"x" * 10_000_000), 20)
    assert await command.code() == 0
    await command.close()


async def test_a_terminal_has_a_size_and_hangs_up_with_its_command(cluster: Cluster) -> None:
    command = await execute(cluster, "read word; stty size; test -t 0 && test -t 1 && echo $word $TERM", terminal=True)
    command.resize(100, 40)
    await command.write(b"hello\n")
    words = (await all_of(command)).split()
    assert words == ["hello", "40", "100", "hello", "xterm"]
    assert await command.code() == 0
    await command.close()


async def test_what_a_command_leaves_behind_is_not_waited_for(cluster: Cluster) -> None:
    command = await execute(cluster, "sleep 60 & echo started")
    assert await all_of(command) == "started\n"
    assert await command.code() == 0
    await command.close()


async def test_a_program_that_is_not_there_is_told(cluster: Cluster) -> None:
    await (await execute(cluster, "true")).close()
    found = await cluster.get("p")
    assert found is not None
    commands = ProcessCommands()
    commands.serve(cluster.machine)
    command = await commands.execute(found, ExecOptions("main", ("no-such-program",)))
    with pytest.raises(KumiError, match="executable file not found"):
        await command.code()
    await command.close()


async def test_a_container_that_does_not_run_here_takes_none(cluster: Cluster) -> None:
    await cluster.run(pod("p", "true"))
    found = await cluster.phase("p", "Succeeded")
    commands = ProcessCommands()
    for _ in range(2):
        with pytest.raises(ApiError, match="container not found"):
            await commands.execute(found, ExecOptions("main", ("true",)))
        commands.serve(cluster.machine)
