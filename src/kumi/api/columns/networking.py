"""Columns of the networking, discovery and node groups."""

from __future__ import annotations

from kumi.api.columns.cells import NONE, UNSET, joined, selected
from kumi.api.scheme import AGE, Column
from kumi.api.wire import JsonObject

_SHOWN = 3


def _class(ingress: JsonObject, _now_ms: int) -> str:
    return str((ingress.get("spec") or {}).get("ingressClassName") or NONE)


def _hosts(ingress: JsonObject, _now_ms: int) -> str:
    hosts = [rule["host"] for rule in (ingress.get("spec") or {}).get("rules") or () if rule.get("host")]
    if not hosts:
        return "*"
    more = f" + {len(hosts) - _SHOWN} more..." if len(hosts) > _SHOWN else ""
    return ",".join(hosts[:_SHOWN]) + more


def _address(ingress: JsonObject, _now_ms: int) -> str:
    given = ((ingress.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return ",".join(str(one.get("ip") or one.get("hostname", "")) for one in given)


def _ports(ingress: JsonObject, _now_ms: int) -> str:
    return "80, 443" if (ingress.get("spec") or {}).get("tls") else "80"


INGRESS = (
    Column("Class", cell=_class),
    Column("Hosts", cell=_hosts),
    Column("Address", cell=_address),
    Column("Ports", cell=_ports),
    AGE,
)


def _parameters(class_: JsonObject, _now_ms: int) -> str:
    parameters = (class_.get("spec") or {}).get("parameters")
    if not parameters:
        return NONE
    group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") else ""
    return f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"


INGRESS_CLASS = (Column("Controller", ".spec.controller"), Column("Parameters", cell=_parameters), AGE)
NETWORK_POLICY = (
    Column("Pod-Selector", cell=lambda policy, _now_ms: selected((policy.get("spec") or {}).get("podSelector"))),
    AGE,
)


def _slice_ports(slice_: JsonObject, _now_ms: int) -> str:
    ports = slice_.get("ports")
    if not ports:
        return UNSET
    shown = [str(port.get("port") or "*") for port in ports[:_SHOWN]]
    more = f" + {len(ports) - _SHOWN} more..." if len(ports) > _SHOWN else ""
    return ",".join(shown) + more


def _slice_endpoints(slice_: JsonObject, _now_ms: int) -> str:
    addresses = [str(a) for endpoint in slice_.get("endpoints") or () for a in endpoint.get("addresses") or ()]
    if not addresses:
        return UNSET
    more = f" + {len(addresses) - _SHOWN} more..." if len(addresses) > _SHOWN else ""
    return joined(addresses[:_SHOWN]) + more


ENDPOINT_SLICE = (
    Column("AddressType", ".addressType"),
    Column("Ports", cell=_slice_ports),
    Column("Endpoints", cell=_slice_endpoints),
    AGE,
)
RUNTIME_CLASS = (Column("Handler", ".handler"), AGE)
