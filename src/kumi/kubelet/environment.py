"""A container's environment and command line.

The rule, later entries win:
    base       Kumi's own environment without what is Kumi's (KUMI_*, KUBECONFIG), HOSTNAME, devices, volumes' directories
    envFrom    whole config maps and secrets, each key behind the entry's prefix
    env        in order; `$(NAME)` is the value of an entry before it (or of envFrom), `$$` is `$`, and a reference to
               what is not defined stays as it is written
    injected   variables that the job kind injected get this machine's port and, where names don't resolve, the
               pod's address in place of the name; only a value that still is what the kind wrote is touched
    command    and args expand with all of the above except the base
Missing    a config map, secret or key that is not optional: CannotConfigure; the start is tried again later.
Source     Kubernetes: dependent environment variables, downward API, envFrom; jobs/injected.py for the note.
Not here   reading config maps: sources.py.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kumi.api.errors import KumiError
from kumi.api.quantity import parse
from kumi.api.wire import JsonObject
from kumi.jobs.injected import Injected

if TYPE_CHECKING:
    from kumi.kubelet.claims import Claimed

Environment = dict[str, str]

_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)\))")
_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")
_OWN = ("KUMI_", "KUBERNETES_")
_OWN_NAMES = (
    "KUBECONFIG",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "NOTIFY_SOCKET",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
)


class CannotConfigure(KumiError):
    """What the container is to get is not there (yet). `reason` is the container's waiting reason."""

    def __init__(self, message: str, reason: str = "CreateContainerConfigError", after_ms: int | None = None) -> None:
        super().__init__(message)
        self.reason, self.after_ms = reason, after_ms


@dataclass(frozen=True)
class Sources:
    """The config maps and secrets that a pod names, by name; None for one that is not there. And its tokens."""

    config_maps: Mapping[str, JsonObject | None] = field(default_factory=dict)
    secrets: Mapping[str, JsonObject | None] = field(default_factory=dict)
    tokens: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """of the pod's service account, by audience ("": the API's) and seconds"""
    claims: Mapping[str, Claimed] = field(default_factory=dict)
    """what is behind a claim, by volume"""

    def config_map(self, name: str, optional: bool = False) -> dict[str, bytes] | None:
        """Key -> content; None if it is not there and need not be. CannotConfigure."""
        found = self.config_maps.get(name)
        if found is None:
            return _none_if(optional, f'configmap "{name}" not found')
        data = {key: text.encode() for key, text in (found.get("data") or {}).items()}
        return data | {key: base64.b64decode(text) for key, text in (found.get("binaryData") or {}).items()}

    def secret(self, name: str, optional: bool = False) -> dict[str, bytes] | None:
        """Key -> content; None if it is not there and need not be. CannotConfigure."""
        found = self.secrets.get(name)
        if found is None:
            return _none_if(optional, f'secret "{name}" not found')
        return {key: base64.b64decode(text) for key, text in (found.get("data") or {}).items()}


@dataclass(frozen=True)
class Facts:
    """What the downward API may tell: the pod, its container, and where it is."""

    pod: JsonObject
    host_ip: str = ""
    pod_ip: str = ""
    allocatable: Mapping[str, int] = field(default_factory=dict)
    """of the node, in base units: the limit of a container without one"""


@dataclass(frozen=True)
class Substitution:
    """What stands in for what a job kind injected. `port` 0: the port stays; `address_of` None: names resolve."""

    injected: Injected
    port: int = 0
    address_of: Callable[[str], str | None] | None = None


def base_of(own: Mapping[str, str]) -> Environment:
    """What a container inherits of Kumi's own environment."""
    return {k: v for k, v in own.items() if not k.startswith(_OWN) and k not in _OWN_NAMES}


def declared(
    container: JsonObject, facts: Facts, sources: Sources, substitution: Substitution | None = None
) -> Environment:
    """envFrom and env, expanded and substituted. CannotConfigure."""
    found: Environment = {}
    for entry in container.get("envFrom") or ():
        found |= _whole(entry, sources)
    for entry in container.get("env") or ():
        name = entry["name"]
        if entry.get("valueFrom"):
            value = _value_from(entry["valueFrom"], container, facts, sources)
            if value is None:
                continue
        else:
            value = expand(entry.get("value") or "", found)
        found[name] = substituted(name, value, substitution) if substitution else value
    return found


def command_line(container: JsonObject, environment: Mapping[str, str]) -> list[str]:
    """command and args, expanded. CannotConfigure without a command: there is no image to take one from."""
    command = container.get("command") or []
    if not command:
        image = container.get("image", "")
        message = f'image "{image}" is not pulled on this node: give the container a command'
        raise CannotConfigure(message, reason="RunContainerError")
    return [expand(word, environment) for word in (*command, *(container.get("args") or ()))]


def expand(text: str, environment: Mapping[str, str]) -> str:
    """`text` with `$(NAME)` replaced by what is known, `$$` by `$`."""

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        return "$" if name is None else environment.get(name, match[0])

    return _REFERENCE.sub(replace, text)


