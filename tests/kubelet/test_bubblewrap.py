"""Pods in real sandboxes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import kumi
from kumi.api.errors import KumiError
from kumi.kubelet import bubblewrap, mounts, sandbox
from kumi.kubelet.commands import ProcessCommands
from kumi.kubelet.mounts import CannotProvide
from kumi.kubelet.process import Launcher, sweep
from kumi.kubelet.sandbox_view import Plan
from kumi.kubelet.settings import NodeSettings, own_environment
from kumi.runtime.streams import ExecOptions
from tests.kubelet.stage import Cluster, container, eventually, pod, state, status

pytestmark = [pytest.mark.process, pytest.mark.needs("bubblewrap")]


class Sandboxed(Cluster):
    """One node with two GPUs, whose pods are sandboxed; `work` is the working directory."""

    def __init__(self, top: Path, **environment: str) -> None:
        self.top, self.work = top, top / "work"
        for name in ("work", "home/keys", "data"):
            (top / name).mkdir(parents=True)
        (top / "home/keys/id").write_text("secret")
        own = {**own_environment(), "HOME": str(top / "home"), "API_KEY": "secret", **environment}
        plan = sandbox.plan_of(top / "data", self.work, own)
        nodes = {"n1": NodeSettings({"nvidia.com/gpu": "2"})}
        super().__init__(top / "data", nodes, working_dir=self.work, sandbox=plan, environment=own)

    async def said(self, script: str, **spec: Any) -> str:
        """What a pod that succeeds says."""
        await self.run(pod("p", container(script, **spec.pop("main", {})), **spec))
        await self.phase("p", "Succeeded")
        return await self.log("p")


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Sandboxed]:
    found = Sandboxed(tmp_path / tmp_path.name)
    await found.start()
    yield found
    await found.crash()
    found.end()


async def test_a_pod_sees_the_machine_to_read_and_nothing_of_its_user_s(cluster: Sandboxed) -> None:
    (cluster.work / "train.py").write_text("print('trained')")
    script = f"""
        cat train.py >/dev/null && echo made > result || exit 1
        echo scratch > /tmp/{cluster.top.name}.own && echo cache > ~/.cache || exit 1
        ls -A {cluster.top}/home/keys {cluster.data_dir} 2>&1 | grep -v No
        for f in /usr/x /etc/x /x; do touch $f 2>/dev/null && echo wrote $f; done
        ls -A /tmp
        echo "${{API_KEY-none}} $(grep CapEff /proc/self/status | tr -d '\\t') $(ls -d /proc/[0-9]* | wc -l)"
    """
    said = (await cluster.said(script)).splitlines()
    assert said[-1].startswith("none CapEff:0000000000000000 "), said
    assert int(said[-1].split()[-1]) < 10, "it sees no process but its own"
    # where this very program is below /tmp, what it is made of is shown there
    shown = {Path(path).parts[2] for path in (cluster.top, sys.prefix, kumi.__file__) if Path(path).parts[1] == "tmp"}
    assert [line for line in said[:-1] if line != f"{cluster.data_dir}:" and line not in shown] == [
        f"{cluster.top.name}.own"
    ]
    assert (cluster.work / "result").read_text() == "made\n"
    assert f"{cluster.top.name}.own" not in os.listdir("/tmp")


async def test_volumes_are_at_their_places_with_sub_paths_and_read_only_ones(cluster: Sandboxed) -> None:
    wanted = [
        {"name": "e", "mountPath": "/data/deep"},
        {"name": "e", "mountPath": "/etc/app", "subPath": "a/b", "readOnly": True},
        {"name": "e", "mountPath": str(cluster.work / "inner")},
    ]
    script = """
        mkdir -p /data/deep/a/b; echo 1 > /data/deep/a/b/f
        cat /etc/app/f inner/a/b/f; touch /etc/app/g || echo no; ls /etc/passwd
    """
    said = await cluster.said(script, main={"volumeMounts": wanted}, volumes=[{"name": "e", "emptyDir": {}}])
    assert [w for w in said.splitlines() if "touch" not in w] == ["1", "1", "no", "/etc/passwd"]


async def test_a_sub_path_that_a_pod_has_made_a_link_of_leads_nowhere(cluster: Sandboxed) -> None:
    link = container(
        f"ln -s {cluster.top}/home /data/link", "first", volumeMounts=[{"name": "e", "mountPath": "/data"}]
    )
    main = container("cat /keys/keys/id", volumeMounts=[{"name": "e", "mountPath": "/keys", "subPath": "link"}])
    await cluster.run(pod("p", main, initContainers=[link], volumes=[{"name": "e", "emptyDir": {}}]))
    found = await cluster.until("p", lambda p: "waiting" in state(p) and state(p)["waiting"].get("message"), "told")
    assert "leads out" in state(found)["waiting"]["message"]


async def test_what_was_replaced_after_it_was_looked_at_is_not_mounted(
    cluster: Sandboxed, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at, other = cluster.work / "a", cluster.work / "b"
    looked_at.mkdir()
    other.mkdir()
    real = bubblewrap._start

    def start(program: str, words: list[str]) -> bubblewrap.Cell:
        looked_at.rmdir()
        looked_at.symlink_to(other)
        return real(program, words)

    monkeypatch.setattr(bubblewrap, "_start", start)
    plan = cluster.settings["sandbox"]
    with pytest.raises(CannotProvide, match="was replaced meanwhile"):
        bubblewrap.open_cell(plan, [mounts.Mount(str(looked_at), "/x")], "h")


async def test_a_host_path_is_what_the_pod_sees_anyway(cluster: Sandboxed) -> None:
    await cluster.run(
        pod("bad", "true", volumes=[{"name": "v", "hostPath": {"path": str(cluster.top / "home")}}]),
    )
    script = "ls -d /lib-of-host/python3* >/dev/null; touch /lib-of-host/x 2>/dev/null || echo read-only"
    volumes = [{"name": "v", "hostPath": {"path": "/usr/lib"}}]
    said = await cluster.said(
        script, main={"volumeMounts": [{"name": "v", "mountPath": "/lib-of-host"}]}, volumes=volumes
    )
    assert said == "read-only\n"
    found = await cluster.get("bad")
    assert found is not None
    assert found["status"]["phase"] == "Pending"


@pytest.mark.parametrize(("script", "code", "number"), [("exit 5", 5, 0), ("kill -USR2 $$$$", 140, 12)])
async def test_an_exit_is_told_as_it_was(cluster: Sandboxed, script: str, code: int, number: int) -> None:
    await cluster.run(pod("p", script))
    ended = state(await cluster.phase("p", "Failed"))["terminated"]
    assert (ended["exitCode"], ended.get("signal", 0)) == (code, number)


async def test_a_program_that_is_not_there_is_told(cluster: Sandboxed) -> None:
    await cluster.run(pod("p", {**container(""), "command": ["no-such-program"]}))
    ended = state(await cluster.phase("p", "Failed"))["terminated"]
    assert ended["reason"] == "StartError"
    assert "executable file not found" in ended["message"]


async def test_last_words_are_taken_from_the_default_path(cluster: Sandboxed) -> None:
    await cluster.run(pod("p", "echo why > /dev/termination-log; exit 1"))
    assert state(await cluster.phase("p", "Failed"))["terminated"]["message"] == "why\n"


async def test_sigterm_reaches_the_program_and_its_grace_is_kept(cluster: Sandboxed) -> None:
    await cluster.run(pod("p", f"trap 'echo bye > {cluster.work}/bye; exit 0' TERM; while :; do sleep 0.05; done"))
    await cluster.phase("p", "Running")
    await cluster.delete("p")
    await cluster.gone("p")
    assert (cluster.work / "bye").read_text() == "bye\n"


async def test_nothing_is_left_of_a_pod_whose_guardian_is_killed(cluster: Sandboxed) -> None:
    mark = f"{cluster.work}/pid"
    await cluster.run(pod("p", f"env -i setsid sleep 987 & echo $! > {mark}; wait", restartPolicy="Never"))
    await cluster.phase("p", "Running")
    (guardian,) = cluster.machine.guardians(await cluster.phase("p", "Running"))
    await eventually(Path(mark).exists, "it has a child without a mark")
    os.kill(guardian, 9)
    await cluster.phase("p", "Failed")
    words = [Path(f"/proc/{pid}/cmdline") for pid in os.listdir("/proc") if pid.isdigit()]
    assert not [w for w in words if w.exists() and b"sleep\0" + b"987" in w.read_bytes()]
    assert sweep(str(cluster.data_dir)) == 0


async def test_commands_probes_and_hooks_run_inside(cluster: Sandboxed) -> None:
    inside = f"test ! -e {cluster.top}/home/keys/id && test -e /private"
    main = container(
        "touch /private/here; exec sleep 60",
        volumeMounts=[{"name": "e", "mountPath": "/private"}],
        readinessProbe={"exec": {"command": ["/bin/sh", "-c", inside]}, "periodSeconds": 1},
        lifecycle={"postStart": {"exec": {"command": ["/bin/sh", "-c", f"{inside} && touch hooked"]}}},
    )
    await cluster.run(pod("p", main, volumes=[{"name": "e", "emptyDir": {}}]))
    found = await cluster.until("p", lambda p: status(p).get("ready"), "ready")
    assert (cluster.work / "hooked").exists()
    commands = ProcessCommands()
    commands.serve(cluster.machine)
    script = f"{inside}; echo $? $(grep CapEff /proc/self/status); kill -9 $$"
    command = await commands.execute(found, ExecOptions("main", ("/bin/sh", "-c", script)))
    said = b""
    while piece := await command.read("stdout"):
        said += piece
    assert said.split() == [b"0", b"CapEff:", b"0" * 16]
    assert await command.code() == 137
    await command.close()


async def test_a_container_goes_on_over_a_restart_and_is_joined_as_it_was_started(cluster: Sandboxed) -> None:
    await cluster.run(pod("p", "exec sleep 60"))
    await cluster.phase("p", "Running")
    await cluster.crash()
    cluster.settings = {key: value for key, value in cluster.settings.items() if key != "sandbox"}
    await cluster.start()
    found = await cluster.until("p", lambda p: "running" in state(p), "running")
    commands = ProcessCommands()
    commands.serve(cluster.machine)
    await eventually(lambda: cluster.machine.guardians(found), "taken over")
    command = await commands.execute(found, ExecOptions("main", ("ls", str(cluster.top / "home" / "keys"))))
    assert await command.code() != 0
    await command.close()


async def test_a_pod_has_the_variables_of_its_gpus_and_none_of_the_device_nodes_of_others(cluster: Sandboxed) -> None:
    main = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    said = await cluster.said("echo $CUDA_VISIBLE_DEVICES; ls /dev", main=main)
    words = said.split()
    assert words[0] == "0"
    assert {"null", "shm", "pts"} <= set(words)
    others = {name for name in os.listdir("/dev") if name.startswith(("sd", "vd", "nvidia1", "kvm", "mem"))}
    assert not others & set(words)


async def test_where_no_sandbox_can_be_had_the_machine_does_not_start(tmp_path: Path) -> None:
    false = tmp_path / "bwrap"
    false.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    false.chmod(0o755)
    launcher = Launcher(tmp_path / "scratch")
    try:
        with pytest.raises(KumiError, match=r"does not work here .*No permissions.*sysctl"):
            await asyncio.wait_for(launcher.start(Plan(str(false))), 30)
    finally:
        await launcher.stop()
