"""`kumi controllers` beside `kumi up --no-controllers`: the same code over HTTP."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
import urllib.request
from typing import Any

import pytest

pytestmark = pytest.mark.process


def loops(cluster: Any, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["kumi", "controllers", *options],
        cwd=cluster.working_dir,
        env=cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    """What it said, once it has ended as asked."""
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 0, said
    return said


@pytest.mark.needs("kubectl")
def test_jobs_run_only_while_the_loops_do_and_another_process_takes_over(cluster: Any) -> None:
    cluster.up("--no-controllers", "--cpus", "2")
    cluster.kubectl("create", "job", "first", "--image=none", "--", "true")
    assert cluster.kubectl("get", "pods", "-o", "name").stdout == ""
    one = loops(cluster)
    try:
        cluster.kubectl("wait", "--for=condition=complete", "job/first", "--timeout=30s")
        two = loops(cluster)
        try:
            said = ended(one)
            assert "The loops run" in said
            cluster.kubectl("create", "deployment", "web", "--image=none", "--", "sleep", "60")
            cluster.kubectl("rollout", "status", "deployment/web", "--timeout=30s")
        finally:
            ended(two)
    finally:
        if one.poll() is None:
            one.kill()
    holder = ("get", "lease", "kumi-controllers", "-n", "kube-system", "-o", "jsonpath={.spec.holderIdentity}")
    assert cluster.kubectl(*holder).stdout == "", "who ends gives the lease back: the next one need not wait"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def page(port: int, path: str = "/metrics") -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


@pytest.mark.needs("kubectl")
def test_loops_beside_the_server_tell_of_their_queues_and_the_server_of_its_requests(cluster: Any) -> None:
    cluster.up("--no-controllers", "--cpus", "2")
    port = free_port()
    process = loops(cluster, "--metrics-listen", f"127.0.0.1:{port}")
    try:
        cluster.kubectl("create", "job", "first", "--image=none", "--", "true")
        cluster.kubectl("wait", "--for=condition=complete", "job/first", "--timeout=30s")
        told = cluster.until(10, lambda: page(port))
        assert re.search(r'^workqueue_adds_total\{name="job-controller"\} [1-9]', told, re.MULTILINE)
        assert re.search(r'^kumi_decider_sound\{name="kumi-scheduler"\} 1.0', told, re.MULTILINE)
        assert page(port, "/readyz") == "ok"
        served = cluster.kubectl("get", "--raw", "/metrics").stdout
        assert "workqueue_adds_total{" not in served
        assert re.search(r'^apiserver_request_total\{.*resource="jobs".*verb="POST".*\} 1.0', served, re.MULTILINE)
        assert re.search(r"^kumi_store_commits_total [1-9]", served, re.MULTILINE)
    finally:
        ended(process)
    assert page(port) == ""


@pytest.mark.parametrize(("listen", "words"), [("0.0.0.0:1", "without TLS"), ("nonsense", "ADDRESS:PORT")])
def test_metrics_are_told_to_nobody_outside_this_machine(cluster: Any, listen: str, words: str) -> None:
    refused = cluster.kumi("controllers", "--metrics-listen", listen, ok=False)
    assert refused.returncode == 1
    assert words in refused.stderr


@pytest.mark.needs("kubectl")
def test_a_bare_server_has_no_nodes_and_keeps_its_word(cluster: Any) -> None:
    cluster.up("--bare")
    assert cluster.kubectl("get", "nodes", "-o", "name").stdout == ""
    cluster.kubectl("create", "namespace", "gone")
    cluster.kubectl("create", "configmap", "c", "-n", "gone")
    cluster.kubectl("delete", "namespace", "gone", "--timeout=30s")
    cluster.kubectl("create", "deployment", "web", "--image=none", "--replicas=2")
    end = time.monotonic() + 20
    while len(cluster.kubectl("get", "pods", "-o", "name").stdout.split()) != 2:
        assert time.monotonic() < end
        time.sleep(0.1)
