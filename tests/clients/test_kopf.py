"""An operator on kopf, unmodified, on a kind of its own: updates, finalizers and restarts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cluster

pytestmark = [pytest.mark.needs("kopf", "kubernetes", "kubectl"), pytest.mark.process]

WAIT_S = 40
OPERATOR = Path(__file__).with_name("operator_of_others.py")
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greetings.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Greeting, plural: greetings, singular: greeting}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, required: [words], properties: {words: {type: string}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""


def greeting(words: str) -> str:
    return json.dumps(
        {
            "apiVersion": "example.com/v1",
            "kind": "Greeting",
            "metadata": {"name": "one", "namespace": "default"},
            "spec": {"words": words},
        }
    )


class Operator:
    """`kopf run` in a process of its own."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._process: subprocess.Popen[bytes] | None = None
        self.log = cluster.working_dir / "kopf.log"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kopf", "run", "--namespace", "default", str(OPERATOR)],
                env=self._cluster.environment,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """At once, as a node that dies."""
        if self._process:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def operator(cluster: Cluster) -> Iterator[Operator]:
    cluster.up("--bare")
    cluster.kubectl("apply", "-f", "-", stdin=DEFINITION)
    cluster.kubectl("wait", "--for=condition=Established", "crd/greetings.example.com", "--timeout=20s")
    made = Operator(cluster)
    yield made
    made.kill()


def test_it_works_through_creates_updates_restarts_and_deletions(cluster: Cluster, operator: Operator) -> None:
    def read(*words: str) -> dict[str, Any] | None:
        done = cluster.kubectl("get", *words, "-o", "json", ok=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def says(words: str) -> bool:
        found = read("configmap", "one")
        return found is not None and found["data"] == {"words": words}

    operator.start()
    cluster.kubectl("apply", "-f", "-", stdin=greeting("hello"))
    cluster.until(WAIT_S, lambda: says("hello"))
    seen = cluster.until(
        WAIT_S, lambda: (found := read("greeting", "one")) and found.get("status", {}).get("greet") and found
    )
    assert seen["status"]["greet"] == {"said": "hello"}
    assert seen["metadata"]["finalizers"] == ["kopf.zalando.org/KopfFinalizerMarker"]

    cluster.kubectl("apply", "-f", "-", stdin=greeting("good day"))
    cluster.until(WAIT_S, lambda: says("good day"))

    operator.kill()
    cluster.kubectl("apply", "-f", "-", stdin=greeting("good night"))
    cluster.kubectl("delete", "greeting", "one", "--wait=false")
    marked = read("greeting", "one")
    assert marked is not None, "its finalizer holds it"
    assert marked["metadata"]["deletionTimestamp"]

    operator.start()
    cluster.until(WAIT_S, lambda: read("configmap", "one-farewell"))
    cluster.until(WAIT_S, lambda: read("greeting", "one") is None)
    cluster.until(WAIT_S, lambda: read("configmap", "one") is None)


def test_it_goes_on_when_the_server_was_away(cluster: Cluster, operator: Operator) -> None:
    operator.start()
    cluster.kubectl("apply", "-f", "-", stdin=greeting("hello"))
    said = ["get", "configmap", "one", "-o", "jsonpath={.data.words}"]
    cluster.until(WAIT_S, lambda: cluster.kubectl(*said, ok=False).stdout == "hello")
    cluster.kumi("down")
    cluster.up("--bare")
    cluster.kubectl("apply", "-f", "-", stdin=greeting("again"))
    cluster.until(WAIT_S, lambda: cluster.kubectl(*said, ok=False).stdout == "again")
