"""The coordination group (v1): Lease, what leaders and nodes renew to be known alive."""

from __future__ import annotations

from msgspec import field

from kumi.api.columns.scheduling import LEASE
from kumi.api.meta import Object, View
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation.scheduling import validate_lease


class LeaseSpec(View):
    """Who holds it and since when; times are RFC 3339 with microseconds."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class Lease(Object):
    """coordination.k8s.io/v1 Lease."""

    spec: LeaseSpec = field(default_factory=LeaseSpec)


SCHEME.register(
    Kind(
        "coordination.k8s.io",
        "v1",
        "Lease",
        "leases",
        Lease,
        columns=LEASE,
        schema="io.k8s.api.coordination.v1.Lease",
        validate=validate_lease,
    )
)
