"""`kumi controllers` beside `kumi up --no-controllers`: the same code over HTTP."""

from __future__ import annotations

import signal
import subprocess
import time
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
