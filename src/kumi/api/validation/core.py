"""Validation of the core group's other kinds: ConfigMap, Secret, Node, Namespace, Service, Endpoints, Event, ServiceAccount.

Source     Kubernetes: API reference of each kind.
"""

from __future__ import annotations

import base64
import json

from kumi.api.errors import FieldError
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import config_key, label, label_1035, labels, path_segment, port_name, subdomain
from kumi.api.validation.placement import taints
from kumi.api.validation.words import duplicate, forbidden, immutable, not_supported, required
from kumi.api.wire import JsonObject

LARGEST = 1024 * 1024
"""bytes of a ConfigMap's or Secret's data"""
_ACCOUNT, _SSH, _BASIC = "kubernetes.io/service-account.name", "ssh-privatekey", ("username", "password")
_JSON = {
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
}
_PROMISED = {**_JSON, "kubernetes.io/tls": ("tls.crt", "tls.key")}
_PORTS = range(1, 65536)
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")


def _data(new: JsonObject, old: JsonObject | None, fields: tuple[str, ...]) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    size = 0
    for field in fields:
        for key, value in (new.get(field) or {}).items():
            here = f"{field}[{key}]"
            wrong = config_key(key) or ("may not start with '..'" if key == "." or key.startswith("..") else "")
            if wrong:
                errors.append(FieldError(here, wrong, value=key))
            if key in seen:
                errors.append(FieldError(here, "duplicate of key present in data", value=key))
            seen.add(key)
            size += len(str(value).encode())
    if size > LARGEST:
        errors.append(FieldError("", f"may not be more than {LARGEST} bytes", "FieldValueTooLong"))
    if old is not None and old.get("immutable"):
        detail = "field is immutable when `immutable` is set"
        for field in ("immutable", *fields):
            if new.get(field) != old.get(field):
                errors.append(forbidden(field, detail))
    return errors


def _config_map(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    return _data(new, old, ("data", "binaryData"))


def _secret(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    errors = _data(new, old, ("data",)) + _secret_type(new)
    if old is not None:
        errors += immutable("type", new.get("type"), old.get("type"))
    return errors


def _secret_type(secret: JsonObject) -> list[FieldError]:
    """What a type promises to those who read its secrets."""
    type_, data = secret.get("type"), secret.get("data") or {}
    if type_ == "kubernetes.io/service-account-token":
        annotations = secret["metadata"].get("annotations") or {}
        return [] if annotations.get(_ACCOUNT) else [required(f"metadata.annotations[{_ACCOUNT}]")]
    if type_ == "kubernetes.io/basic-auth":
        missing = [] if any(key in data for key in _BASIC) else _BASIC
        return [required(f"data[{key}]") for key in missing]
    if type_ == "kubernetes.io/ssh-auth":
        return [] if data.get(_SSH) else [required(f"data[{_SSH}]")]
    errors = [required(f"data[{key}]") for key in _PROMISED.get(type_ or "", ()) if key not in data]
    for key in _JSON.get(type_ or "", ()):
        if key in data and not _is_json(data[key]):
            errors.append(FieldError(f"data[{key}]", "invalid character", value="<secret contents redacted>"))
    return errors


def _is_json(encoded: str) -> bool:
    try:
        json.loads(base64.b64decode(encoded))
    except ValueError:
        return False
    return True


def _node(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    return taints((new.get("spec") or {}).get("taints") or [], "spec.taints")


def _service(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    type_, ports = spec.get("type") or "ClusterIP", spec.get("ports") or []
    errors = []
    headless = spec.get("clusterIP") == "None"
    if type_ not in _TYPES:
        errors.append(not_supported("spec.type", type_, _TYPES))
    if type_ == "ExternalName":
        name = str(spec.get("externalName") or "")
        if subdomain(name.rstrip(".")):
            errors.append(FieldError("spec.externalName", subdomain(name.rstrip(".")), value=name))
    elif not ports and not headless:
        errors.append(required("spec.ports"))
    if type_ in ("NodePort", "LoadBalancer") and headless:
        errors.append(FieldError("spec.clusterIPs[0]", f"may not be set to 'None' for {type_} services", value="None"))
    errors += _service_ports(ports)
    errors += labels(spec.get("selector"), "spec.selector")
    if spec.get("sessionAffinity", "None") not in ("ClientIP", "None"):
        errors.append(not_supported("spec.sessionAffinity", spec["sessionAffinity"], ("ClientIP", "None")))
    before = ((old or {}).get("spec") or {}).get("clusterIP")
    if before and type_ != "ExternalName" and spec.get("clusterIP") != before:
        errors += [FieldError("spec.clusterIP", "field is immutable", value=spec.get("clusterIP"))]
    return errors


def _service_ports(ports: list[JsonObject]) -> list[FieldError]:
    errors = []
    names: set[str] = set()
    numbers: set[tuple[object, str]] = set()
    for index, port in enumerate(ports):
        here, name, number = f"spec.ports[{index}]", port.get("name"), port.get("port")
        protocol = port.get("protocol") or "TCP"
        if not name and len(ports) > 1:
            errors.append(required(f"{here}.name"))
        elif name and label(name):
            errors.append(FieldError(f"{here}.name", label(name), value=name))
        elif name and name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(str(name))
        if number not in _PORTS:
            errors.append(FieldError(f"{here}.port", "must be between 1 and 65535, inclusive", value=number or 0))
        elif (number, protocol) in numbers:
            errors.append(duplicate(here, f"{number}/{protocol}"))
        numbers.add((number, protocol))
        if protocol not in _PROTOCOLS:
            errors.append(not_supported(f"{here}.protocol", protocol, _PROTOCOLS))
        target = port.get("targetPort")
        if isinstance(target, int) and target not in _PORTS:
            errors.append(FieldError(f"{here}.targetPort", "must be between 1 and 65535, inclusive", value=target))
        elif isinstance(target, str) and port_name(target):
            errors.append(FieldError(f"{here}.targetPort", port_name(target), value=target))
    return errors


def _endpoints(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    errors = []
    for s, subset in enumerate(new.get("subsets") or ()):
        for field in ("addresses", "notReadyAddresses"):
            for a, address in enumerate(subset.get(field) or ()):
                if not address.get("ip"):
                    errors.append(required(f"subsets[{s}].{field}[{a}].ip"))
        for p, port in enumerate(subset.get("ports") or ()):
            if port.get("port") not in _PORTS:
                detail = "must be between 1 and 65535, inclusive"
                errors.append(FieldError(f"subsets[{s}].ports[{p}].port", detail, value=port.get("port")))
    return errors


def _event(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    about = (new.get("involvedObject") or {}).get("namespace") or "default"
    if (new.get("metadata") or {}).get("namespace", about) != about:
        return [FieldError("involvedObject.namespace", "does not match event.namespace", value=about)]
    return []


validate_config_map = with_metadata(subdomain, _config_map)
validate_secret = with_metadata(subdomain, _secret)
validate_node = with_metadata(subdomain, _node)
validate_namespace = with_metadata(label)
validate_service = with_metadata(label_1035, _service)
validate_endpoints = with_metadata(subdomain, _endpoints)
validate_event = with_metadata(path_segment, _event)
validate_service_account = with_metadata(subdomain)
