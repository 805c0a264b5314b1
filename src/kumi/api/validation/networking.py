"""Validation of Ingress, IngressClass, NetworkPolicy, EndpointSlice and RuntimeClass.

Source     Kubernetes: API reference of each kind.
"""

from __future__ import annotations

import ipaddress

from kumi.api.errors import FieldError
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import label, port_name, subdomain
from kumi.api.validation.selector import label_selector
from kumi.api.validation.words import forbidden, immutable, not_supported, required
from kumi.api.wire import JsonObject

_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ADDRESSES = ("FQDN", "IPv4", "IPv6")
_PORTS = range(1, 65536)
_MOST_ENDPOINTS = 1000


def _ingress(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    rules, backend = spec.get("rules") or [], spec.get("defaultBackend")
    errors: list[FieldError] = []
    if not rules and backend is None:
        errors.append(FieldError("spec", "either `defaultBackend` or `rules` must be specified", value={}))
    if backend is not None:
        errors += _backend(backend, "spec.defaultBackend")
    for r, rule in enumerate(rules):
        host, here = rule.get("host"), f"spec.rules[{r}]"
        wrong = subdomain(host.removeprefix("*.")) if host else ""
        if wrong:
            errors.append(FieldError(f"{here}.host", wrong, value=host))
        http = rule.get("http")
        if http is not None and not http.get("paths"):
            errors.append(required(f"{here}.http.paths"))
        for p, path in enumerate((http or {}).get("paths") or ()):
            errors += _path(path, f"{here}.http.paths[{p}]")
    return errors


def _path(path: JsonObject, here: str) -> list[FieldError]:
    errors = []
    kind, text = path.get("pathType"), str(path.get("path") or "")
    if kind is None:
        errors.append(required(f"{here}.pathType", "pathType must be specified"))
    elif kind not in _PATH_TYPES:
        errors.append(not_supported(f"{here}.pathType", kind, _PATH_TYPES))
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        errors.append(FieldError(f"{here}.path", "must be an absolute path", value=text))
    return errors + _backend(path.get("backend") or {}, f"{here}.backend")


def _backend(backend: JsonObject, here: str) -> list[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is None and resource is None:
        return [required(here, "service or resource backend is required")]
    if service is not None and resource is not None:
        return [FieldError(here, "cannot set both resource and service backends", value="")]
    if service is None:
        return []
    errors = []
    if not service.get("name"):
        errors.append(required(f"{here}.service.name"))
    port = service.get("port") or {}
    if not port.get("name") and not port.get("number"):
        errors.append(required(f"{here}.service.port", "port name or number is required"))
    elif port.get("number") and port["number"] not in _PORTS:
        errors.append(
            FieldError(f"{here}.service.port.number", "must be between 1 and 65535, inclusive", value=port["number"])
        )
    return errors


def _ingress_class(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = []
    controller = str(spec.get("controller") or "")
    if not controller:
        errors.append(required("spec.controller"))
    elif "/" not in controller:
        errors.append(FieldError("spec.controller", "must be a domain-prefixed path", value=controller))
    if old is not None:
        errors += immutable("spec.controller", controller, (old.get("spec") or {}).get("controller"))
    return errors


def _network_policy(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = label_selector(spec.get("podSelector"), "spec.podSelector")
    for kind in spec.get("policyTypes") or ():
        if kind not in ("Egress", "Ingress"):
            errors.append(not_supported("spec.policyTypes", kind, ("Egress", "Ingress")))
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for r, rule in enumerate(spec.get(direction) or ()):
            here = f"spec.{direction}[{r}]"
            for p, port in enumerate(rule.get("ports") or ()):
                errors += _policy_port(port, f"{here}.ports[{p}]")
            for p, peer in enumerate(rule.get(side) or ()):
                errors += _peer(peer, f"{here}.{side}[{p}]")
    return errors


def _policy_port(port: JsonObject, here: str) -> list[FieldError]:
    errors = []
    if port.get("protocol") not in (None, *_PROTOCOLS):
        errors.append(not_supported(f"{here}.protocol", port["protocol"], _PROTOCOLS))
    number = port.get("port")
    if isinstance(number, int) and number not in _PORTS:
        errors.append(FieldError(f"{here}.port", "must be between 1 and 65535, inclusive", value=number))
    elif isinstance(number, str) and port_name(number):
        errors.append(FieldError(f"{here}.port", port_name(number), value=number))
    return errors


def _peer(peer: JsonObject, here: str) -> list[FieldError]:
    if not peer:
        return [required(here, "must specify a peer")]
    if "ipBlock" in peer:
        if len(peer) > 1:
            return [forbidden(here, "may not specify both ipBlock and another peer")]
        block = str((peer["ipBlock"] or {}).get("cidr") or "")
        try:
            ipaddress.ip_network(block)
        except ValueError:
            return [FieldError(f"{here}.ipBlock.cidr", "must be a valid CIDR value, (e.g. 10.9.8.0/24)", value=block)]
        return []
    return [
        error
        for field in ("podSelector", "namespaceSelector")
        for error in label_selector(peer.get(field), f"{here}.{field}")
    ]


def _endpoint_slice(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    kind, endpoints = new.get("addressType"), new.get("endpoints") or []
    errors: list[FieldError] = []
    if not kind:
        errors.append(required("addressType"))
    elif kind not in _ADDRESSES:
        errors.append(not_supported("addressType", kind, _ADDRESSES))
    if len(endpoints) > _MOST_ENDPOINTS:
        errors.append(
            FieldError("endpoints", f"must have at most {_MOST_ENDPOINTS} items", "FieldValueTooMany", len(endpoints))
        )
    for index, endpoint in enumerate(endpoints):
        addresses = endpoint.get("addresses") or []
        if not addresses:
            errors.append(required(f"endpoints[{index}].addresses", "must contain at least 1 address"))
        for place, address in enumerate(addresses):
            wrong = _address(str(address), str(kind))
            if wrong:
                errors.append(FieldError(f"endpoints[{index}].addresses[{place}]", wrong, value=address))
    for index, port in enumerate(new.get("ports") or ()):
        if port.get("protocol") not in (None, *_PROTOCOLS):
            errors.append(not_supported(f"ports[{index}].protocol", port["protocol"], _PROTOCOLS))
        if port.get("name") and label(port["name"]):
            errors.append(FieldError(f"ports[{index}].name", label(port["name"]), value=port["name"]))
    if old is not None:
        errors += immutable("addressType", kind, old.get("addressType"))
    return errors


def _address(text: str, kind: str) -> str:
    if kind == "FQDN":
        return subdomain(text)
    try:
        found = f"IPv{ipaddress.ip_address(text).version}"
    except ValueError:
        found = ""
    return "" if kind == found else f"must be an {kind} address"


def _runtime_class(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    handler = str(new.get("handler") or "")
    errors = [FieldError("handler", label(handler), value=handler)] if label(handler) else []
    if old is not None:
        errors += immutable("handler", handler, old.get("handler"))
    return errors


validate_ingress = with_metadata(subdomain, _ingress)
validate_ingress_class = with_metadata(subdomain, _ingress_class)
validate_network_policy = with_metadata(subdomain, _network_policy)
validate_endpoint_slice = with_metadata(subdomain, _endpoint_slice)
validate_runtime_class = with_metadata(subdomain, _runtime_class)
