"""The EndpointSlices of a service: its endpoints, MOST to a slice.

The rule   the pods that offer the same ports are a group, and share slices with nobody else
           an endpoint stays in the slice where it is; those that are new fill the room of the group's slices, in order of
           name, then new slices
           a slice that has become empty goes, but for the last one: a service without endpoints has one empty slice
Why        A change of one pod writes one slice, not all of them.
Order      Within a slice by the pod's name. Names are `<service>-<5 letters>`, and a repetition finds them taken.
Source     Kubernetes: endpoint slices (distribution, limits).
Not here   who is behind a service and which ports a pod offers: endpoints.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kumi.api.core import Service
from kumi.api.discovery import EndpointSlice
from kumi.api.meta import owner_reference
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.jobs.pod_names import pod_name
from kumi.runtime.reconcile import Create, Delete, Patch, Write

MOST = 100


class Offer(NamedTuple):
    """An endpoint, and the ports at which it is reached."""

    endpoint: JsonObject
    ports: list[JsonObject]

    @property
    def who(self) -> str:
        """The uid of its pod."""
        return str(self.endpoint["targetRef"]["uid"])

    @property
    def order(self) -> tuple[str, str]:
        """Unique."""
        return (str(self.endpoint["targetRef"]["name"]), self.who)


@dataclass
class _Part:
    """What a slice is to hold; `there` is the slice that holds it, None: a new one."""

    ports: list[JsonObject]
    there: EndpointSlice | None = None
    offers: list[Offer] = field(default_factory=list)


def slices(
    service: Service,
    there: Sequence[EndpointSlice],
    offers: Sequence[Offer],
    none: list[JsonObject],
    labels: JsonObject,
) -> list[Write]:
    """The writes that make the slices `there` hold the offers; `none` are the ports of a slice without endpoints."""
    groups: dict[str, list[Offer]] = {}
    for offer in sorted(offers, key=lambda offer: offer.order):
        groups.setdefault(_text(offer.ports), []).append(offer)
    ours = sorted(there, key=lambda each: each.metadata.name)
    spare = [each for each in ours if _text(each.ports) not in groups]
    parts: list[_Part] = []
    for ports, group in sorted(groups.items()):
        found = [each for each in ours if _text(each.ports) == ports]
        if not found and spare:
            found = [spare.pop(0)]
        parts += _distributed(group, found)
    parts += [_Part(none, each) for each in spare]
    used = [part for part in parts if part.offers]
    kept = used or parts[:1] or [_Part(none)]
    gone = [part.there for part in parts if part not in kept and part.there is not None]
    taken = {each.metadata.name for each in ours}
    return [*_written(service, kept, labels, taken), *map(_delete, gone)]


def _distributed(offers: Sequence[Offer], there: Sequence[EndpointSlice]) -> list[_Part]:
    """The parts of a group."""
    wanted = {offer.who: offer for offer in offers}
    parts = []
    for each in there:
        part = _Part(offers[0].ports, each)
        for endpoint in each.endpoints:
            offer = wanted.pop(str((endpoint.get("targetRef") or {}).get("uid")), None)
            if offer is not None and len(part.offers) < MOST:
                part.offers.append(offer)
            elif offer is not None:
                wanted[offer.who] = offer
        parts.append(part)
    left = [offer for offer in offers if offer.who in wanted]
    for part in parts:
        room = MOST - len(part.offers)
        part.offers += left[:room]
        left = left[room:]
    parts += [_Part(offers[0].ports, None, left[start : start + MOST]) for start in range(0, len(left), MOST)]
    for part in parts:
        part.offers.sort(key=lambda offer: offer.order)
    return parts


def _written(service: Service, parts: Sequence[_Part], labels: JsonObject, taken: set[str]) -> list[Write]:
    writes: list[Write] = []
    meta = service.metadata
    for part in parts:
        endpoints = [offer.endpoint for offer in part.offers]
        if part.there is not None:
            writes += _changed(part.there, endpoints, part.ports, labels)
            continue
        name = pod_name(meta.uid, f"{meta.name}-", taken, "endpointslice")
        taken.add(name)
        made: JsonObject = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": name,
                "generateName": f"{meta.name}-",
                "namespace": meta.namespace,
                "labels": labels,
                "ownerReferences": [owner_reference(service, "v1", "Service")],
            },
            "addressType": "IPv4",
            "endpoints": endpoints,
            "ports": part.ports,
        }
        writes.append(Create(made))
    return writes


def _changed(
    there: EndpointSlice, endpoints: list[JsonObject], ports: list[JsonObject], labels: JsonObject
) -> list[Patch]:
    meta = there.metadata
    if there.endpoints == endpoints and there.ports == ports and meta.labels == labels:
        return []
    gone = {label: None for label in meta.labels if label not in labels}
    version = {"resourceVersion": meta.resource_version}
    body = {"metadata": {**version, "labels": {**labels, **gone}}, "endpoints": endpoints, "ports": ports}
    return [Patch(SCHEME.of(EndpointSlice), meta.namespace, meta.name, body)]


def _delete(gone: EndpointSlice) -> Delete:
    return Delete(SCHEME.of(EndpointSlice), gone.metadata.namespace, gone.metadata.name, gone.metadata.uid)


def _text(ports: Sequence[JsonObject]) -> str:
    return json.dumps(ports, sort_keys=True)
