"""The networking group (networking.k8s.io/v1): Ingress, IngressClass, NetworkPolicy.

All are stored for whoever acts on them: process pods share the machine's network, so Kumi itself enforces none."""

from __future__ import annotations

from typing import Any

from kumi.api.columns import networking as columns
from kumi.api.defaulting import networking as defaults
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation import networking as rules


class Ingress(Object):
    """networking.k8s.io/v1 Ingress."""

    spec: dict[str, Any] = {}


class IngressClass(Object):
    """networking.k8s.io/v1 IngressClass."""

    spec: dict[str, Any] = {}


class NetworkPolicy(Object):
    """networking.k8s.io/v1 NetworkPolicy."""

    spec: dict[str, Any] = {}


SCHEME.register(
    Kind(
        "networking.k8s.io",
        "v1",
        "IngressClass",
        "ingressclasses",
        IngressClass,
        namespaced=False,
        columns=columns.INGRESS_CLASS,
        default=defaults.default_ingress_class,
        validate=rules.validate_ingress_class,
        schema="io.k8s.api.networking.v1.IngressClass",
    )
)
SCHEME.register(
    Kind(
        "networking.k8s.io",
        "v1",
        "Ingress",
        "ingresses",
        Ingress,
        short_names=("ing",),
        subresources=("status",),
        columns=columns.INGRESS,
        validate=rules.validate_ingress,
        schema="io.k8s.api.networking.v1.Ingress",
    )
)
SCHEME.register(
    Kind(
        "networking.k8s.io",
        "v1",
        "NetworkPolicy",
        "networkpolicies",
        NetworkPolicy,
        short_names=("netpol",),
        columns=columns.NETWORK_POLICY,
        default=defaults.default_network_policy,
        validate=rules.validate_network_policy,
        schema="io.k8s.api.networking.v1.NetworkPolicy",
    )
)
