"""The real kubectl, and the Python client, at what goes into pods that run: attach, exec, cp, port-forward; with and without a
sandbox."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cluster

pytestmark = [pytest.mark.needs("kubectl"), pytest.mark.process]
SERVER = """
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"x" * 300000)
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", PORT), Answer).serve_forever()
"""


@pytest.fixture(
    scope="module",
    params=["none", pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap"))],
)
def pods(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with a pod `web` that listens on a port, `PORT` in its annotations."""
    home = tmp_path_factory.mktemp("pods")
    (home / "work").mkdir()
    made = Cluster(home / "data", home / "work")
    made.up("--sandbox", request.param)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    run(made, "web", [sys.executable, "-c", SERVER.replace("PORT", str(port))], annotations={"port": str(port)})
    yield made
    made.kumi("down", ok=False)


def run(pods: Cluster, name: str, command: list[str], annotations: dict[str, str] | None = None, **fields: Any) -> None:
    """A pod that runs."""
    container = {"name": "main", "image": "none", "command": command, **fields}
    meta = {"name": name, "annotations": annotations or {}}
    spec = {"restartPolicy": "Never", "containers": [container], "terminationGracePeriodSeconds": 1}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    pods.until(30, lambda: pods.kubectl("get", "sa", "default", ok=False).returncode == 0)
    pods.kubectl("apply", "-f", "-", stdin=json.dumps(manifest))
    pods.kubectl("wait", f"pod/{name}", "--for=jsonpath={.status.phase}=Running", "--timeout=30s")


def port_of(pods: Cluster) -> str:
    return pods.kubectl("get", "pod", "web", "-o", "jsonpath={.metadata.annotations.port}").stdout


def test_attach_takes_input_to_a_container_and_its_output_back(pods: Cluster) -> None:
    script = 'while read line; do echo "got $line"; done; echo over'
    run(pods, "reads", ["sh", "-c", script], stdin=True, stdinOnce=True)
    done = pods.kubectl("attach", "-i", "reads", stdin="one\ntwo\n")
    assert done.stdout.splitlines() == ["got one", "got two", "over"]


def test_run_with_input_and_removal_is_one_command(pods: Cluster) -> None:
    done = pods.kubectl(
        "run", "-i", "--rm", "once", "--image=none", "--restart=Never", "--command", "--", "cat", stdin="word"
    )
    assert "word" in done.stdout
    assert pods.kubectl("get", "pods", "once", ok=False).returncode != 0


def test_a_terminal_of_a_container_can_be_attached_to(pods: Cluster) -> None:
    run(pods, "shell", ["sh", "-c", "read line; stty size; echo got $line; sleep 1"], stdin=True, tty=True)
    done = pods.run("script", "-qec", "kubectl attach -it shell", os.devnull, stdin="hello\n")
    assert "got hello" in done.stdout


def test_exec_tells_the_exit_code_and_takes_input(pods: Cluster) -> None:
    done = pods.kubectl("exec", "-i", "web", "--", "sh", "-c", "wc -c; exit 7", stdin="x" * 200_000, ok=False)
    assert (done.stdout.strip(), done.returncode) == ("200000", 7)


def test_files_are_copied_in_and_out(pods: Cluster, tmp_path: Path) -> None:
    content = os.urandom(1 << 20)
    (tmp_path / "in").write_bytes(content)
    pods.kubectl("cp", str(tmp_path / "in"), f"web:{pods.working_dir}/copied")
    pods.kubectl("cp", f"web:{pods.working_dir}/copied", str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == content == (pods.working_dir / "copied").read_bytes()


def test_a_port_is_forwarded_and_one_that_is_not_the_pod_s_is_not(pods: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        wanted = [f":{port_of(pods)}", f":{other.getsockname()[1]}"]
        with Forward(pods, "pod/web", *wanted) as local:
            for _ in range(3):
                with urllib.request.urlopen(f"http://127.0.0.1:{local[0]}/", timeout=30) as answer:
                    assert len(answer.read()) == 300_000
            with socket.create_connection(("127.0.0.1", local[1]), timeout=30) as refused:
                assert refused.recv(10) == b""
            other.settimeout(0.1)
            with pytest.raises(TimeoutError):
                other.accept()


@pytest.mark.needs("kubernetes")
def test_the_python_client_forwards_ports_too(pods: Cluster) -> None:
    from kubernetes import config
    from kubernetes.client import CoreV1Api
    from kubernetes.stream import portforward

    port = int(port_of(pods))
    api = CoreV1Api(config.new_client_from_config(str(pods.data_dir / "kubeconfig")))
    forward = portforward(api.connect_get_namespaced_pod_portforward, "web", "default", ports=str(port))
    connection = forward.socket(port)
    connection.settimeout(30)
    connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
    said = b""
    while len(said.partition(b"\r\n\r\n")[2]) < 300_000 and (data := connection.recv(1 << 16)):
        said += data
    assert said.startswith(b"HTTP/1.0 200")
    assert forward.error(port) is None
    connection.close()


class Forward:
    """`kubectl port-forward` while it is entered: the local ports."""

    def __init__(self, pods: Cluster, *words: str) -> None:
        self._pods, self._words = pods, words

    def __enter__(self) -> list[int]:
        self._process = subprocess.Popen(
            ["kubectl", "port-forward", "--address", "127.0.0.1", *self._words],
            env=self._pods.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        found: list[int] = []
        end = time.monotonic() + 30
        while len(found) < len(self._words) - 1 and time.monotonic() < end:
            if match := re.match(r"Forwarding from 127.0.0.1:(\d+)", self._process.stdout.readline()):
                found.append(int(match[1]))
        return found

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def test_top_shows_what_pods_and_nodes_use(pods: Cluster) -> None:
    pod, container, cpu, memory = pods.until(30, lambda: rows(pods, "top", "pod", "web", "--containers").get("web"))
    assert (pod, container) == ("web", "main")
    assert re.fullmatch("[0-9]+m", cpu)
    assert int(memory.removesuffix("Mi")) > 1
    everywhere = rows(pods, "top", "pods", "-A", "--sort-by=cpu")
    assert everywhere["web"][0] == "default"
    assert rows(pods, "top", "pods", "-l", "app=none") == {}
    node = rows(pods, "top", "nodes")["node-0"]
    assert [text[-1] for text in node[1:]] == ["m", "%", "i", "%"]
    assert pods.kubectl("auth", "can-i", "list", "pods.metrics.k8s.io").stdout.strip() == "yes"
    assert pods.kubectl("auth", "can-i", "list", "nodes.metrics.k8s.io", "--as=bob", ok=False).stdout.strip() == "no"


def rows(pods: Cluster, *words: str) -> dict[str, list[str]]:
    """What a command prints, by the last name of a row (the first column, or the second behind a namespace)."""
    lines = pods.kubectl(*words, "--no-headers", ok=False).stdout.splitlines()
    found = [line.split() for line in lines]
    return {words[1] if words[0] in ("default", "kube-system") else words[0]: words for words in found}