def substituted(name: str, value: str, substitution: Substitution) -> str:
    """The value of an injected variable on this machine. CannotConfigure while a name has no address."""
    injected, port = substitution.injected, str(substitution.port or substitution.injected.port)
    if name in injected.ports and value == str(injected.port):
        return port
    if name in injected.names:
        return _address(value, substitution)
    if name in injected.endpoints:
        host, colon, given = value.rpartition(":")
        if colon and given == str(injected.port):
            return f"{_address(host, substitution)}:{port}"
    return value


def _address(name: str, substitution: Substitution) -> str:
    if substitution.address_of is None or name in ("", "localhost") or name[0].isdigit():
        return name
    found = substitution.address_of(name)
    if found is None:
        raise CannotConfigure(f'"{name}" has no address yet', reason="ContainerCreating", after_ms=200)
    return found


def _whole(entry: JsonObject, sources: Sources) -> Environment:
    prefix = entry.get("prefix") or ""
    data: dict[str, bytes] | None = None
    if entry.get("configMapRef"):
        data = sources.config_map(entry["configMapRef"]["name"], bool(entry["configMapRef"].get("optional")))
    elif entry.get("secretRef"):
        data = sources.secret(entry["secretRef"]["name"], bool(entry["secretRef"].get("optional")))
    return {prefix + key: _text(content) for key, content in sorted((data or {}).items()) if key and "=" not in key}


def _value_from(source: JsonObject, container: JsonObject, facts: Facts, sources: Sources) -> str | None:
    """The value; None for an optional one that is not there."""
    if source.get("fieldRef"):
        return field_of(source["fieldRef"].get("fieldPath") or "", facts)
    if source.get("resourceFieldRef"):
        return resource_of(source["resourceFieldRef"], container, facts)
    for key, read, noun in (
        ("configMapKeyRef", sources.config_map, "configmap"),
        ("secretKeyRef", sources.secret, "secret"),
    ):
        if source.get(key):
            return _key(source[key], read, noun)
    raise CannotConfigure("valueFrom has no source that is known here")


def _key(reference: JsonObject, read: Callable[[str, bool], dict[str, bytes] | None], noun: str) -> str | None:
    optional, key = bool(reference.get("optional")), reference["key"]
    data = read(reference["name"], optional)
    if data is not None and key in data:
        return _text(data[key])
    if data is None or optional:
        return None
    raise CannotConfigure(f'couldn\'t find key {key} in {noun} "{reference["name"]}"')


def field_of(path: str, facts: Facts) -> str:
    """A field of the pod as the downward API gives it. CannotConfigure for one that it does not."""
    meta, spec = facts.pod["metadata"], facts.pod["spec"]
    if subscript := _SUBSCRIPT.fullmatch(path):
        return str((meta.get(subscript[1]) or {}).get(subscript[2], ""))
    if path in ("metadata.labels", "metadata.annotations"):
        entries = meta.get(path.removeprefix("metadata.")) or {}
        return "\n".join(f'{key}="{_escaped(entries[key])}"' for key in sorted(entries))
    known = {
        "metadata.name": meta.get("name", ""),
        "metadata.namespace": meta.get("namespace", ""),
        "metadata.uid": meta.get("uid", ""),
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName") or "default",
        "status.hostIP": facts.host_ip,
        "status.hostIPs": facts.host_ip,
        "status.podIP": facts.pod_ip,
        "status.podIPs": facts.pod_ip,
    }
    if path not in known:
        raise CannotConfigure(f"unsupported fieldPath: {path}")
    return str(known[path])


def resource_of(reference: JsonObject, container: JsonObject, facts: Facts) -> str:
    """A container's request or limit in units of the divisor, rounded up; without a limit what the node offers."""
    which, _, resource = (reference.get("resource") or "").partition(".")
    target = container
    if reference.get("containerName"):
        names = (*(facts.pod["spec"].get("initContainers") or ()), *facts.pod["spec"]["containers"])
        target = next((c for c in names if c["name"] == reference["containerName"]), container)
    if which not in ("limits", "requests") or not resource:
        raise CannotConfigure(f"unsupported container resource: {reference.get('resource')}")
    resources = target.get("resources") or {}
    written = (resources.get(which) or {}).get(resource)
    if written is None and which == "requests":
        written = (resources.get("limits") or {}).get(resource)
    if written is not None:
        amount = parse(written, resource)
    else:
        amount = facts.allocatable.get(resource, 0) if which == "limits" else 0
    divisor = parse(reference.get("divisor") or 1, resource) or parse(1, resource)
    return str(-(-amount // divisor))


def _none_if(optional: bool, message: str) -> dict[str, bytes] | None:
    if not optional:
        raise CannotConfigure(message)
    return None


def _text(content: bytes) -> str:
    return content.decode(errors="surrogateescape")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def wanted_of(container: JsonObject) -> tuple[list[str], list[str]]:
    """The names of the config maps and of the secrets that a container's variables need."""
    maps: set[str] = set()
    secrets: set[str] = set()
    for entry in container.get("envFrom") or ():
        for into, key in ((maps, "configMapRef"), (secrets, "secretRef")):
            if entry.get(key):
                into.add(entry[key]["name"])
    for entry in container.get("env") or ():
        source = entry.get("valueFrom") or {}
        for into, key in ((maps, "configMapKeyRef"), (secrets, "secretKeyRef")):
            if source.get(key):
                into.add(source[key]["name"])
    return sorted(maps), sorted(secrets)
