"""Services: each has a cluster address of its own, or none on purpose (`clusterIP: None`, and ExternalName).

The rule   the first free address of the range at or after the one that the service's uid points at; the writer may ask for
           one that is free. An update that leaves it out keeps it.
Why        clients take the field for given; where nodes run processes nobody routes the address: names lead to pods.
Cost       O(services) a creation.
Source     Kubernetes: Service (choosing your own IP address, headless services).
Not here   that the address never changes: validation. Node ports: nobody opens them.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Collection

from kumi.api.errors import FieldError
from kumi.api.wire import JsonObject

RANGE = ipaddress.IPv4Network("10.96.0.0/16")
HEADLESS = "None"
_ALLOCATED = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")


def allocate(service: JsonObject, taken: Collection[str]) -> list[FieldError]:
    """Gives a new service its address, or says why it can't have the one that it asks for."""
    spec = service.setdefault("spec", {})
    if spec.get("type") == "ExternalName":
        return []
    asked = spec.get("clusterIP") or next(iter(spec.get("clusterIPs") or ()), "")
    if asked and asked != HEADLESS:
        wrong = _refused(asked, taken)
        if wrong:
            return [FieldError("spec.clusterIPs", wrong, value=[asked])]
    address = asked or _first_free(service["metadata"]["uid"], taken)
    if not address:
        return [FieldError("spec.clusterIP", "no address is left to allocate", "FieldValueForbidden")]
    spec["clusterIP"], spec["clusterIPs"] = address, [address]
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    return []


def on_update(new: JsonObject, old: JsonObject) -> None:
    """Keeps what was allocated and is left out."""
    spec, before = new.setdefault("spec", {}), old.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return
    for field in _ALLOCATED:
        if not spec.get(field) and field in before:
            spec[field] = before[field]


def _refused(asked: str, taken: Collection[str]) -> str:
    try:
        inside = ipaddress.ip_address(asked) in RANGE
    except ValueError:
        return "must be a valid IP address"
    if not inside:
        return f"failed to allocate IP {asked}: the provided IP is not in the valid range {RANGE}"
    return f"failed to allocate IP {asked}: provided IP is already allocated" if asked in taken else ""


def _first_free(uid: str, taken: Collection[str]) -> str:
    size = RANGE.num_addresses - 2
    start = int.from_bytes(hashlib.blake2b(uid.encode(), digest_size=4).digest(), "big")
    for step in range(size):
        address = str(RANGE[1 + (start + step) % size])
        if address not in taken:
            return address
    return ""
