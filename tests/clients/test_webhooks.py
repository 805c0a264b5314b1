"""Webhooks of somebody else, over real HTTPS with an authority of their own, against `kumi up` and an unmodified kubectl."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kumi.apiserver import pki
from tests.conftest import Cluster

pytestmark = [pytest.mark.needs("kubectl"), pytest.mark.process]

SCRIPT = Path(__file__).parent / "webhook_of_others.py"


class Hooks:
    """A running cluster in which a pod answers webhooks, behind the service default/hook and at a URL."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder, self.spaces = cluster, folder, 0
        with socket.socket() as found:
            found.bind(("", 0))
            self.port = found.getsockname()[1]
        pki.ensure(folder, ("hook.default.svc", "localhost"), time.time_ns() // 1_000_000)
        shutil.copy(folder / "server.crt", folder / "tls.crt")
        shutil.copy(folder / "server.key", folder / "tls.key")
        self.authority = base64.b64encode(pki.authority_pem(folder)).decode()
        self.apply(self._pod(), self._service())
        cluster.kubectl("wait", "--for=condition=ready", "pod/hook", "--timeout=30s")
        cluster.until(30, lambda: cluster.kubectl("get", "endpoints", "hook", "-o", "name", ok=False).stdout)
        cluster.until(30, self._listens)

    def apply(self, *manifests: dict[str, Any]) -> None:
        self.cluster.kubectl(
            "apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests})
        )

    def space(self, **labels: str) -> str:
        """A new namespace."""
        self.spaces += 1
        name = f"space-{self.spaces}"
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        return name

    def register(self, kind: str, space: str, *hooks: dict[str, Any]) -> None:
        """Webhooks for what happens in a namespace."""
        selector = {"matchLabels": {"kubernetes.io/metadata.name": space}}
        built = [{"namespaceSelector": selector, **each} for each in hooks]
        name = f"{space}-{kind.lower()}"
        meta = {"name": name}
        what = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration"}
        self.apply({**what, "metadata": meta, "webhooks": built})

    def hook(self, path: str, *, by: str = "service", resource: str = "configmaps", **more: Any) -> dict[str, Any]:
        """A webhook that answers as `path` says; `by` url or service."""
        service = {"name": "hook", "namespace": "default", "path": f"/{path}", "port": 443}
        url = f"https://localhost:{self.port}/{path}"
        client = {"caBundle": self.authority, **({"service": service} if by == "service" else {"url": url})}
        rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": [resource]}
        return {
            "name": f"{path}.example.com",
            "clientConfig": client,
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **more,
        }

    def asked(self, space: str) -> list[dict[str, Any]]:
        """What was asked about that namespace."""
        path = self.folder / "asked.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [each for each in map(json.loads, lines) if each.get("namespace") == space]

    def make(self, space: str, name: str = "c", *words: str) -> str:
        """`kubectl create configmap`: what it says, and the object."""
        command = ("create", "configmap", name, "-n", space, "--from-literal=a=1", *words)
        done = self.cluster.kubectl(*command, ok=False)
        return done.stdout + done.stderr

    def get(self, space: str, name: str = "c") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            self.cluster.kubectl("get", "configmap", name, "-n", space, "-o", "json").stdout
        )
        return found

    def _listens(self) -> bool:
        with socket.socket() as trying:
            return trying.connect_ex(("127.0.0.1", self.port)) == 0

    def _pod(self) -> dict[str, Any]:
        command = ["python3", str(SCRIPT), str(self.port), str(self.folder)]
        container = {"name": "c", "image": "none", "command": command, "ports": [{"containerPort": self.port}]}
        meta = {"name": "hook", "namespace": "default", "labels": {"app": "hook"}}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}

    def _service(self) -> dict[str, Any]:
        spec = {"selector": {"app": "hook"}, "ports": [{"port": 443, "targetPort": self.port}]}
        meta = {"name": "hook", "namespace": "default"}
        return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hooks]:
    home = tmp_path_factory.mktemp("hooks")
    (home / "work").mkdir()
    (home / "hook").mkdir()
    cluster = Cluster(home / "data", home / "work")
    cluster.up("--cpus", "16")
    try:
        yield Hooks(cluster, home / "hook")
    finally:
        cluster.kumi("down", ok=False)


