"""What a namespace may use (core group, v1): ResourceQuota and LimitRange."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.columns import limits as columns
from kumi.api.defaulting.limits import default_limit_range
from kumi.api.meta import Object, View
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation import limits as rules

Amounts = dict[str, str | int | float]


class ResourceQuotaSpec(View):
    """The most of each resource; `scopes` and `scope_selector` say which pods count."""

    hard: Amounts = {}
    scopes: list[str] = []
    scope_selector: dict[str, Any] | None = None


class ResourceQuotaStatus(View):
    """What is in force, and how much of it is used."""

    hard: Amounts = {}
    used: Amounts = {}


class ResourceQuota(Object):
    """v1 ResourceQuota."""

    spec: ResourceQuotaSpec = field(default_factory=ResourceQuotaSpec)
    status: ResourceQuotaStatus = field(default_factory=ResourceQuotaStatus)


class LimitRangeItem(View):
    """Bounds and defaults for one type: Container, Pod or PersistentVolumeClaim."""

    type: str = ""
    max: Amounts = {}
    min: Amounts = {}
    default: Amounts = {}
    default_request: Amounts = {}
    max_limit_request_ratio: Amounts = {}


class LimitRangeSpec(View):
    """Bounds by type."""

    limits: list[LimitRangeItem] = []


class LimitRange(Object):
    """v1 LimitRange."""

    spec: LimitRangeSpec = field(default_factory=LimitRangeSpec)


SCHEME.register(
    Kind(
        "",
        "v1",
        "LimitRange",
        "limitranges",
        LimitRange,
        short_names=("limits",),
        columns=columns.LIMIT_RANGE,
        default=default_limit_range,
        validate=rules.validate_limit_range,
        schema="io.k8s.api.core.v1.LimitRange",
    )
)
SCHEME.register(
    Kind(
        "",
        "v1",
        "ResourceQuota",
        "resourcequotas",
        ResourceQuota,
        short_names=("quota",),
        subresources=("status",),
        columns=columns.RESOURCE_QUOTA,
        validate=rules.validate_resource_quota,
        schema="io.k8s.api.core.v1.ResourceQuota",
    )
)
