"""Defaults of the core group's other kinds: Namespace, Service, Secret, Endpoints.

Source     Kubernetes: API reference of each kind.
Not here   cluster addresses of services, finalizers of namespaces: what creation adds (kumi.registry).
"""

from __future__ import annotations

import base64

from kumi.api.wire import JsonObject

NAME_LABEL = "kubernetes.io/metadata.name"


def default_namespace(namespace: JsonObject) -> None:
    """The label of its name."""
    metadata = namespace["metadata"]
    if metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}


def default_service(service: JsonObject) -> None:
    """Type, session affinity, traffic policy, protocols and target ports."""
    spec = service.setdefault("spec", {})
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if not port.get("targetPort") and "port" in port:
            port["targetPort"] = port["port"]


def default_secret(secret: JsonObject) -> None:
    """Type Opaque; what is given as text goes over the encoded data and is not kept."""
    text = secret.pop("stringData", None)
    if text:
        encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in text.items()}
        secret["data"] = {**(secret.get("data") or {}), **encoded}
    if not secret.get("type"):
        secret["type"] = "Opaque"


def default_endpoints(endpoints: JsonObject) -> None:
    """Protocols of ports."""
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            port.setdefault("protocol", "TCP")
