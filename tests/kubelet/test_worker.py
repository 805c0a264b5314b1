"""One pod as real processes: what the API says, and what is left on the machine."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kumi.api.core import ConfigMap, Event
from kumi.store.sqlite import SqliteStore
from tests.kubelet.stage import Cluster, container, eventually, pod, state, status

pytestmark = pytest.mark.process


def processes(mark: str) -> list[int]:
    """The processes whose command line has that text."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                line = Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line and int(name) != os.getpid():
                found.append(int(name))
    return found


def running(found: dict[str, Any]) -> bool:
    return (found.get("status") or {}).get("phase") == "Running"


async def test_a_pod_runs_to_success_and_says_where_it_was(cluster: Cluster) -> None:
    await cluster.run(pod("p", "echo hello"))
    found = await cluster.phase("p", "Succeeded")
    ended = state(found)["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (0, "Completed")
    assert found["status"]["hostIP"] == "127.0.0.1"
    assert found["status"]["podIP"].startswith("127.")
    assert found["status"]["podIP"] != "127.0.0.1"
    assert status(found)["containerID"].startswith("kumi://")
    assert status(found)["restartCount"] == 0
    assert await cluster.log("p") == "hello\n"


async def test_an_exit_code_is_in_the_status(cluster: Cluster) -> None:
    await cluster.run(pod("p", "exit 7"))
    ended = state(await cluster.phase("p", "Failed"))["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (7, "Error")


async def test_a_signal_is_in_the_status_as_128_and_its_number(cluster: Cluster) -> None:
    await cluster.run(pod("p", "kill -USR1 $$$$"))
    ended = state(await cluster.phase("p", "Failed"))["terminated"]
    assert (ended["exitCode"], ended["signal"]) == (128 + signal.SIGUSR1, signal.SIGUSR1)


async def test_a_program_that_is_not_there_is_a_start_error(cluster: Cluster) -> None:
    await cluster.run(pod("p", {"name": "main", "image": "i", "command": ["no-such-program"]}))
    ended = state(await cluster.phase("p", "Failed"))["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
    assert ended["message"] == 'exec: "no-such-program": executable file not found in $PATH'


async def test_a_container_without_a_command_says_that_no_image_was_pulled(cluster: Cluster) -> None:
    await cluster.run(pod("p", {"name": "main", "image": "busybox"}))
    found = await cluster.until("p", lambda p: state(p).get("waiting", {}).get("message"))
    assert state(found)["waiting"] == {
        "reason": "RunContainerError",
        "message": 'image "busybox" is not pulled on this node: give the container a command',
    }
    assert found["status"]["phase"] == "Pending"


async def test_a_missing_config_map_holds_the_container_until_it_is_there(cluster: Cluster) -> None:
    source = {"configMapKeyRef": {"name": "settings", "key": "word"}}
    await cluster.run(pod("p", container("echo $WORD", env=[{"name": "WORD", "valueFrom": source}])))
    found = await cluster.until("p", lambda p: "message" in state(p).get("waiting", {}))
    assert state(found)["waiting"] == {
        "reason": "CreateContainerConfigError",
        "message": 'configmap "settings" not found',
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}}
    await cluster.client.create({**config, "data": {"word": "found"}})
    await cluster.phase("p", "Succeeded")
    assert await cluster.log("p") == "found\n"


async def test_init_containers_run_one_after_the_other_before_the_rest(cluster: Cluster) -> None:
    say = f"date +%N > /dev/null; echo $NAME >> {cluster.data_dir}/order"
    inits = [container(say, n, env=[{"name": "NAME", "value": n}]) for n in ("i1", "i2")]
    mains = container(say, env=[{"name": "NAME", "value": "main"}])
    await cluster.run(pod("p", mains, initContainers=inits))
    found = await cluster.phase("p", "Succeeded")
    assert (cluster.data_dir / "order").read_text().split() == ["i1", "i2", "main"]
    assert status(found, "i1")["ready"] is True


async def test_a_failed_init_container_fails_a_pod_that_never_restarts(cluster: Cluster) -> None:
    await cluster.run(pod("p", "echo no", initContainers=[container("exit 3", "init")]))
    found = await cluster.phase("p", "Failed")
    assert state(found, "init")["terminated"]["exitCode"] == 3
    assert state(found)["waiting"]["reason"] == "PodInitializing"


async def test_a_sidecar_is_ended_when_the_work_is_done(cluster: Cluster) -> None:
    side = container("trap 'exit 0' TERM; while :; do sleep 0.02; done", "side", restartPolicy="Always")
    await cluster.run(pod("p", "sleep 0.1", initContainers=[side]))
    found = await cluster.phase("p", "Succeeded")
    assert state(found, "side")["terminated"]["exitCode"] == 0


async def test_on_failure_a_container_runs_again_until_it_succeeds(cluster: Cluster) -> None:
    count = cluster.data_dir / "n"
    script = f"n=$(cat {count} 2>/dev/null || echo 0); echo $((n+1)) > {count}; echo try $n; [ $n -ge 2 ]"
    await cluster.run(pod("p", script, restartPolicy="OnFailure"))
    found = await cluster.phase("p", "Succeeded")
    assert status(found)["restartCount"] == 2
    assert status(found)["lastState"]["terminated"]["exitCode"] == 1
    assert await cluster.log("p") == "try 2\n"
    assert await cluster.log("p", previous=True) == "try 1\n"


async def test_a_crash_loop_is_shown_and_told(cluster: Cluster) -> None:
    await cluster.run(pod("p", "exit 1", restartPolicy="Always"))
    found = await cluster.until("p", lambda p: status(p)["restartCount"] >= 2)
    assert found["status"]["phase"] == "Running"
    await cluster.until("p", lambda p: state(p).get("waiting", {}).get("reason") == "CrashLoopBackOff")
    await cluster.machine.events.flush()
    events = await cluster.client.list(cluster.registry.scheme.of(Event), "default")
    assert "BackOff" in [e["reason"] for e in events.items]


async def test_a_deleted_pod_gets_sigterm_and_may_finish(cluster: Cluster) -> None:
    await cluster.run(pod("p", "trap 'echo bye; sleep 0.1; exit 0' TERM; echo up; while :; do sleep 0.02; done"))
    await cluster.until("p", running)
    chunks: list[bytes] = []

    async def read() -> None:
        from kumi.runtime.streams import LogOptions

        found = await cluster.get("p")
        assert found is not None
        async for piece in cluster.logs.logs(found, LogOptions(follow=True)):
            chunks.append(piece)

    reader = asyncio.create_task(read())
    await eventually(lambda: b"up" in b"".join(chunks), "the program is up")
    await cluster.delete("p")
    await asyncio.wait_for(reader, 20)
    assert b"".join(chunks).startswith(b"up\n")
    assert b"bye\n" in b"".join(chunks)
    await cluster.gone("p")


async def test_a_pod_that_ignores_sigterm_is_killed_after_its_grace(cluster: Cluster) -> None:
    await cluster.run(pod("p", "trap '' TERM; echo up; while :; do sleep 0.02; done", terminationGracePeriodSeconds=1))
    await cluster.until("p", running)
    (log,) = cluster.data_dir.glob("pods/*/main/0.log")
    await eventually(lambda: b"up" in log.read_bytes(), "it ignores SIGTERM from now on")
    seen: list[Any] = []

    async def watch() -> None:
        kind = next(k for k in cluster.registry.scheme if k.kind == "Pod")
        listing = await cluster.client.list(kind)
        async for event in cluster.client.watch(kind, revision=listing.revision):
            seen.append(event)

    watcher = asyncio.create_task(watch())
    await asyncio.sleep(0)
    await cluster.delete("p")
    await cluster.gone("p")
    await eventually(lambda: seen and seen[-1].type == "DELETED", "the deletion is told")
    watcher.cancel()
    last = seen[-1].object
    assert last["status"]["phase"] == "Failed"
    assert state(last)["terminated"]["exitCode"] == 137


async def test_a_pod_that_is_gone_from_the_api_is_killed_at_once(cluster: Cluster) -> None:
    mark = f"sleep 1000.{os.getpid()}1"
    await cluster.run(pod("p", f"trap '' TERM; {mark}; true"))
    await eventually(lambda: processes(mark.replace(" ", "\0")), "it runs")
    await cluster.delete("p", grace_seconds=0)
    await eventually(lambda: not processes(mark.replace(" ", "\0")), "it is dead")
    await cluster.gone("p")


async def test_what_a_container_left_behind_in_other_sessions_dies_with_it(cluster: Cluster) -> None:
    mark = f"1000.{os.getpid()}2"
    await cluster.run(pod("p", f"setsid sh -c 'setsid sleep {mark} & setsid sleep {mark} & sleep 0.2'; echo done"))
    await cluster.phase("p", "Succeeded")
    assert processes(mark) == []


async def test_a_pod_past_its_deadline_fails(cluster: Cluster) -> None:
    await cluster.run(pod("p", "sleep 100", activeDeadlineSeconds=1))
    found = await cluster.phase("p", "Failed")
    assert found["status"]["reason"] == "DeadlineExceeded"
    assert state(found)["terminated"]["signal"] == signal.SIGTERM


async def test_the_downward_api_and_expansion(cluster: Cluster) -> None:
    env = [
        {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "BOTH", "value": "$(NAME)-$(MISSING)-$$(NAME)"},
    ]
    await cluster.run(pod("p", {**container("", env=env), "command": ["/bin/echo"], "args": ["$(BOTH)", "$(IP)"]}))
    found = await cluster.phase("p", "Succeeded")
    assert await cluster.log("p") == f"p-$(MISSING)-$(NAME) {found['status']['podIP']}\n"


async def test_volumes_are_where_the_pod_wants_them(cluster: Cluster) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
    await cluster.client.create({**config, "data": {"word": "hello"}})
    kind = cluster.registry.scheme.of(ConfigMap)
    assert await cluster.client.get(kind, "default", "c")
    volumes = [
        {"name": "config", "configMap": {"name": "c"}},
        {"name": "data", "emptyDir": {}},
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
    ]
    mounts = [
        {"name": "config", "mountPath": "/etc/kumi-test/config"},
        {"name": "data", "mountPath": "/kumi-test-data"},
        {"name": "shm", "mountPath": "/dev/shm"},
    ]
    first = container(
        "cp /etc/kumi-test/config/word /kumi-test-data/copy; echo 1 > /dev/shm/x", "init", volumeMounts=mounts
    )
    second = container(
        "cat /kumi-test-data/copy /dev/shm/x; echo; ls /etc/passwd; cat $KUMI_VOLUME_CONFIG/word", volumeMounts=mounts
    )
    if cluster.machine.isolation == "none":
        pytest.skip("not run: this machine lets nobody mount")
    await cluster.run(pod("p", second, initContainers=[first], volumes=volumes))
    await cluster.phase("p", "Succeeded")
    assert await cluster.log("p") == "hello1\n\n/etc/passwd\nhello"
    assert "kumi-test-data" not in os.listdir("/")
    assert "kumi-test" not in os.listdir("/etc")
    assert [n for n in os.listdir("/dev/shm") if n.startswith(f"kumi-{cluster.data_dir.name}")] == []


@pytest.mark.parametrize("isolation", ["", "none"])
async def test_after_a_crash_what_runs_goes_on_and_what_ended_is_told(cluster: Cluster, isolation: str) -> None:
    go = cluster.data_dir / "go"
    await cluster.run(
        pod("goes-on", f"echo begin; while [ ! -e {go} ]; do sleep 0.02; done; echo end"),
        pod("ends", f"echo begin; while [ ! -e {go}1 ]; do sleep 0.02; done; exit 5"),
        pod("deleted", "sleep 1000"),
    )
    for name in ("goes-on", "ends", "deleted"):
        await cluster.until(name, running)
    before = await cluster.get("goes-on")
    assert before is not None
    await cluster.crash()
    go.with_name("go1").touch()
    await eventually(lambda: list(cluster.data_dir.glob("pods/*_ends_*/main/0.exit")), "it ended")
    kind = next(k for k in cluster.registry.scheme if k.kind == "Pod")
    await cluster.client.delete(kind, "default", "deleted", grace_seconds=0)
    await cluster.start()
    ended = await cluster.phase("ends", "Failed")
    assert state(ended)["terminated"]["exitCode"] == 5
    await cluster.gone("deleted")
    go.touch()
    found = await cluster.phase("goes-on", "Succeeded")
    assert status(found)["restartCount"] == 0
    assert found["status"]["podIP"] == before["status"]["podIP"]
    assert await cluster.log("goes-on") == "begin\nend\n"


async def test_after_a_stop_a_pod_that_may_restart_goes_on_at_the_next_start(cluster: Cluster) -> None:
    go = cluster.data_dir / "go"
    script = f"trap 'exit 0' TERM; echo begin; while [ ! -e {go} ]; do sleep 0.02; done"
    await cluster.run(pod("again", script, restartPolicy="OnFailure"), pod("never", script))
    for name in ("again", "never"):
        await cluster.until(name, running)
    await cluster.stop()
    assert not processes(str(go))
    for name in ("again", "never"):
        found = await cluster.get(name)
        assert found is not None
        assert found["status"]["phase"] == "Running"
    await cluster.start()
    lost = await cluster.phase("never", "Failed")
    assert lost["status"]["reason"] == "Terminated"
    assert [c["status"] for c in lost["status"]["conditions"] if c["type"] == "DisruptionTarget"] == ["True"]
    go.touch()
    found = await cluster.phase("again", "Succeeded")
    assert status(found)["restartCount"] == 0
    assert status(found)["containerID"].endswith("/1")


async def test_stops_of_the_node_are_no_restarts_and_failures_are_also_after_another_start(cluster: Cluster) -> None:
    fail, here = cluster.data_dir / "fail", cluster.data_dir / "here"
    script = f"touch {here}; while [ ! -e {fail} ]; do sleep 0.02; done; rm {fail}; exit 3"
    await cluster.run(pod("p", script, restartPolicy="OnFailure"))
    for _ in range(2):
        await eventually(here.exists, "it runs")
        here.unlink()
        await cluster.stop()
        await cluster.start()
    await eventually(here.exists, "it runs")
    fail.touch()
    await cluster.until("p", lambda p: status(p)["restartCount"] == 1, "restarted")
    await cluster.until("p", running)
    await cluster.crash()
    await cluster.start()
    found = await cluster.until("p", running)
    assert status(found)["restartCount"] == 1
    assert status(found)["containerID"].endswith("/3")


async def test_a_stop_ends_every_process_also_when_nothing_can_be_written_any_more(cluster: Cluster) -> None:
    mark = f"1000.{os.getpid()}7"
    await cluster.run(*(pod(name, f"sleep {mark} & wait") for name in ("a", "b")))
    await eventually(lambda: len(processes(f"sleep\0{mark}")) == 2, "both run")
    shutil.rmtree(cluster.data_dir / "pods")
    await cluster.stop()
    assert not processes(f"sleep\0{mark}")


async def test_a_pod_whose_directory_can_not_be_made_yet_runs_once_it_can(cluster: Cluster) -> None:
    pods = cluster.data_dir / "pods"
    pods.rmdir()
    pods.touch()
    await cluster.run(pod("p", "true"))
    await cluster.until("p", lambda p: "startTime" in p.get("status", {}), "seen")
    found = await cluster.get("p")
    assert found is not None
    assert found["status"]["phase"] == "Pending"
    pods.unlink()
    await cluster.phase("p", "Succeeded")


async def test_a_guardian_that_is_killed_takes_everything_with_it(cluster: Cluster) -> None:
    mark = f"1000.{os.getpid()}3"
    await cluster.run(pod("p", f"setsid sleep {mark} & sleep {mark}"))
    await eventually(lambda: len(processes(f"sleep\0{mark}")) == 2, "both run")
    from kumi.kubelet import records

    (run,) = cluster.data_dir.glob("pods/*/main/0.run")
    os.kill((records.read(run) or {})["pid"], signal.SIGKILL)
    found = await cluster.phase("p", "Failed")
    assert status(found)["state"]["terminated"]["reason"] == "ContainerStatusUnknown"
    await eventually(lambda: not processes(f"sleep\0{mark}"), "nothing is left")


async def test_after_kill_9_jobs_go_on(tmp_path: Path) -> None:
    data_dir = tmp_path / tmp_path.name
    data_dir.mkdir()
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-m", "tests.kubelet.harness", str(data_dir)]
    kumi = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, cwd=root)
    assert kumi.stdout is not None
    assert await asyncio.wait_for(kumi.stdout.readline(), 30) == b"up\n"
    kumi.kill()
    await kumi.wait()
    (data_dir / "go1").touch()
    await eventually(lambda: list(data_dir.glob("pods/*_ends_*/main/0.exit")), "it ended")
    store = SqliteStore.open(data_dir / "api.db")
    cluster = Cluster(data_dir, store=store)
    await cluster.delete("removed", grace_seconds=0)
    await cluster.start()
    try:
        assert state(await cluster.phase("ends", "Failed"))["terminated"]["exitCode"] == 5
        await cluster.gone("removed")
        (data_dir / "go").touch()
        assert status(await cluster.phase("goes-on", "Succeeded"))["restartCount"] == 0
        assert await cluster.log("goes-on") == "begin\nend\n"
    finally:
        await cluster.crash()
        await store.close()
        cluster.end()
