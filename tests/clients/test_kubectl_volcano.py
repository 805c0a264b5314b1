"""An unmodified kubectl with Volcano's queues and pod groups on `kumi up`: gangs, shares, states, pods without a gang."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cluster

pytestmark = [pytest.mark.needs("kubectl"), pytest.mark.process]

SECONDS = 60
GPU = "nvidia.com/gpu"
GROUPS = "scheduling.volcano.sh/v1beta1"


def manifest(kind: str, name: str, spec: dict[str, Any], version: str = GROUPS, **meta: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **meta}, "spec": spec}


def pod_spec(command: str = "sleep 100", gpus: int = 1) -> dict[str, Any]:
    container = {
        "name": "c",
        "image": "none",
        "command": ["sh", "-c", command],
        "resources": {"requests": {"cpu": "100m"}, "limits": {GPU: str(gpus)} if gpus else {}},
    }
    return {
        "schedulerName": "volcano",
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
    }


def gang(name: str, size: int, **more: Any) -> list[dict[str, Any]]:
    annotations = {"scheduling.k8s.io/group-name": name}
    pods = [
        manifest("Pod", f"{name}-{n}", pod_spec(), "v1", annotations=annotations, labels={"gang": name})
        for n in range(size)
    ]
    return [manifest("PodGroup", name, {"minMember": size, **more}), *pods]


def job(name: str, queue: str, command: str = "sleep 100") -> dict[str, Any]:
    template = {
        "metadata": {"annotations": {"scheduling.volcano.sh/queue-name": queue}, "labels": {"queue": queue}},
        "spec": pod_spec(command),
    }
    return manifest("Job", name, {"template": template}, "batch/v1")


@pytest.fixture(scope="module")
def slots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Four nodes with a GPU each."""
    home: Path = tmp_path_factory.mktemp("slots")
    (home / "work").mkdir()
    (home / "work" / "policy.yaml").write_text("profile: kumi\n")
    made = Cluster(home / "data", home / "work")
    made.up("--nodes", "4", "--gpus", "1", "--cpus", "4", "--policy", "policy.yaml")
    yield made
    made.kumi("down", ok=False)


def apply(cluster: Cluster, *manifests: dict[str, Any]) -> None:
    cluster.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(m) for m in manifests))


def get(cluster: Cluster, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cluster.kubectl("get", *words, "-o", "json").stdout)
    return found


def phases(cluster: Cluster, selector: str) -> Counter[str]:
    return Counter(pod["status"]["phase"] for pod in get(cluster, "pods", "-l", selector)["items"])


def condition(obj: dict[str, Any], type_: str) -> dict[str, Any]:
    found = (c for c in obj.get("status", {}).get("conditions", []) if c["type"] == type_)
    return next(found, {})


def clear(cluster: Cluster) -> None:
    cluster.kubectl("delete", "jobs,deployments,pods,podgroups", "--all", "--cascade=foreground")


def test_the_queues_that_are_always_there_are_and_stay(slots: Cluster) -> None:
    slots.until(SECONDS, lambda: slots.kubectl("get", "queue", "default", "root", ok=False).returncode == 0)
    for name in ("default", "root"):
        said = slots.kubectl("delete", "queue", name, ok=False)
        assert said.returncode == 1
        assert f"queue {name} can't be deleted" in said.stderr


def test_1_of_two_gangs_of_four_on_four_slots_one_runs_whole_and_the_other_waits_whole(slots: Cluster) -> None:
    both = [obj for pair in zip(gang("a", 4), gang("b", 4), strict=True) for obj in pair]
    apply(slots, *both)
    slots.until(SECONDS, lambda: 4 in (phases(slots, "gang=a")["Running"], phases(slots, "gang=b")["Running"]))
    ran, waits = ("a", "b") if phases(slots, "gang=a")["Running"] else ("b", "a")
    assert phases(slots, f"gang={waits}") == {"Pending": 4}
    told = slots.until(SECONDS, lambda: condition(get(slots, "podgroup", waits), "Unschedulable"))
    assert told["status"] == "True"
    assert get(slots, "podgroup", waits)["status"]["phase"] in ("Pending", "Inqueue")
    group = slots.until(
        SECONDS, lambda: g if (g := get(slots, "podgroup", ran))["status"].get("running") == 4 else None
    )
    assert group["status"]["phase"] == "Running"
    table = slots.kumi("gangs").stdout
    assert f"default/{waits}" in table
    (told_of,) = [g for g in json.loads(slots.kumi("gangs", "-o", "json").stdout) if g["name"] == waits]
    assert (told_of["placed"], told_of["waits_for"][GPU], bool(told_of["why"])) == (0, "4", True)
    slots.kubectl("delete", "pod", "-l", f"gang={ran}")
    slots.until(SECONDS, lambda: phases(slots, f"gang={waits}")["Running"] == 4)
    clear(slots)


