"""Clients of a running container's own streams."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from kumi.api.errors import ApiError
from kumi.kubelet.attaching import Attached
from kumi.kubelet.commands import ProcessCommands
from tests.kubelet.stage import Cluster, container, pod, state

pytestmark = pytest.mark.process


async def attached(cluster: Cluster, script: str, *, looks: bool = False, **fields: bool) -> Attached:
    """To the pod `p`, which has input and runs a script."""
    if await cluster.get("p") is None:
        await cluster.run(pod("p", container(script, stdin=True, **fields)))
    found = await cluster.until("p", lambda p: "running" in state(p), "running")
    commands = ProcessCommands()
    commands.serve(cluster.machine)
    return await commands.attach(found, "main", not looks)


async def rest(client: Attached, stream: str = "stdout") -> str:
    said = b""
    async with asyncio.timeout(30):
        while piece := await client.read(stream):
            said += piece
    return said.decode()


async def test_what_is_written_reaches_the_container_and_what_it_says_the_client_and_the_log(cluster: Cluster) -> None:
    script = 'while read line; do echo "got $line"; echo "no $line" >&2; done'
    client = await attached(cluster, script, stdinOnce=True)
    await client.write(b"one\ntwo\n")
    await client.close_input()
    found = await asyncio.gather(rest(client), rest(client, "stderr"), client.code())
    assert found == ["got one\ngot two\n", "no one\nno two\n", 0]
    await client.close()
    await cluster.phase("p", "Succeeded")
    assert (await cluster.log("p")).count("got") == 2


async def test_a_large_input_comes_whole(cluster: Cluster) -> None:
    client = await attached(cluster, "wc -c", stdinOnce=True)
    await client.write(b"x" * 2_000_000)
    await client.close_input()
    assert (await rest(client)).strip() == "2000000"
    await client.close()


async def test_a_container_goes_on_when_its_clients_leave_and_takes_new_ones(cluster: Cluster) -> None:
    script = "read a; echo $a; read b; echo $b"
    first = await attached(cluster, script)
    await first.write(b"first\n")
    assert await first.read("stdout") == b"first\n"
    await first.close()
    second = await attached(cluster, script)
    await second.write(b"second\n")
    assert await rest(second) == "second\n"
    await second.close()


async def test_a_terminal_has_the_client_s_size_and_shows_a_prompt_at_once(cluster: Cluster) -> None:
    script = "test -t 0 && test -t 2 && printf 'name? '; read name; stty size; echo $name $TERM"
    client = await attached(cluster, script, tty=True)
    client.resize(100, 40)
    await client.write(b"kumi\n")
    words = (await rest(client)).split()
    assert [word for word in words if word != "name?"] == ["kumi", "40", "100", "kumi", "xterm"]
    await client.close()


async def test_a_client_may_only_look(cluster: Cluster) -> None:
    script = "while ! test -e go; do sleep 0.02; done; echo seen"
    client = await attached(cluster, script, looks=True)
    await client.write(b"nobody reads this")
    (cluster.data_dir / "go").touch()
    assert await rest(client) == "seen\n"
    await client.close()


async def test_a_container_that_has_ended_or_was_never_here_is_not_found(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.run(pod("p", "true"))
    found = await cluster.phase("p", "Succeeded")
    commands = ProcessCommands()
    for _ in range(2):
        with pytest.raises(ApiError, match="container not found"):
            await commands.attach(found, "main", False)
        commands.serve(cluster.machine)
    with pytest.raises(FileNotFoundError):
        await Attached.to(os.fspath(tmp_path / "0"), False)
