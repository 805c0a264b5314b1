"""Kubeconfigs as their users have them."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.kube.config import Config, in_cluster, load_config
from kumi.kube.credentials import Credential, ExecPlugin, Fixed, TokenFile

SERVER = "https://192.0.2.1:6443"

EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "x", "interactiveMode": "Never"}


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def kubeconfig(
    cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, context: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", **(context or {})}}],
        "clusters": [{"name": "k", "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
    }


def read(tmp_path: Path, content: object, **options: str) -> Config:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(content))
    return load_config(str(path), **options)


async def shown(config: Config) -> Credential:
    return await config.credentials.current()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_any_file_is_a_configuration_or_an_error_for_people(
    tmp_path_factory: pytest.TempPathFactory, content: object
) -> None:
    path = tmp_path_factory.mktemp("k") / "config"
    path.write_text(yaml.safe_dump(content, allow_unicode=True))
    with pytest.raises(KumiError):
        load_config(str(path))


def test_the_smallest_configuration(tmp_path: Path) -> None:
    config = read(tmp_path, kubeconfig())
    assert (config.server, config.namespace, config.authority, config.insecure) == (SERVER, "", b"", False)
    assert config.credentials == Fixed(Credential())


def test_the_namespace_of_the_context(tmp_path: Path) -> None:
    assert read(tmp_path, kubeconfig(context={"namespace": "team"})).namespace == "team"


def test_a_server_below_a_path_keeps_it(tmp_path: Path) -> None:
    config = read(tmp_path, kubeconfig({"server": "https://rancher.example/k8s/clusters/c-1/"}))
    assert config.server == "https://rancher.example/k8s/clusters/c-1"


def test_how_the_server_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("from the file")
    by_path = read(tmp_path, kubeconfig({"certificate-authority": "ca.pem", "tls-server-name": "kube.example"}))
    assert (by_path.authority, by_path.tls_server_name) == (b"from the file", "kube.example")
    both = {"certificate-authority": "missing.pem", "certificate-authority-data": b64("from the data")}
    assert read(tmp_path, kubeconfig(both)).authority == b"from the data"
    assert read(tmp_path, kubeconfig({"insecure-skip-tls-verify": True})).insecure


def test_a_proxy(tmp_path: Path) -> None:
    assert (
        read(tmp_path, kubeconfig({"proxy-url": "http://proxy.example:3128"})).proxy_url == "http://proxy.example:3128"
    )


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({}, Credential()),
        ({"token": "t"}, Credential(token="t")),
        ({"username": "u", "password": "p"}, Credential(basic=b64("u:p"))),
        ({"token": "t", "username": "u", "password": "p"}, Credential(token="t")),
        (
            {"client-certificate-data": b64("cert"), "client-key-data": b64("key")},
            Credential(certificate=b"cert", key=b"key"),
        ),
        ({"client-certificate": "c.pem", "client-key": "k.pem"}, Credential(certificate=b"c", key=b"k")),
        ({"client-certificate": "c.pem", "client-key-data": b64("key")}, Credential(certificate=b"c", key=b"key")),
    ],
)
async def test_fixed_credentials(tmp_path: Path, user: dict[str, Any], expected: Credential) -> None:
    (tmp_path / "c.pem").write_text("c")
    (tmp_path / "k.pem").write_text("k")
    assert await shown(read(tmp_path, kubeconfig(user=user))) == expected


async def test_a_token_file_is_relative_to_the_configuration_and_wins_over_a_token(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("from the file\n")
    config = read(tmp_path, kubeconfig(user={"tokenFile": "t", "token": "fixed"}))
    assert isinstance(config.credentials, TokenFile)
    assert (await shown(config)).token == "from the file"


def test_an_exec_plugin(tmp_path: Path) -> None:
    spec = {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws", "interactiveMode": "Never"}
    assert isinstance(read(tmp_path, kubeconfig(user={"exec": spec})).credentials, ExecPlugin)


def test_acting_as_somebody_else(tmp_path: Path) -> None:
    user = {
        "token": "t",
        "as": "ann",
        "as-uid": "7",
        "as-groups": ["g", "h"],
        "as-user-extra": {"Example.com/Why": ["x"]},
    }
    assert read(tmp_path, kubeconfig(user=user)).impersonation == (
        ("Impersonate-User", "ann"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "g"),
        ("Impersonate-Group", "h"),
        ("Impersonate-Extra-example.com%2Fwhy", "x"),
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (kubeconfig({"server": ""}), "http"),
        (kubeconfig({"server": "ftp://x"}), "http"),
        (kubeconfig({"certificate-authority": "missing.pem"}), "missing.pem"),
        (kubeconfig({"certificate-authority-data": "!"}), "base64"),
        (kubeconfig({"certificate-authority-data": b64("x"), "insecure-skip-tls-verify": True}), "choose one"),
        (kubeconfig({"proxy-url": "socks5://x"}), "proxy-url"),
        (kubeconfig({"server": 3}), "server"),
        (kubeconfig(user={"client-certificate-data": b64("x")}), "client-key"),
        (kubeconfig(user={"auth-provider": {"name": "gcp"}}), "auth-provider"),
        (kubeconfig(user={"exec": "aws"}), "exec"),
        (
            kubeconfig(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1alpha1", "command": "x"}}),
            "apiVersion",
        ),
        (
            kubeconfig(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "x"}}),
            "interactiveMode",
        ),
        (kubeconfig(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1"}}), "command"),
        (kubeconfig(user={"as-groups": ["g"]}), "without `as`"),
        (kubeconfig(user={"as": "a", "as-groups": 3}), "wrong form"),
        (kubeconfig(user={"exec": {**EXEC, "env": ["A=b"]}}), "wrong form"),
        (kubeconfig({"extensions": ["x"]}, user={"exec": {**EXEC, "provideClusterInfo": True}}), "wrong form"),
        (kubeconfig(context={"cluster": "other"}), "cluster 'other'"),
        (kubeconfig(context={"user": "other"}), "user 'other'"),
        ({**kubeconfig(), "current-context": "other"}, "context 'other'"),
        ({**kubeconfig(), "current-context": ""}, "current-context"),
        ({**kubeconfig(), "clusters": "none"}, "clusters"),
        ([], "kubeconfig"),
        ("text", "kubeconfig"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, content: object, words: str) -> None:
    with pytest.raises(KumiError, match=words):
        read(tmp_path, content)


def test_what_is_no_yaml_is_said(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a: [")
    with pytest.raises(KumiError, match="YAML"):
        load_config(str(tmp_path / "config"))


def test_another_context_can_be_chosen(tmp_path: Path) -> None:
    content = kubeconfig()
    content["contexts"].append({"name": "d", "context": {"cluster": "k", "user": "u", "namespace": "other"}})
    assert read(tmp_path, content, context="d").namespace == "other"


def write(path: Path, content: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content))
    return str(path)


async def test_several_files_are_merged_and_the_first_wins(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "token").write_text("from b")
    first = {"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}]}
    second = kubeconfig(user={"tokenFile": "token"}, context={"namespace": "second"})
    third = kubeconfig({"server": "https://third.example"}, user={"token": "third"})
    paths = [write(tmp_path / d / "config", content) for d, content in (("a", first), ("b", second), ("c", third))]
    config = load_config(os.pathsep.join([paths[0], str(tmp_path / "missing"), *paths[1:]]))
    assert (config.server, config.namespace) == (SERVER, "")
    assert (await shown(config)).token == "from b"


def test_the_environment_says_where(tmp_path: Path) -> None:
    path = write(tmp_path / "config", kubeconfig())
    assert load_config(environment={"KUBECONFIG": path}).server == SERVER
    write(tmp_path / "home" / ".kube" / "config", kubeconfig({"server": "https://home.example"}))
    assert load_config(environment={"HOME": str(tmp_path / "home")}).server == "https://home.example"


@pytest.mark.parametrize("environment", [{}, {"KUBECONFIG": "/nonexistent/a:/nonexistent/b"}])
def test_no_configuration_at_all_is_said(tmp_path: Path, environment: dict[str, str]) -> None:
    with pytest.raises(KumiError, match="no kubeconfig"):
        load_config(environment={"HOME": str(tmp_path), **environment})


async def test_the_service_account_of_a_pod(tmp_path: Path) -> None:
    for name, text in (("token", "first"), ("ca.crt", "authority"), ("namespace", "team\n")):
        (tmp_path / name).write_text(text)
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    config = in_cluster(tmp_path, environment)
    assert (config.server, config.namespace, config.authority) == ("https://[fd00::1]:6443", "team", b"authority")
    (tmp_path / "token").write_text("second")
    assert (await shown(config)).token == "second"


def test_outside_a_pod_there_is_no_service_account(tmp_path: Path) -> None:
    with pytest.raises(KumiError, match="pod"):
        in_cluster(tmp_path, {"KUBERNETES_SERVICE_HOST": "192.0.2.1"})