def test_4_a_queue_of_two_gpus_runs_two_of_four_jobs_and_one_more_when_one_ends(slots: Cluster) -> None:
    apply(slots, manifest("Queue", "small", {"weight": 1, "capability": {GPU: "2"}}))
    apply(slots, *(job(f"j{n}", "small") for n in range(4)))
    slots.until(SECONDS, lambda: phases(slots, "queue=small") == {"Running": 2, "Pending": 2})
    held = slots.until(
        SECONDS, lambda: q if (q := get(slots, "queue", "small"))["status"].get("running") == 2 else None
    )
    assert held["status"]["allocated"][GPU] == "2"
    running = [p for p in get(slots, "pods", "-l", "queue=small")["items"] if p["status"]["phase"] == "Running"]
    ended = running[0]["metadata"]["labels"]["batch.kubernetes.io/job-name"]
    slots.kubectl("delete", "job", ended)
    slots.until(SECONDS, lambda: phases(slots, "queue=small") == {"Running": 2, "Pending": 1})
    (queue,) = [q for q in json.loads(slots.kumi("queues", "-o", "json").stdout) if q["name"] == "small"]
    assert (queue["holds"][GPU], len(queue["running"])) == ("2", 2)
    clear(slots)


def test_pods_without_a_gang_get_one_of_their_maker_that_goes_with_it(slots: Cluster) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {**pod_spec(gpus=0), "restartPolicy": "Always"}}
    selector = {"matchLabels": {"app": "web"}}
    apply(slots, manifest("Deployment", "web", {"replicas": 2, "selector": selector, "template": template}, "apps/v1"))
    apply(slots, manifest("Pod", "alone", pod_spec(gpus=0), "v1"))
    slots.until(SECONDS, lambda: phases(slots, "app=web")["Running"] == 2)
    slots.until(SECONDS, lambda: get(slots, "pod", "alone")["status"]["phase"] == "Running")
    alone, (of_set,) = get(slots, "pod", "alone"), get(slots, "replicasets", "-l", "app=web")["items"]
    names = {g["metadata"]["name"] for g in get(slots, "podgroups")["items"]}
    assert names == {f"podgroup-{alone['metadata']['uid']}", f"podgroup-{of_set['metadata']['uid']}"}
    slots.kubectl("delete", "deployment", "web")
    slots.kubectl("delete", "pod", "alone")
    slots.until(SECONDS, lambda: not get(slots, "podgroups")["items"])


def test_a_queue_that_is_closed_takes_nobody_and_is_opened_again_by_command(slots: Cluster) -> None:
    apply(slots, manifest("Queue", "shop", {"weight": 1}))
    queue = slots.until(
        SECONDS, lambda: q if (q := get(slots, "queue", "shop")).get("status", {}).get("state") else None
    )

    def command(action: str) -> None:
        owner = {"apiVersion": GROUPS, "kind": "Queue", "name": "shop", "uid": queue["metadata"]["uid"]}
        made = {
            "apiVersion": "bus.volcano.sh/v1alpha1",
            "kind": "Command",
            "metadata": {"name": action.lower(), "namespace": "default"},
            "action": action,
            "target": owner,
        }
        apply(slots, made)

    command("CloseQueue")
    slots.until(SECONDS, lambda: get(slots, "queue", "shop")["status"]["state"] == "Closed")
    said = slots.kubectl("create", "-f", "-", stdin=json.dumps(gang("late", 1, queue="shop")[0]), ok=False)
    assert "spec.queue" in said.stderr
    command("OpenQueue")
    slots.until(SECONDS, lambda: get(slots, "queue", "shop")["status"]["state"] == "Open")
    assert not get(slots, "commands")["items"]
    slots.kubectl("delete", "queue", "shop")


def test_the_policy_is_read_again_when_it_changes_and_a_wrong_one_is_told_with_its_line(slots: Cluster) -> None:
    policy, log = slots.working_dir / "policy.yaml", slots.data_dir / "kumi.log"
    policy.write_text("profile: kumi\nactions: alocate\n")
    slots.until(SECONDS, lambda: 'line 2: actions: Unsupported value: "alocate"' in log.read_text())
    policy.write_text("actions: backfill\n")  # which places nobody who asks for something
    slots.until(SECONDS, lambda: "has changed" in log.read_text())
    apply(slots, *gang("later", 1))
    slots.until(SECONDS, lambda: get(slots, "podgroup", "later").get("status", {}).get("phase") == "Pending")
    policy.write_text("profile: volcano\n")
    slots.until(SECONDS, lambda: phases(slots, "gang=later")["Running"] == 1)
    clear(slots)
