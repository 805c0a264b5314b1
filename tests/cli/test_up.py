"""`kumi up`, by hand and with kubectl: what a small lab does with one machine."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import psutil
import pytest

from kumi.cli.instance import holder, starter
from kumi.cli.up import DESCRIPTORS, _allow_connections, gpu_count, last_words, usage, warnings
from kumi.kubelet.records import Who

pytestmark = pytest.mark.process

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: pool}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: door, namespace: default}
spec: {clusterQueue: pool}
"""


def job(name: str, command: str, queue: str = "door", **spec: Any) -> str:
    container = {
        "name": "main",
        "image": "none",
        "command": ["sh", "-c", command],
        "resources": {"requests": {"cpu": "2"}},
    }
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    metadata = {"name": name, "labels": {"kueue.x-k8s.io/queue-name": queue}}
    return json.dumps(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template, **spec}}
    )


def why(cluster: Any, name: str, word: str) -> str:
    """What `kumi why` says, once it says that word."""
    said: str = cluster.kumi("why", name).stdout
    return said if word in said else ""


def processes_of(cluster: Any) -> list[psutil.Process]:
    """Every process that carries the cluster's folder in its command or environment, kumi's own but this test's."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(cluster.working_dir) == process.cwd() and process.pid != os.getpid():
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.needs("kubectl")
def test_a_queued_job_runs_and_frees_its_quota_for_the_next(cluster: Any) -> None:
    cluster.up("--cpus", "4")
    cluster.kubectl("apply", "-f", "-", stdin=QUEUES)
    cluster.kubectl("apply", "-f", "-", stdin=job("a", "while [ ! -e go ]; do sleep 0.1; done; echo done a"))
    cluster.kubectl("wait", "--for=jsonpath={.status.active}=1", "job/a", "--timeout=30s")
    cluster.kubectl("apply", "-f", "-", stdin=job("b", "echo done b"))
    said = cluster.until(10, lambda: why(cluster, "b", "quota"))
    assert len(said.splitlines()) == 2
    assert "2 cpu" in said
    (cluster.working_dir / "go").touch()
    cluster.kubectl("wait", "--for=condition=complete", "job/a", "job/b", "--timeout=30s")
    assert cluster.kubectl("logs", "job/b").stdout == "done b\n"
    workloads = json.loads(cluster.kubectl("get", "workloads", "-o", "json").stdout)["items"]
    finished = [[c["status"] for c in w["status"]["conditions"] if c["type"] == "Finished"] for w in workloads]
    assert finished == [["True"], ["True"]]


@pytest.mark.needs("kubectl")
def test_a_crash_loses_nothing_and_the_job_goes_on(cluster: Any) -> None:
    cluster.up("--cpus", "2")
    cluster.kubectl("apply", "-f", "-", stdin=QUEUES)
    cluster.kubectl(
        "apply", "-f", "-", stdin=job("long", "echo begin; while [ ! -e go ]; do sleep 0.1; done; echo end")
    )
    cluster.until(20, lambda: "begin" in cluster.kubectl("logs", "job/long", ok=False).stdout)
    pid = json.loads((cluster.data_dir / "server.json").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=10)
    assert cluster.kumi("status", ok=False).returncode == 3
    cluster.up("--cpus", "2")
    (cluster.working_dir / "go").touch()
    cluster.kubectl("wait", "--for=condition=complete", "job/long", "--timeout=30s")
    assert cluster.kubectl("logs", "job/long").stdout == "begin\nend\n"
    [pod] = json.loads(cluster.kubectl("get", "pods", "-o", "json").stdout)["items"]
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0


@pytest.mark.needs("kubectl")
def test_down_leaves_no_process_and_the_next_up_goes_on(cluster: Any) -> None:
    cluster.up("--cpus", "2")
    cluster.kubectl("apply", "-f", "-", stdin=QUEUES)
    script = "echo here; (setsid sleep 300 &) ; while [ ! -e go ]; do sleep 0.1; done"
    cluster.kubectl("apply", "-f", "-", stdin=job("stays", script, backoffLimit=0))
    cluster.until(20, lambda: "here" in cluster.kubectl("logs", "job/stays", ok=False).stdout)
    assert len(processes_of(cluster)) > 2
    cluster.kumi("down")
    assert processes_of(cluster) == []
    (cluster.working_dir / "go").touch()
    cluster.up("--cpus", "2")
    cluster.kubectl("wait", "--for=condition=complete", "job/stays", "--timeout=30s")


def test_a_second_cluster_on_the_same_data_is_refused(cluster: Any) -> None:
    cluster.up()
    refused = cluster.kumi("up", "--detach", ok=False)
    assert refused.returncode == 1
    assert "a cluster runs in" in refused.stderr
    assert "kumi down" in refused.stderr


def test_of_several_that_start_at_once_one_wins_and_the_others_say_so(cluster: Any) -> None:
    words = [sys.executable, "-m", "kumi.cli.main", "up", "--detach"]
    started = [
        subprocess.Popen(words, cwd=cluster.working_dir, env=cluster.environment, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=90)[1] for process in started]
    assert sorted(process.returncode for process in started) == [0, 1, 1]
    for process, error in zip(started, said, strict=True):
        assert process.returncode == 0 or "use by another process" in error or "a cluster runs in" in error
    assert "node-0   Ready" in cluster.kumi("status").stdout


@pytest.mark.parametrize("seen", [holder, starter])
def test_down_stops_a_cluster_that_only_starts(cluster: Any, seen: Callable[[Path], Who | None]) -> None:
    cluster.up()
    os.kill(json.loads((cluster.data_dir / "server.json").read_text())["pid"], signal.SIGKILL)
    words = [sys.executable, "-m", "kumi.cli.main", "up"]
    starting = subprocess.Popen(words, cwd=cluster.working_dir, env=cluster.environment, stdout=subprocess.DEVNULL)
    cluster.until(30, lambda: (found := seen(cluster.data_dir)) and found.pid == starting.pid)
    assert cluster.kumi("down").stdout == "stopped\n"
    assert starting.wait(timeout=30) is not None
    assert processes_of(cluster) == []


@pytest.mark.needs("kubectl")
def test_what_down_kills_after_a_crash_counts_as_no_failure_and_leaves_no_process(cluster: Any) -> None:
    cluster.up("--cpus", "2")
    cluster.kubectl("apply", "-f", "-", stdin=QUEUES)
    script = "echo here; (setsid sleep 300 &) ; while [ ! -e go ]; do sleep 0.1; done"
    cluster.kubectl("apply", "-f", "-", stdin=job("stays", script, backoffLimit=0))
    cluster.until(20, lambda: "here" in cluster.kubectl("logs", "job/stays", ok=False).stdout)
    os.kill(json.loads((cluster.data_dir / "server.json").read_text())["pid"], signal.SIGKILL)
    assert len(processes_of(cluster)) > 2
    cluster.kumi("down", "--data-dir", os.path.relpath(cluster.data_dir, cluster.working_dir))
    assert processes_of(cluster) == []
    (cluster.working_dir / "go").touch()
    cluster.up("--cpus", "2")
    cluster.kubectl("wait", "--for=condition=complete", "job/stays", "--timeout=30s")


def test_status_shows_nodes_and_says_when_there_is_none(cluster: Any) -> None:
    assert cluster.kumi("status", ok=False).returncode == 3
    cluster.up("--nodes", "2", "--gpus", "3")
    said = cluster.kumi("status").stdout
    assert "node-0   Ready" in said
    assert "node-1   Ready" in said
    assert said.count("3 nvidia.com/gpu") == 2


def test_the_port_stays_so_that_old_kubeconfigs_go_on_working(cluster: Any) -> None:
    cluster.up()
    before = (cluster.data_dir / "kubeconfig").read_text()
    cluster.kumi("down")
    cluster.up()
    assert (cluster.data_dir / "kubeconfig").read_text() == before


def test_submit_follows_a_job_to_its_end(cluster: Any) -> None:
    cluster.up("--gpus", "2")
    cluster.kumi("apply", "-f", "-", stdin=QUEUES.replace("cpu", "nvidia.com/gpu"))
    (cluster.working_dir / "hello.py").write_text("import os; print('rank', os.environ['RANK'], os.environ['X'])\n")
    done = cluster.kumi("submit", "--queue", "door", "--workers", "2", "--gpus", "1", "-e", "X=y", "hello.py")
    assert done.stdout == "rank 0 y\n"
    assert "admitted" in done.stderr
    (cluster.working_dir / "bad.py").write_text("raise SystemExit(3)\n")
    failed = cluster.kumi("submit", "-q", "door", "-g", "1", "--name", "bad", "--restart", "Never", "bad.py", ok=False)
    assert failed.returncode == 1


def test_submit_refuses_a_script_that_is_not_there(cluster: Any) -> None:
    cluster.up()
    refused = cluster.kumi("submit", "nowhere.py", ok=False)
    assert refused.returncode == 1
    assert "nowhere.py is not a file here" in refused.stderr
    assert "there is no job" in cluster.kumi("why", "nowhere", ok=False).stderr


def test_a_job_larger_than_any_quota_says_so(cluster: Any) -> None:
    cluster.up("--cpus", "64")
    cluster.kumi("apply", "-f", "-", stdin=QUEUES)
    large = job("large", "true").replace('"cpu": "2"', '"cpu": "3"')
    cluster.kumi("apply", "-f", "-", stdin=large)
    assert "2 cpu" in cluster.until(10, lambda: why(cluster, "large", "3 cpu"))


def test_a_missing_queue_is_named(cluster: Any) -> None:
    cluster.up()
    cluster.kumi("apply", "-f", "-", stdin=job("lost", "true", queue="nowhere"))
    assert cluster.until(10, lambda: why(cluster, "lost", "nowhere"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"template"', '"templat"'), ["spec.templat"]),
        (('"restartPolicy": "Never"', '"restartPolicy": "Always"'), ["spec.template.spec.restartPolicy"]),
        (('"command": ["sh", "-c", "true"]', '"command": "sh"'), ["command"]),
        (('"kind": "Job"', '"kind": "Jobb"'), ["Jobb"]),
    ],
)
def test_bad_input_names_the_field_and_makes_nothing(cluster: Any, change: tuple[str, str], words: list[str]) -> None:
    cluster.up()
    text = job("bad", "true")
    assert change[0] in text
    refused = cluster.kumi("apply", "-f", "-", stdin=text.replace(*change), ok=False)
    assert refused.returncode == 1
    assert all(word in refused.stderr for word in words), refused.stderr
    assert "Traceback" not in refused.stderr
    assert "there is no job" in cluster.kumi("why", "bad", ok=False).stderr


@pytest.mark.parametrize(
    ("limits", "expected"),
    [((1024, 4096), (4096, 4096)), ((1024, 10**6), (DESCRIPTORS, 10**6)), ((10**6, 10**6), None)],
)
def test_the_server_may_have_as_many_sockets_as_the_system_lets_it(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], expected: tuple[int, int] | None
) -> None:
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: asked.append(wanted))
    _allow_connections()
    assert asked == ([] if expected is None else [expected])


def test_gpus_are_a_number_or_found() -> None:
    assert [gpu_count(said) for said in ("0", "4", "auto")] == [0, 4, None]
    for wrong in ("-1", "many", ""):
        with pytest.raises(click.BadParameter, match="neither a number nor auto"):
            gpu_count(wrong)


def test_what_pods_run_in_is_told(tmp_path: Path) -> None:
    assert "under no sandbox" in usage(tmp_path, "https://x", 1, 0)
    said = usage(tmp_path, "https://x", 2, None, "bubblewrap")
    assert "each in a sandbox of bubblewrap" in said
    assert "2 nodes, the machine's GPUs among them" in said


def test_gpus_that_can_not_be_found_are_told_of_and_nothing_is_started(cluster: Any) -> None:
    cluster.environment["CUDA_VISIBLE_DEVICES"] = ""  # so that it is the same where there are some
    done = cluster.kumi("up", "--detach", "--gpus", "auto", ok=False)
    assert done.returncode == 1
    assert "--gpus auto" in done.stderr
    assert holder(cluster.data_dir) is None


def test_a_sandbox_that_can_not_be_had_is_told_of_with_what_to_do(cluster: Any) -> None:
    bin_dir = cluster.working_dir.parent / "bin"
    bin_dir.mkdir()
    for program in ("kumi", "python3"):
        (bin_dir / program).symlink_to(Path(sys.executable).parent / program)
    cluster.environment["PATH"] = str(bin_dir)
    done = cluster.kumi("up", "--detach", "--sandbox", "bubblewrap", ok=False)
    assert "apt install bubblewrap" in done.stderr
    assert holder(cluster.data_dir) is None


def test_a_data_directory_that_sandboxed_pods_could_take_away_is_refused(cluster: Any) -> None:
    (cluster.working_dir / "bwrap").write_text("#!/bin/sh\n")
    (cluster.working_dir / "bwrap").chmod(0o755)
    cluster.environment["PATH"] = f"{cluster.environment['PATH']}:{cluster.working_dir}"
    inner = str(cluster.working_dir / "data")
    done = cluster.kumi("up", "--detach", "--sandbox", "bubblewrap", "--data-dir", inner, ok=False)
    assert "choose another --data-dir" in done.stderr


def test_why_it_did_not_start_is_told_whole(tmp_path: Path) -> None:
    log = tmp_path / "kumi.log"
    before = "kumi: of before\n"
    log.write_text(
        f"{before}2026 W x: y\nkumi: the policy p is wrong:\n  line 1: a\n  line 2: b\n2026 W x: z\n", "utf-8"
    )
    assert last_words(log, len(before)) == "the policy p is wrong:\n  line 1: a\n  line 2: b"
    log.write_text(f"{before}a crash\n", "utf-8")
    assert last_words(log, len(before)) == "a crash"
    log.write_text(before, "utf-8")
    assert last_words(log, len(before)) == "it said nothing"


def test_warnings_about_the_policy_are_told_and_no_others(tmp_path: Path) -> None:
    log = tmp_path / "kumi.log"
    log.write_text("2026 W kumi.cli.policy_file: the policy p, line 1: x\n2026 W kumi.other: y\n", "utf-8")
    assert warnings(log, 0) == ["the policy p, line 1: x"]


def test_a_wrong_policy_is_told_with_its_lines_and_the_log_is_named(cluster: Any, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("actions: dance\nprofile: tetris\n", "utf-8")
    told = cluster.kumi("up", "--policy", str(policy), "--detach", ok=False).stderr
    assert "  line 1: actions: " in told
    assert "  line 2: profile: " in told
    assert "kumi.log" in told
