"""The discovery group (discovery.k8s.io/v1): EndpointSlice."""

from __future__ import annotations

from typing import Any

from kumi.api.columns.networking import ENDPOINT_SLICE
from kumi.api.defaulting.networking import default_endpoint_slice
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation.networking import validate_endpoint_slice


class EndpointSlice(Object):
    """discovery.k8s.io/v1 EndpointSlice: where some of a service's pods are."""

    address_type: str = ""
    endpoints: list[dict[str, Any]] = []
    ports: list[dict[str, Any]] = []


SCHEME.register(
    Kind(
        "discovery.k8s.io",
        "v1",
        "EndpointSlice",
        "endpointslices",
        EndpointSlice,
        columns=ENDPOINT_SLICE,
        default=default_endpoint_slice,
        validate=validate_endpoint_slice,
        schema="io.k8s.api.discovery.v1.EndpointSlice",
    )
)
