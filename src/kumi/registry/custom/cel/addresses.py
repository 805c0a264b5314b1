"""Addresses in CEL: ip('10.0.0.1'), cidr('10.0.0.0/8'), url('https://example.com/a?b=c') and what they tell.

Each is a map, as quantities are (quantities.py).
Source     Kubernetes: CEL libraries, IP, CIDR and URL.
"""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from cel_expr_python import cel

from kumi.registry.custom.cel.functions import BOOL, DYN, INT, STRING, function, member
from kumi.registry.custom.cel.quantities import OPAQUE, Opaque


def ip(text: str) -> Opaque:
    """An address; IPv4 mapped into IPv6 and zones are refused, as Kubernetes does."""
    address = ipaddress.ip_address(text)
    if "%" in text or (isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped):
        raise ValueError(f"IP Address {text!r} is mapped or has a zone, which is not allowed")
    return {"ip": str(address)}


def cidr(text: str) -> Opaque:
    """A network, with the address as written."""
    if "/" not in text:
        raise ValueError(f"network address parse error during conversion from string: {text!r}")
    interface = ipaddress.ip_interface(text)
    return {"cidr": str(interface)}


def url(text: str) -> Opaque:
    """An absolute URL or an absolute path."""
    parts = urlsplit(text)
    if not parts.scheme and not text.startswith("/"):
        raise ValueError(f"URL parse error during conversion from string: {text!r}")
    _ = parts.port
    return {"url": text}


def _is(parse: Any) -> Any:
    def right(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return right


def _address(value: Opaque) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(value["ip"])


def _network(value: Opaque) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_interface(value["cidr"]).network


def _parts(value: Opaque) -> Any:
    return urlsplit(value["url"])


def _host(value: Opaque) -> str:
    """With its port."""
    return str(_parts(value).netloc.rpartition("@")[2])


def _hostname(value: Opaque) -> str:
    return _host(value).rpartition(":")[0] if _parts(value).port is not None else _host(value).strip("[]")


def _contains(network: Opaque, text: Any) -> bool:
    address = ipaddress.ip_address(text["ip"] if isinstance(text, dict) else text)
    return address in _network(network)


def _contains_network(network: Opaque, text: Any) -> bool:
    whole, part = _network(network), _network(text if isinstance(text, dict) else cidr(text))
    return whole.version == part.version and part.subnet_of(whole)  # type: ignore[arg-type]


def _family(value: Opaque) -> int:
    return _address(value).version


FUNCTIONS = (
    function("ip", ([STRING], OPAQUE, ip)),
    function("isIP", ([STRING], BOOL, _is(ip))),
    member("family", ([OPAQUE], INT, _family)),
    member("isUnspecified", ([OPAQUE], BOOL, lambda value: _address(value).is_unspecified)),
    member("isLoopback", ([OPAQUE], BOOL, lambda value: _address(value).is_loopback)),
    member("isLinkLocalMulticast", ([OPAQUE], BOOL, lambda value: _is_link_local_multicast(_address(value)))),
    member("isLinkLocalUnicast", ([OPAQUE], BOOL, lambda value: _address(value).is_link_local)),
    member("isGlobalUnicast", ([OPAQUE], BOOL, lambda value: _is_global_unicast(_address(value)))),
    function("cidr", ([STRING], OPAQUE, cidr)),
    function("isCIDR", ([STRING], BOOL, _is(cidr))),
    member("containsIP", ([OPAQUE, STRING], BOOL, _contains), ([OPAQUE, OPAQUE], BOOL, _contains)),
    member("containsCIDR", ([OPAQUE, STRING], BOOL, _contains_network), ([OPAQUE, OPAQUE], BOOL, _contains_network)),
    member("masked", ([OPAQUE], OPAQUE, lambda value: {"cidr": str(_network(value))})),
    member("prefixLength", ([OPAQUE], INT, lambda value: _network(value).prefixlen)),
    function("url", ([STRING], OPAQUE, url)),
    function("isURL", ([STRING], BOOL, _is(url))),
    member("getScheme", ([OPAQUE], STRING, lambda value: _parts(value).scheme)),
    member("getHost", ([OPAQUE], STRING, _host)),
    member("getHostname", ([OPAQUE], STRING, _hostname)),
    member("getPort", ([OPAQUE], STRING, lambda value: str(_parts(value).port or ""))),
    member("getEscapedPath", ([OPAQUE], STRING, lambda value: quote(_parts(value).path, safe="/%:@!$&'()*+,;=~-._"))),
    member(
        "getQuery",
        ([OPAQUE], cel.Type.Map(STRING, DYN), lambda value: parse_qs(_parts(value).query, keep_blank_values=True)),
    ),
)


def _is_link_local_multicast(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    network = "224.0.0.0/24" if address.version == 4 else "ff02::/16"
    return address in ipaddress.ip_network(network)


def _is_global_unicast(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"
