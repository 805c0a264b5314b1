"""The scheduling group (v1): PriorityClass."""

from __future__ import annotations

from kumi.api.columns.scheduling import PRIORITY_CLASS
from kumi.api.defaulting.scheduling import default_priority_class
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation.scheduling import validate_priority_class


class PriorityClass(Object):
    """A named pod priority; `global_default` is taken by pods that name none. Cluster-scoped."""

    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"
    description: str = ""


SCHEME.register(
    Kind(
        "scheduling.k8s.io",
        "v1",
        "PriorityClass",
        "priorityclasses",
        PriorityClass,
        namespaced=False,
        short_names=("pc",),
        columns=PRIORITY_CLASS,
        default=default_priority_class,
        validate=validate_priority_class,
        schema="io.k8s.api.scheduling.v1.PriorityClass",
    )
)