@pytest.mark.parametrize("by", ["service", "url"])
def test_an_object_is_changed_and_then_looked_at_as_it_was_changed(hooks: Hooks, by: str) -> None:
    space = hooks.space()
    hooks.register("Mutating", space, hooks.hook("label", by=by))
    hooks.register("Validating", space, hooks.hook("allow", by=by))
    assert "Warning: this was looked at" in hooks.make(space)
    assert hooks.get(space)["metadata"]["labels"] == {"seen": "yes"}
    labels = {each["path"]: each["object"]["metadata"].get("labels") for each in hooks.asked(space)}
    assert labels == {"label": None, "allow": {"seen": "yes"}}


def test_a_refusal_is_told_in_the_webhooks_own_words(hooks: Hooks) -> None:
    space = hooks.space()
    hooks.register("Validating", space, hooks.hook("deny"))
    assert 'admission webhook "deny.example.com" denied the request: not on my watch' in hooks.make(space)
    assert hooks.cluster.kubectl("get", "configmap", "c", "-n", space, ok=False).returncode == 1


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
@pytest.mark.parametrize("trouble", ["slow", "stranger", "nobody"])
def test_one_that_does_not_answer_counts_as_its_policy_says(hooks: Hooks, trouble: str, policy: str) -> None:
    hook = hooks.hook("slow" if trouble == "slow" else "allow", failurePolicy=policy, timeoutSeconds=1)
    if trouble == "stranger":
        other = hooks.folder.parent / "stranger"
        other.mkdir(exist_ok=True)
        pki.ensure(other, (), time.time_ns() // 1_000_000)
        hook["clientConfig"]["caBundle"] = base64.b64encode(pki.authority_pem(other)).decode()
    if trouble == "nobody":
        hook["clientConfig"]["service"]["name"] = "nobody"
    space = hooks.space()
    hooks.register("Validating", space, hook)
    said = hooks.make(space)
    if policy == "Ignore":
        assert "created" in said
    else:
        assert f'failed calling webhook "{hook["name"]}"' in said


def test_conditions_choose_by_what_is_written_and_by_what_the_writer_may_do(hooks: Hooks) -> None:
    space = hooks.space()
    may = f"authorizer.group('').resource('secrets').namespace('{space}').check('delete').allowed()"
    conditions = [
        {"name": "named", "expression": "object.metadata.name.startsWith('watched')"},
        {"name": "no-boss", "expression": f"!{may}"},
    ]
    hooks.register("Validating", space, hooks.hook("deny", matchConditions=conditions))
    hooks.cluster.kubectl("create", "rolebinding", "ann", "-n", space, "--clusterrole=edit", "--user=ann")
    hooks.cluster.kubectl("create", "role", "maps", "-n", space, "--verb=create", "--resource=configmaps")
    hooks.cluster.kubectl("create", "rolebinding", "bob", "-n", space, "--role=maps", "--user=bob")
    assert "created" in hooks.make(space, "watched-a", "--as=ann")
    assert "created" in hooks.make(space, "other", "--as=bob")
    assert "not on my watch" in hooks.make(space, "watched-b", "--as=bob")


def test_one_that_ran_before_a_change_is_asked_again_if_it_says_so(hooks: Hooks) -> None:
    space = hooks.space()
    first = hooks.hook("count", name="a.example.com", reinvocationPolicy="IfNeeded")
    hooks.register("Mutating", space, first, hooks.hook("label"))
    hooks.make(space)
    assert hooks.get(space)["data"] == {"a": "1", "times": "2"}
    assert [each["path"] for each in hooks.asked(space)] == ["count", "label", "count"]


def test_a_dry_run_asks_only_those_that_do_nothing_else(hooks: Hooks) -> None:
    space = hooks.space()
    hooks.register("Validating", space, hooks.hook("allow", sideEffects="NoneOnDryRun"))
    assert "created" in hooks.make(space, "c", "--dry-run=server")
    assert [each["dryRun"] for each in hooks.asked(space)] == [True]
    acts = hooks.hook("allow", sideEffects="Some", name="acts.example.com")
    refused = hooks.cluster.kubectl("apply", "-f", "-", ok=False, stdin=json.dumps(configuration(acts))).stderr
    assert "sideEffects" in refused


def configuration(hook: dict[str, Any]) -> dict[str, Any]:
    what = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    return {**what, "metadata": {"name": "acts"}, "webhooks": [hook]}


def test_selectors_choose_namespaces_and_objects(hooks: Hooks) -> None:
    red, blue = hooks.space(team="red"), hooks.space(team="blue")
    by_team = {"matchLabels": {"team": "red"}}
    by_label = {"matchExpressions": [{"key": "skip", "operator": "DoesNotExist"}]}
    hooks.register("Validating", red, hooks.hook("deny", namespaceSelector=by_team, objectSelector=by_label))
    assert "not on my watch" in hooks.make(red)
    assert "created" in hooks.make(blue)
    meta = {"name": "c", "namespace": red, "labels": {"skip": "me"}}
    hooks.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})


