"""An unmodified kubectl with the sets and the events of `kumi up`: rollouts, undone and restarted, and what is told of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kumi.runtime.correlation import COMBINED, SIMILAR, SPAM_BURST

pytestmark = [pytest.mark.needs("kubectl"), pytest.mark.process]


def manifest(kind: str, **spec: Any) -> str:
    container = {"name": "c", "image": "none", "command": ["sleep", "1000"], "env": [{"name": "V", "value": "1"}]}
    pods = {"terminationGracePeriodSeconds": 0, "containers": [container]}
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": pods}
    body = {"selector": {"matchLabels": {"app": "agent"}}, "template": template, **spec}
    return json.dumps({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "agent"}, "spec": body})


def items(cluster: Any, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(cluster.kubectl("get", *words, "-o", "json").stdout)["items"]
    return found


def value(cluster: Any, what: str) -> str:
    """V of the template, once the rollout is done and all pods have it."""
    cluster.kubectl("rollout", "status", what, "--timeout=60s")
    envs = {p["spec"]["containers"][0]["env"][0]["value"] for p in items(cluster, "pods", "-l", "app=agent")}
    assert len(envs) == 1
    return str(envs.pop())


def revisions(cluster: Any, what: str) -> list[str]:
    lines = cluster.kubectl("rollout", "history", what).stdout.splitlines()
    return [line.split()[0] for line in lines if line[:1].isdigit()]


@pytest.mark.parametrize(
    ("kind", "spec"), [("DaemonSet", {}), ("StatefulSet", {"replicas": 2, "serviceName": "agent"})]
)
def test_a_set_is_rolled_out_undone_twice_and_restarted(cluster: Any, kind: str, spec: Any) -> None:
    what = f"{kind.lower()}/agent"
    cluster.up("--nodes", "2")
    cluster.kubectl("apply", "-f", "-", stdin=manifest(kind, **spec))
    assert value(cluster, what) == "1"
    cluster.kubectl("set", "env", what, "V=2")
    assert value(cluster, what) == "2"
    cluster.kubectl("rollout", "undo", what)
    assert value(cluster, what) == "1"
    assert revisions(cluster, what) == ["2", "3"]
    cluster.kubectl("rollout", "undo", what)
    assert value(cluster, what) == "2"
    before = {p["metadata"]["uid"] for p in items(cluster, "pods")}
    cluster.kubectl("rollout", "restart", what)
    assert value(cluster, what) == "2"
    assert before.isdisjoint(p["metadata"]["uid"] for p in items(cluster, "pods"))


def test_a_daemon_is_on_every_node_and_a_drain_leaves_it_alone(cluster: Any) -> None:
    cluster.up("--nodes", "2")
    cluster.kubectl("cordon", "node-1")
    cluster.kubectl("apply", "-f", "-", stdin=manifest("DaemonSet"))
    cluster.kubectl("rollout", "status", "ds/agent", "--timeout=60s")
    assert sorted(p["spec"]["nodeName"] for p in items(cluster, "pods")) == ["node-0", "node-1"]
    assert "DaemonSet-managed" in cluster.kubectl("drain", "node-1", "--ignore-daemonsets").stderr
    row = cluster.kubectl("get", "ds", "agent", "--no-headers").stdout.split()
    assert row[1:6] == ["2"] * 5
    cluster.kubectl("delete", "ds", "agent")
    cluster.until(30, lambda: not items(cluster, "pods"))
    cluster.until(30, lambda: not items(cluster, "controllerrevisions"))


def test_what_happens_often_is_told_together_and_hides_nothing_else(cluster: Any) -> None:
    cluster.up("--cpus", "64")
    pods = SPAM_BURST + 15
    container = {"name": "c", "image": "none", "command": ["true"]}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"completions": pods, "parallelism": pods, "template": template}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "many"}, "spec": spec}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(job))
    cluster.kubectl("wait", "--for=condition=complete", "job/many", "--timeout=60s")

    def told() -> list[dict[str, Any]]:
        found = items(cluster, "events", "--field-selector", "involvedObject.kind=Job,involvedObject.name=many")
        return found if any(event["reason"] == "Completed" for event in found) else []

    events = cluster.until(30, told)
    made = [event for event in events if event["reason"] == "SuccessfulCreate"]
    combined = [event for event in made if event["message"].startswith(COMBINED)]
    assert len(made) == SIMILAR + 1
    assert [event["count"] for event in combined] == [SPAM_BURST - SIMILAR]
    assert combined[0]["lastTimestamp"] >= combined[0]["firstTimestamp"]
    assert cluster.until(30, lambda: len(items(cluster, "events", "--field-selector", "reason=Scheduled")) == pods)
