"""Names: what resolves inside pods, as the lines of a hosts file.

The rule, for the pods and services of a namespace N (domain D of the cluster, "cluster.local" without one):
    pod with an address, not over    <pod>, and with a subdomain <hostname>.<subdomain> with .N, .N.svc, .N.svc.D
    service with a selector          <service>, .N, .N.svc, .N.svc.D -> the address of each pod that it selects
    pod of a job that is over        its names stay, while it is there and another pod of the job lives; so do those of a
                                     service that selects no living pod
    a pod that sees the file         its own host name, and its hostAliases
    the machine's own lines          after all that
Why        there is no cluster DNS on a single machine, and a hosts file is read anew for each look-up.
           A master may have ended before a worker begins: the worker waits for its name (wait.py), and so would for ever.
Job        that of the note on the pod (jobs/injected.py).
Written    in place, in one write: a container has this very file bound over /etc/hosts.
Cost       O(pods + services of the namespace) a file; changes within a few milliseconds make one file.
Not here   where mounting is not possible: environment.py puts addresses in place of names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from kumi.api.wire import JsonObject
from kumi.jobs import injected

DEFAULT_DOMAIN = "cluster.local"
_LOCAL = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"


class NamedPod(NamedTuple):
    """What names need of a pod."""

    name: str
    namespace: str
    address: str
    hostname: str
    subdomain: str
    labels: Mapping[str, str]
    job: str = ""
    """uid"""
    over: bool = False


def named_pod(pod: JsonObject, address: str, *, over: bool = False) -> NamedPod:
    """That of a pod."""
    meta, spec = pod["metadata"], pod["spec"]
    note = injected.decode(meta.get("annotations") or {})
    return NamedPod(
        meta["name"],
        meta.get("namespace", ""),
        address,
        spec.get("hostname") or meta["name"],
        spec.get("subdomain") or "",
        meta.get("labels") or {},
        note.group if note is not None else "",
        over,
    )


class Names:
    """All names of a cluster, by namespace."""

    def __init__(self, domain: str = "") -> None:
        self._domain = domain or DEFAULT_DOMAIN
        self._pods: dict[str, dict[str, NamedPod]] = {}
        self._services: dict[str, dict[str, Mapping[str, str]]] = {}
        self._stale: set[str] = set()

    def put_pod(self, uid: str, pod: NamedPod) -> None:
        """A pod with an address appeared or changed."""
        pods = self._pods.setdefault(pod.namespace, {})
        if pods.get(uid) != pod:
            pods[uid] = pod
            self._stale.add(pod.namespace)

    def end_pod(self, namespace: str, uid: str) -> None:
        """A pod is over."""
        pod = self._pods.get(namespace, {}).get(uid)
        if pod is not None and pod.job:
            self.put_pod(uid, pod._replace(over=True))
        else:
            self.drop_pod(namespace, uid)

    def drop_pod(self, namespace: str, uid: str) -> None:
        """A pod is gone."""
        if self._pods.get(namespace, {}).pop(uid, None) is not None:
            self._stale.add(namespace)

    def put_service(self, namespace: str, name: str, selector: Mapping[str, str]) -> None:
        """A service appeared or changed."""
        services = self._services.setdefault(namespace, {})
        if services.get(name) != selector:
            services[name] = dict(selector)
            self._stale.add(namespace)

    def drop_service(self, namespace: str, name: str) -> None:
        """A service is gone."""
        if self._services.get(namespace, {}).pop(name, None) is not None:
            self._stale.add(namespace)

    def take_stale(self) -> list[str]:
        """The namespaces that changed since the last call, sorted."""
        stale, self._stale = sorted(self._stale), set()
        return stale

    def lines(self, namespace: str) -> list[tuple[str, list[str]]]:
        """(address, names) of a namespace, in a fixed order."""
        found = []
        known = self._pods.get(namespace, {}).values()
        pods = sorted((pod for pod in known if not pod.over), key=_by_name)
        jobs = {pod.job for pod in pods}
        ended = sorted((pod for pod in known if pod.over and pod.job in jobs), key=_by_name)
        for pod in (*pods, *ended):
            names = [pod.name]
            if pod.subdomain:
                names += self._qualified(f"{pod.hostname}.{pod.subdomain}", namespace)
            found.append((pod.address, names))
        for name, selector in sorted(self._services.get(namespace, {}).items()):
            names = self._qualified(name, namespace)
            chosen = [pod for pod in pods if _selects(selector, pod.labels)]
            chosen = chosen or [pod for pod in ended if _selects(selector, pod.labels)]
            found += [(pod.address, names) for pod in chosen]
        return found

    def address_of(self, name: str, namespace: str) -> str | None:
        """The first address of a name as a pod of that namespace sees it; None if it has none."""
        for address, names in self.lines(namespace):
            if name in names:
                return address
        parts = name.split(".")
        others = parts[1:3]
        for other in others:
            if other != namespace and (other in self._pods):
                for address, names in self.lines(other):
                    if name in names[1:]:
                        return address
        return None

    def _qualified(self, name: str, namespace: str) -> list[str]:
        full = f"{name}.{namespace}.svc"
        return [name, f"{name}.{namespace}", full, f"{full}.{self._domain}"]


def alias_lines(pod: JsonObject) -> str:
    """The lines of the pod's hostAliases."""
    aliases = pod["spec"].get("hostAliases") or ()
    return "".join(f"{a['ip']} {' '.join(a['hostnames'])}\n" for a in aliases if a.get("hostnames"))


def hosts_text(lines: Iterable[tuple[str, list[str]]], own: str = "", machine: str = "") -> str:
    """A hosts file. `own`: the lines of the one pod that sees it; `machine`: the machine's own lines."""
    text = _LOCAL + own
    text += "".join(f"{address} {' '.join(names)}\n" for address, names in lines)
    return text + machine


def machine_lines(path: str = "/etc/hosts") -> str:
    """The machine's own lines, without those of localhost and without comments."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    kept = []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        names = [w for w in words[1:] if w not in ("localhost", "ip6-localhost", "ip6-loopback")]
        if names:
            kept.append(f"{words[0]} {' '.join(names)}\n")
    return "".join(kept)


def write_in_place(path: Path, text: str) -> None:
    """Replaces a file's bytes but not the file: what is bound elsewhere sees it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.pwrite(descriptor, data, 0)
        os.ftruncate(descriptor, len(data))
    finally:
        os.close(descriptor)


def _by_name(pod: NamedPod) -> tuple[str, str]:
    return pod.name, pod.address


def _selects(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())
