"""Endpoints and EndpointSlices: where the pods of a service are.

The rule   pods that a service selects, have an address and have not ended; ready, if they are or the service publishes those
           that are not; one that is being deleted is serving while it is ready, and never ready
           a port's number is the service's targetPort, or that of the pod's container port of that name; pods that lack the
           name are left out of that port
           Endpoints      one object of the service's name: subsets by ports, MOST addresses at most (those that are ready
                          first), and an annotation where that is not all
           EndpointSlices all of them (endpoint_slices.py)
Left alone Services without a selector, and ExternalName: their endpoints are somebody else's.
Gone       A service that is gone takes its Endpoints along; its slices are owned by it.
Source     Kubernetes: services, endpoint slices.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kumi.api.core import Endpoints, Pod, Service
from kumi.api.discovery import EndpointSlice
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.controllers.endpoint_slices import Offer, slices
from kumi.jobs.templates import FINISHED, is_ready
from kumi.runtime.reconcile import NOTHING, Create, Delete, Keys, Outcome, Patch, Watches, Write, no_keys, own_key
from kumi.runtime.view import View

MOST = 1000
MANAGED, MANAGER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
SLICE_MANAGED, SLICE_MANAGER = "endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
SERVICE_NAME, HEADLESS = "kubernetes.io/service-name", "service.kubernetes.io/headless"


class EndpointsController:
    """See the module."""

    name = "endpoints-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        keys: dict[type[Object], Keys] = {
            Service: own_key,
            Endpoints: lambda obj: own_key(obj) if obj.metadata.labels.get(MANAGED) == MANAGER else (),
            EndpointSlice: _slice_key,
            Pod: no_keys,
        }
        return Watches(keys, related={Pod: _services})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        service = view.get(Service, namespace, name)
        endpoints = view.get(Endpoints, namespace, name)
        if service is None:
            ours = endpoints is not None and endpoints.metadata.labels.get(MANAGED) == MANAGER
            if endpoints is None or not ours:
                return NOTHING
            return Outcome((Delete(SCHEME.of(Endpoints), namespace, name, endpoints.metadata.uid),))
        if not service.spec.selector or service.metadata.deletion_timestamp is not None:
            return NOTHING
        pods = [pod for pod in view.list(Pod, namespace) if _is_behind(service, pod)]
        writes = [*_endpoints(service, endpoints, pods), *_slices(service, view, pods)]
        return Outcome(tuple(writes))


def _is_behind(service: Service, pod: Pod) -> bool:
    selected = service.spec.selector.items() <= pod.metadata.labels.items()
    return selected and bool(pod.status.pod_ip) and pod.status.phase not in FINISHED


def _endpoints(service: Service, there: Endpoints | None, pods: Sequence[Pod]) -> list[Write]:
    meta = service.metadata
    by_ports: dict[str, tuple[list[JsonObject], JsonObject]] = {}
    for pod in sorted(pods, key=lambda pod: (not _is_served(service, pod), pod.metadata.name))[:MOST]:
        ports = [{key: value for key, value in port.items() if value} for port in _ports(service, pod)]
        subset = by_ports.setdefault(repr(ports), (ports, {}))[1]
        kind = "addresses" if _is_served(service, pod) else "notReadyAddresses"
        subset.setdefault(kind, []).append(_address(service, pod))
    subsets = [{**subset, **({"ports": ports} if ports else {})} for _, (ports, subset) in sorted(by_ports.items())]
    labels = {**meta.labels, MANAGED: MANAGER}
    if service.spec.cluster_ip == "None":
        labels[HEADLESS] = ""
    notes = {OVER_CAPACITY: "truncated"} if len(pods) > MOST else {}
    if there is None:
        metadata: JsonObject = {"name": meta.name, "namespace": meta.namespace, "labels": labels}
        metadata |= {"annotations": notes} if notes else {}
        made = {"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata}
        return [Create({**made, "subsets": subsets} if subsets else made)]
    noted = {OVER_CAPACITY: there.metadata.annotations.get(OVER_CAPACITY)}
    wanted = {OVER_CAPACITY: notes.get(OVER_CAPACITY)}
    if _plain(there.subsets) == _plain(_decoded(subsets)) and there.metadata.labels == labels and noted == wanted:
        return []
    gone = {label: None for label in there.metadata.labels if label not in labels}
    metadata = {"resourceVersion": there.metadata.resource_version, "labels": {**labels, **gone}}
    metadata |= {"annotations": wanted} if noted != wanted else {}
    return [Patch(SCHEME.of(Endpoints), meta.namespace, meta.name, {"metadata": metadata, "subsets": subsets or None})]


def _decoded(subsets: list[JsonObject]) -> list[object]:
    return list(msgspec.convert({"subsets": subsets}, Endpoints).subsets)


def _plain(value: object) -> object:
    return msgspec.to_builtins(value)


def _address(service: Service, pod: Pod) -> JsonObject:
    address: JsonObject = {"ip": pod.status.pod_ip}
    if pod.spec.hostname and pod.spec.subdomain == service.metadata.name:
        address["hostname"] = pod.spec.hostname
    if pod.spec.node_name:
        address["nodeName"] = pod.spec.node_name
    return {**address, "targetRef": _reference(pod)}


def _slices(service: Service, view: View, pods: Sequence[Pod]) -> list[Write]:
    meta = service.metadata
    labels = {**meta.labels, SERVICE_NAME: meta.name, SLICE_MANAGED: SLICE_MANAGER}
    if service.spec.cluster_ip == "None":
        labels[HEADLESS] = ""
    offers = [Offer(_endpoint(service, pod), _ports(service, pod)) for pod in pods]
    return slices(service, view.owned(EndpointSlice, meta.uid), offers, _ports(service, None), labels)


def _endpoint(service: Service, pod: Pod) -> JsonObject:
    serving = _is_ready(service, pod)
    going = pod.metadata.deletion_timestamp is not None
    endpoint: JsonObject = {
        "addresses": [pod.status.pod_ip],
        "conditions": {"ready": serving and not going, "serving": serving, "terminating": going},
        "targetRef": _reference(pod),
    }
    if pod.spec.hostname and pod.spec.subdomain == service.metadata.name:
        endpoint["hostname"] = pod.spec.hostname
    if pod.spec.node_name:
        endpoint["nodeName"] = pod.spec.node_name
    return endpoint


def _is_served(service: Service, pod: Pod) -> bool:
    return _is_ready(service, pod) and not pod.metadata.deletion_timestamp


def _is_ready(service: Service, pod: Pod) -> bool:
    return is_ready(pod) or service.spec.publish_not_ready_addresses


def _reference(pod: Pod) -> JsonObject:
    meta = pod.metadata
    return {"kind": "Pod", "namespace": meta.namespace, "name": meta.name, "uid": meta.uid}


def _ports(service: Service, pod: Pod | None) -> list[JsonObject]:
    """The ports of a service as a pod offers them; names that no pod can be asked for are left out."""
    found = []
    for port in service.spec.ports:
        target = port.target_port or port.port
        number = target if isinstance(target, int) else _named(pod, target) if pod is not None else None
        if number is not None:
            found.append({"name": port.name, "port": number, "protocol": port.protocol})
    return found


def _named(pod: Pod, name: str) -> int | None:
    if name.isdecimal():
        return int(name)
    ports = (port for container in pod.spec.containers for port in container.ports)
    return next((port.container_port for port in ports if port.name == name), None)


def _services(pod: Object, view: View) -> list[str]:
    """Those that select the pod."""
    services = view.list(Service, pod.metadata.namespace)
    return [s.key for s in services if s.spec.selector and s.spec.selector.items() <= pod.metadata.labels.items()]


def _slice_key(found: Object) -> tuple[str, ...]:
    name = found.metadata.labels.get(SERVICE_NAME)
    ours = found.metadata.labels.get(SLICE_MANAGED) == SLICE_MANAGER
    return (f"{found.metadata.namespace}/{name}",) if name and ours else ()
