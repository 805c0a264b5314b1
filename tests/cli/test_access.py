"""Who reaches a cluster, and a real one with three kinds of users: of a file, with a certificate, and a pod."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from kumi.api.core import ConfigMap
from kumi.api.scheme import SCHEME, load
from kumi.apiserver.identity import Identity
from kumi.cli.access import authenticators, in_cluster, names_of, publish_authority
from kumi.registry.bootstrap import bootstrap
from kumi.registry.local import LocalClient
from kumi.registry.registry import Registry
from kumi.store.memory import MemoryStore

NOW = 1_800_000_000_000


def test_an_address_is_its_own_name_and_all_are_the_machines() -> None:
    assert names_of("192.0.2.1") == ("192.0.2.1",)
    for listen in ("0.0.0.0", "::"):
        assert {socket.gethostname(), "127.0.0.1"} <= set(names_of(listen))


async def test_the_administrator_those_of_the_file_and_service_accounts_are_known(tmp_path: Path) -> None:
    registry = Registry(MemoryStore(), load(), lambda: NOW, lambda: "uid")
    identity = Identity(tmp_path, lambda: NOW)
    (tmp_path / "tokens").write_text("aaa,ann,u1\n")
    certificates, bearer = authenticators(identity, registry, lambda: NOW, tmp_path / "tokens")
    sources = bearer.sources  # type: ignore[attr-defined]
    assert [type(source).__name__ for source in sources] == ["Identity", "TokenFile", "ServiceAccountTokens"]
    assert type(certificates).__name__ == "ClientCertificates"
    assert len(authenticators(identity, registry, lambda: NOW, None)[1].sources) == 2  # type: ignore[attr-defined]


async def test_whom_to_trust_is_written_once_and_put_right_when_it_changes() -> None:
    numbers = iter(range(1000))
    registry = Registry(MemoryStore(), load(), lambda: NOW, lambda: f"uid-{next(numbers)}")
    await bootstrap(registry)
    client = LocalClient(registry)
    for pem in (b"one", b"one", b"two"):
        await publish_authority(client, pem)
        found = await client.get(SCHEME.of(ConfigMap), "kube-public", "kube-root-ca.crt")
        assert found["data"] == {"ca.crt": pem.decode()}


def test_pods_find_the_api_by_the_usual_variables() -> None:
    assert in_cluster("https://127.0.0.1:6443") == {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": "6443",
        "KUBERNETES_SERVICE_PORT_HTTPS": "6443",
    }
    assert in_cluster("https://[::1]:6443")["KUBERNETES_SERVICE_HOST"] == "::1"


@pytest.mark.process
@pytest.mark.needs("kubectl")
def test_users_of_a_file_and_of_certificates_may_what_is_bound_to_them(cluster: Any) -> None:
    tokens = cluster.working_dir / "tokens.csv"
    tokens.write_text('ann-token,ann,u1,"devs"\n')
    cluster.up("--bare", "--listen", "0.0.0.0", "--token-file", str(tokens))
    cluster.kumi("kubeconfig", "--user", "jane", "--group", "devs", "-o", "jane")
    as_ann, as_jane = ("--token", "ann-token"), ("--kubeconfig", "jane")
    for who in (as_ann, as_jane):
        answer = cluster.kubectl("auth", "can-i", "create", "jobs", *who, ok=False)
        assert answer.stdout == "no\n"
    cluster.kubectl("create", "rolebinding", "devs", "--clusterrole", "kueue-batch-user-role", "--group", "devs")
    for who in (as_ann, as_jane):
        assert cluster.kubectl("auth", "can-i", "create", "jobs", *who).stdout == "yes\n"
        refused = cluster.kubectl("get", "secrets", *who, ok=False)
        assert "Error from server (Forbidden)" in refused.stderr


@pytest.mark.process
@pytest.mark.needs("kubectl")
def test_a_pod_speaks_to_the_api_as_its_service_account(cluster: Any) -> None:
    cluster.up("--cpus", "1")
    program = cluster.kubectl("version", "--client").args[0]
    script = f"{program} auth whoami -o json; {program} get pods 2>&1"
    command = ("run", "p", "--image=x", "--restart=Never", "--command", "--", "sh", "-c", script)
    cluster.kubectl(*command)
    cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Failed", "pod/p", "--timeout=30s")
    said, _, refusal = cluster.kubectl("logs", "p").stdout.rpartition("}")
    assert json.loads(said + "}")["status"]["userInfo"]["username"] == "system:serviceaccount:default:default"
    assert 'User "system:serviceaccount:default:default" cannot list resource "pods"' in refusal
