"""The autoscaling group (v2): HorizontalPodAutoscaler, which an elastic PyTorchJob makes; stored for whoever scales."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.columns.batch import HORIZONTAL_POD_AUTOSCALER
from kumi.api.defaulting.scheduling import default_autoscaler
from kumi.api.meta import Object, View
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation.scheduling import validate_autoscaler


class CrossVersionObjectReference(View):
    """What is scaled."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class HorizontalPodAutoscalerSpec(View):
    """Bounds and metrics; metrics are kept as written."""

    scale_target_ref: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)
    min_replicas: int | None = None
    max_replicas: int = 0
    metrics: list[dict[str, Any]] = []


class HorizontalPodAutoscaler(Object):
    """autoscaling/v2 HorizontalPodAutoscaler."""

    spec: HorizontalPodAutoscalerSpec = field(default_factory=HorizontalPodAutoscalerSpec)


SCHEME.register(
    Kind(
        "autoscaling",
        "v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        HorizontalPodAutoscaler,
        short_names=("hpa",),
        categories=("all",),
        subresources=("status",),
        default=default_autoscaler,
        validate=validate_autoscaler,
        columns=HORIZONTAL_POD_AUTOSCALER,
        schema="io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
    )
)
