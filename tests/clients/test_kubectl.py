"""An unmodified kubectl against the embedded server: what its users type, and what they then see."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kumi.api.core import Node, Pod
from kumi.api.scheme import SCHEME, load
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.identity import Identity
from kumi.apiserver.server import Server
from kumi.registry.bootstrap import bootstrap
from kumi.registry.registry import Registry
from kumi.registry.requests import Target, WriteOptions
from kumi.runtime.streams import LogOptions
from kumi.store.memory import MemoryStore

pytestmark = [pytest.mark.needs("kubectl"), pytest.mark.process]

load()
DEADLINE_S = 60
MERGE = "application/merge-patch+json"

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: sleeper, labels: {app: sleep}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: busybox, command: [sleep, "1"]}]
"""
TRAINING = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        spec: {containers: [{name: pytorch, image: torch}]}
"""
CONFIG_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: one}}
data: {color: blue}
"""
LIST = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {color: blue}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {color: blue}}
"""
QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: default-flavor}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cluster-queue}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: default-flavor, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: user-queue, namespace: default}
spec: {clusterQueue: cluster-queue}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  nodeName: node-1
  containers: [{name: main, image: nginx}]
"""


class Logs:
    """Two lines; with `follow` the second when `go` is set."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def logs(self, pod: JsonObject, options: LogOptions) -> AsyncIterator[bytes]:
        yield b"first\n"
        if options.follow:
            await self.go.wait()
        yield b"second\n"


@dataclass
class Run:
    """How a kubectl ended."""

    code: int
    out: str
    err: str


@dataclass
class Shell:
    """Runs kubectl against a server."""

    program: str
    home: Path
    registry: Registry
    logs: Logs

    async def start(self, *arguments: str, **environment: str) -> asyncio.subprocess.Process:
        """A kubectl that runs on."""
        env = {**os.environ, "HOME": str(self.home), "KUBECONFIG": str(self.home / "kubeconfig")}
        env |= {"KUBECACHEDIR": str(self.home / "cache"), **environment}
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            self.program, *arguments, env=env, cwd=self.home, stdin=pipe, stdout=pipe, stderr=pipe
        )

    async def run(self, *arguments: str, stdin: str = "", **environment: str) -> Run:
        """A kubectl from its start to its end."""
        process = await self.start(*arguments, **environment)
        out, err = await asyncio.wait_for(process.communicate(stdin.encode()), DEADLINE_S)
        assert process.returncode is not None
        return Run(process.returncode, out.decode(), err.decode())

    async def __call__(self, *arguments: str, stdin: str = "", **environment: str) -> str:
        """What a kubectl that succeeds prints."""
        run = await self.run(*arguments, stdin=stdin, **environment)
        assert run.code == 0, run.err
        return run.out

    async def patch_status(self, type_: type[Pod], name: str, status: JsonObject) -> None:
        """What a controller or a kubelet would say."""
        target = Target(SCHEME.of(type_), "default", name, subresource="status")
        await self.registry.patch(target, MERGE, {"status": status}, WriteOptions())


@pytest.fixture
async def shell(kubectl: str, tmp_path: Path) -> AsyncIterator[Shell]:
    numbers = itertools.count()
    store, logs = MemoryStore(), Logs()

    def clock_ms() -> int:
        return time.time_ns() // 1_000_000

    registry = Registry(store, load(), clock_ms, lambda: f"00000000-0000-4000-8000-{next(numbers):012}")
    await bootstrap(registry)
    await registry.create(Target(SCHEME.of(Node)), {"metadata": {"name": "node-1"}}, WriteOptions())
    identity = Identity(tmp_path, clock_ms)
    app = make_app(registry, registry.scheme, clock_ms=clock_ms, logs=logs, authenticators=[identity])
    async with Server(app, identity=identity) as server:
        identity.write_kubeconfig(tmp_path / "kubeconfig", server.url)
        yield Shell(kubectl, tmp_path, registry, logs)
    await store.close()


def cells(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


async def test_apply_creates_then_leaves_then_changes(shell: Shell) -> None:
    apply = ("apply", "-f", "-")
    assert await shell(*apply, stdin=CONFIG_MAP) == "configmap/settings created\n"
    assert await shell(*apply, stdin=CONFIG_MAP) == "configmap/settings unchanged\n"
    assert await shell(*apply, stdin=CONFIG_MAP.replace("blue", "red")) == "configmap/settings configured\n"
    assert await shell("get", "cm", "settings", "-o", "jsonpath={.data.color}") == "red"


async def test_apply_removes_what_the_manifest_no_longer_says(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=CONFIG_MAP)
    await shell("apply", "-f", "-", stdin=CONFIG_MAP.replace("color: blue", "size: big"))
    assert json.loads(await shell("get", "cm", "settings", "-o", "jsonpath={.data}")) == {"size": "big"}


async def test_manifests_are_taken_as_their_users_write_them(shell: Shell) -> None:
    out = await shell("apply", "-f", "-", stdin=f"{QUEUES}---{JOB}---{TRAINING}")
    assert [line.split()[0] for line in out.splitlines()] == [
        "resourceflavor.kueue.x-k8s.io/default-flavor",
        "clusterqueue.kueue.x-k8s.io/cluster-queue",
        "localqueue.kueue.x-k8s.io/user-queue",
        "job.batch/sleeper",
        "pytorchjob.kubeflow.org/train",
    ]
    quota = "jsonpath={.spec.resourceGroups[0].flavors[0].resources[0].nominalQuota}"
    for resource in ("cq", "clusterqueues.v1beta1.kueue.x-k8s.io", "clusterqueues.v1beta2.kueue.x-k8s.io"):
        assert await shell("get", resource, "cluster-queue", "-o", quota) == "8"


async def test_create_refuses_what_is_there(shell: Shell) -> None:
    assert await shell("create", "-f", "-", stdin=JOB) == "job.batch/sleeper created\n"
    again = await shell.run("create", "-f", "-", stdin=JOB)
    assert (again.code, "(AlreadyExists)" in again.err) == (1, True)


async def test_create_makes_what_needs_no_manifest(shell: Shell) -> None:
    """A newer kubectl sends these in protobuf."""
    assert await shell("create", "namespace", "team") == "namespace/team created\n"
    await shell("create", "configmap", "settings", "--from-literal=color=blue", "--from-literal=empty=")
    assert json.loads(await shell("get", "cm", "settings", "-o", "jsonpath={.data}")) == {"color": "blue", "empty": ""}
    await shell("create", "secret", "generic", "password", "--from-literal=key=word")
    assert await shell("get", "secret", "password", "-o", "jsonpath={.data.key}") == "d29yZA=="
    await shell("create", "serviceaccount", "robot")
    await shell("create", "priorityclass", "urgent", "--value=1000")
    assert await shell("get", "pc", "urgent", "-o", "jsonpath={.value}") == "1000"
    await shell("create", "job", "hello", "--image=busybox", "--", "echo", "hello")
    spec = json.loads(await shell("get", "job", "hello", "-o", "jsonpath={.spec.template.spec}"))
    assert spec["containers"][0]["command"] == ["echo", "hello"]
    assert spec["restartPolicy"] == "Never"
    await shell("run", "web", "--image=nginx", "--labels=a=b")
    assert await shell("get", "pods", "-l", "a=b", "-o", "name") == "pod/web\n"


async def test_a_list_is_made_and_applied_item_by_item(shell: Shell) -> None:
    made = await shell("create", "-f", "-", stdin=LIST)
    assert made == "configmap/one created\nconfigmap/two created\n"
    applied = await shell("apply", "-f", "-", stdin=LIST.replace("blue", "red"))
    assert applied == "configmap/one configured\nconfigmap/two configured\n"
    assert await shell("get", "cm", "one", "two", "-o", "jsonpath={.items[*].data.color}") == "red red"


async def test_a_dry_run_of_the_server_changes_nothing(shell: Shell) -> None:
    out = await shell("create", "--dry-run=server", "-f", "-", stdin=JOB)
    assert out == "job.batch/sleeper created (server dry run)\n"
    assert await shell("get", "jobs", "-o", "name") == ""


@pytest.mark.parametrize(
    ("manifest", "field"),
    [
        (JOB.replace("restartPolicy", "restartPolice"), 'unknown field "spec.template.spec.restartPolice"'),
        (TRAINING.replace("replicas:", "replica:"), 'unknown field "spec.pytorchReplicaSpecs.Worker.replica"'),
    ],
    ids=["job", "pytorchjob"],
)
async def test_an_unknown_field_is_refused_by_its_path(shell: Shell, manifest: str, field: str) -> None:
    for arguments in (("apply",), ("create", "--validate=strict")):
        run = await shell.run(*arguments, "-f", "-", stdin=manifest)
        assert run.code == 1
        assert f"strict decoding error: {field}" in run.err
    assert await shell("get", "jobs,pytorchjobs", "-o", "name") == ""


async def test_a_warned_user_goes_on(shell: Shell) -> None:
    run = await shell.run("create", "--validate=warn", "-f", "-", stdin=CONFIG_MAP + "dta: {}\n")
    assert (run.code, 'Warning: unknown field "dta"' in run.err) == (0, True)


async def test_an_unknown_kind_is_refused(shell: Shell) -> None:
    run = await shell.run("apply", "-f", "-", stdin="{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}")
    assert (run.code, 'no matches for kind "Widget"' in run.err) == (1, True)


async def test_get_prints_every_form(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=POD)
    header, row = cells(await shell("get", "pods"))
    assert (header, row[0], row[2]) == (["NAME", "READY", "STATUS", "RESTARTS", "AGE"], "web", "Pending")
    assert "node-1" in await shell("get", "pods", "-o", "wide")
    assert "nodeName: node-1" in await shell("get", "pod", "web", "-o", "yaml")
    assert json.loads(await shell("get", "pods", "-o", "json"))["items"][0]["kind"] == "Pod"
    assert await shell("get", "pods", "-o", "jsonpath={.items[*].metadata.name}") == "web"
    assert await shell("get", "pods", "-o", "name") == "pod/web\n"
    assert await shell("get", "pods", "-l", "app in (web),x!=y", "-o", "name") == "pod/web\n"
    assert await shell("get", "pods", "-l", "app=other", "-o", "name") == ""
    assert cells(await shell("get", "pods", "-A"))[1][:2] == ["default", "web"]
    assert "pod/web" in await shell("get", "all")
    assert (await shell.run("get", "pods", "none")).err == 'Error from server (NotFound): pods "none" not found\n'


async def test_get_follows_what_changes(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=POD)
    process = await shell.start("get", "pods", "-w", "--no-headers")
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE_S):
            assert b"Pending" in await process.stdout.readline()
            await shell.patch_status(Pod, "web", {"phase": "Running"})
            assert b"Running" in await process.stdout.readline()
    finally:
        process.kill()
        await process.communicate()


async def test_describe_tells_of_an_object_and_its_events(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=f"{POD}---{JOB}")
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "web.1", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"},
        "reason": "Pulled",
        "message": "the image is there",
        "type": "Normal",
    }
    uid = await shell("get", "pod", "web", "-o", "jsonpath={.metadata.uid}")
    event["involvedObject"]["uid"] = uid  # type: ignore[index]
    await shell("create", "-f", "-", stdin=json.dumps(event))
    described = await shell("describe", "pod", "web")
    assert "Node:" in described
    assert "the image is there" in described
    assert "sleep" in await shell("describe", "job", "sleeper")
    assert "node-1" in await shell("describe", "node", "node-1")
    assert "the image is there" in await shell("get", "events")


async def test_delete_waits_until_the_object_is_gone(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=f"{CONFIG_MAP}---{POD}")
    process = await shell.start("delete", "pod/web", "configmap/settings", "--grace-period=5")
    ended = asyncio.create_task(process.communicate())
    async with asyncio.timeout(DEADLINE_S):
        while not await shell("get", "pods", "-o", "jsonpath={.items[?(@.metadata.deletionTimestamp)].metadata.name}"):
            pass
    assert not ended.done()
    await shell("delete", "pod/web", "--force", "--grace-period=0")
    await asyncio.wait_for(ended, DEADLINE_S)
    assert process.returncode == 0
    assert await shell("get", "pods,cm", "-o", "name") == ""


async def test_patch_takes_every_kind_of_patch(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=f"{POD}---{TRAINING}")
    await shell("patch", "pod", "web", "-p", '{"metadata": {"labels": {"a": "1"}}}')
    await shell(
        "patch", "pod", "web", "--type=json", "-p", '[{"op": "add", "path": "/metadata/labels/b", "value": "2"}]'
    )
    labels = json.loads(await shell("get", "pod", "web", "-o", "jsonpath={.metadata.labels}"))
    assert labels == {"app": "web", "a": "1", "b": "2"}
    suspend = '{"spec": {"runPolicy": {"suspend": true}}}'
    await shell("patch", "pytorchjob", "train", "--type=merge", "-p", suspend)
    assert await shell("get", "pytorchjob", "train", "-o", "jsonpath={.spec.runPolicy.suspend}") == "true"
    await shell("patch", "pod", "web", "--subresource=status", "--type=merge", "-p", '{"status": {"phase": "Running"}}')
    assert await shell("get", "pod", "web", "-o", "jsonpath={.status.phase}") == "Running"


async def test_edit_writes_back_what_was_changed(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=f"{CONFIG_MAP}---{TRAINING}")
    out = await shell("edit", "cm", "settings", KUBE_EDITOR="sed -i s/blue/green/")
    assert out == "configmap/settings edited\n"
    assert await shell("get", "cm", "settings", "-o", "jsonpath={.data.color}") == "green"
    assert "edited" in await shell("edit", "pytorchjob", "train", KUBE_EDITOR="sed -i s/replicas:.2/replicas:\\ 3/")


async def test_label_and_annotate(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=f"{CONFIG_MAP}---{TRAINING}")
    for resource in ("cm/settings", "pytorchjob/train"):
        await shell("label", resource, "team=a")
        await shell("annotate", resource, "note=hello")
        await shell("label", resource, "team-")
        meta = json.loads(await shell("get", resource, "-o", "jsonpath={.metadata}"))
        assert "team" not in meta.get("labels", {})
        assert meta["annotations"]["note"] == "hello"


async def test_wait_returns_when_the_condition_holds(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=POD)
    late = await shell.run("wait", "--for=condition=Ready", "pod/web", "--timeout=100ms")
    assert (late.code, "timed out" in late.err) == (1, True)
    waiting = asyncio.create_task(shell("wait", "--for=condition=Ready", "pod/web", f"--timeout={DEADLINE_S}s"))
    await shell.patch_status(Pod, "web", {"conditions": [{"type": "Ready", "status": "True"}]})
    assert await waiting == "pod/web condition met\n"
    await shell("wait", "--for=jsonpath={.status.conditions[0].status}=True", "pod/web", "--timeout=5s")
    await shell("delete", "pod/web", "--force", "--wait=false")
    await shell("wait", "--for=delete", "pod/web", "--timeout=5s")


async def test_logs_are_read_and_followed(shell: Shell) -> None:
    await shell("apply", "-f", "-", stdin=POD)
    await shell.patch_status(Pod, "web", {"phase": "Running"})
    assert await shell("logs", "web") == "first\nsecond\n"
    process = await shell.start("logs", "-f", "web")
    assert process.stdout is not None
    async with asyncio.timeout(DEADLINE_S):
        assert await process.stdout.readline() == b"first\n"
        shell.logs.go.set()
        assert await process.stdout.readline() == b"second\n"
        await process.communicate()
    assert process.returncode == 0


async def test_what_there_is_is_listed(shell: Shell) -> None:
    listed = cells(await shell("api-resources", "--no-headers"))
    rows = {row[0]: row for row in listed}
    assert [row for row in listed if row[0] == "pods"] == [
        ["pods", "po", "v1", "true", "Pod"],
        ["pods", "metrics.k8s.io/v1beta1", "true", "PodMetrics"],
    ]
    assert rows["clusterqueues"][1:] == ["cq", "kueue.x-k8s.io/v1beta2", "false", "ClusterQueue"]
    assert {"kubeflow.org/v1", "kueue.x-k8s.io/v1beta1", "batch/v1"} <= set((await shell("api-versions")).split())
    assert "control plane" in await shell("cluster-info")
    assert "Server Version: v1." in await shell("version")


async def test_explain_knows_every_field(shell: Shell) -> None:
    text = await shell("explain", "pytorchjob.spec")
    assert "pytorchReplicaSpecs" in text
    assert "cpu" not in await shell("explain", "pod.spec.containers.resources", "--recursive")
    assert "nominalQuota" in await shell("explain", "clusterqueues", "--recursive")
    wrong = await shell.run("explain", "job.spec.nonsense")
    assert (wrong.code, 'field "nonsense" does not exist' in wrong.err) == (1, True)


async def test_without_the_token_nothing_is_told(shell: Shell) -> None:
    run = await shell.run("get", "pods", "--token=wrong")
    assert run.code == 1
    assert "Unauthorized" in run.err or "logged in" in run.err
