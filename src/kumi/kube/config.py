"""A kubeconfig as one connection's settings.

    load_config()               $KUBECONFIG, else ~/.kube/config, else the service account of the pod that we run in
    load_config("a:b")          these files; several are merged: the first that names a thing wins
    load_config(context="x")    another context than the current one

Paths in a file are relative to that file. Data in the file (`...-data`) wins over a path, `tokenFile` over `token`.
Errors name the file or the entry: a KumiError, since only a person can put them right.
Source     Kubernetes: organizing cluster access using kubeconfig files; kubeconfig v1 reference.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from kumi.api.errors import KumiError
from kumi.api.yaml import load_all
from kumi.kube.credentials import Credential, Credentials, ExecPlugin, Fixed, TokenFile

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}


@dataclass(frozen=True)
class Config:
    """One connection: where, whom we trust, who we are."""

    server: str
    namespace: str = ""
    authority: bytes = b""
    """PEM certificates to trust; empty: those of the system"""
    insecure: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    credentials: Credentials = field(default_factory=lambda: Fixed(Credential()))
    impersonation: tuple[tuple[str, str], ...] = ()
    """headers that make the server act as somebody else"""


@dataclass(frozen=True)
class Named:
    """The body of a cluster, user or context, and the directory that its paths are relative to."""

    name: str
    body: Mapping[str, Any]
    directory: Path

    def text(self, key: str) -> str:
        """A text field, "" if it isn't there."""
        value = self.body.get(key)
        if value is not None and not isinstance(value, str):
            raise KumiError(f"kubeconfig: {key} of {self.name!r} must be text, it is {value!r}")
        return value or ""

    def path(self, key: str) -> Path | None:
        """A path field."""
        text = self.text(key)
        return self.directory / Path(text).expanduser() if text else None

    def content(self, key: str) -> bytes:
        """What `KEY-data` holds, else what the file at KEY does; empty if neither is there."""
        if data := self.text(f"{key}-data"):
            try:
                return base64.b64decode("".join(data.split()), validate=True)
            except binascii.Error as error:
                raise KumiError(f"kubeconfig: {key}-data of {self.name!r} is not base64: {error}") from None
        path = self.path(key)
        return b"" if path is None else _read(path, f"{key} of {self.name!r}")


class Kubeconfig:
    """Files merged."""

    def __init__(self) -> None:
        self.current_context = ""
        self._sections: dict[str, dict[str, Named]] = {section: {} for section in SECTIONS}

    def add(self, path: Path) -> None:
        """Merges a file in: what is already named stays."""
        where = f"kubeconfig {path}"
        documents = list(load_all(_read(path, "kubeconfig")))
        content = documents[0] if documents else {}
        if not isinstance(content, dict):
            raise KumiError(f"{where}: this is not a kubeconfig")
        self.current_context = self.current_context or str(content.get("current-context") or "")
        for section, body_key in SECTIONS.items():
            for entry in content.get(section) or ():
                if not isinstance(entry, dict) or not isinstance(entry.get(body_key) or {}, dict):
                    raise KumiError(f"{where}: {section} must be a list of entries with name and {body_key}")
                name = str(entry.get("name", ""))
                self._sections[section].setdefault(name, Named(name, entry.get(body_key) or {}, path.parent))

    def connection(self, context: str = "") -> Config:
        """The settings of a context, the current one by default."""
        try:
            return self._connection(context or self.current_context)
        except (AttributeError, KeyError, TypeError) as error:
            raise KumiError(f"kubeconfig: a field has the wrong form: {error}") from error

    def _connection(self, context: str) -> Config:
        if not context:
            raise KumiError("kubeconfig: no context is chosen: set current-context, or say which one")
        chosen = self._find("contexts", context)
        cluster = self._find("clusters", chosen.text("cluster"))
        user_name = chosen.text("user")
        user = self._find("users", user_name) if user_name else Named("", {}, cluster.directory)
        server = cluster.text("server").rstrip("/")
        if urlsplit(server).scheme not in ("http", "https"):
            raise KumiError(
                f"kubeconfig: server of cluster {cluster.name!r} must be an http(s) address, it is {server!r}"
            )
        authority = cluster.content("certificate-authority")
        insecure = cluster.body.get("insecure-skip-tls-verify") is True
        if insecure and authority:
            raise KumiError(f"kubeconfig: cluster {cluster.name!r} has an authority and skips verification: choose one")
        return Config(
            server=server,
            namespace=chosen.text("namespace"),
            authority=authority,
            insecure=insecure,
            tls_server_name=cluster.text("tls-server-name"),
            proxy_url=_proxy(cluster),
            credentials=_credentials(user, cluster, server),
            impersonation=_impersonation(user),
        )

    def _find(self, section: str, name: str) -> Named:
        found = self._sections[section].get(name)
        if found is None:
            have = ", ".join(self._sections[section]) or "none"
            raise KumiError(f"kubeconfig: there is no {SECTIONS[section]} {name!r} (there are: {have})")
        return found