def test_bindings_commands_and_evictions_are_reviewed_as_such(hooks: Hooks) -> None:
    space, kubectl = hooks.space(), hooks.cluster.kubectl
    hooks.register("Validating", space, hooks.hook("allow", resource="pods/*"))
    container = {"name": "c", "image": "none", "command": ["sleep", "1000"]}
    spec = {"terminationGracePeriodSeconds": 0, "containers": [container]}
    hooks.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": space}, "spec": spec})
    kubectl("wait", "--for=condition=ready", "pod/p", "-n", space, "--timeout=30s")
    assert kubectl("exec", "p", "-n", space, "--", "echo", "hello").stdout == "hello\n"
    hooks.register("Validating", space, hooks.hook("deny", resource="pods/exec"))
    refused = kubectl("exec", "p", "-n", space, "--", "echo", "hello", ok=False)
    assert refused.returncode == 1
    assert "hello" not in refused.stdout
    hooks.register("Validating", space, hooks.hook("allow", resource="pods/*"))
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p", "namespace": space}}
    kubectl("create", "--raw", f"/api/v1/namespaces/{space}/pods/p/eviction", "-f", "-", stdin=json.dumps(eviction))
    kubectl("wait", "--for=delete", "pod/p", "-n", space, "--timeout=30s")
    seen = [(each["operation"], each.get("subResource", ""), each["kind"]["kind"]) for each in hooks.asked(space)]
    # a kubectl that is refused over WebSocket may try another protocol, so how often it asks is its own affair
    assert list(dict.fromkeys(each for each in seen if each[1] in ("binding", "exec", "eviction"))) == [
        ("CREATE", "binding", "Binding"),
        ("CONNECT", "exec", "PodExecOptions"),
        ("CREATE", "eviction", "Eviction"),
    ]


def test_a_pod_whose_binding_is_refused_waits_and_is_placed_once_it_is_not(hooks: Hooks) -> None:
    space, kubectl = hooks.space(), hooks.cluster.kubectl
    hooks.register("Validating", space, hooks.hook("deny", resource="pods/binding"))
    container = {"name": "c", "image": "none", "command": ["true"]}
    spec = {"restartPolicy": "Never", "containers": [container]}
    hooks.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": space}, "spec": spec})
    hooks.cluster.until(30, lambda: hooks.asked(space))
    assert kubectl("get", "pod", "p", "-n", space, "-o", "jsonpath={.spec.nodeName}").stdout == ""
    kubectl("delete", "validatingwebhookconfiguration", f"{space}-validating")
    kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/p", "-n", space, "--timeout=60s")
