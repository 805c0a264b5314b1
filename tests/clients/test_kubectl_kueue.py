"""An unmodified kubectl with the queues of `kumi up`: checks, groups of pods, fewer pods, stops, queues in use, who waits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cluster

pytestmark = [pytest.mark.needs("kubectl"), pytest.mark.process]

SECONDS = 60
QUEUES = "kueue.x-k8s.io/v1beta2"


def manifest(kind: str, name: str, spec: dict[str, Any], version: str = QUEUES, **meta: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **meta}, "spec": spec}


def queue(name: str, cpus: int, **spec: Any) -> list[dict[str, Any]]:
    """A ClusterQueue with its door."""
    quota = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpus}]}
    group = {"coveredResources": ["cpu"], "flavors": [quota]}
    return [
        manifest("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": [group], **spec}),
        manifest("LocalQueue", f"{name}-door", {"clusterQueue": name}, namespace="default"),
    ]


def pods(command: str = "sleep 100", cpu: str = "1") -> dict[str, Any]:
    container = {
        "name": "c",
        "image": "none",
        "command": ["sh", "-c", command],
        "resources": {"requests": {"cpu": cpu}},
    }
    return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container]}


def job(name: str, door: str, pods_: int = 1, annotations: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    labels = {"kueue.x-k8s.io/queue-name": door}
    spec = {"parallelism": pods_, "completions": pods_, "template": {"spec": pods(**more)}}
    return manifest("Job", name, spec, "batch/v1", labels=labels, annotations=annotations or {})


@pytest.fixture(scope="module")
def queues(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home: Path = tmp_path_factory.mktemp("queues")
    (home / "work").mkdir()
    made = Cluster(home / "data", home / "work")
    made.up("--cpus", "16")
    apply(made, manifest("ResourceFlavor", "default", {}))
    yield made
    made.kumi("down", ok=False)


def apply(cluster: Cluster, *manifests: dict[str, Any]) -> None:
    cluster.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(m) for m in manifests))


def get(cluster: Cluster, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cluster.kubectl("get", *words, "-o", "json").stdout)
    return found


def workload_of(cluster: Cluster, name: str) -> dict[str, Any] | None:
    owned = [
        w
        for w in get(cluster, "workloads")["items"]
        if any(o["name"] == name for o in w["metadata"].get("ownerReferences", ()))
    ]
    return owned[0] if owned else None


def truth(found: dict[str, Any] | None) -> dict[str, str]:
    conditions = (found or {}).get("status", {}).get("conditions", [])
    return {c["type"]: c["reason"] for c in conditions if c["status"] == "True"}


def test_a_job_with_a_check_starts_when_somebody_says_so(queues: Cluster) -> None:
    check = manifest("AdmissionCheck", "budget", {"controllerName": "example.com/budget"})
    apply(queues, check, *queue("checked", 2, admissionChecksStrategy={"admissionChecks": [{"name": "budget"}]}))
    active = {
        "type": "Active",
        "status": "True",
        "reason": "Up",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    patch = json.dumps({"status": {"conditions": [active]}})
    queues.kubectl("patch", "admissioncheck", "budget", "--subresource=status", "--type=merge", "-p", patch)
    apply(queues, job("spends", "checked-door", command="echo done"))
    found = queues.until(SECONDS, lambda: _reserved(workload_of(queues, "spends")))
    assert "Admitted" not in truth(found)
    assert [c["state"] for c in found["status"]["admissionChecks"]] == ["Pending"]
    ready = [{"name": "budget", "state": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    said = json.dumps({"status": {"admissionChecks": ready}})
    name = found["metadata"]["name"]
    queues.kubectl("patch", "workload", name, "--subresource=status", "--type=merge", "-p", said)
    queues.kubectl("wait", "--for=condition=complete", "job/spends", f"--timeout={SECONDS}s")


def _reserved(found: dict[str, Any] | None) -> dict[str, Any] | None:
    return found if "QuotaReserved" in truth(found) and (found or {})["status"].get("admissionChecks") else None


def test_a_group_of_pods_starts_when_all_of_it_is_there(queues: Cluster) -> None:
    apply(queues, *queue("groups", 4))
    labels = {"kueue.x-k8s.io/queue-name": "groups-door", "kueue.x-k8s.io/pod-group-name": "pair"}
    annotations = {"kueue.x-k8s.io/pod-group-total-count": "2"}

    def member(name: str) -> dict[str, Any]:
        return manifest("Pod", name, pods("echo hello"), "v1", labels=labels, annotations=annotations)

    apply(queues, member("first"))
    gates = get(queues, "pod", "first")["spec"]["schedulingGates"]
    assert gates == [{"name": "kueue.x-k8s.io/admission"}]
    apply(queues, member("second"))
    for name in ("first", "second"):
        queues.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", f"pod/{name}", f"--timeout={SECONDS}s")
    queues.until(SECONDS, lambda: truth(get(queues, "workload", "pair")).get("Finished") == "Succeeded")
    queues.kubectl("delete", "pod", "first", "second", f"--timeout={SECONDS}s")


def test_a_job_may_start_with_fewer_pods_and_has_all_of_them_again_after_its_eviction(queues: Cluster) -> None:
    apply(queues, *queue("partial", 3))
    apply(queues, job("flexible", "partial-door", 4, {"kueue.x-k8s.io/job-min-parallelism": "2"}))
    queues.until(SECONDS, lambda: not get(queues, "job", "flexible")["spec"]["suspend"])
    assert get(queues, "job", "flexible")["spec"]["parallelism"] == 3
    queues.kubectl("patch", "clusterqueue", "partial", "--type=merge", "-p", '{"spec":{"stopPolicy":"HoldAndDrain"}}')
    queues.until(SECONDS, lambda: get(queues, "job", "flexible")["spec"]["parallelism"] == 4)
    assert get(queues, "job", "flexible")["spec"]["suspend"]
    found = queues.until(SECONDS, lambda: _given_back(workload_of(queues, "flexible")))
    assert truth(found)["Evicted"] == "ClusterQueueStopped"
    queues.kubectl("patch", "clusterqueue", "partial", "--type=merge", "-p", '{"spec":{"stopPolicy":"None"}}')
    queues.until(SECONDS, lambda: not get(queues, "job", "flexible")["spec"]["suspend"])
    queues.kubectl("delete", "job", "flexible", f"--timeout={SECONDS}s")


def _given_back(found: dict[str, Any] | None) -> dict[str, Any] | None:
    return found if found is not None and not found["status"].get("admission") else None


def test_a_queue_in_use_stays_until_its_work_is_over_and_says_who_waits(queues: Cluster) -> None:
    apply(queues, *queue("busy", 1))
    apply(queues, job("runs", "busy-door"))
    queues.until(SECONDS, lambda: "Admitted" in truth(workload_of(queues, "runs")))
    apply(queues, job("waits", "busy-door"))

    def line(path: str) -> list[dict[str, Any]]:
        base = "/apis/visibility.kueue.x-k8s.io/v1beta2"
        found = json.loads(queues.kubectl("get", "--raw", f"{base}/{path}/pendingworkloads").stdout)
        items: list[dict[str, Any]] = found["items"]
        return items

    queues.until(SECONDS, lambda: line("clusterqueues/busy"))
    (waiting,) = line("namespaces/default/localqueues/busy-door")
    assert (waiting["positionInClusterQueue"], waiting["positionInLocalQueue"]) == (0, 0)
    assert [o["name"] for o in waiting["metadata"]["ownerReferences"]] == ["waits"]
    told = queues.kubectl("get", "--raw", "/metrics").stdout
    assert 'kueue_pending_workloads{cluster_queue="busy",status="inadmissible"} 1.0' in told
    assert 'kueue_admitted_active_workloads{cluster_queue="busy"} 1.0' in told
    queues.kubectl("delete", "clusterqueue", "busy", "--wait=false")
    found = get(queues, "clusterqueue", "busy")
    assert found["metadata"]["finalizers"] == ["kueue.x-k8s.io/resource-in-use"]
    queues.kubectl("delete", "job", "runs", "waits", f"--timeout={SECONDS}s")
    queues.kubectl("wait", "--for=delete", "clusterqueue/busy", f"--timeout={SECONDS}s")