def load_config(path: str = "", context: str = "", environment: Mapping[str, str] | None = None) -> Config:
    """See the module. `path` may be several, joined as in $KUBECONFIG; those that don't exist are passed over then."""
    environment = os.environ if environment is None else environment
    given = path or environment.get("KUBECONFIG", "")
    if given:
        paths = [Path(part).expanduser() for part in given.split(os.pathsep) if part]
        found = [p for p in paths if p.exists()]
        if not found:
            raise KumiError(f"there is no kubeconfig at {given}")
    else:
        home = Path(environment.get("HOME", "~")).expanduser() / ".kube" / "config"
        found = [home] if home.exists() else []
        if not found and environment.get("KUBERNETES_SERVICE_HOST"):
            return in_cluster(SERVICE_ACCOUNT, environment)
        if not found:
            raise KumiError(f"there is no kubeconfig: neither $KUBECONFIG nor {home}")
    kubeconfig = Kubeconfig()
    for file in found:
        kubeconfig.add(file)
    return kubeconfig.connection(context)


def in_cluster(directory: Path, environment: Mapping[str, str]) -> Config:
    """The service account of the pod that we run in; its token is read again as the kubelet renews it."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "443")
    if not host or not (directory / "token").exists():
        raise KumiError("this is not a pod with a service account")
    namespace = directory / "namespace"
    return Config(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        namespace=namespace.read_text().strip() if namespace.exists() else "",
        authority=_read(directory / "ca.crt", "authority of the service account"),
        credentials=TokenFile(directory / "token"),
    )


def _proxy(cluster: Named) -> str:
    url = cluster.text("proxy-url")
    if url and urlsplit(url).scheme not in ("http", "https"):
        raise KumiError(f"kubeconfig: proxy-url of cluster {cluster.name!r}: only http and https proxies are spoken to")
    return url


def _credentials(user: Named, cluster: Named, server: str) -> Credentials:
    certificate, key = user.content("client-certificate"), user.content("client-key")
    if bool(certificate) != bool(key):
        raise KumiError(f"kubeconfig: user {user.name!r} needs both client-certificate and client-key")
    if user.body.get("auth-provider"):
        raise KumiError(f"kubeconfig: user {user.name!r}: auth-provider is no longer known to Kubernetes; use exec")
    fixed = Credential(token=user.text("token"), certificate=certificate, key=key)
    if (path := user.path("tokenFile")) is not None:
        return TokenFile(path, fixed)
    if not fixed.token and (name := user.text("username")):
        pair = f"{name}:{user.text('password')}".encode()
        return Fixed(Credential(basic=base64.b64encode(pair).decode(), certificate=certificate, key=key))
    spec = user.body.get("exec")
    if spec is None:
        return Fixed(fixed)
    if not isinstance(spec, dict):
        raise KumiError(f"kubeconfig: exec of user {user.name!r} must be an object")
    return ExecPlugin.of(
        spec, user.directory, _exec_cluster(cluster, server) if spec.get("provideClusterInfo") else None
    )


def _exec_cluster(cluster: Named, server: str) -> dict[str, Any]:
    """What an exec plug-in is told of the cluster."""
    told: dict[str, Any] = {"server": server}
    if authority := cluster.content("certificate-authority"):
        told["certificate-authority-data"] = base64.b64encode(authority).decode()
    for key in ("tls-server-name", "insecure-skip-tls-verify", "proxy-url"):
        if cluster.body.get(key):
            told[key] = cluster.body[key]
    for extension in cluster.body.get("extensions") or ():
        if extension.get("name") == "client.authentication.k8s.io/exec":
            told["config"] = extension.get("extension")
    return told


def _impersonation(user: Named) -> tuple[tuple[str, str], ...]:
    headers: list[tuple[str, str]] = []
    if name := user.text("as"):
        headers.append(("Impersonate-User", name))
    if uid := user.text("as-uid"):
        headers.append(("Impersonate-Uid", uid))
    headers += [("Impersonate-Group", str(group)) for group in user.body.get("as-groups") or ()]
    for key, values in (user.body.get("as-user-extra") or {}).items():
        headers += [(f"Impersonate-Extra-{quote(str(key).lower(), safe='')}", str(value)) for value in values]
    if headers and not name:
        raise KumiError(f"kubeconfig: user {user.name!r} impersonates a uid, groups or extra without `as`")
    return tuple(headers)


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise KumiError(f"{what}: {path} can't be read: {error.strerror}") from error
