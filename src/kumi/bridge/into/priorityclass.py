"""PriorityClass -> PriorityClass.

Source     Kubernetes: pod priority.
"""

from __future__ import annotations

from kumi.api import scheduling
from kumi.engine import gangs


def priorityclass(view: scheduling.PriorityClass) -> gangs.PriorityClass:
    """See the module."""
    return gangs.PriorityClass(view.metadata.name, view.value, view.global_default)
