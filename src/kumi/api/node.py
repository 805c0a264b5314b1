"""The node group (node.k8s.io/v1): RuntimeClass, stored for whoever reads it."""

from __future__ import annotations

from typing import Any

from kumi.api.columns.networking import RUNTIME_CLASS
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation.networking import validate_runtime_class


class RuntimeClass(Object):
    """node.k8s.io/v1 RuntimeClass."""

    handler: str = ""
    overhead: dict[str, Any] | None = None
    scheduling: dict[str, Any] | None = None


SCHEME.register(
    Kind(
        "node.k8s.io",
        "v1",
        "RuntimeClass",
        "runtimeclasses",
        RuntimeClass,
        namespaced=False,
        columns=RUNTIME_CLASS,
        validate=validate_runtime_class,
        schema="io.k8s.api.node.v1.RuntimeClass",
    )
)
