"""An unmodified kubectl with claims of `kumi up`: data that outlives pods and servers, who may use it, and when it goes."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = [pytest.mark.needs("kubectl"), pytest.mark.needs("user namespaces"), pytest.mark.process]


def claim(name: str, mode: str = "ReadWriteOnce", **spec: Any) -> dict[str, Any]:
    asked = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": asked}


def pod(name: str, script: str, claim: str = "data", **mount: Any) -> dict[str, Any]:
    mounts = [{"name": "d", "mountPath": "/data", **mount}]
    run = {"name": "c", "image": "none", "command": ["sh", "-c", script], "volumeMounts": mounts}
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": claim}}]
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [run], "volumes": volumes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def apply(cluster: Any, *objects: dict[str, Any]) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(listed))


def ends(cluster: Any, name: str) -> str:
    """The log of a pod, when it has succeeded."""
    cluster.kubectl("wait", f"pod/{name}", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=60s")
    return str(cluster.kubectl("logs", name).stdout)


def get(cluster: Any, what: str, path: str) -> str:
    return str(cluster.kubectl("get", what, "-o", f"jsonpath={path}", "--ignore-not-found").stdout)


def test_data_survives_its_pods_and_its_server_and_goes_with_its_claim(cluster: Any) -> None:
    cluster.up("--nodes", "2")
    assert "local (default)" in cluster.kubectl("get", "storageclass").stdout
    apply(cluster, claim("data"), pod("writer", "echo kept > /data/f", subPath="run/1"))
    ends(cluster, "writer")
    row = cluster.kubectl("get", "pvc", "data", "--no-headers").stdout.split()
    assert (row[1], row[3], row[4], row[5]) == ("Bound", "1Gi", "RWO", "local")
    (directory,) = (cluster.data_dir / "volumes").iterdir()
    assert (directory / "run" / "1" / "f").read_text() == "kept\n"
    cluster.kubectl("delete", "pod", "writer")
    cluster.kumi("down")
    cluster.up("--nodes", "2")
    apply(cluster, pod("reader", "cat /data/run/1/f; touch /data/x || echo read-only", readOnly=True))
    assert ends(cluster, "reader").splitlines()[0] == "kept"
    assert "read-only" in cluster.kubectl("logs", "reader").stdout
    apply(cluster, pod("user", "sleep 100"))
    cluster.kubectl("wait", "pod/user", "--for=condition=Ready", "--timeout=60s")
    cluster.kubectl("delete", "pvc", "data", "--wait=false")
    assert "Terminating" in cluster.kubectl("get", "pvc", "data").stdout
    assert (directory / "run" / "1" / "f").exists(), "while a pod uses it"
    cluster.kubectl("delete", "pod", "user")
    cluster.until(30, lambda: not directory.exists())
    cluster.until(30, lambda: "No resources" in cluster.kubectl("get", "pv").stderr)


def test_pods_wait_for_claims_with_a_reason_and_go_on(cluster: Any) -> None:
    cluster.up()
    apply(cluster, pod("early", "echo here"))
    condition = '{.status.conditions[?(@.type=="PodScheduled")].message}'
    said = cluster.until(30, lambda: get(cluster, "pod/early", condition))
    assert said == "PersistentVolumeClaim data does not exist."
    apply(cluster, claim("data", "ReadWriteOncePod"))
    assert ends(cluster, "early") == "here\n"
    apply(cluster, pod("first", "sleep 100"))
    cluster.kubectl("wait", "pod/first", "--for=condition=Ready", "--timeout=60s")
    apply(cluster, pod("second", "echo mine"))
    said = cluster.until(30, lambda: get(cluster, "pod/second", condition))
    assert said == "PersistentVolumeClaim data is ReadWriteOncePod, and another pod uses it."
    cluster.kubectl("delete", "pod", "first")
    assert ends(cluster, "second") == "mine\n"


def test_a_static_volume_is_kept_when_its_claim_goes(cluster: Any) -> None:
    cluster.up()
    directory = cluster.working_dir / "dataset"
    directory.mkdir()
    (directory / "f").write_text("given\n")
    spec = {
        "capacity": {"storage": "5Gi"},
        "accessModes": ["ReadOnlyMany"],
        "storageClassName": "",
        "hostPath": {"path": str(directory)},
    }
    meta = {"name": "set", "labels": {"set": "images"}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec}
    chosen = {"storageClassName": "", "selector": {"matchLabels": {"set": "images"}}}
    apply(cluster, volume, claim("data", "ReadOnlyMany", **chosen))
    apply(cluster, pod("reader", "cat /data/f; touch /data/x || true"))
    assert ends(cluster, "reader").splitlines()[0] == "given"
    cluster.kubectl("delete", "pod", "reader")
    cluster.kubectl("delete", "pvc", "data")
    cluster.until(30, lambda: get(cluster, "pv/set", "{.status.phase}") == "Released")
    assert sorted(p.name for p in directory.iterdir()) == ["f"]


def test_a_stateful_set_has_a_claim_for_each_pod_that_comes_back_to_it(cluster: Any) -> None:
    cluster.up("--nodes", "2")
    mounts = [{"name": "own", "mountPath": "/own"}]
    script = "hostname >> /own/names; sleep 1000"
    run = {"name": "c", "image": "none", "command": ["sh", "-c", script], "volumeMounts": mounts}
    template = {
        "metadata": {"labels": {"app": "db"}},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [run]},
    }
    spec = {
        "serviceName": "db",
        "replicas": 2,
        "selector": {"matchLabels": {"app": "db"}},
        "template": template,
        "volumeClaimTemplates": [{"metadata": {"name": "own"}, "spec": claim("own")["spec"]}],
    }
    apply(cluster, {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec})
    cluster.kubectl("rollout", "status", "sts/db", "--timeout=60s")
    cluster.kubectl("delete", "pod", "db-1")
    (names,) = (cluster.data_dir / "volumes").glob("default_own-db-1_*/names")
    cluster.until(60, lambda: names.read_text() == "db-1\ndb-1\n")
    cluster.kubectl("delete", "sts", "db")
    row = cluster.kubectl("get", "pvc", "--no-headers").stdout.split()
    assert (row.count("Bound"), row[0]) == (2, "own-db-0")
